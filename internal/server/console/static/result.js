// Dresses a task's result, which the page shows without this, too: texts as Markdown, JSON as trees, pictures large, and
// a clock while it runs. What the trial knows beside, the inputs, names the rows of tables.

import { dressGallery } from "./result_gallery.js";
import { make } from "./result_make.js";
import { copyOf, dressText, Musing, Writing } from "./result_text.js";
import { dressJSON } from "./result_tree.js";

const known = new Map(); // what the trial knows of tasks, by their ids: {texts, began, first}

// remember keeps of a task the texts of its input, and that it begins now.
export function remember(id, input) {
  const texts = input?.documents ?? input?.texts ?? (input?.text === undefined ? undefined : [input.text]);
  known.set(id, { texts: Array.isArray(texts) ? texts : undefined, began: performance.now() });
}

// dress dresses a result's section.
export function dress(section) {
  const about = known.get(section.dataset.task);
  section.querySelectorAll("pre[data-text]").forEach(dressText);
  section.querySelectorAll("pre[data-copied]").forEach((pre) => pre.before(make("div", { class: "result-bar" }, copyOf(pre))));
  section.querySelectorAll("pre[data-json]").forEach(dressJSON);
  section.querySelectorAll(".gallery").forEach(dressGallery);
  section.querySelectorAll("video, audio").forEach(tellLength);
  if (about?.texts) section.querySelectorAll("[data-input]").forEach((cell) => nameInput(cell, about.texts));
  const measures = section.querySelector(".measures");
  if (about?.first !== undefined && measures) measures.append(make("span", {}, `first piece after ${lasted(about.first - about.began)}`));
  tick(section);
}

const firstWords = 60; // characters

// nameInput puts the first words of an input behind its number.
function nameInput(cell, texts) {
  const text = texts[Number(cell.dataset.input)];
  if (typeof text !== "string") return;
  const short = text.length > firstWords ? `${text.slice(0, firstWords).trimEnd()}…` : text;
  cell.append(make("span", { class: "sub", title: short === text ? undefined : text.slice(0, 1000) }, short));
}

// tellLength says how long a medium is, if the page doesn't.
function tellLength(medium) {
  const caption = medium.closest("figure").querySelector("figcaption");
  if (caption.querySelector("[data-duration]")) return;
  const tell = () => {
    if (Number.isFinite(medium.duration)) caption.children[0].after(make("span", { "data-duration": true }, `${Number(medium.duration.toFixed(2))} s`));
  };
  if (medium.readyState >= HTMLMediaElement.HAVE_METADATA) tell();
  else medium.addEventListener("loadedmetadata", tell, { once: true });
}

// lasted writes a duration in milliseconds as the pages do.
function lasted(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${h > 0 ? `${h}h` : ""}${m}m${s}s`;
}

// tick counts the time of a task that goes on, from what the page says it has taken.
function tick(section) {
  const clock = section.querySelector("[data-elapsed]");
  if (!clock) return;
  let told;
  let since;
  const timer = setInterval(() => {
    if (!clock.isConnected) return clearInterval(timer);
    if (told !== clock.dataset.elapsed) [told, since] = [clock.dataset.elapsed, performance.now()];
    clock.textContent = lasted(Number(told) + performance.now() - since);
    return undefined;
  }, 250);
}

const [writings, musings] = [new WeakMap(), new WeakMap()]; // of the places of streams, and of the boxes of thoughts

function muse(box, thoughts, answered) {
  if (!musings.has(box)) musings.set(box, new Musing(box));
  musings.get(box).show(thoughts, answered);
}

// stream shows what has come so far at the section's places for it: the model's thoughts and its text.
export function stream(section, { text, thoughts }) {
  const at = section.querySelector("[data-stream]");
  if (!at) return;
  if (thoughts) muse(section.querySelector("[data-thoughts]"), thoughts, text !== "");
  if (!text) return;
  const about = known.get(section.dataset.task);
  if (about) about.first ??= performance.now();
  if (!writings.has(at)) writings.set(at, new Writing(at));
  writings.get(at).show(text);
}
