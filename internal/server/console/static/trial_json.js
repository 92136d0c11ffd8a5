// The same request as JSON, both ways: the text is that of the form, and what is written in it fills the form.

import { fillForm, form } from "./trial_form.js";
import { preview, previews } from "./trial_preview.js";

const text = document.getElementById("json");
const panels = { form: document.getElementById("view-form"), json: document.getElementById("view-json") };
let edited = false; // since the form was filled from it, or it from the form
let waiting;

export function startJSON() {
  const tabs = form.querySelector("[data-views]");
  tabs.hidden = false;
  tabs.addEventListener("click", ({ target }) => { if (target.id) open(target.id.replace("tab-", "")); });
  tabs.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    open(panels.json.hidden ? "json" : "form", { focus: true });
  });
  for (const name of ["input", "change"]) panels.json.addEventListener(name, (event) => event.stopPropagation()); // it isn't the form yet
  text.addEventListener("input", () => {
    edited = true;
    clearTimeout(waiting);
    waiting = setTimeout(settle, 400);
  });
  previews.addEventListener("preview", ({ detail }) => { if (!edited && document.activeElement !== text) text.value = detail.json; });
}

// settle fills the form from the text, if that was changed, and reports whether the form is as the text says.
export async function settle() {
  clearTimeout(waiting);
  if (!edited) return true;
  const said = text.value;
  const { problem, elsewhere, overtaken } = await fillForm(said, { stay: true });
  if (overtaken || text.value !== said) return false; // a later change is on its way
  edited = Boolean(problem ?? elsewhere);
  complain(problem ? problem.error.message.replace(/^request /, "The request ") : "", elsewhere);
  return !edited;
}

// settled is settle for somebody who goes on: what is wrong gets the focus.
export async function settled() {
  if (await settle()) return true;
  await open("json");
  text.focus();
  return false;
}

// showFields shows the form's fields.
export const showFields = () => show("form");

async function open(which, { focus } = {}) {
  if (which === "form" && !(await settle())) return text.focus();
  show(which);
  if (focus) document.getElementById(`tab-${which}`).focus();
  if (which === "json" && !edited) {
    const told = await preview();
    if (told && !edited) text.value = told.json;
  }
}

function show(which) {
  for (const [name, panel] of Object.entries(panels)) {
    const tab = document.getElementById(`tab-${name}`);
    panel.hidden = name !== which;
    tab.setAttribute("aria-selected", String(name === which));
    tab.tabIndex = name === which ? 0 : -1;
  }
}

function complain(message, elsewhere) {
  const problem = document.getElementById("json-problem");
  problem.replaceChildren(...(message ? [`${message}. The form is as it was.`] : []));
  if (elsewhere) {
    problem.append(`This is a request of ${elsewhere.capability}: `, Object.assign(document.createElement("a"), { href: elsewhere.address, textContent: "open its form" }), ".");
  }
  if (message || elsewhere) {
    const back = Object.assign(document.createElement("button"), { type: "button", className: "button small", textContent: "Take the changes back" });
    back.addEventListener("click", async () => {
      edited = false;
      complain("");
      text.focus();
      text.value = (await preview())?.json ?? text.value;
    });
    problem.append(" ", back);
  }
  problem.hidden = !problem.hasChildNodes();
  if (problem.hidden) text.removeAttribute("aria-invalid");
  else text.setAttribute("aria-invalid", "true");
}
