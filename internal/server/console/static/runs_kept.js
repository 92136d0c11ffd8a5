// What this browser remembers of the runs of whoever signed in. Without a store for it, as in some private windows, runs go
// on as they would, and nothing is remembered.

import { pictureOf } from "./runs_picture.js";
import { Store } from "./runs_store.js";

// changes tells of each change of what is remembered, in another tab too.
export const changes = new EventTarget();

const person = document.querySelector("[data-person]")?.dataset.person;
const opening = person ? Store.open(person).catch(() => null) : Promise.resolve(null);
const tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("unitask-runs") : null;
tabs?.addEventListener("message", () => changes.dispatchEvent(new Event("change")));

// kept reports whether this browser remembers runs.
export const kept = async () => (await opening) !== null;

// remember does something with the store, and tells of it. A browser that refuses costs the memory alone.
async function remember(work) {
  const store = await opening;
  if (!store) return undefined;
  try {
    const out = await work(store);
    changes.dispatchEvent(new Event("change"));
    tabs?.postMessage("");
    return out;
  } catch {
    return undefined;
  }
}

async function read(work, without) {
  const store = await opening;
  return store ? work(store).catch(() => without) : without;
}

// all returns the runs, the newest first.
export const all = () => read((store) => store.all(), []);

// bodyOf returns the whole request of a run that has no answer.
export const bodyOf = ({ key }) => read((store) => store.body(key));

// clear forgets all runs.
export const clear = () => remember((store) => store.clear());

// sending keeps a run before its request is sent.
export async function sending(run) {
  const { key, at, mode, request, group } = run;
  const { short, missing } = shortened(request, run.names);
  const text = JSON.stringify(short);
  await remember((store) => store.add({
    key, at, mode, group, capability: request.capability, words: wordsOf(request), request: text.length > mostRequest ? null : short, missing, task: null, state: null, pictures: [],
  }, run.body));
  picture(key, run.pictures ?? []);
}

// moved keeps which task a request became and how it goes on, and its cost and a picture of it once it is finished.
export async function moved({ key }, task) {
  const end = task.finished_at ? { ended: Date.parse(task.finished_at), cost: task.usage?.cost?.amount ?? null, code: task.error?.code ?? null } : {};
  await remember(async (store) => {
    await store.change(key, { task: task.id, state: task.state, updated: Date.parse(task.updated_at), ...end });
    await store.answered(key);
  });
  if (task.finished_at && task.output) await outputPicture(key, task);
}

// gone keeps that a task can't be read any more.
export const gone = ({ key }) => remember((store) => store.change(key, { state: "expired" }));

// refused forgets a run whose request became no task.
export const refused = ({ key }) => remember((store) => store.remove(key));

// answered keeps that an answer came to a request which doesn't say whether it became a task. Its sender decides what's next.
export const answered = ({ key }) => remember((store) => store.change(key, { answered: true }));

const takenUp = 3_600_000; // ms for which a request without an answer is sent again, under its own key

const isOpen = ({ state, at }) => state === null && Date.now() - at < takenUp;

// isLost reports whether a run had no answer at all, and should have one.
export const isLost = (run) => isOpen(run) && !run.answered;

// unanswered returns of the same request the run that may have become a task or not, undefined without one.
export async function unanswered(body, mode) {
  for (const { key, at, ...run } of await all()) {
    if (isOpen({ at, ...run }) && run.mode === mode && (await bodyOf({ key })) === body) return { key, at, sent: true };
  }
  return undefined;
}

// The request without its files.

const mostRequest = 256 << 10; // characters; a longer request can't be run again from here

// shortened returns a request in which files stand by their names, as in the trial's form, and those names.
function shortened(request, names = {}) {
  const left = structuredClone(names);
  const missing = [];
  const short = (value, wire) => {
    if (Array.isArray(value)) return value.map((one) => short(one, wire));
    if (value === null || typeof value !== "object") return value;
    if (typeof value.data === "string" && value.content_type) {
      const field = Object.keys(left).find((name) => left[name].length > 0 && within(wire, name.replace(/\.files$/, "")));
      const name = left[field]?.shift() ?? "a file";
      missing.push(name);
      return { ...value, data: `file:${name}` };
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, short(one, `${wire}.${name}`)]));
  };
  return { short: { ...request, input: short(request.input, "input") }, missing };
}

const within = (wire, name) => wire === name || wire.startsWith(`${name}.`);

const mostWords = 160; // characters

// wordsOf returns the first words of a request: those of its last message or its first text.
function wordsOf({ input }) {
  const first = (value) => {
    if (typeof value === "string") return value.trim();
    if (value === null || typeof value !== "object" || value.data || value.url || value.artifact) return "";
    for (const one of Object.values(value)) {
      const text = first(one);
      if (text) return text;
    }
    return "";
  };
  const { messages, prompt, ...rest } = input ?? {};
  const text = first(prompt ?? messages?.findLast(({ role }) => role === "user")?.content ?? rest);
  return text.replace(/\s+/g, " ").slice(0, mostWords);
}

// The pictures.

async function picture(key, blobs) {
  const made = [];
  for (const blob of blobs.slice(0, 3)) {
    const small = await pictureOf(blob);
    if (small) made.push(small);
  }
  if (made.length > 0) await remember((store) => store.change(key, { pictures: made }));
}

const mostLoaded = 20 << 20; // bytes of a file that a small picture is made of

async function outputPicture(key, { output }) {
  const files = [];
  JSON.stringify(output, (_, value) => {
    if (value?.url && /^(image|video)\//.test(value.content_type ?? "")) files.push(value);
    return value;
  });
  const [first] = files;
  if (!first || first.bytes > mostLoaded) return;
  const { pathname, search } = new URL(first.url, location.href); // this page's own server, whatever address it gives others
  const answer = await fetch(pathname + search).catch(() => null);
  if (answer?.ok) await picture(key, [await answer.blob()]);
}
