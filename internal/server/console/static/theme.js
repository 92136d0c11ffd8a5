// Sets the look that was chosen before the page is drawn. It is no module, so that it runs first.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // without storage the system's choice holds
}
