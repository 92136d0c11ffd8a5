// Runs a trial: the form becomes the body of a creation, which goes to the API's own handler under a fresh
// Idempotency-Key. The answer is followed as a stream; the finished result is the one that the task's page shows.

import { copyButton } from "./parts.js";
import { Refused, sendAhead } from "./upload.js";

const form = document.getElementById("trial");
const result = document.getElementById("result");
const titles = new Map(); // what the form calls each field and object
const idle = result?.firstElementChild.cloneNode(true); // what stands there before anything ran
if (form) start();

function start() {
  form.querySelectorAll("[data-wire], [data-object]").forEach(({ dataset }) => titles.set(dataset.wire ?? dataset.object, dataset.title));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busily(run);
  });
  form.addEventListener("input", preview);
  form.addEventListener("change", preview);
  document.querySelectorAll("[data-snippet]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.snippet)));
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
  preview();
}

function removeRow(row) {
  const rows = row.parentElement;
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  removable(rows);
  next.querySelector("textarea").focus();
  preview();
}

// removable lets each row be removed but the last one.
function removable(rows) {
  [...rows.children].forEach((row, i) => {
    const button = row.querySelector("[data-remove]");
    button.hidden = rows.children.length === 1;
    button.setAttribute("aria-label", `Remove ${i + 1}`);
  });
}

// The snippets.

function choose(index) {
  for (const button of document.querySelectorAll("[data-snippet]")) button.setAttribute("aria-pressed", String(button.dataset.snippet === index));
  for (const block of document.querySelectorAll("[data-code]")) block.hidden = block.dataset.code !== index;
}

function showSnippets(snippets) {
  snippets.forEach((one, i) => { document.getElementById(`code-${i}`).textContent = one.text; });
}

const previewBytes = 256 << 10; // more than that is sent only to be run
let previews = 0;
let waiting;

function preview() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const data = new FormData(form);
    data.set("preview", "yes");
    if ([...data.values()].some((value) => value instanceof File && value.size > previewBytes)) return;
    const mine = ++previews;
    const answer = await fetch(form.action, { method: "POST", body: data }).catch(() => null);
    if (answer?.ok && mine === previews) showSnippets((await answer.json()).snippets);
  }, 300);
}

// The run.

const formBytes = 15 << 20;
let attempt; // the last request. Until it is settled, it is sent again under its own key, and is the same task.

async function run() {
  clear();
  const data = new FormData(form);
  try {
    await sendAhead(data, form.dataset.uploads, sending);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    return problem.status === 401 ? ended() : await refused(problem.problem, run);
  } finally {
    form.querySelector("[data-sending]").hidden = true;
  }
  if (tooLarge(data)) return;
  const read = await fetch(form.action, { method: "POST", body: data });
  if (read.status === 401) return ended();
  if (!read.ok) return refused(await read.json().catch(() => ({})), run);
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
    return await refused(problem, () => send(which));
  }
  attempt.settled = true;
  await follow(answer);
}

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
async function follow(answer) {
  let task;
  let text = "";
  for (let tries = 0; tries < 5; tries++) {
    for await (const { name, data } of events(answer.body)) {
      if (name === "delta") {
        text += data.text ?? ""; // or a piece of thoughts, or of a tool call
        stream(text);
        continue;
      }
      if (task?.state !== data.state && !data.finished_at) await show(data.id, text);
      task = data;
      progress(task);
      if (task.finished_at) {
        attempt.settled = !task.error?.retryable;
        return show(task.id);
      }
    }
    if (!task) break;
    text = "";
    answer = await fetch(`${form.dataset.tasks}/${task.id}`, { headers: { Accept: "text/event-stream" } });
    if (!answer.ok) break;
  }
  if (task) location.assign(form.dataset.pages + task.id);
}

async function* events(body) {
  let rest = "";
  for await (const piece of chunks(body.pipeThrough(new TextDecoderStream()))) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const name = /^event: ?(.*)$/m.exec(frame)?.[1];
      const data = /^data: ?(.*)$/m.exec(frame)?.[1];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

async function* chunks(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    yield value;
  }
}

// show puts the result of the task's own page here.
async function show(id, text) {
  const answer = await fetch(form.dataset.pages + id);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const section = page.querySelector("#task .output");
  if (!section) return;
  const links = document.createElement("div");
  links.className = "row";
  const link = Object.assign(document.createElement("a"), { className: "button small", href: form.dataset.pages + id, textContent: "The task's page" });
  links.append(link);
  if (section.querySelector("progress")) links.prepend(canceler(id));
  else if (!attempt.settled) {
    const which = attempt;
    links.prepend(retrier(() => send(which)));
  }
  section.append(links);
  result.replaceChildren(section);
  if (text) stream(text);
}

function canceler(id) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button small danger", textContent: "Cancel" });
  button.addEventListener("click", () => {
    button.disabled = true;
    fetch(`${form.dataset.tasks}/${id}/cancel`, { method: "POST" }).catch(() => { button.disabled = false; });
  });
  return button;
}

function stream(text) {
  const at = result.querySelector("#stream");
  if (!at) return;
  at.hidden = false;
  at.textContent = text;
}

function progress(task) {
  const bar = result.querySelector("progress");
  if (bar && task.progress !== null) bar.value = task.progress;
}

// The refusals: each row at the field that it is about.

function clear() {
  say("");
  for (const field of form.querySelectorAll("[data-wire]")) mark(field, []);
}

async function refused(problem, again) {
  const error = problem.error ?? { code: "INTERNAL", message: "the service gave no answer", details: [] };
  if (problem.task_id) return show(problem.task_id);
  const rows = error.details ?? [];
  const loose = rows.length > 0 && error.message === `${rows[0].field} ${rows[0].message}` ? [] : [spoken(error.message)];
  const wrong = new Map(); // what is said at each field
  for (const row of rows) {
    const field = about(row.field);
    if (field) wrong.set(field, [...(wrong.get(field) ?? []), remark(field, row)]);
    else loose.push(`${row.field} ${row.message}`);
  }
  for (const [field, remarks] of wrong) {
    mark(field, remarks);
    field.closest("details")?.setAttribute("open", "");
  }
  const [first] = wrong.keys();
  first?.querySelector("input, select, textarea").focus();
  result.replaceChildren(idle.cloneNode(true)); // what an earlier request made isn't this one's
  const later = error.retry_after_seconds ? ` Try again in ${waitOf(error.retry_after_seconds)}.` : "";
  const what = loose.join("; ") || `see ${[...wrong.keys()].map((field) => field.dataset.title).join(", ")}`;
  say(`${error.code}: ${what}.${later}`, { focus: !first, retry: error.retryable && again, request: problem.request_id });
}

// remark says a row of an error as the form does, at the field that shows it: by titles, and items of lists by number.
function remark(field, { field: name, message }) {
  const way = field.closest("[data-way]");
  if (way && !within(name, way.dataset.way)) return `${way.parentElement.dataset.title}: ${message.replace(/, unless .*/, "")}`; // of a way not taken
  const inside = within(name, field.dataset.wire) ? name.slice(field.dataset.wire.length).split(/[.[\]]/).filter(Boolean) : [];
  const places = inside.map((step) => (/^\d+$/.test(step) ? `item ${Number(step) + 1}` : field.querySelector(`[name="${field.dataset.wire}.${step}"]`)?.getAttribute("aria-label")));
  return `${[field.dataset.title, ...places.filter(Boolean)].join(", ")}: ${spoken(message, name)}`;
}

// spoken puts the form's titles in the place of the API's names: of whole ones, and after "unless" and "with" and within
// JSON of those beside or below the field that the message is about.
function spoken(message, about = "") {
  const near = (name) => titles.get(`${about}.${name}`) ?? titles.get(about.replace(/[^.]*$/, name));
  return message
    .replace(/\b(?:input|parameters)(?:\.\w+)+/g, (name) => titles.get(name) ?? name)
    .replace(/\b(?:unless|with) .*/, (names) => names.replace(/\w+/g, (name) => near(name) ?? name))
    .replace(/\{("\w+":[^{}]*)\}/g, (_, pairs) => pairs.replace(/(,?)"(\w+)":/g, (_, comma, name) => `${comma && ", "}${near(name) ?? name} `))
    .replace(/"(\w+)"/g, (word, name) => near(name) ?? word);
}

// waitOf says a wait in the largest unit that tells it well.
function waitOf(seconds) {
  const tells = ([, size]) => seconds >= 2 * size || seconds === size;
  const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(tells) ?? ["second", 1];
  const count = Math.ceil(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

// ended offers to sign in elsewhere: the form stays as it is.
function ended() {
  say("Your session has ended. Sign in again in another tab, then run this: the form stays as it is.", { focus: true });
  const row = Object.assign(document.createElement("p"), { className: "row" });
  row.append(Object.assign(document.createElement("a"), { href: form.dataset.signIn, target: "_blank", rel: "noopener", className: "button small", textContent: "Sign in" }));
  form.querySelector("[data-problem]").append(row);
}

// about returns the field that a detail is or belongs to; an object's own is its first member. In the place of a field that
// isn't given stands the one that is chosen instead.
function about(name) {
  const fields = [...form.querySelectorAll("[data-wire]")];
  const inside = fields.filter(({ dataset }) => within(name, dataset.wire));
  inside.sort((a, b) => b.dataset.wire.length - a.dataset.wire.length);
  const field = inside[0] ?? (name.includes(".") ? fields.find((field) => field.dataset.wire.startsWith(`${name}.`)) : undefined);
  const way = field?.closest("[data-way]");
  return way?.disabled ? way.parentElement.querySelector("[data-way]:enabled [data-wire]") : field;
}

// within reports whether a detail's name is that of a field or of something in it.
const within = (name, wire) => name === wire || name.startsWith(`${wire}.`) || name.startsWith(`${wire}[`);

function mark(field, remarks) {
  const problem = field.querySelector(".problem");
  problem.replaceChildren(...remarks.map((remark) => Object.assign(document.createElement("p"), { textContent: remark })));
  problem.hidden = remarks.length === 0;
  for (const control of field.querySelectorAll("input, select, textarea")) {
    if (remarks.length > 0) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }
}

function say(message, { focus, retry, request } = {}) {
  const at = form.querySelector("[data-problem]");
  at.textContent = message;
  at.hidden = !message;
  if (request || retry) {
    const row = Object.assign(document.createElement("p"), { className: "row small" });
    if (retry) row.append(retrier(retry));
    if (request) {
      const id = Object.assign(document.createElement("code"), { id: "problem-request", textContent: request });
      const copy = Object.assign(document.createElement("button"), { type: "button", className: "button small", textContent: "Copy" });
      copy.dataset.copy = "#problem-request";
      copy.setAttribute("aria-label", "Copy the request's id");
      copyButton(copy);
      row.append("Request", id, copy);
    }
    at.append(row);
  }
  if (focus && message) at.scrollIntoView({ block: "center" });
}
