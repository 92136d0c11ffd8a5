// Runs a trial: the form becomes the body of a creation, which goes to the API's own handler under a fresh
// Idempotency-Key. The answer is followed as a stream; the finished result is the one that the task's page shows.

import { events } from "./events.js";
import { form, missing, readForm } from "./trial_form.js";
import { settled } from "./trial_json.js";
import { clear, ended, mark, refused, say } from "./trial_refusal.js";
import { progress, show, stream } from "./trial_result.js";
import { showSnippets } from "./trial_snippets.js";
import { Refused, sendAhead } from "./upload.js";

// runs tells of each run that became a task: "start" with { task, request } once the service has it, and "end" with
// { task, request } once it is finished, as details of the events.
export const runs = new EventTarget();

const tell = (name, task, { body }) => runs.dispatchEvent(new CustomEvent(name, { detail: { task, request: JSON.parse(body) } }));

const formBytes = 15 << 20;
let attempt; // the last request. Until it is settled, it is sent again under its own key, and is the same task.

// startRun runs the form.
export function startRun() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busily(run);
  });
  // Control and Enter run it from anywhere on the page, but for a list that is open.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.target.closest?.("dialog, .chooser")) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const keys = form.querySelector("[data-keys]");
  keys.hidden = false;
  keys.textContent = /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘ Enter" : "Ctrl + Enter";
}

async function run() {
  clear();
  if (!(await settled()) || incomplete()) return;
  const data = readForm();
  try {
    await sendAhead(data, form.dataset.uploads, sending);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    return problem.status === 401 ? ended() : await refusal(problem.problem, run);
  } finally {
    form.querySelector("[data-sending]").hidden = true;
  }
  if (tooLarge(data)) return;
  const read = await fetch(form.action, { method: "POST", body: data });
  if (read.status === 401) return ended();
  if (!read.ok) return refusal(await read.json().catch(() => ({})), run);
  const { request, snippets } = await read.json();
  showSnippets(snippets);
  const body = JSON.stringify(request);
  if (attempt?.body !== body || attempt.settled) attempt = { body, key: crypto.randomUUID?.() ?? `trial-${Date.now()}-${Math.random()}` };
  await send(attempt);
}

// sending shows how much of a file has gone ahead.
function sending(sent, all) {
  const bar = form.querySelector("[data-sending]");
  Object.assign(bar, { hidden: false, value: sent, max: all });
}

// send sends a request, maybe again.
async function send(which) {
  attempt = which;
  const answer = await fetch(form.dataset.tasks, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": attempt.key, Accept: "text/event-stream", Prefer: "wait=0" },
    body: attempt.body,
  });
  if (answer.status === 401) return ended();
  if (!answer.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    const problem = await answer.json();
    attempt.settled = !problem.error?.retryable;
    return await refusal(problem, () => send(which));
  }
  attempt.settled = true;
  await follow(answer, which);
}

// refusal shows an answer that is an error: that of a task which is there, or one about the form.
function refusal(problem, work) {
  if (problem.task_id) return show({ id: problem.task_id }, { again: againOf(attempt) });
  return refused(problem, retrier(work));
}

// againOf returns the button that sends a request again, undefined once that is settled.
const againOf = (which) => (which && !which.settled ? retrier(() => send(which)) : undefined);

// busily does one thing at a time, and says where it can't be done.
async function busily(work) {
  const button = form.querySelector("[data-run]");
  if (button.disabled) return;
  button.disabled = true;
  try {
    await work();
  } catch {
    say("The service can't be reached. Run it again: what was sent runs only once.", { focus: true });
  } finally {
    button.disabled = false;
  }
}

// retrier does again what may succeed now: a request is sent under its own key.
function retrier(work) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button small", textContent: "Retry" });
  button.addEventListener("click", () => busily(async () => {
    clear();
    await work();
  }));
  return button;
}

// incomplete says which files the form has by name alone.
function incomplete() {
  const all = missing();
  for (const { zone, name } of all) mark(zone.at.closest("[data-wire]"), [`${zone.title}: ${name} is missing: choose it again or remove it`]);
  all[0]?.zone.input.focus();
  return all.length > 0;
}

// tooLarge keeps from the service what it would break off in the middle.
function tooLarge(data) {
  const inputs = [...form.querySelectorAll("input[type=file]")];
  const size = ({ name }) => data.getAll(name).reduce((sum, value) => sum + (value.size ?? 0), 0);
  if (inputs.reduce((sum, input) => sum + size(input), 0) <= formBytes) return false;
  const largest = inputs.sort((a, b) => size(b) - size(a))[0];
  const field = largest.closest("[data-wire]");
  mark(field, [`${field.dataset.title}: is too large to be sent from here: give its address, or send it by "unitask upload" and give the artifact's id`]);
  largest.focus();
  return true;
}

// follow shows a task as it goes on. A stream that breaks off is taken up where the task stands.
async function follow(answer, which) {
  let task;
  let text = "";
  for (let tries = 0; tries < 5; tries++) {
    for await (const { name, data } of events(answer.body)) {
      if (name === "delta") {
        text += data.text ?? ""; // or a piece of thoughts, or of a tool call
        stream(text);
        continue;
      }
      if (!task) tell("start", data, which);
      if (task?.state !== data.state && !data.finished_at) await show(data, { text });
      task = data;
      progress(task);
      if (task.finished_at) {
        which.settled = !task.error?.retryable;
        tell("end", task, which);
        return show(task, { again: againOf(which) });
      }
    }
    if (!task) break;
    text = "";
    answer = await fetch(`${form.dataset.tasks}/${task.id}`, { headers: { Accept: "text/event-stream" } });
    if (!answer.ok) break;
  }
  if (task) location.assign(form.dataset.pages + task.id);
}
