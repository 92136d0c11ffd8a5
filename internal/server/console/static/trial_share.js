// An address that holds the form: its request stands in the fragment, which a browser sends to no server. Whoever opens it
// finds the form filled, and nothing is run.

import { addressOf, fileBytes, fillForm, form, missing } from "./trial_form.js";
import { settled } from "./trial_json.js";
import { preview } from "./trial_preview.js";

const longest = 8000; // characters of an address: many programs cut longer ones off

export function startShare() {
  const button = form.querySelector("[data-share]");
  button.hidden = false;
  button.addEventListener("click", () => share(button));
  addEventListener("hashchange", open);
  open();
}

async function share(button) {
  if (!(await settled())) return;
  const told = await preview();
  const at = form.querySelector("[data-shared]");
  at.hidden = false;
  if (!told) return at.replaceChildren(note("The service can't be reached: try again."));
  const address = addressOf(compact(told.json), form.elements.namedItem("capability").value);
  if (address.length > longest) {
    return at.replaceChildren(note(`This form makes an address of ${address.length} characters, and many programs cut off more than ${longest}. Copy its JSON instead.`));
  }
  const field = Object.assign(document.createElement("input"), { readOnly: true, value: address });
  field.setAttribute("aria-label", "The form's address");
  const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
  const files = fileBytes() > 0 || missing().length > 0 ? " It has the names of the files, not their bytes." : "";
  at.replaceChildren(field, note(`${copied ? "Copied." : "Copy it from here."}${files}`));
  field.select();
  if (copied) button.focus();
}

const note = (text) => {
  const one = Object.assign(document.createElement("p"), { className: "small", textContent: text });
  one.setAttribute("role", "status");
  return one;
};

// compact takes the white space between the values out, and leaves the digits of numbers as they are.
const compact = (json) => json.split("\n").map((line) => line.trimStart()).join("");

// open fills the form from the address, or from the one that led to the sign-in.
async function open() {
  const found = /^#request=([\w-]+)$/.exec(location.hash)?.[1] ?? kept();
  if (!found) return;
  const say = (text) => {
    const at = form.querySelector("[data-note]");
    at.textContent = text;
    at.hidden = false;
  };
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(found.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)));
  } catch {
    return say("The address holds no request that can be read. It may have been cut off.");
  }
  const { problem, missing: files } = await fillForm(text, { foreign: true });
  if (problem) return say(`The address holds no request that the form can show: ${problem.error.message}.`);
  const lack = files?.length > 0 ? ` Missing: ${files.join(", ")}.` : "";
  const word = form.querySelector('[data-wire="input.authorization.person"]') ? " Your word about people isn't in it." : "";
  say(`The form is filled from the address. It runs when you say so.${word}${lack}`);
}

function kept() {
  try {
    const found = sessionStorage.getItem("trial-request");
    sessionStorage.removeItem("trial-request");
    return found;
  } catch {
    return null; // without storage it isn't kept
  }
}
