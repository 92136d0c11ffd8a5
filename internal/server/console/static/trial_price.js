// Before a live run: the most that it can cost with these inputs, as the service estimates it.

import { fileBytes, form, missing, readForm } from "./trial_form.js";
import { previews } from "./trial_preview.js";

const sentBytes = 1 << 20; // of files, for a price alone

export function startPrice() {
  if (!form.dataset.estimates) return;
  previews.addEventListener("preview", ({ detail }) => price(detail.json));
}

let asked = 0;

async function price(json) {
  const mine = ++asked;
  const said = await priceOf(json).catch(() => "The price can't be told now.");
  const at = form.querySelector("[data-price]");
  if (mine === asked && at.textContent !== said) at.textContent = said;
}

async function priceOf(json) {
  if (missing().length > 0) return "No upper price while a file is missing.";
  if (fileBytes() > sentBytes) return "No upper price before its files are sent.";
  const body = fileBytes() > 0 ? await whole() : json;
  if (!body) return "The price can't be told now.";
  const answer = await fetch(form.dataset.estimates, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  if (answer.status >= 500 || answer.status === 429 || answer.status === 401) return "The price can't be told now.";
  if (!answer.ok) return "The upper price follows once the form is right.";
  const { at_most: most } = await answer.json();
  if (!most) return "No upper price is known for these inputs.";
  return Number(most.amount) === 0 ? "Free with these inputs." : `At most $${most.amount} with these inputs.`;
}

// whole returns the request with the bytes of its files.
async function whole() {
  const answer = await fetch(form.action, { method: "POST", body: readForm() });
  return answer.ok ? JSON.stringify((await answer.json()).request) : "";
}
