// The runs that this browser remembers: one can be looked at, run again and changed, and the page goes on with those that a
// page had begun which was left.

import { all, bodyOf, changes, clear, gone, isLost, kept, moved } from "./runs_kept.js";
import { ask, price, showList, startList } from "./runs_list.js";
import { choosePeers } from "./trial_compare.js";
import { fillForm, form, isTouched } from "./trial_form.js";
import { clear as unsay, say } from "./trial_refusal.js";
import { reset } from "./trial_result.js";
import { busily, go, goBack, goBackAbreast, runs, showOnly } from "./trial_run.js";
import { create, isFree, keepRefusal, newRun, readTask } from "./trial_send.js";

const pollEvery = 5_000; // ms between looks at tasks that another page, or none, follows
const page = Object.fromEntries(["capability", "mode"].map((name) => [name, form?.elements.namedItem(name).value]));
let here = new Set(); // the keys of the runs that this page shows

const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
const isOpened = location.hash.startsWith("#request=") && !isReload; // by an address that holds the form, which is shown then

// startRuns lists the runs and goes on where a page was left.
export function startRuns() {
  startList({ render, act, forget: clear });
  changes.addEventListener("change", render);
  for (const name of ["show", "start"]) runs.addEventListener(name, ({ detail }) => hold(detail.runs));
  runs.addEventListener("end", ({ detail }) => release(detail));
  setInterval(() => { if (!document.hidden) look(); }, pollEvery);
  render();
  const before = left();
  busily(() => goOn(before)).then(() => adopt(before));
}

const render = async () => showList(await all(), { kept: await kept(), here });

// hold says which runs are shown here, in this tab and in the page's address, so that another reading of the page finds them.
export function hold(shown) {
  here = new Set(shown.map(({ key }) => key));
  remember(spots.here, [...here]);
  remember(spots.ended, false);
  const fragment = new URLSearchParams(location.hash.slice(1));
  const tasks = shown.map(({ task }) => task).filter(Boolean);
  if (tasks.length > 0) {
    fragment.set("task", tasks.join("."));
    fragment.delete("request"); // which isn't what is shown
  }
  if (tasks.length === 0) fragment.delete("task");
  history.replaceState(history.state, "", `${location.pathname}${location.search}${fragment.size > 0 ? `#${fragment}` : ""}`);
  render();
}

// release keeps that this tab has seen the end of all that it shows.
function release({ run, runs: shown }) {
  run.ended = true;
  if (shown.every(({ ended }) => ended)) remember(spots.ended, true);
}

// left returns the keys of the runs that the page before left in this tab: those that go on; of this page, read again, all,
// for it may have seen their end while it was being replaced, when it could change its address no more.
function left() {
  const keys = ((isReload || !recall(spots.ended)) && recall(spots.here)) || [];
  remember(spots.here, isOpened ? [] : keys);
  return keys;
}

const named = () => new URLSearchParams(location.hash.slice(1)).get("task")?.split(".").filter((id) => /^\w+$/.test(id)) ?? [];

// The session's storage is this tab's, and lasts as long.

const spots = { here: "unitask-runs-here", ended: "unitask-runs-ended", next: "unitask-runs-next" };

function remember(spot, value) {
  try {
    sessionStorage.setItem(spot, JSON.stringify(value));
  } catch {
    // the address has to do
  }
}

function recall(spot) {
  try {
    return JSON.parse(sessionStorage.getItem(spot)) ?? undefined;
  } catch {
    return undefined;
  }
}

// What is done with a run.

const deeds = { open, again, tweak };

// act does something with a run, on the page of its capability and mode.
async function act(deed, run, item) {
  if (deed === "again" && run.mode === "live") return askPrice(run, item);
  return perform(deed, run);
}

function perform(deed, run) {
  if (isOfPage(run)) return deeds[deed](run);
  remember(spots.next, { deed, key: run.key });
  return location.assign(`${location.pathname}?${new URLSearchParams({ capability: run.capability, mode: run.mode })}`);
}

const isOfPage = ({ capability, mode }) => capability === page.capability && mode === page.mode;

// askPrice asks before a live run, by what it costs at most.
async function askPrice(run, item) {
  const answer = await fetch(`${form.dataset.api}${run.mode}/estimates`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: (await bodyOf(run)) ?? JSON.stringify(run.request),
  }).catch(() => null);
  const told = await answer?.json().catch(() => null);
  if (answer?.ok) ask(item.lastElementChild, `At most ${price(told.at_most.amount)}.`, "Run live", () => perform("again", run));
  else say(told?.error ? `${told.error.code}: ${told.error.message}.` : "The price can't be told now: the service can't be reached.", { focus: true });
}

// open shows a run as it was: the form that was filled in, and what came of it.
function open(run) {
  return busily(async () => {
    await fill(run);
    if (run.task) return back(run);
    showOnly([]);
    reset();
    return say("It isn't known whether this request became a task. Send it again: what was sent runs only once.", { focus: true });
  }, { instead: true });
}

// again runs a request once more, under a key of its own. One without an answer is sent under the key that it has.
function again(run) {
  return busily(async () => {
    await fill(run);
    if (run.state === null) return answerOf(run);
    return go(newRun(run.request, { mode: run.mode }));
  }, { instead: true });
}

// tweak fills the form with a run's request, to be changed.
function tweak(run) {
  return busily(async () => {
    showOnly([]);
    reset();
    const { problem, missing = [] } = await fill(run);
    if (problem) return say(`The form can't show this request: ${problem.error.message}.`, { focus: true });
    if (missing.length > 0) say(`Choose again: ${missing.join(", ")}.`);
    form.scrollIntoView({ block: "nearest" });
    return form.querySelector("[data-wire] :is(textarea, input:not([type=radio], [type=range]), select):enabled")?.focus();
  }, { instead: true });
}

// fill makes the form say a run's request, and takes back what was said of another.
async function fill(run, { unless } = {}) {
  unsay();
  return run.request && isOfPage(run) ? fillForm(run.request, { stay: true, unless }) : {};
}

// kin returns what goes on with a run that is kept. Its body is known where no file is missing.
const kin = (run) => ({ ...run, body: run.request && run.missing.length === 0 ? JSON.stringify(run.request) : undefined, sent: true, settled: true });

async function back(run) {
  if (await goBack(kin(run))) return;
  await gone(run);
  showOnly([]);
  say("The task isn't there any more.", { focus: true });
}

// answerOf sends a request that has no answer yet once more, under its own key, and shows its task.
async function answerOf(run) {
  const body = await bodyOf(run);
  if (body) await go({ ...kin(run), body, settled: false });
  else say("No answer came to this request, and this browser doesn't hold it any more. If it arrived, it is under Tasks.", { focus: true });
}

// Going on.

async function goOn(before) {
  const next = recall(spots.next);
  remember(spots.next, null);
  const kept = await all();
  const run = kept.find(({ key }) => key === next?.key);
  if (run && isOfPage(run)) return deeds[next.deed](run);
  await takeUp(kept.filter(({ key }) => before.includes(key)));
  if (isOpened) return undefined; // the runs that were left are in the list
  const runs = ofPage(await all());
  const ids = named();
  if (ids.length > 0) return show(ids.map((task) => runs.find((one) => one.task === task) ?? { key: task, task, mode: page.mode, missing: [] }));
  const mine = runs.filter(({ key, task }) => task && before.includes(key)).reverse(); // another page may have seen their end
  return mine.length > 0 ? show(mine) : undefined;
}

// takeUp sends those requests that no answer at all came to once more, each under its own key, so that it is one task.
async function takeUp(runs) {
  for (const run of runs.filter(isLost)) {
    const body = await bodyOf(run);
    if (!body) continue;
    const again = { ...run, body, sent: true };
    const answer = await create(again);
    const told = await answer.json().catch(() => ({}));
    if (answer.ok) await moved(run, told);
    else await keepRefusal(again, answer, told);
  }
}

const patience = 5_000; // ms for a page that was just closed to let its runs go

// adopt takes up the requests that a page has left which isn't there any more, and goes on with a run of such a page, unless
// something is shown here. This tab's own requests, which weren't taken up if the service is away, wait for a word; so does
// a live one of another page, which costs.
async function adopt(before) {
  for (const run of (await all()).filter((one) => isLost(one) && one.mode !== "live")) {
    if (!before.includes(run.key) && !here.has(run.key) && (await isFree(run, patience))) await takeUp([run]).catch(() => {});
  }
  const run = (await all()).find((one) => goesOn(one) && isOfPage(one) && !here.has(one.key));
  if (run && isIdle() && (await isFree(run, patience)) && isIdle()) await busily(() => show([run]));
}

// isIdle reports whether nothing is shown here, and the form is as the page brought it.
const isIdle = () => here.size === 0 && !isTouched() && !location.hash.startsWith("#request=");

// show shows runs that have tasks, in the form that they came from, unless somebody fills it in already.
async function show(runs) {
  await fill(runs.find(isOfPage) ?? runs[0], { unless: isTouched });
  choosePeers(runs.slice(1).map(({ capability }) => capability));
  return runs.length > 1 ? goBackAbreast(runs.map(kin)) : back(runs[0]);
}

// ofPage returns those of runs that belong to the page's capability, and those that ran beside one.
function ofPage(runs) {
  const groups = new Set(runs.filter(isOfPage).map(({ group }) => group));
  return runs.filter((run) => isOfPage(run) || (run.group && groups.has(run.group)));
}

const ends = ["succeeded", "failed", "canceled", "expired"];

const goesOn = ({ task, state }) => task && !ends.includes(state);

// look reads how tasks are that aren't followed here.
async function look() {
  for (const run of (await all()).filter(goesOn)) {
    if (here.has(run.key)) continue;
    const answer = await readTask(run.mode, run.task).catch(() => null);
    if (answer?.ok) {
      const task = await answer.json();
      if (task.state !== run.state) await moved(run, task);
    } else if (answer?.status === 404) {
      await gone(run);
    }
  }
}
