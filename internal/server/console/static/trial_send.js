// Sends runs, each under an Idempotency-Key of its own that is kept before it is sent, and follows their tasks.
//
// A view shows what comes of a run: by show(task, { said, again }), stream(said), progress(task), refused(problem, again),
// ended() and lost(task); start(task) and end(task) may tell of it. again sends the same run once more.

import { events, saidWith } from "./events.js";
import { answered, moved, refused, sending } from "./runs_kept.js";
import { form } from "./trial_form.js";

const fresh = () => crypto.randomUUID?.() ?? `trial-${Date.now()}-${Math.random()}`;

// newRun returns a run of a request, which has a key of its own. Until it is settled, it is sent again under that key, and
// is the same task. The rest is its mode, maybe the names of its files and the pictures among them, and its group.
export const newRun = (request, rest) => ({ key: fresh(), at: Date.now(), request, body: JSON.stringify(request), settled: false, ...rest });

// tasksOf is the address of a mode's tasks.
export const tasksOf = (mode) => `${form.dataset.api}${mode}/tasks`;

const streamed = { Accept: "text/event-stream" };

// create sends a run's request, for its answer.
export const create = (run, options = {}) => fetch(tasksOf(run.mode), {
  ...options, method: "POST", body: run.body, headers: { "Content-Type": "application/json", "Idempotency-Key": run.key, Prefer: "wait=0", ...options.headers },
});

// readTask asks for a task.
export const readTask = (mode, id, options) => fetch(`${tasksOf(mode)}/${id}`, options);

// held does something while this page holds a run, which other pages see.
const held = ({ key }, work) => (navigator.locks ? navigator.locks.request(lockOf(key), { ifAvailable: true }, work) : work());

const lockOf = (key) => `unitask-run-${key}`;

// isFree reports whether no page holds a run, maybe after some milliseconds.
export const isFree = ({ key }, patience) => (navigator.locks
  ? navigator.locks.request(lockOf(key), { signal: AbortSignal.timeout(patience) }, () => true).catch(() => false) : true);

// send sends a run, maybe again, and follows its task to the end.
export const send = (run, view) => held(run, async () => {
  await sending(run);
  const stop = stopper(run);
  const before = run.sent;
  run.sent = true;
  const answer = await create(run, { headers: streamed, signal: stop.signal });
  if (answer.headers.get("Content-Type")?.startsWith("text/event-stream")) return follow(run, view, answer);
  const problem = await answer.json().catch(() => ({}));
  await keepRefusal({ ...run, sent: before }, answer, problem);
  if (!problem.task_id && answer.status < 500) run.sent = before;
  if (answer.status === 401) return view.ended();
  run.settled = Boolean(problem.error) && !problem.error.retryable;
  const again = againOf(run, view);
  return problem.task_id ? view.show({ id: problem.task_id }, { again }) : view.refused(problem, again);
});

const againOf = (run, view) => (run.settled || !run.body ? undefined : () => send(run, view));

// keepRefusal keeps of an error what is sure: that of a task that is there, or that the request became none. An error of the
// server's own says neither; nor does the refusal of a request that was sent before, whose task may be there.
export async function keepRefusal(run, answer, problem) {
  const { task_id: id, error } = problem;
  if (id) await moved(run, { id, state: "failed", error, finished_at: new Date().toISOString() });
  else if (answer.status < 500 && !run.sent) await refused(run);
  else await answered(run);
}

// resume follows the task of a run, and reports whether the task is still there.
export const resume = (run, view) => held(run, async () => {
  const stop = stopper(run);
  const answer = await readTask(run.mode, run.task, { headers: streamed, signal: stop.signal });
  if (!answer.ok) return false;
  run.settled = !run.body; // a task that is cut off is found again by its request, under its key
  await follow(run, view, answer);
  return true;
});

// leave stops following a run. A request that has no answer yet gets it first.
export function leave(run) {
  run.left = true;
  if (!run.task) return;
  run.settled = true;
  run.stop?.abort();
}

function stopper(run) {
  run.left = false;
  run.stop?.abort(); // it is followed once
  run.stop = new AbortController();
  return run.stop;
}

// follow shows a task as it goes on, by an answer that streams it. A stream that breaks off is taken up where the task stands.
async function follow(run, view, answer) {
  let task;
  let said = { text: "", thoughts: "" };
  for (let tries = 0; tries < 5; tries++) {
    for await (const { name, data } of events(answer.body)) {
      if (name === "delta") {
        said = saidWith(said, data);
        view.stream(said);
        continue;
      }
      const first = !task;
      if (first) {
        run.task = data.id;
        view.start?.(data);
      }
      if (first || task.state !== data.state) moved(run, data);
      if (run.left) return leave(run);
      if (task?.state !== data.state && !data.finished_at) await view.show(data, { said });
      task = data;
      view.progress(task);
      if (!task.finished_at) continue;
      run.settled = !task.error?.retryable;
      view.end?.(task);
      return view.show(task, { again: againOf(run, view) });
    }
    if (run.left) return undefined;
    if (!task) break;
    said = { text: "", thoughts: "" };
    answer = await readTask(run.mode, task.id, { headers: streamed, signal: run.stop.signal });
    if (!answer.ok) break;
  }
  if (task) view.lost(task);
  return undefined;
}
