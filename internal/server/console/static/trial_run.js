// Runs a trial: the form becomes the body of a creation, which goes to the API's own handler under a fresh
// Idempotency-Key. The finished result is the one that the task's page shows.

import { unanswered } from "./runs_kept.js";
import { form, missing, readForm } from "./trial_form.js";
import { settled } from "./trial_json.js";
import { clear, ended, mark, refused, say } from "./trial_refusal.js";
import { chosenPeers, hideColumns, showColumns } from "./trial_compare.js";
import { progress, reset, show, stream } from "./trial_result.js";
import { leave, newRun, resume, send } from "./trial_send.js";
import { Refused, sendAhead } from "./upload.js";

// runs tells of runs by events: "show" with { runs } before they are shown; "start" with { task, request, run, runs } once the
// service has one of them, and "end" with the same once it is finished.
export const runs = new EventTarget();

const formBytes = 15 << 20;
let attempts = []; // the last runs. Until one is settled, the same request is sent again under its key, and is the same task.
let shown = []; // the runs that are to be seen, one in the place of results or several side by side

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
    if (!event.repeat) form.requestSubmit();
  });
  // A key that is held down doesn't press the button that has the focus again and again: each run costs.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.repeat && !event.target.matches?.("textarea")) event.preventDefault();
  });
  const keys = form.querySelector("[data-keys]");
  keys.hidden = false;
  keys.textContent = /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘ Enter" : "Ctrl + Enter";
}

// showOnly makes runs the ones that are to be seen. Those before are followed no longer, and go on.
export function showOnly(next) {
  shown.filter((run) => !next.includes(run)).forEach(leave);
  shown = next;
  if (next.length < 2) hideColumns();
  runs.dispatchEvent(new CustomEvent("show", { detail: { runs: next } }));
}

// viewOf shows a run at a pane, for as long as it is to be seen.
function viewOf(run, pane, { refused, lost }) {
  const isShown = () => shown.includes(run);
  const mine = (work) => (...all) => (isShown() ? work(...all) : undefined);
  const tell = (name) => (task) => runs.dispatchEvent(new CustomEvent(name, { detail: { task, request: run.request, run, runs: shown } }));
  return {
    show: mine((task, { said, again } = {}) => pane.show(task, { said, again: again && retrier(again), isShown })),
    stream: mine(pane.stream), progress: mine(pane.progress), start: mine(tell("start")), end: mine(tell("end")),
    ended: mine(ended), refused: mine((problem, again) => refused(problem, again && retrier(again))), lost: mine(lost),
  };
}

// prepare makes a run the one that is to be seen, and returns its view.
function prepare(run) {
  attempts = [run];
  showOnly([run]);
  return viewOf(run, { show, stream, progress }, { refused, lost: ({ id }) => location.assign(form.dataset.pages + id) });
}

// go sends a run and shows what comes of it.
export const go = (run) => send(run, prepare(run));

// goBack shows a run that has a task, and follows it; it reports whether the task is still there.
export const goBack = (run) => resume(run, prepare(run));

// abreast does something with each of several runs, which are shown side by side.
function abreast(all, work) {
  reset("The results stand side by side below.");
  const columns = showColumns(all);
  attempts = all;
  showOnly(all);
  return Promise.all(all.map((run, i) => work(run, viewOf(run, columns[i].pane, columns[i])).catch((problem) => {
    run.cut = true;
    columns[i].say("The service can't be reached.");
    throw problem;
  })));
}

// goBackAbreast shows runs that have tasks side by side, and follows them.
export const goBackAbreast = (all) => abreast(all, resume);

async function run() {
  clear();
  const read = await readRequest(run);
  if (!read) return;
  const all = await runsOf(read, chosenPeers());
  return all.length > 1 ? abreast(all, (one, view) => (one.settled ? resume : send)(one, view)) : go(all[0]);
}

// runsOf returns a run of the request for its capability and for each of the others. One that isn't settled goes on under its
// own key; where one of several was cut off, those beside it are taken up as they are.
function runsOf({ request, ...rest }, names) {
  const [at, group] = [Date.now(), names.length > 0 ? newRun(request).key : undefined];
  const cut = names.length > 0 && attempts.some((one) => one.cut && !one.settled);
  return Promise.all([request.capability, ...names].map(async (capability, i) => {
    const run = newRun({ ...request, capability }, { ...rest, group, at: at + i });
    const before = attempts.find((one) => one.body === run.body && (!one.settled || (cut && one.task)));
    return before ? Object.assign(before, { group, cut: false }) : { ...run, ...await unanswered(run.body, run.mode) };
  }));
}

// readRequest returns the form's request, and its files; undefined if it is refused, which is said. again is done should
// the refusal pass.
export async function readRequest(again) {
  if (!(await settled()) || incomplete()) return undefined;
  const data = readForm();
  const pictures = [...data.values()].filter((value) => value instanceof File && value.size > 0);
  try {
    await sendAhead(data, form.dataset.uploads, sending);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    return problem.status === 401 ? ended() : refused(problem.problem, retrier(again));
  } finally {
    form.querySelector("[data-sending]").hidden = true;
  }
  if (tooLarge(data)) return undefined;
  const read = await fetch(form.action, { method: "POST", body: data });
  if (read.status === 401) return ended();
  if (!read.ok) return refused(await read.json().catch(() => ({})), retrier(again));
  const { request } = await read.json();
  return { request, pictures, names: namesOf(data), mode: data.get("mode") };
}

// namesOf returns the names of the files that a form's values hold themselves, by the fields' names.
function namesOf(data) {
  const files = (name) => data.getAll(name).filter((value) => value instanceof File && value.size > 0);
  return Object.fromEntries([...new Set(data.keys())].map((name) => [name, files(name).map((file) => file.name)]));
}

// sending shows how much of a file has gone ahead.
function sending(sent, all) {
  const bar = form.querySelector("[data-sending]");
  Object.assign(bar, { hidden: false, value: sent, max: all });
}

let turn = 0; // of what is done

// busily does one thing at a time, maybe instead of the one that is done now, and says where it can't be done.
export async function busily(work, { instead } = {}) {
  const button = form.querySelector("[data-run]");
  if (button.getAttribute("aria-disabled") && !instead) return;
  const mine = ++turn;
  button.setAttribute("aria-disabled", "true"); // a disabled one would lose the focus
  try {
    await work();
  } catch {
    if (mine === turn) say("The service can't be reached. Run it again: what was sent runs only once.", { focus: true });
  } finally {
    if (mine === turn) button.removeAttribute("aria-disabled");
  }
}

// retrier does again what may succeed now: a request is sent under its own key.
function retrier(work) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button small", textContent: "Retry" });
  button.addEventListener("click", () => busily(async () => {
    clear();
    await work();
  }, { instead: true }));
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
