// Asks what the form's request is, without running it, whenever the form changes. No file's bytes are sent for it.

import { form, readForm } from "./trial_form.js";

// previews tells of each answer, as the detail of a "preview": { json, snippets }.
export const previews = new EventTarget();

let latest;
let waiting;

export function startPreviews() {
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(preview, 300);
}

// preview asks at once, and returns the answer, undefined without one: that of the form as it is by then.
export function preview() {
  clearTimeout(waiting);
  const mine = ask().then((detail) => {
    if (mine !== latest) return latest;
    if (detail) previews.dispatchEvent(new CustomEvent("preview", { detail }));
    return detail;
  });
  latest = mine;
  return mine;
}

async function ask() {
  const data = readForm({ names: true });
  data.set("preview", "yes");
  const answer = await fetch(form.action, { method: "POST", body: data }).catch(() => null);
  return answer?.ok ? answer.json() : undefined;
}
