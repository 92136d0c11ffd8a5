// The trial's form as it stands on the page. readForm is all that the form says, and fillForm makes it say a request.

import { dropZones } from "./trial_drop.js";

export const form = document.getElementById("trial");

const titles = new Map(); // what the form calls each field and object
form?.querySelectorAll("[data-wire], [data-object]").forEach(({ dataset }) => titles.set(dataset.wire ?? dataset.object, dataset.title));

// titleOf returns what the form calls a field or an object, undefined where it has no such one.
export const titleOf = (wire) => titles.get(wire);

// fieldOf returns the wire name of the field that a value is in, "" without one.
function fieldOf(name) {
  let at = name;
  while (at && !form.querySelector(`[data-wire="${CSS.escape(at)}"]`)) at = at.slice(0, Math.max(0, at.lastIndexOf(".")));
  return at;
}

// changed is called whenever the form is another one than before without an event that says so.
const changed = () => form.dispatchEvent(new Event("change"));

const person = "input.authorization.person"; // the word about people in media

let zones = [];
let fills = 0;
let touched = false;

// isTouched reports whether somebody has begun to fill in the form.
export const isTouched = () => touched;

// startForm gives the form what a page without scripts hasn't.
export function startForm() {
  form.addEventListener("input", () => { touched = true; });
  zones = dropZones(form, () => {
    touched = true;
    changed();
  });
  document.querySelectorAll("[data-ways]").forEach((ways) => {
    give(ways);
    ways.addEventListener("change", () => give(ways));
  });
  document.querySelectorAll("[data-add]").forEach((button) => {
    const rows = button.parentElement.querySelector("[data-rows]");
    button.hidden = false;
    button.addEventListener("click", () => addRow(rows));
    rows.addEventListener("click", ({ target }) => { if (target.matches("[data-remove]")) removeRow(target.closest("[data-rows] > *")); });
    removable(rows);
  });
  keep("", []); // a browser may bring back the value of an earlier page
  form.querySelector("[data-kept] button").addEventListener("click", () => {
    keep("", []);
    form.querySelector("[data-run]").focus();
    changed();
  });
}

// readForm returns the form's values, files among them, each after a text with its name and type. Only those texts stand
// for the files if names is set.
export function readForm({ names } = {}) {
  const data = new FormData(form);
  for (const zone of zones) if (!zone.disabled) zone.write(data, names);
  return data;
}

// missing returns the fields and names of files that the form has by name alone.
export const missing = () => zones.filter((zone) => !zone.disabled).flatMap((zone) => zone.missing.map((name) => ({ zone, name })));

// fileBytes returns how large the form's files are together.
export const fileBytes = () => zones.filter((zone) => !zone.disabled).reduce((sum, zone) => sum + zone.bytes, 0);

// fillForm makes the form say a request: an object, or JSON, whose numbers stay as they are written then. Files stand in
// it by their names. It runs nothing. The answer has the problem that the service sees, as its errors have it; or the
// names of missing files. A request of another capability opens its own form, or with stay is named in the answer. The form
// stays as it is where unless says so once the answer is there.
// The word about people isn't taken from somebody else's request.
export async function fillForm(request, { stay, foreign, unless } = {}) {
  const mine = ++fills;
  const text = typeof request === "string" ? request : JSON.stringify(request);
  const data = new FormData();
  data.set("mode", form.elements.namedItem("mode").value);
  data.set("request", text);
  const answer = await fetch(form.dataset.show, { method: "POST", body: data }).catch(() => null);
  const body = await answer?.json().catch(() => null);
  if (answer?.status === 401) return { problem: { error: { message: "your session has ended: sign in again in another tab" } } };
  if (!answer?.ok) return { problem: body ?? { error: { message: "the service gave no answer" } } };
  if (body.capability !== form.elements.namedItem("capability").value) {
    const elsewhere = { capability: body.capability, address: addressOf(text, body.capability) };
    if (!stay) location.assign(elsewhere.address);
    return { elsewhere };
  }
  if (mine !== fills || unless?.()) return { overtaken: true };
  if (foreign) delete body.texts[person];
  put(body);
  changed();
  return { missing: missing().map(({ name }) => name) };
}

// addressOf returns the address of a form with a request in its fragment, which a browser sends to no server.
export function addressOf(text, capability) {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  const address = new URL(form.dataset.home, location.href);
  address.search = new URLSearchParams({ capability, mode: form.elements.namedItem("mode").value });
  address.hash = `request=${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  return address.href;
}

// put sets every field to its texts.
function put({ texts, rest, names }) {
  keep(rest, names);
  for (const field of form.querySelectorAll("[data-wire]")) putField(field, texts);
  for (const zone of zones) zone.put(texts[zone.wire] ?? []);
  for (const ways of form.querySelectorAll("[data-ways]")) {
    const said = (way) => [...Object.keys(texts), ...names].some((name) => name === way || name.startsWith(`${way}.`));
    const choices = [...ways.querySelectorAll(".segments input")].filter((input) => input.name === ways.dataset.ways);
    (choices.find(({ value }) => said(value)) ?? choices[0]).checked = true;
    give(ways);
  }
  const unfolded = form.querySelector("[data-rest]");
  if (unfolded && [...unfolded.querySelectorAll("[data-wire]")].some(({ dataset }) => texts[dataset.wire])) unfolded.open = true;
}

function putField(field, texts) {
  const rows = field.querySelector("[data-rows]");
  if (rows) return putRows(rows, texts);
  const [text = ""] = texts[field.dataset.wire] ?? [];
  const radios = field.querySelectorAll("input[type=radio]");
  if (radios.length > 0) return radios.forEach((radio) => { radio.checked = radio.value === text; });
  const control = field.querySelector("[name]");
  if (control.type !== "file") control.value = text;
}

function putRows(rows, texts) {
  const cells = [...rows.firstElementChild.querySelectorAll("[name]")].map(({ name }) => name);
  const count = Math.max(1, ...cells.map((name) => texts[name]?.length ?? 0));
  while (rows.children.length > count) rows.lastElementChild.remove();
  while (rows.children.length < count) rows.append(rows.lastElementChild.cloneNode(true));
  [...rows.children].forEach((row, i) => row.querySelectorAll("[name]").forEach((cell) => {
    const text = texts[cell.name]?.[i] ?? "";
    if (cell.tagName === "SELECT" && !text) cell.selectedIndex = 0;
    else cell.value = text;
  }));
  removable(rows);
}

// keep holds what the form doesn't show of a request, and says so.
function keep(rest, names) {
  form.elements.namedItem("rest").value = rest;
  const kept = form.querySelector("[data-kept]");
  kept.hidden = names.length === 0;
  const said = new Set(names.map((name) => titleOf(fieldOf(name)) ?? name));
  kept.firstElementChild.textContent = `This form doesn't show, but sends: ${[...said].join(", ")}.`;
}

// give shows the chosen one of fields that exclude each other. Nothing of a disabled fieldset is sent.
function give(ways) {
  const chosen = ways.querySelector(".segments :checked").value;
  for (const way of ways.querySelectorAll("[data-way]")) way.hidden = way.disabled = way.dataset.way !== chosen;
}

function addRow(rows) {
  const last = rows.lastElementChild;
  const row = last.cloneNode(true);
  row.querySelectorAll("textarea").forEach((text) => { text.value = ""; });
  const role = row.querySelector("select");
  if (role) role.selectedIndex = last.querySelector("select").selectedIndex === 0 ? 1 : 0; // the first two speakers take turns
  rows.append(row);
  removable(rows);
  row.querySelector("textarea").focus();
  changed();
}

function removeRow(row) {
  const rows = row.parentElement;
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  removable(rows);
  next.querySelector("textarea").focus();
  changed();
}

// removable lets each row be removed but the last one.
function removable(rows) {
  [...rows.children].forEach((row, i) => {
    const button = row.querySelector("[data-remove]");
    button.hidden = rows.children.length === 1;
    button.setAttribute("aria-label", `Remove ${i + 1}`);
  });
}
