// The same request elsewhere: snippets that follow the form.

import { form, readForm } from "./trial_form.js";

// startSnippets lets one snippet be chosen, and keeps all of them as the form is.
export function startSnippets() {
  document.querySelectorAll("[data-snippet]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.snippet)));
  form.addEventListener("input", preview);
  form.addEventListener("change", preview);
}

function choose(index) {
  for (const button of document.querySelectorAll("[data-snippet]")) button.setAttribute("aria-pressed", String(button.dataset.snippet === index));
  for (const block of document.querySelectorAll("[data-code]")) block.hidden = block.dataset.code !== index;
}

export function showSnippets(snippets) {
  snippets.forEach((one, i) => { document.getElementById(`code-${i}`).textContent = one.text; });
}

const previewBytes = 256 << 10; // more than that is sent only to be run
let previews = 0;
let waiting;

function preview() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const data = readForm();
    data.set("preview", "yes");
    if ([...data.values()].some((value) => value instanceof File && value.size > previewBytes)) return;
    const mine = ++previews;
    const answer = await fetch(form.action, { method: "POST", body: data }).catch(() => null);
    if (answer?.ok && mine === previews) showSnippets((await answer.json()).snippets);
  }, 300);
}
