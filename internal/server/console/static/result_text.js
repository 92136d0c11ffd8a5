// Shows a text as Markdown or as it is written, whichever the person likes, and a text that is being written as it comes.

import { copier, keep, kept, make, switcher } from "./result_make.js";
import { Prose } from "./result_prose.js";

const choice = "result.text";
const plainly = () => kept(choice) === "plain";

// dressText puts Markdown in the place of a text that the page has, with buttons.
export function dressText(pre) {
  const text = pre.textContent;
  const prose = new Prose();
  prose.element.setAttribute("role", "group");
  prose.element.setAttribute("aria-label", pre.getAttribute("aria-label"));
  const show = (plain) => {
    if (!plain) prose.show(text);
    pre.hidden = !plain;
    prose.element.hidden = plain;
  };
  const ways = switcher("Show the text as", [["markdown", "Markdown"], ["plain", "Plain text"]], plainly() ? "plain" : "markdown", (value) => {
    keep(choice, value);
    show(value === "plain");
  });
  pre.before(make("div", { class: "result-bar" }, ways, copyOf(pre)), prose.element);
  show(plainly());
}

// copyOf returns the button that copies the whole of a text.
export const copyOf = (pre) => copier("Copy the whole text", () => pre.textContent, () => pre);

const share = 5; // of the time that a work took, it rests before it is done anew

// paced returns a function that asks for a work: it is done once a frame at most, and less often where it takes long.
function paced(work) {
  let waits = false;
  let rested = 0;
  const done = () => {
    waits = false;
    const began = performance.now();
    work();
    rested = performance.now() + share * (performance.now() - began);
  };
  return () => {
    if (waits) return;
    waits = true;
    setTimeout(() => requestAnimationFrame(done), Math.max(0, rested - performance.now()));
  };
}

// Writing shows a text that grows.
export class Writing {
  constructor(at) {
    this.prose = new Prose();
    this.pre = make("pre", { class: "wrap" });
    at.replaceChildren(plainly() ? this.pre : this.prose.element);
    at.setAttribute("aria-busy", "true"); // it is read out once it is whole
    at.hidden = false;
    this.ask = paced(() => this.draw());
  }

  // show takes the text so far.
  show(text) {
    this.text = text;
    this.ask();
  }

  draw() {
    if (this.pre.parentNode) this.pre.textContent = this.text;
    else this.prose.show(this.text);
  }
}

// Musing shows thoughts in their box until the answer begins, which folds it once, unless somebody reads there.
export class Musing {
  constructor(box) {
    this.box = box;
    this.said = box.lastElementChild.appendChild(new Text());
    this.shown = "";
    this.ask = paced(() => this.draw());
  }

  // show takes the thoughts so far, and whether the answer has begun.
  show(thoughts, answered) {
    [this.thoughts, this.answered] = [thoughts, answered];
    this.ask();
  }

  draw() {
    const { box, said, shown, thoughts } = this;
    if (thoughts.startsWith(shown)) said.appendData(thoughts.slice(shown.length));
    else said.data = thoughts; // they began again
    this.shown = thoughts;
    if (box.hidden) [box.hidden, box.open] = [false, true];
    if (!this.answered || this.folded) return;
    this.folded = true;
    if (!box.contains(document.activeElement)) box.open = false;
    box.firstElementChild.textContent = "The model's thoughts";
  }
}
