// Takes the token out of the address, so that it stays in no history, and posts it.
if (location.hash.length > 1) {
  const form = document.querySelector("[data-sign-in]");
  form.elements.namedItem("token").value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.requestSubmit();
}
