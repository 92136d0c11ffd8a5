// Shows Markdown as elements, also while it is being written. Pictures in it are links: an answer makes the browser ask
// for no address by itself.

import { pieces } from "./result_code.js";
import { copier, make } from "./result_make.js";
import { parse } from "./result_markdown.js";

const most = 20_000; // objects of a text; the rest of a longer one is shown as it is written

// Prose is an element that shows a text. A text that grows is read again from its last blocks on.
export class Prose {
  constructor() {
    this.element = make("div", { class: "prose" });
    this.start();
  }

  start() {
    this.element.replaceChildren();
    this.text = "";
    this.settled = 0; // characters whose blocks don't change any more
    this.children = 0; // their elements
    this.size = 0;
    this.builder = new Builder(2);
  }

  // show makes the element show a text: the one before and more, or another.
  show(text) {
    if (!text.startsWith(this.text)) this.start();
    this.text = text;
    const blocks = parse(text.slice(this.settled));
    const last = blocks.length - 2; // what comes may still change the last two
    const builder = new Builder(this.builder.level);
    let place = this.children;
    let size = this.size;
    let from = this.settled;
    for (const [i, block] of blocks.entries()) {
      size += block.size;
      if (size > most) {
        grow(this.element, place++, make("p", { class: "muted small" }, "The text is too long to be set; the rest is as it was written."));
        grow(this.element, place++, make("pre", { class: "wrap", tabindex: "0" }, text.slice(from)));
        break;
      }
      grow(this.element, place++, builder.block(block));
      from = this.settled + block.end;
      if (i < last) Object.assign(this, { children: place, size, builder: new Builder(builder.level), pending: from });
    }
    while (this.element.childNodes.length > place) this.element.lastChild.remove();
    this.settled = this.pending ?? this.settled;
    this.pending = undefined;
  }
}

// grow makes a child of an element be what fresh is, and touches only what differs.
function grow(parent, place, fresh) {
  const old = parent.childNodes[place];
  if (!old) parent.append(fresh);
  else if (old.nodeName === "BUTTON" || old.isEqualNode(fresh)) return;
  else if (old.nodeName !== fresh.nodeName) old.replaceWith(fresh);
  else if (old.nodeType === Node.TEXT_NODE) {
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.data.length));
    else old.data = fresh.data;
  } else {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const children = [...fresh.childNodes];
    children.forEach((child, i) => grow(old, i, child));
    while (old.childNodes.length > children.length) old.lastChild.remove();
  }
}

// Builder makes elements. Its level is that of the heading before: no heading skips one.
class Builder {
  constructor(level) {
    this.level = level;
  }

  block(block) {
    switch (block.type) {
      case "heading":
        this.level = Math.min(block.level + 2, this.level + 1, 6);
        return make(`h${this.level}`, {}, ...this.parts(block.parts));
      case "paragraph":
        return make("p", {}, ...this.parts(block.parts));
      case "code":
        return codeBlock(block);
      case "math":
        return make("p", { class: "math" }, block.text);
      case "rule":
        return make("hr");
      case "quote":
        return make("blockquote", {}, ...block.blocks.map((one) => this.block(one)));
      case "list":
        return this.list(block);
      case "table":
        return this.table(block);
      default:
        throw new Error(`no element shows a ${block.type}`);
    }
  }

  list({ start, loose, items }) {
    const list = make(start === undefined ? "ul" : "ol", { start: start === undefined || start === 1 ? undefined : start });
    for (const { blocks, done } of items) {
      const item = make("li", { class: done === undefined ? undefined : "task" });
      if (done !== undefined) item.append(make("span", { role: "img", "aria-label": done ? "Done" : "To do" }, done ? "☑" : "☐"), " ");
      for (const block of blocks) {
        if (block.type === "paragraph" && !loose) item.append(...this.parts(block.parts));
        else item.append(this.block(block));
      }
      list.append(item);
    }
    return list;
  }

  table({ aligns, head, rows }) {
    const cell = (name) => (parts, i) => make(name, { scope: name === "th" && "col", class: aligns[i] || undefined }, ...this.parts(parts));
    const body = rows.map((row) => make("tr", {}, ...row.map(cell("td"))));
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...head.map(cell("th")))), make("tbody", {}, ...body));
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }, table);
  }

  parts(parts) {
    return parts.flatMap((part) => (typeof part === "string" ? [part] : this.part(part)));
  }

  part(part) {
    switch (part.type) {
      case "code":
        return [make("code", {}, part.text)];
      case "math":
        return [make("span", { class: "math" }, part.text)];
      case "break":
        return [make("br")];
      case "link":
        return link(part, this.parts(part.parts));
      default:
        return [make({ em: "em", strong: "strong", del: "del" }[part.type], {}, ...this.parts(part.parts))];
    }
  }
}

// link makes a link whose address can be read: the text of a model may name another place than it leads to.
function link({ href, image }, children) {
  const anchor = make("a", { href, rel: "noopener noreferrer", target: "_blank", title: href }, ...(children.length > 0 ? children : [href]));
  const { host, protocol, pathname } = new URL(href);
  const leads = protocol === "mailto:" ? pathname : host;
  const told = anchor.textContent.toLowerCase().replace(/^(?:https?:\/\/|mailto:)/, "");
  const out = told === leads || told.startsWith(`${leads}/`) ? [anchor] : [anchor, " ", make("span", { class: "host" }, `(${leads})`)];
  return image ? ["Picture: ", ...out] : out;
}

function codeBlock({ language, text }) {
  const label = language ? `Code in ${language}` : "Code";
  const spans = pieces(text, language).map(([kind, piece]) => (kind ? make("span", { class: `t-${kind}` }, piece) : piece));
  const code = make("code", {}, ...spans);
  const figure = make("figure", { class: "snippet" });
  const shown = () => figure.querySelector("code"); // the one that grew
  figure.append(
    make("div", { class: "snippet-head" }, make("span", {}, language || "code"), copier("Copy the code", () => shown().textContent, shown)),
    make("pre", { tabindex: "0", role: "group", "aria-label": label }, code),
  );
  return figure;
}
