// The palette's dialogs. They are made by a script: without scripts they would be of no use.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// dialog returns one that its buttons to close and a press beside it close.
function dialog(attributes, ...children) {
  const made = element("dialog", attributes, ...children);
  made.addEventListener("click", (event) => { if (event.target === made || event.target.closest("[data-close]")) made.close(); });
  document.body.append(made);
  return made;
}

const closer = () => element("button", { type: "button", class: "button small", "data-close": "" }, "Close");

// makePalette returns the dialog with its field, list and note.
export function makePalette() {
  const field = element("input", {
    role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list", "aria-label": "Page, capability, action or id",
    placeholder: "Page, capability, action or id", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "200",
  });
  const list = element("ul", { id: "palette-list", role: "listbox", "aria-label": "Found" });
  const note = element("p", { class: "palette-note", role: "status" });
  const palette = dialog({ class: "palette", id: "palette", "aria-label": "Palette" }, element("div", { class: "palette-head" }, field, closer()), list, note);
  return { palette, field, list, note };
}

// makeOption returns the row of a command.
export function makeOption(command, i) {
  return element("li", { id: `palette-${i}`, role: "option", "aria-selected": "false" },
    element("span", {}, command.text), element("span", { class: "muted small" }, command.kind));
}

const isSingle = (key) => ["/", "?"].includes(key);

// makeShortcuts returns the list of keys, each with what it does, and the box that switches those of a single character.
export function makeShortcuts(rows, switched) {
  const facts = element("dl", { class: "facts" });
  const mark = (single) => (single ? { "data-single": "" } : {});
  for (const [keys, does] of rows) {
    const row = mark(keys.every(isSingle));
    facts.append(element("dt", row, ...keys.flatMap((key, i) => [i > 0 ? " " : "", element("kbd", mark(isSingle(key)), key)])), element("dd", row, does));
  }
  const box = element("input", { type: "checkbox", "aria-describedby": "shortcuts-hint" });
  box.addEventListener("change", () => switched(box.checked));
  const choice = element("label", { class: "check" }, box, element("span", {}, "Single keys are shortcuts: ", element("kbd", {}, "/"), " and ", element("kbd", {}, "?")));
  const hint = element("p", { class: "hint", id: "shortcuts-hint" }, "Switch them off if you speak to the browser, or hit them unawares: Find leads here, too. This browser keeps the choice.");
  const head = element("div", { class: "card-head" }, element("h2", { id: "shortcuts-title" }, "Keyboard"), closer());
  return dialog({ class: "shortcuts", "aria-labelledby": "shortcuts-title" }, head, facts, choice, hint);
}
