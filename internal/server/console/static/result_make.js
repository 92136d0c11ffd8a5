// Makes elements for what a task brought. Foreign text goes into the page as text alone.

// make returns an element with attributes and children; an attribute that is undefined, null or false is left out.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(attribute, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// copier returns a button that copies the text which the function gives it. Where a page may not copy, the text of the
// element is selected.
export function copier(label, text, element) {
  const button = make("button", { type: "button", class: "button small", "aria-label": label }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(element());
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  return button;
}

// kept reads a choice of the person's that this browser keeps.
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// keep keeps a choice, where the browser has room for it.
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // it holds for this page alone then
  }
}

// switcher returns buttons of which one is pressed: for each [value, label]. The function is told of another choice.
export function switcher(label, choices, chosen, choose) {
  const group = make("div", { class: "segments", role: "group", "aria-label": label });
  for (const [value, text] of choices) {
    const button = make("button", { type: "button", "aria-pressed": String(value === chosen) }, text);
    button.addEventListener("click", () => {
      for (const one of group.children) one.setAttribute("aria-pressed", String(one === button));
      choose(value);
    });
    group.append(button);
  }
  return group;
}
