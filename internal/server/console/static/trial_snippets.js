// The same request elsewhere: snippets that follow the form.

import { previews } from "./trial_preview.js";

// startSnippets lets one snippet be chosen, and keeps all of them as the form is.
export function startSnippets() {
  document.querySelectorAll("[data-snippet]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.snippet)));
  previews.addEventListener("preview", ({ detail }) => showSnippets(detail.snippets));
}

function choose(index) {
  for (const button of document.querySelectorAll("[data-snippet]")) button.setAttribute("aria-pressed", String(button.dataset.snippet === index));
  for (const block of document.querySelectorAll("[data-code]")) block.hidden = block.dataset.code !== index;
}

function showSnippets(snippets) {
  snippets.forEach((one, i) => { document.getElementById(`code-${i}`).textContent = one.text; });
}
