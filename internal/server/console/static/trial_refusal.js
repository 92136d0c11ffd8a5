// What is said about a form: each row of a refusal at the field that it is about, in the form's words.

import { copyButton } from "./parts.js";
import { titleOf, form } from "./trial_form.js";
import { showFields } from "./trial_json.js";
import { reset } from "./trial_result.js";

// clear takes back what was said.
export function clear() {
  say("");
  for (const field of form.querySelectorAll("[data-wire]")) mark(field, []);
}

// refused shows an error of the service. The button is for doing the same again, should the error be retryable.
export function refused(problem, again) {
  const error = problem.error ?? { code: "INTERNAL", message: "the service gave no answer", details: [] };
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
  if (first) showFields();
  first?.querySelector("input:not([type=range]), select, textarea").focus();
  reset(); // what an earlier request made isn't this one's
  const later = error.retry_after_seconds ? ` Try again in ${waitOf(error.retry_after_seconds)}.` : "";
  const what = loose.join("; ") || `see ${[...wrong.keys()].map((field) => field.dataset.title).join(", ")}`;
  say(`${error.code}: ${what}.${later}`, { focus: !first, retry: error.retryable && again, request: problem.request_id });
}

// remark says a row of an error as the form does, at the field that shows it: by titles, and items of lists by number.
function remark(field, { field: name, message }) {
  const way = field.closest("[data-way]");
  if (way && !within(name, way.dataset.way)) return `${way.parentElement.dataset.title}: ${message.replace(/, unless .*/, "")}`; // of a way not taken
  if (/^(supply|or) /.test(message)) return sentence(spoken(message, name)); // it says what to fill in, by the titles
  const inside = within(name, field.dataset.wire) ? name.slice(field.dataset.wire.length).split(/[.[\]]/).filter(Boolean) : [];
  const places = inside.map((step) => (/^\d+$/.test(step) ? `item ${Number(step) + 1}` : field.querySelector(`[name="${field.dataset.wire}.${step}"]`)?.getAttribute("aria-label")));
  return `${[field.dataset.title, ...places.filter(Boolean)].join(", ")}: ${spoken(message, name)}`;
}

const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

// spoken puts the form's titles in the place of the API's names: of whole ones, and after "unless" and "with" and within
// JSON, which it says to fill in, of those beside or below the field that the message is about.
function spoken(message, about = "") {
  const near = (name) => titleOf(`${about}.${name}`) ?? titleOf(about.replace(/[^.]*$/, name));
  return message
    .replace(/\b(?:input|parameters)(?:\.\w+)+/g, (name) => titleOf(name) ?? name)
    .replace(/\b(?:unless|with) .*/, (names) => names.replace(/\w+/g, (name) => near(name) ?? name))
    .replace(/^(supply|or) \{("\w+":"[^{}]*")\}/, (_, first, pairs) => `${first === "or" ? "or " : ""}${filledIn(pairs, near)}`)
    .replace(/"(\w+)"/g, (word, name) => near(name) ?? word);
}

// filledIn says JSON of texts as steps in a form, in which "…" is a text of one's own.
function filledIn(pairs, near) {
  const step = ([, name, value]) => (value === "…" ? `fill in a ${near(name) ?? name}` : `choose "${value}" as ${near(name) ?? name}`);
  return [...pairs.matchAll(/"(\w+)":"([^"]*)"/g)].map(step).join(" and ");
}

// waitOf says a wait in the largest unit that tells it well.
function waitOf(seconds) {
  const tells = ([, size]) => seconds >= 2 * size || seconds === size;
  const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(tells) ?? ["second", 1];
  const count = Math.ceil(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

// ended offers to sign in elsewhere: the form stays as it is.
export function ended() {
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

// mark puts remarks beside a field; none takes them back.
export function mark(field, remarks) {
  const problem = field.querySelector(".problem");
  problem.replaceChildren(...remarks.map((remark) => Object.assign(document.createElement("p"), { textContent: remark })));
  problem.hidden = remarks.length === 0;
  for (const control of field.querySelectorAll("[role=radiogroup], input:not([type=radio], [type=range]), select, textarea")) {
    if (remarks.length > 0) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }
}

// say says something at the top of the form.
export function say(message, { focus, retry, request } = {}) {
  const at = form.querySelector("[data-problem]");
  at.textContent = message;
  at.hidden = !message;
  if (request || retry) {
    const row = Object.assign(document.createElement("p"), { className: "row small" });
    if (retry) row.append(retry);
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
