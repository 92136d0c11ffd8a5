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

const share = 5; // of the time that showing a text took, it rests before it is shown anew

// Writing shows a text that grows, once a frame at most, and less often where a frame takes long.
export class Writing {
  constructor(at) {
    this.at = at;
    this.prose = new Prose();
    this.pre = make("pre", { class: "wrap" });
    at.replaceChildren(plainly() ? this.pre : this.prose.element);
    at.setAttribute("aria-busy", "true"); // it is read out once it is whole
    at.hidden = false;
  }

  // show takes the text so far.
  show(text) {
    this.text = text;
    if (this.waits) return;
    this.waits = true;
    const rest = Math.max(0, (this.last ?? 0) - performance.now());
    setTimeout(() => requestAnimationFrame(() => this.draw()), rest);
  }

  draw() {
    this.waits = false;
    const began = performance.now();
    if (this.pre.parentNode) this.pre.textContent = this.text;
    else this.prose.show(this.text);
    this.last = performance.now() + share * (performance.now() - began);
  }
}
