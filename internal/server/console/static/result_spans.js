// Reads the text within a block of Markdown: emphasis, code, links and line ends. It makes plain objects and touches no
// page. Its time grows as the text does, whatever the text is: open marks are kept in short lists, of which the oldest
// falls out, and a search for an end is never repeated.

const openMarks = 32; // of emphasis, or brackets, at once; more are plain text
const longestRun = 3; // of * or _
const longestAddress = 2048;

const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

// spans returns a text's parts: strings, {type: "code", text}, {type: "break"}, {type: "math", text},
// {type: "em" | "strong" | "del", parts} and {type: "link", href, parts, image}.
export function spans(text) {
  return new Reader(text).read();
}

// address returns the address that a link may lead to, as the browser understands it; undefined for any other.
export function address(written) {
  let url;
  try {
    url = new URL(written);
  } catch {
    return undefined;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.parts = [];
    this.plain = "";
    this.marks = []; // open emphasis: {at: its place in parts, char, count}
    this.brackets = []; // open [: {at, image}
    this.missing = new Set(); // ends that don't come any more
    this.ticks = undefined; // the places of runs of backticks, by length
  }

  read() {
    const ordinary = /[^\\`*_~[\]!<&$hH\n]+/y;
    while (this.at < this.text.length) {
      ordinary.lastIndex = this.at;
      const found = ordinary.exec(this.text)?.[0];
      if (found) this.say(found, found.length);
      else this.special(this.text[this.at]);
    }
    this.flush();
    return joined(this.parts);
  }

  special(char) {
    const reads = {
      "\\": this.escape, "`": this.code, "*": this.emphasis, _: this.emphasis, "~": this.emphasis, "[": this.open, "!": this.open, "]": this.close,
      "<": this.angle, "&": this.entity, $: this.dollar, h: this.bare, H: this.bare, "\n": this.lineEnd,
    }[char];
    if (!reads.call(this, char)) this.say(char, 1);
  }

  say(text, length) {
    this.plain += text;
    this.at += length;
    return true;
  }

  push(part, length) {
    this.flush();
    this.parts.push(part);
    this.at += length;
    return true;
  }

  flush() {
    if (this.plain) this.parts.push(this.plain);
    this.plain = "";
  }

  // until returns the place of an end from a place on; -1 if there is none, which is found out once.
  until(end, from) {
    if (this.missing.has(end)) return -1;
    const at = this.text.indexOf(end, from);
    if (at < 0) this.missing.add(end);
    return at;
  }

  escape() {
    const next = this.text[this.at + 1];
    if (next === "(" || next === "[") {
      const end = this.until(next === "(" ? "\\)" : "\\]", this.at + 2);
      if (end >= 0) return this.math(end + 2);
    }
    if (next === "\n") return this.push({ type: "break" }, 2);
    return next !== undefined && /[!-/:-@[-`{-~]/.test(next) && this.say(next, 2);
  }

  math(to) {
    const text = this.text.slice(this.at, to);
    return this.push({ type: "math", text }, text.length);
  }

  // dollar reads $$…$$, and $…$ whose ends touch what is within and no digit follows: a price is none.
  dollar() {
    const { text, at } = this;
    if (text[at + 1] === "$") {
      const end = this.until("$$", at + 2);
      return end > at + 2 ? this.math(end + 2) : this.say("$$", 2);
    }
    const end = this.until("$", at + 1);
    if (end < 0 || /\s/.test(text[at + 1]) || /\s/.test(text[end - 1]) || /\d/.test(text[end + 1] ?? "")) return false;
    return this.math(end + 1);
  }

  code() {
    const { text, at } = this;
    this.ticks ??= ticksOf(text);
    let length = 1;
    while (text[at + length] === "`") length++;
    const places = this.ticks.get(length) ?? []; // of a run that an escaped one begins there are none
    while (places.length > 0 && places.at(-1) <= at) places.pop();
    if (places.length === 0) return this.say("`".repeat(length), length);
    const end = places.pop();
    const within = text.slice(at + length, end).replace(/\n/g, " ");
    const trimmed = /^ .* $/.test(within) && within.trim() ? within.slice(1, -1) : within;
    return this.push({ type: "code", text: trimmed }, end + length - at);
  }

  lineEnd() {
    this.plain = this.plain.trimEnd();
    return this.push({ type: "break" }, 1);
  }

  entity() {
    const name = /&(\w{2,4});/y;
    name.lastIndex = this.at;
    const found = name.exec(this.text);
    const char = found && Object.hasOwn(entities, found[1]) ? entities[found[1]] : undefined;
    return char !== undefined && this.say(char, found[0].length);
  }

  // angle reads <address> and <br>; other HTML is text.
  angle() {
    const written = /<(?:((?:https?:\/\/|mailto:)[^\s<>]*)|br *\/?)>/iy;
    written.lastIndex = this.at;
    const found = written.exec(this.text);
    if (!found) return false;
    if (found[1] === undefined) return this.push({ type: "break" }, found[0].length);
    const href = address(found[1]);
    return href !== undefined && this.push({ type: "link", href, parts: [found[1]], image: false }, found[0].length);
  }

  // bare reads an address that stands in the text as it is.
  bare() {
    const before = this.text[this.at - 1];
    if (before !== undefined && /[\p{L}\p{N}_]/u.test(before)) return false;
    const written = /https?:\/\/[^\s<>"`\\\]|*]+/iy;
    written.lastIndex = this.at;
    const found = written.exec(this.text)?.[0];
    if (!found) return false;
    if (found.length > longestAddress) return this.say(found, found.length);
    const name = ended(found);
    const href = address(name);
    if (href === undefined) return this.say(found, found.length);
    return this.push({ type: "link", href, parts: [name], image: false }, name.length);
  }

  open(char) {
    if (char === "!" && this.text[this.at + 1] !== "[") return false;
    this.push({ type: "mark", text: char === "!" ? "![" : "[" }, char === "!" ? 2 : 1);
    this.brackets.push({ at: this.parts.length - 1, image: char === "!" });
    if (this.brackets.length > openMarks) this.brackets.shift();
    return true;
  }

  // close ends a link, if an address that may be followed stands after the bracket. A link holds no other.
  close() {
    const bracket = this.brackets.pop();
    const target = bracket && this.text[this.at + 1] === "(" ? targetAt(this.text, this.at + 2) : undefined;
    const href = target && address(target.written);
    if (href === undefined) return false;
    this.flush();
    const parts = joined(this.parts.splice(bracket.at + 1));
    this.parts.pop();
    while (this.marks.length > 0 && this.marks.at(-1).at > bracket.at) this.marks.pop();
    this.brackets = [];
    return this.push({ type: "link", href, parts, image: bracket.image }, target.end - this.at);
  }

  emphasis(char) {
    const { text, at } = this;
    let count = 1;
    while (text[at + count] === char) count++;
    if (count > longestRun || (char === "~" && count > 2)) return this.say(char.repeat(count), count);
    const side = sides(text, at, at + count, char);
    this.at += count;
    let left = count;
    while (side.closes && left > 0) {
      const used = this.match(char, left);
      if (used === 0) break;
      left -= used;
    }
    if (left === 0) return true;
    if (!side.opens) return this.say(char.repeat(left), 0);
    this.push({ type: "mark", text: char.repeat(left) }, 0);
    this.marks.push({ at: this.parts.length - 1, char, count: left });
    if (this.marks.length > openMarks) this.marks.shift();
    return true;
  }

  // match ends the emphasis that the last mark of the character began, and returns how many characters of both it took.
  match(char, count) {
    let i = this.marks.length - 1;
    while (i >= 0 && !(this.marks[i].char === char && (char !== "~" || this.marks[i].count === count))) i--;
    if (i < 0) return 0;
    const mark = this.marks[i];
    const used = Math.min(2, count, mark.count);
    this.flush();
    const parts = joined(this.parts.splice(mark.at + 1));
    this.marks.length = i + 1;
    while (this.brackets.length > 0 && this.brackets.at(-1).at > mark.at) this.brackets.pop();
    mark.count -= used;
    this.parts[mark.at].text = char.repeat(mark.count);
    if (mark.count === 0) {
      this.marks.pop();
      this.parts.pop();
    }
    const strong = used === 2 ? "strong" : "em";
    this.parts.push({ type: char === "~" ? "del" : strong, parts });
    return used;
  }
}

// joined puts the texts that stand beside each other together, with marks that nothing ended.
function joined(parts) {
  const out = [];
  let texts = [];
  const flush = () => {
    if (texts.length > 0) out.push(texts.join(""));
    texts = [];
  };
  for (const part of parts) {
    const text = part.type === "mark" ? part.text : part;
    if (typeof text === "string") {
      if (text) texts.push(text);
      continue;
    }
    flush();
    out.push(part);
  }
  flush();
  return out;
}

// ticksOf returns the places of runs of backticks by their length, the last one first.
function ticksOf(text) {
  const all = new Map();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (!all.has(run.length)) all.set(run.length, []);
    all.get(run.length).push(index);
  }
  for (const places of all.values()) places.reverse();
  return all;
}

// sides tells what a run of marks may do by what stands beside it.
function sides(text, from, to, char) {
  const before = from === 0 ? " " : text[from - 1];
  const after = text[to] ?? " ";
  const space = (c) => /\s/.test(c);
  const sign = (c) => /[\p{P}\p{S}]/u.test(c);
  const left = !space(after) && (!sign(after) || space(before) || sign(before));
  const right = !space(before) && (!sign(before) || space(after) || sign(after));
  if (char !== "_") return { opens: left, closes: right };
  return { opens: left && (!right || sign(before)), closes: right && (!left || sign(after)) };
}

// targetAt reads what stands in the parentheses of a link: an address and maybe a title, which isn't kept.
function targetAt(text, from) {
  const target = /\s{0,9}(?:<([^<>\n]{0,2048})>|((?:[^\s()<>\\]|\\.|\((?:[^\s()<>\\]|\\.){0,500}\)){1,2048}))(?:\s{1,9}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?\s{0,9}\)/y;
  target.lastIndex = from;
  const found = target.exec(text);
  if (!found) return undefined;
  return { written: (found[1] ?? found[2]).replace(/\\([!-/:-@[-`{-~])/g, "$1"), end: target.lastIndex };
}

// ended is an address without the signs that end a sentence.
function ended(written) {
  let open = 0;
  for (const char of written) open += Number(char === "(") - Number(char === ")");
  let end = written.length;
  for (;;) {
    const last = written[end - 1];
    if (last === ")" && open < 0) open++;
    else if (!/[.,;:!?'_~]/.test(last)) return written.slice(0, end);
    end--;
  }
}
