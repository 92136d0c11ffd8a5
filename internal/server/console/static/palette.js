// The palette: by `/` or Ctrl+K (⌘K on a Mac) somebody goes to a page, a capability, an action or an id. It is a dialog of
// the browser's own, which keeps the focus inside and gives it back. `?` lists the shortcuts.

import { singleKeys, switchSingleKeys } from "./palette_keys.js";
import { makeOption, makePalette, makeShortcuts } from "./palette_make.js";
import { identifies, ranked, secret } from "./palette_match.js";

const mac = /Mac|iP(hone|ad)/.test(navigator.platform);
const button = document.querySelector("[data-palette]");
const rows = [
  [["/", mac ? "⌘ K" : "Ctrl K"], "go to a page, a capability, an action or an id"],
  [[mac ? "⌘ Enter" : "Ctrl Enter"], "run the trial's form"],
  [["←", "→"], "a chart's values, and pictures that are open"],
  [["Esc"], "close what is open"],
  [["?"], "this list"],
];
const mostShown = 50;

let palette, field, list, note; // made when they are opened for the first time
let shortcuts;
let commands; // read once for a page
let reading = false;
let entered = false; // Enter waits for the commands that are being read
let trouble = ""; // why there are no commands
let shown = [];
let chosen = 0;

// acts are the commands that lead to no page.
const acts = {
  theme: () => document.querySelector("[data-theme-toggle]").click(),
  shortcuts: showShortcuts,
  "sign-out": () => document.querySelector("form[data-person]").requestSubmit(),
};

function showShortcuts() {
  shortcuts ??= makeShortcuts(rows, (on) => {
    switchSingleKeys(on);
    tellKeys();
  });
  shortcuts.querySelector("input").checked = singleKeys();
  shortcuts.showModal();
}

// tellKeys says at the button which keys open the palette.
const tellKeys = () => button.setAttribute("aria-keyshortcuts", `${singleKeys() ? "/ " : ""}${mac ? "Meta+K" : "Control+K"}`);

const leadsTo = (to) => `${button.dataset.go}?${new URLSearchParams({ to })}`;

// found returns what fits the typed text, and the way to an id or a whole name.
function found(typed) {
  if (secret(typed)) return [];
  if (identifies(typed)) return [{ text: typed, kind: "Go to", href: leadsTo(typed) }];
  const all = ranked(commands ?? [], typed).slice(0, mostShown);
  if (typed) all.push({ text: typed, kind: "Find", href: leadsTo(typed) });
  return all;
}

function choose(i) {
  list.children[chosen]?.setAttribute("aria-selected", "false");
  chosen = shown.length ? (i + shown.length) % shown.length : 0;
  const row = list.children[chosen];
  if (!row) {
    field.removeAttribute("aria-activedescendant");
    return;
  }
  row.setAttribute("aria-selected", "true");
  row.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", row.id);
}

function draw() {
  const typed = field.value.trim();
  shown = found(typed);
  note.textContent = secret(typed) ? "That is a secret: look for the key by its id (key_…) or its last characters." : trouble;
  list.replaceChildren(...shown.map((command, i) => {
    const row = makeOption(command, i);
    row.addEventListener("click", () => run(command));
    row.addEventListener("mousemove", () => { if (chosen !== i) choose(i); });
    return row;
  }));
  choose(0);
}

function type() {
  entered = false;
  draw();
}

// enter takes the entry that is chosen, once the commands are there. An id needs none.
function enter() {
  entered = reading && !identifies(field.value.trim());
  if (entered) note.textContent = "The pages and actions are being read.";
  else if (shown[chosen]) run(shown[chosen]);
}

function run(command) {
  palette.close();
  if (command.act) acts[command.act]();
  else location.assign(command.href);
}

async function load() {
  reading = true;
  try {
    const answer = await fetch(button.dataset.palette, { headers: { Accept: "application/json" } });
    if (answer.redirected) {
      location.reload(); // to the sign-in page
      return;
    }
    if (!answer.ok) throw new Error(answer.statusText);
    commands = await answer.json();
    trouble = "";
  } catch {
    trouble = "The pages and actions couldn't be read. An id is found all the same.";
  }
  reading = false;
  if (!palette.open) return;
  draw();
  if (entered) enter();
}

function open() {
  if (document.querySelector("dialog[open]")) return;
  if (!palette) {
    ({ palette, field, list, note } = makePalette());
    field.addEventListener("input", type);
    field.addEventListener("keydown", press);
  }
  field.value = "";
  palette.showModal();
  type();
  if (!commands && !reading) load();
}

// press chooses and takes an entry.
function press(event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: Math.min(chosen + 8, shown.length - 1), PageUp: Math.max(chosen - 8, 0) }[event.key];
  if (to !== undefined) choose(to);
  else if (event.key === "Enter") enter();
  else return;
  event.preventDefault();
}

// typing is where somebody types, unlike a box, a button or a slider.
const typing = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file], [type=range])";

// types reports whether a key goes into a field. A dialog's field may have the focus for a moment after it is closed.
const types = (target) => target.closest?.(typing) && !target.closest("dialog:not([open])");

// opens acts on the keys that open a dialog, and reports whether it was one. Somebody who types in a field types `/` and `?`.
function opens(event) {
  const held = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (held && !event.shiftKey && event.key.toLowerCase() === "k") {
    if (palette?.open) palette.close();
    else open();
    return true;
  }
  if (event.ctrlKey || event.metaKey || types(event.target) || document.querySelector("dialog[open]") || !singleKeys()) return false;
  if (event.key === "/") open();
  else if (event.key === "?") showShortcuts();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (!event.isComposing && !event.altKey && !event.defaultPrevented && opens(event)) event.preventDefault();
});
button.hidden = false;
tellKeys();
button.querySelector("kbd").dataset.keys = mac ? "⌘ K" : "Ctrl K";
button.addEventListener("click", open);
