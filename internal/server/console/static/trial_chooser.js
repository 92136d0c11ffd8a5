// The choice of a capability: a list that opens, with a search in it. Without scripts it opens and leads as well.

export function startChooser(chooser) {
  const search = chooser.querySelector("input");
  const links = [...chooser.querySelectorAll("nav a")];
  const found = chooser.querySelector("[data-found]");
  const visible = () => links.filter((link) => !link.hidden);
  search.hidden = false;
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const link of links) link.hidden = !words.every((word) => link.textContent.toLowerCase().includes(word));
    found.textContent = visible().length === 0 ? "No capability is called so." : "";
    found.hidden = visible().length > 0;
  };
  const close = () => {
    chooser.open = false;
    chooser.querySelector("summary").focus();
  };
  chooser.addEventListener("toggle", () => {
    if (!chooser.open) return;
    search.value = "";
    filter();
    search.focus();
  });
  search.addEventListener("input", filter);
  chooser.addEventListener("keydown", (event) => {
    const at = visible().indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && chooser.open) close();
    else if (step && chooser.open) (visible()[at + step] ?? (step < 0 ? search : undefined))?.focus();
    else if (event.key === "Enter" && event.target === search) visible()[0]?.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("pointerdown", ({ target }) => { if (!chooser.contains(target)) chooser.open = false; });
}
