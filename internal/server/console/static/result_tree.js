// Shows JSON as a tree that opens: what is closed isn't made yet, and of long lists a part at a time.

import { copier, keep, kept, make, switcher } from "./result_make.js";

const choice = "result.json";
const atOnce = 100; // members of one list or object
const openRows = 40; // that are open at first, in all
const longText = 600; // characters of a string that are shown at first

// dressJSON puts a tree in the place of JSON that the page has, with buttons. What isn't JSON stays as it is.
export function dressJSON(pre) {
  let value;
  try {
    value = read(pre.textContent);
  } catch {
    return;
  }
  const label = pre.getAttribute("aria-label") ?? "JSON";
  const tree = make("div", { class: "tree", role: "group", "aria-label": label });
  const room = { rows: openRows };
  tree.append(isOpen(value) ? branch("", value, room, true) : leaf("", value));
  const show = (plain) => {
    pre.hidden = !plain;
    tree.hidden = plain;
  };
  const plain = kept(choice) === "plain";
  const ways = switcher("Show the JSON as", [["tree", "Tree"], ["plain", "JSON"]], plain ? "plain" : "tree", (to) => {
    keep(choice, to);
    show(to === "plain");
  });
  pre.before(make("div", { class: "result-bar" }, ways, copier(`Copy: ${label}`, () => pre.textContent, () => pre)), tree);
  show(plain);
}

// Literal is a number that no number of the language's is equal to.
class Literal {
  constructor(source) {
    this.source = source;
  }
}

// read parses JSON, with numbers as they are written where the browser tells.
function read(text) {
  if (!/\d{16}|\.\d+0\b|\d[eE]/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) => {
    const source = typeof value === "number" ? context?.source : undefined;
    return source !== undefined && source !== String(value) ? new Literal(source) : value;
  });
}

const isOpen = (value) => value !== null && typeof value === "object" && !(value instanceof Literal) && sizeOf(value) > 0;

const sizeOf = (value) => (Array.isArray(value) ? value.length : Object.keys(value).length);

// branch shows a list or an object. It is open at first as long as there is room for its members.
function branch(name, value, room, first) {
  const list = Array.isArray(value);
  const size = sizeOf(value);
  const count = `${size} ${list ? "item" : "member"}${size === 1 ? "" : "s"}`;
  const details = make("details", {}, make("summary", {}, ...label(name), make("span", { class: "muted" }, `${list ? "[ ]" : "{ }"} ${count}`)));
  let made = false;
  const fill = (within) => {
    if (!made) details.append(rows(Object.entries(value), within));
    made = true;
  };
  if (first || size <= room.rows) {
    room.rows -= size;
    fill(room);
    details.open = true;
  }
  details.addEventListener("toggle", () => { if (details.open) fill({ rows: 0 }); });
  return details;
}

// rows shows members, some at first and more by a button.
function rows(members, room) {
  const all = make("ul");
  let shown = 0;
  const more = make("button", { type: "button", class: "button small" });
  const go = () => {
    const next = members.slice(shown, shown + atOnce);
    const items = next.map(([name, value]) => make("li", {}, isOpen(value) ? branch(name, value, room, false) : leaf(name, value)));
    all.append(...items);
    shown += next.length;
    more.textContent = `Show ${Math.min(atOnce, members.length - shown)} more of ${members.length}`;
    if (shown === members.length) more.remove();
    return items[0];
  };
  go();
  if (shown === members.length) return all;
  more.addEventListener("click", () => {
    const first = go();
    if (more.isConnected) return;
    first.tabIndex = -1; // the button that had the focus is gone
    first.focus();
  });
  return make("div", {}, all, more);
}

const label = (name) => (name === "" ? [] : [make("span", { class: "t-name" }, name), ": "]);

function leaf(name, value) {
  const row = make("span", { class: "leaf" }, ...label(name));
  if (typeof value === "string") {
    row.append(string(value));
    return row;
  }
  let kind = typeof value === "number" || value instanceof Literal ? "number" : "keyword";
  let text = value instanceof Literal ? value.source : String(value);
  if (value !== null && typeof value === "object" && !(value instanceof Literal)) [kind, text] = ["comment", Array.isArray(value) ? "[ ]" : "{ }"];
  row.append(make("span", { class: `t-${kind}` }, text));
  return row;
}

// string shows a text, the first part of a long one with a button for the rest.
function string(value) {
  const text = make("span", { class: "t-string" }, JSON.stringify(value));
  if (value.length <= longText) return text;
  text.textContent = `${JSON.stringify(value.slice(0, longText)).slice(0, -1)}…`;
  const more = make("button", { type: "button", class: "button small" }, `Show all ${value.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => {
    text.textContent = JSON.stringify(value);
    text.tabIndex = -1;
    text.focus();
    more.remove();
  });
  return make("span", {}, text, " ", more);
}
