// Reads Markdown, as language models write it, into plain objects: headings, paragraphs, lists, quotes, tables, fenced
// code, rules and formulas. It touches no page, knows no HTML, and its time grows as the text does, whatever that is.
// A block but the last is what it is, whatever follows: a text that grows needs only its last blocks read again.

import { spans } from "./result_spans.js";

const deepest = 8; // lists and quotes in each other; a deeper one is text
const mostColumns = 100;

// parse returns the blocks of a text. Each has its type, the place in the text where the next one begins, and its size
// in objects:
// {type: "heading", level, parts}, {type: "paragraph", parts}, {type: "code", language, text}, {type: "math", text},
// {type: "rule"}, {type: "quote", blocks}, {type: "list", start, loose, items: [{blocks, done}]} with start undefined
// for one without numbers, and {type: "table", aligns, head: [parts], rows: [[parts]]}.
export function parse(text) {
  const lines = text.split("\n");
  const ends = [];
  let at = 0;
  for (const line of lines) ends.push((at += line.length + 1));
  const clean = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  return blocks(clean, 0).map(({ next, ...block }) => ({ ...block, end: Math.min(ends[next - 1], text.length) }));
}

// blocks reads lines. The next of a block is the line after it.
function blocks(lines, depth) {
  const out = [];
  let i = 0;
  while (i < lines.length) {
    if (blank(lines[i])) {
      i++;
      if (out.length > 0) out.at(-1).next = i; // the lines between belong to the block before them
      continue;
    }
    const block = begins(lines, i, depth)?.() ?? paragraph(lines, i, depth);
    out.push(block);
    i = block.next;
  }
  return out;
}

// begins returns the reader of the block that begins at a line, if it is no paragraph.
function begins(lines, i, depth) {
  const line = lines[i];
  const indent = indentOf(line);
  if (indent > 3 && !marker(line)) return undefined;
  switch (line[line.search(/\S/)]) {
    case "#":
      return /^\s*#{1,6}(?:\s|$)/.test(line) ? () => heading(line, i) : undefined;
    case "`":
    case "~":
      return fence(line) && (() => code(lines, i));
    case ">":
      return depth < deepest ? () => quote(lines, i, depth) : undefined;
    case "\\":
    case "$":
      return formula(line) && (() => math(lines, i));
  }
  if (rule(line)) return () => ({ type: "rule", next: i + 1, size: 1 });
  if (depth < deepest && marker(line)) return () => list(lines, i, depth);
  if (aligns(lines, i)) return () => table(lines, i);
  return undefined;
}

const blank = (line) => line.trim() === "";

// indentOf counts the columns before a line's text.
function indentOf(line) {
  let columns = 0;
  for (const char of line) {
    if (char === " ") columns++;
    else if (char === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

// outdent takes up to so many columns away from the front of a line.
function outdent(line, columns) {
  let at = 0;
  let seen = 0;
  for (; at < line.length && seen < columns; at++) {
    if (line[at] === " ") seen++;
    else if (line[at] === "\t") seen += 4 - (seen % 4);
    else break;
  }
  return " ".repeat(Math.max(0, seen - columns)) + line.slice(at);
}

function heading(line, i) {
  const [, marks, rest] = /^\s*(#{1,6})(.*)$/.exec(line);
  let text = rest.trim();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  if (end === 0 || /\s/.test(text[end - 1])) text = text.slice(0, end).trim();
  return { type: "heading", level: marks.length, parts: spans(text), next: i + 1, size: 2 };
}

function rule(line) {
  let mark;
  let count = 0;
  for (const char of line) {
    if (/\s/.test(char)) continue;
    if (!"-*_".includes((mark ??= char)) || char !== mark) return false;
    count++;
  }
  return count >= 3;
}

// fence reads the line that begins a block of code.
function fence(line) {
  const found = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line);
  if (!found || (found[2][0] === "`" && found[3].includes("`"))) return undefined;
  return { indent: indentOf(line), marks: found[2], language: found[3].trim().split(/[\s{,]/)[0].toLowerCase() };
}

// closes reports whether a line ends the code that a fence began.
function closes(line, { marks }) {
  const text = line.trim();
  return text.length >= marks.length && text === marks[0].repeat(text.length);
}

function code(lines, i) {
  const first = fence(lines[i]);
  const text = [];
  let next = i + 1;
  for (; next < lines.length && !closes(lines[next], first); next++) text.push(outdent(lines[next], first.indent));
  return { type: "code", language: first.language, text: text.join("\n"), next: Math.min(next + 1, lines.length), size: 1 };
}

// formula returns the sign that ends the formula that a line begins with; undefined if it is none, or text follows it.
function formula(line) {
  const text = line.trim();
  const end = { "$$": "$$", "\\[": "\\]" }[text.slice(0, 2)];
  const at = end ? text.indexOf(end, 2) : -1;
  return at < 0 || at === text.length - 2 ? end : undefined;
}

// math reads a formula up to its end or an empty line: it is shown as it is written.
function math(lines, i) {
  const end = formula(lines[i]);
  let next = i + 1;
  if (lines[i].trim().indexOf(end, 2) < 0) {
    while (next < lines.length && !blank(lines[next]) && !lines[next++].includes(end));
  }
  return { type: "math", text: lines.slice(i, next).join("\n"), next, size: 1 };
}

function quote(lines, i, depth) {
  const inner = [];
  let next = i;
  for (; next < lines.length && /^\s*>/.test(lines[next]); next++) inner.push(lines[next].replace(/^\s*> ?/, ""));
  const within = blocks(inner, depth + 1);
  return { type: "quote", blocks: within, next, size: sizeOf(within) };
}

const sizeOf = (all) => all.reduce((sum, block) => sum + block.size, 1);

// marker reads the sign of a list's item: its kind, its number, and the columns before the item's text.
function marker(line) {
  const found = /^(\s*)(?:([-*+])|(\d{1,9})([.)]))(\s+|$)/.exec(line);
  if (!found || rule(line)) return undefined;
  const [all, , bullet, number, sign, space] = found;
  const indent = indentOf(line);
  const wide = indent + (bullet ? 1 : number.length + 1);
  const empty = all.length === line.length;
  return { kind: bullet ?? sign, number: bullet ? undefined : Number(number), indent, text: wide + (empty || space.length > 4 ? 1 : space.length) };
}

function list(lines, i, depth) {
  const first = marker(lines[i]);
  const items = [];
  let loose = false;
  let next = i;
  while (next < lines.length) {
    const sign = marker(lines[next]);
    if (!sign || sign.kind !== first.kind || sign.indent > first.indent + 3 || (items.length > 0 && sign.indent + 2 <= first.indent)) break;
    const item = gather(lines, next, sign);
    const within = blocks(item.lines, depth + 1);
    items.push({ blocks: within, ...taskOf(within) });
    next = item.next;
    const follows = skipBlank(lines, next);
    const more = follows < lines.length && marker(lines[follows])?.kind === first.kind;
    if ((follows > next && more) || item.apart) loose = true;
    if (!more) break;
    next = follows;
  }
  return { type: "list", start: first.number, loose, items, next, size: items.reduce((sum, item) => sum + sizeOf(item.blocks), 1) };
}

function skipBlank(lines, from) {
  let at = from;
  while (at < lines.length && blank(lines[at])) at++;
  return at;
}

// gather returns the lines of an item: the further ones stand at least two columns within it, or go on with its text.
function gather(lines, i, sign) {
  const inner = [outdent(lines[i].replace(/\S+/, (mark) => " ".repeat(mark.length)), sign.text)];
  const least = Math.min(sign.text, sign.indent + 2);
  let open = fence(inner[0]);
  let apart = false;
  let next = i + 1;
  while (next < lines.length) {
    const at = skipBlank(lines, next);
    if (at === lines.length) break;
    const within = indentOf(lines[at]) >= least;
    const goesOn = at === next && !open && !blank(inner.at(-1)) && !begins(lines, at, 0);
    if (!within && !goesOn) break;
    if (at > next && !open) apart = true;
    for (; next < at; next++) inner.push("");
    const line = outdent(lines[at], within ? sign.text : 0);
    inner.push(line);
    if (open) open = closes(line, open) ? undefined : open;
    else open = fence(line);
    next = at + 1;
  }
  return { lines: inner, next, apart };
}

// taskOf reads the box of an item that is done or to be done, and takes it off its text.
function taskOf(within) {
  const text = within[0]?.type === "paragraph" ? within[0].parts[0] : undefined;
  const box = typeof text === "string" ? /^\[([ xX])\] /.exec(text) : null;
  if (!box) return { done: undefined };
  within[0].parts[0] = text.slice(box[0].length);
  return { done: box[1] !== " " };
}

// cells splits a table's row at each | that isn't escaped.
function cells(line) {
  const text = line.trim().replace(/^\|/, "");
  const all = [];
  let cell = "";
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\" && text[i + 1] === "|") cell += text[++i];
    else if (text[i] === "|") {
      all.push(cell.trim());
      cell = "";
    } else cell += text[i];
  }
  if (cell.trim() || all.length === 0) all.push(cell.trim());
  return all;
}

// aligns reads the second line of a table, which tells how its columns stand; undefined if none begins at the line.
function aligns(lines, i) {
  const second = lines[i + 1];
  if (second === undefined || !/^[|:\- \t]+$/.test(second) || !second.includes("-") || !lines[i].includes("|")) return undefined;
  const columns = cells(second);
  if (columns.length > mostColumns || columns.length !== cells(lines[i]).length || !columns.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  return columns.map((cell) => {
    if (!cell.endsWith(":")) return "";
    return cell.startsWith(":") ? "center" : "right";
  });
}

function table(lines, i) {
  const columns = aligns(lines, i);
  const row = (line) => cells(line).slice(0, columns.length).map(spans);
  const rows = [];
  let next = i + 2;
  for (; next < lines.length && !blank(lines[next]) && lines[next].includes("|") && !begins([lines[next]], 0, 0); next++) rows.push(row(lines[next]));
  const size = rows.reduce((sum, one) => sum + one.length, 1);
  return { type: "table", aligns: columns, head: row(lines[i]), rows, next, size };
}

// paragraph reads up to an empty line or the beginning of another block. A line of = or - below makes it a heading.
function paragraph(lines, i, depth) {
  const text = [lines[i].trim()];
  let next = i + 1;
  for (; next < lines.length && !blank(lines[next]); next++) {
    const under = /^\s{0,3}(=+|-+)\s*$/.exec(lines[next]);
    if (under) return { type: "heading", level: under[1][0] === "=" ? 1 : 2, parts: spans(text.join("\n")), next: next + 1, size: 2 };
    if (interrupts(lines, next, depth)) break;
    text.push(lines[next].trim());
  }
  const parts = spans(text.join("\n"));
  return { type: "paragraph", parts, next, size: 1 + parts.length };
}

// interrupts reports whether a block begins within a paragraph: a number must be 1, and an item have a text.
function interrupts(lines, i, depth) {
  if (!begins(lines, i, depth)) return false;
  const sign = marker(lines[i]);
  return !sign || ((sign.number ?? 1) === 1 && /\s\S/.test(lines[i].trim()));
}
