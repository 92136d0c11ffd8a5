// The list of runs: the newest first, of one capability or all, some at a time.

const section = document.getElementById("runs");
const part = (name) => section.querySelector(`[data-${name}]`);
const some = 8;
let most = some;
let rows = []; // what is shown: { run, sign } and the elements of newRow

// startList prepares the list. render is called when another choice is made, do when something is to be done with a run, and
// forget when all are to go.
export function startList({ render, act, forget }) {
  section.hidden = false;
  section.querySelector("#runs-of").addEventListener("change", () => {
    most = some;
    render();
  });
  part("more").addEventListener("click", async () => {
    const from = most;
    most += some * 4;
    await render();
    rows[from]?.item.querySelector("button").focus();
  });
  part("list").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-act]");
    const row = button && rows.find(({ item }) => item.contains(button));
    if (row) act(button.dataset.act, row.run, row.item);
  });
  const at = part("clear");
  const clear = at.firstElementChild;
  clear.addEventListener("click", () => ask(at, "Forget all of them?", "Forget them", forget));
}

// ask puts a question in the place of buttons until it is answered. The focus goes to the answer and comes back.
export function ask(at, question, yes, work) {
  const before = [...at.children];
  const back = () => {
    at.replaceChildren(...before);
    (before.find((one) => one.dataset.act === "again") ?? before.find((one) => one.matches("button")))?.focus();
  };
  const button = (text, style, then) => {
    const one = Object.assign(document.createElement("button"), { type: "button", className: `button small ${style}`, textContent: text });
    one.addEventListener("click", () => {
      back();
      then();
    });
    return one;
  };
  const first = button(yes, "primary", work);
  at.replaceChildren(Object.assign(document.createElement("span"), { className: "small", textContent: question }), first, button("No", "", () => {}));
  first.focus();
}

// showList shows runs. here are the keys of those that the page shows itself.
export function showList(runs, { kept, here, now = new Date() }) {
  const choice = section.querySelector("#runs-of");
  offer(choice, [...new Set(runs.map(({ capability }) => capability))].sort());
  const of = runs.filter(({ capability }) => !choice.value || capability === choice.value);
  const before = new Map(rows.map((row) => [row.run.key, row]));
  rows = of.slice(0, most).map((run) => {
    const sign = JSON.stringify([run, run.pictures.length, here.has(run.key), dayOf(now)]);
    const row = before.get(run.key) ?? newRow(run);
    if (row.sign !== sign) show(row, run, here.has(run.key), now);
    return Object.assign(row, { run, sign });
  });
  place(part("list"), rows.map(({ item }) => item));
  part("tools").hidden = part("kept").hidden = runs.length === 0;
  part("more").hidden = of.length <= most;
  part("none").hidden = runs.length > 0;
  if (!kept) part("none").firstElementChild.textContent = "This browser keeps no list of your runs, as in a private window. The account's tasks are under Tasks.";
}

// place makes the list what items are, and moves none that has the focus.
function place(list, items) {
  for (const item of [...list.children]) if (!items.includes(item)) item.remove();
  items.forEach((item, i) => { if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null); });
}

function offer(choice, names) {
  if (choice.options.length === names.length + 1 && names.every((name, i) => choice.options[i + 1].value === name)) return;
  const { value } = choice;
  choice.replaceChildren(choice.options[0], ...names.map((name) => new Option(name, name)));
  choice.value = names.includes(value) ? value : "";
}

const make = (tag, members, ...children) => {
  const one = Object.assign(document.createElement(tag), members);
  one.append(...children);
  return one;
};

// newRow makes a row without a run.
function newRow({ key, words, capability }) {
  const open = make("button", { type: "button", className: "open", id: `run-${key}`, textContent: words || capability, title: words || capability });
  const again = make("button", { type: "button", className: "button small" });
  const tweak = make("button", { type: "button", className: "button small", textContent: "Tweak" });
  for (const [act, button] of Object.entries({ open, again, tweak })) button.dataset.act = act;
  for (const button of [again, tweak]) button.setAttribute("aria-describedby", open.id);
  const item = make("li", {}, make("span"), make("div", { className: "about" }, open, make("div")), make("span"), make("div", { className: "row" }, again, tweak));
  return { item, open, again, tweak };
}

// show shows a run in its row. The buttons stay the same, and with them the focus, a press that has begun and a question.
function show({ item, open, again, tweak }, run, current, now) {
  const [picture, about, state] = item.children;
  picture.replaceWith(thumb(run));
  about.lastElementChild.replaceWith(line(run, now));
  Object.assign(state, { className: `pill ${run.state ?? "waiting"}`, textContent: run.state ?? "no answer yet" });
  if (current) open.setAttribute("aria-current", "true");
  else open.removeAttribute("aria-current");
  again.textContent = run.state === null ? "Send again" : "Run again";
  again.hidden = run.state !== null && (!run.request || run.missing.length > 0);
  tweak.hidden = !run.request;
}

const signs = { text: "Aa", image: "▦", video: "▶", audio: "♪" };

function thumb({ pictures, capability }) {
  const [picture] = pictures;
  if (!picture) {
    const sign = make("span", { className: "thumb", textContent: signs[capability.split(".")[0]] ?? "•" });
    sign.setAttribute("aria-hidden", "true");
    return sign;
  }
  const image = make("img", { className: "thumb", alt: "", width: 40, height: 40, src: URL.createObjectURL(picture) });
  image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
  return image;
}

function line(run, now) {
  const at = new Date(run.at);
  const time = make("time", { dateTime: at.toISOString(), textContent: dayOf(at) === dayOf(now) ? clock(at) : `${dayOf(at)}, ${clock(at)}` });
  const parts = [make("code", { textContent: run.capability }), run.mode, time];
  if (run.cost && run.mode === "live") parts.push(price(run.cost));
  if (run.code) parts.push(run.code);
  if (run.missing.length > 0) parts.push(`with ${run.missing.join(", ")}`);
  return make("div", { className: "facts-line" }, ...parts.map((one) => make("span", {}, one)));
}

// Days and clocks are those of the zone in which the pages show times, or UTC where the browser doesn't know it.
const zone = () => {
  const timeZone = document.documentElement.dataset.zone || "UTC";
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone });
    return { timeZone };
  } catch {
    return { timeZone: "UTC" };
  }
};
const dayOf = (at) => at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", ...zone() });
const clock = (at) => at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short", ...zone() });

// price writes an amount as the pages do.
export const price = (amount) => {
  const [whole, cents = ""] = amount.split(".");
  return `$${whole}.${cents.padEnd(2, "0")}`;
};
