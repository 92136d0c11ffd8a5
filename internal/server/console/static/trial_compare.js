// One request with several capabilities, side by side: the choice of them, and a column for each.

import { form, readForm } from "./trial_form.js";
import { paneOf } from "./trial_result.js";

const mostBeside = 2; // capabilities beside the form's own
const estimated = 256 << 10; // bytes of files, for a price alone
const choice = form?.querySelector("[data-peers]");
const section = document.getElementById("compare");
const boxes = [...(choice?.querySelectorAll("input") ?? [])];

// chosenPeers returns the capabilities that are to run beside the form's own.
export const chosenPeers = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);

// choosePeers makes these the ones that are to run beside the form's own.
export function choosePeers(names) {
  for (const box of boxes) box.checked = names.includes(box.value);
  choice?.dispatchEvent(new Event("change", { bubbles: true }));
}

// startCompare lets capabilities be chosen, and says what they cost together.
export function startCompare() {
  if (!choice) return;
  const button = form.querySelector("[data-run]");
  const alone = button.textContent;
  choice.addEventListener("change", () => {
    const { length } = chosenPeers();
    for (const box of boxes) box.disabled = !box.checked && length >= mostBeside;
    button.textContent = length === 0 ? alone : `Run ${length + 1} ${isLive() ? "live, side by side" : "side by side"}`;
  });
  if (isLive()) ["input", "change"].forEach((name) => form.addEventListener(name, tellSum));
}

const isLive = () => form.elements.namedItem("mode").value === "live";

let asked = 0;
let waiting;

// tellSum says, before a live run, the most that all of it costs.
function tellSum() {
  const at = form.querySelector("[data-sum]");
  const alone = chosenPeers().length === 0;
  form.querySelector("[data-price]").hidden = !alone;
  at.hidden = alone;
  const mine = ++asked;
  clearTimeout(waiting);
  if (alone) at.textContent = "";
  else waiting = setTimeout(async () => {
    const told = await sum().catch(() => undefined);
    if (mine === asked) at.textContent = told ? `All together cost at most $${told}.` : "The most that they cost together can't be told now.";
  }, 400);
}

async function sum() {
  const data = readForm();
  if ([...data.values()].some((value) => value.size > estimated)) return undefined;
  const read = await fetch(form.action, { method: "POST", body: data });
  const { request } = await read.json();
  const amounts = await Promise.all([request.capability, ...chosenPeers()].map(async (capability) => {
    const answer = await fetch(`${form.dataset.api}live/estimates`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...request, capability }),
    });
    return (await answer.json()).at_most.amount;
  }));
  return total(amounts);
}

const digits = 12; // behind the point

// total adds amounts exactly.
function total(amounts) {
  const whole = amounts.reduce((all, amount) => {
    const [dollars, cents = ""] = amount.split(".");
    return all + BigInt(dollars + cents.padEnd(digits, "0").slice(0, digits));
  }, 0n);
  const text = String(whole).padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits).replace(/0+$/, "").padEnd(2, "0")}`;
}

// The columns.

const make = (tag, members, ...children) => {
  const one = Object.assign(document.createElement(tag), members);
  one.append(...children);
  return one;
};

export function hideColumns() {
  if (!section) return;
  section.hidden = true;
  section.replaceChildren();
}

// showColumns makes a column for each run.
export function showColumns(runs) {
  const columns = runs.map(columnOf);
  section.replaceChildren(...columns.map(({ article }) => article));
  section.hidden = false;
  section.scrollIntoView();
  return columns;
}

function columnOf({ request, capability = request.capability }) {
  const title = boxes.find(({ value }) => value === capability)?.dataset.title ?? form.querySelector("h2").firstChild.textContent.trim();
  const facts = make("dl", { hidden: true });
  const place = make("div", {}, make("p", { className: "muted", textContent: "It is being sent." }));
  const pane = paneOf(place);
  const say = (text, ...more) => place.replaceChildren(make("p", { className: "notice bad", textContent: text }), ...more);
  const article = make("article", { className: "card column" }, make("div", { className: "card-head" }, make("h2", {}, title, make("code", { textContent: capability }))), facts, place);
  return {
    article, say,
    pane: { ...pane, progress: (task) => { pane.progress(task); tell(facts, task); } },
    refused: ({ error }, again) => say(error ? `${error.code}: ${error.message}.` : "The service gave no answer.", ...(again ? [again] : [])),
    lost: ({ id }) => place.replaceChildren(make("a", { href: form.dataset.pages + id, textContent: "The task's page" })),
  };
}

// tell says what a task has cost.
function tell(facts, { finished_at: end, created_at: start, usage, mode }) {
  if (!end) return;
  const ms = Date.parse(end) - Date.parse(start);
  const all = [["Time", ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`]];
  if (usage?.input_tokens || usage?.output_tokens) all.push(["Tokens", `${usage.input_tokens ?? 0} in, ${usage.output_tokens ?? 0} out`]);
  if (usage?.cost) all.push(["Cost", mode === "test" ? "free" : `$${usage.cost.amount}`]);
  facts.hidden = false;
  facts.replaceChildren(...all.map(([name, value]) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value }))));
}
