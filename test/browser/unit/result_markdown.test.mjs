// Markdown is read as it is meant, gives no address but those of pages and mail, and takes a bounded time whatever it is.
import assert from "node:assert/strict";
import test from "node:test";

import { parse } from "./result_markdown.js";
import { address, spans } from "./result_spans.js";

// brief writes blocks in brackets, without sizes and places.
const brief = (blocks) => blocks.map((block) => {
  switch (block.type) {
    case "heading": return `h${block.level}(${said(block.parts)})`;
    case "paragraph": return `p(${said(block.parts)})`;
    case "code": return `code:${block.language}(${block.text})`;
    case "math": return `math(${block.text})`;
    case "quote": return `quote(${brief(block.blocks)})`;
    case "list": return `${block.start === undefined ? "ul" : `ol${block.start}`}${block.loose ? "+" : ""}(${block.items.map((item) => `${item.done === undefined ? "" : `[${item.done}]`}${brief(item.blocks)}`).join("; ")})`;
    case "table": return `table:${block.aligns}(${[block.head, ...block.rows].map((row) => row.map(said).join("|")).join("; ")})`;
    default: return block.type;
  }
}).join(" ");

const said = (parts) => parts.map((part) => {
  if (typeof part === "string") return part;
  if (part.type === "break") return "/";
  if (part.type === "link") return `${part.image ? "image" : "link"}<${part.href}>(${said(part.parts)})`;
  return `${part.type}(${part.text ?? said(part.parts)})`;
}).join("");

for (const [text, want] of [
  ["# A *b* #\n\n### C\nText\n===", "h1(A em(b)) h3(C) h1(Text)"],
  ["#hashtag\none\ntwo", "p(#hashtag/one/two)"],
  ["one\n\n\ntwo", "p(one) p(two)"],
  ["***both*** **a _b_** *a **b***", "p(em(strong(both)) strong(a em(b)) em(a strong(b)))"],
  ["snake_case_name 2*3*4 * a * ~~gone~~ a~b", "p(snake_case_name 2em(3)4 * a * del(gone) a~b)"],
  ["`a*b*` ``c`d`` `open \\*x\\*", "p(code(a*b*) code(c`d) `open *x*)"],
  ["[a](https://x.y/z) [b](<http://q.r> \"title\") [c](mailto:a@b.c)", "p(link<https://x.y/z>(a) link<http://q.r/>(b) link<mailto:a@b.c>(c))"],
  ["![cat](https://x.y/cat.png) [*a* [b] ](https://x.y)", "p(image<https://x.y/cat.png>(cat) link<https://x.y/>(em(a) [b] ))"],
  ["see https://a.b/c_d_(e), or <https://q.r>.", "p(see link<https://a.b/c_d_(e)>(https://a.b/c_d_(e)), or link<https://q.r/>(https://q.r).)"],
  ["- a\n- b\n  - c\n    d\n- [x] e\n- [ ] f", "ul(p(a); p(b) ul(p(c/d)); [true]p(e); [false]p(f))"],
  ["- a\n\n  b\n\n- c", "ul+(p(a) p(b); p(c))"],
  ["3. a\n4. b\n\nend", "ol3(p(a); p(b)) p(end)"],
  ["1. a\n  - b\n2. c\nlazy", "ol1(p(a) ul(p(b)); p(c/lazy))"],
  ["1. a\n   ```go\n   x\n\n   y\n   ```\n2. b", "ol1(p(a) code:go(x\n\ny); p(b))"],
  ["> a\n> > b\n\n> c", "quote(p(a) quote(p(b))) quote(p(c))"],
  ["```js title=x\nlet a = `b`;\n```\nafter\n~~~\n```\n~~~", "code:js(let a = `b`;) p(after) code:(```)"],
  ["```\nopen *a*", "code:(open *a*)"],
  ["a | b\n:-|:-:\n1 | `x\\|y`\n2\n\n|c|\n|-:|", "table:,center(a|b; 1|code(x|y)) p(2) table:right(c)"],
  ["a\n***\nb\n- - -", "p(a) rule p(b) rule"],
  ["\\[\nx_1 * y_2 * z\n\\]\n\n$$a*b*c$$\n\nfrom $5 to $6, $a_1*b*c$ and \\(x*y*z\\)", "math(\\[\nx_1 * y_2 * z\n\\]) math($$a*b*c$$) p(from $5 to $6, math($a_1*b*c$) and math(\\(x*y*z\\)))"],
  ["<b>x</b> &lt;i&gt; a<br>b <script>alert(1)</script>", "p(<b>x</b> <i> a/b <script>alert(1)</script>)"],
  ["a\r\nb\r\n\r\n- c\r\n", "p(a/b) ul(p(c))"],
]) {
  test(JSON.stringify(text), () => assert.equal(brief(parse(text)), want));
}

test("only addresses of pages and mail are links", () => {
  for (const hostile of [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)", "\u0001javascript:alert(1)", "vbscript:x",
    "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "//evil.example", "/console/sign-out", "?done=saved", "#top", "blob:x", "ftp://a.b", "https://",
  ]) {
    assert.equal(address(hostile), undefined, hostile);
    for (const text of [`[a](${hostile})`, `[a](<${hostile}>)`, `![a](${hostile})`, `<${hostile}>`]) {
      assert.deepEqual(links(spans(text)), [], text);
    }
  }
  assert.equal(address("HTTPS://Ex.Ample/ä b"), "https://ex.ample/%C3%A4%20b");
});

const links = (parts) => parts.flatMap((part) => (part.href === undefined ? links(part.parts ?? []) : [part.href]));

// within returns every object of blocks, with how deep it stands.
function* within(value, depth = 0) {
  if (value === null || typeof value !== "object") return;
  yield [value, depth];
  for (const one of Object.values(value)) yield* within(one, depth + 1);
}

const hostile = {
  "stars": "*", "open emphasis": "*a ", "mixed emphasis": "*a **b _c ", "closed emphasis": "a*", "three marks": "***a", "strikes": "~~a", "brackets": "[", "open links": "[a](",
  "ends of links": "](", "links": "[a](b", "parentheses": "[a](((((", "quotation marks": "[](a '", "angles": "[](<", "escapes": "[](\\", "empty links": "[]", "ticks": "`a",
  "quotes": ">", "quotes in lines": "> > > > > > > > >\n", "items in items": "- ", "items": "- a\n", "empty items": "*\n", "apart items": "- a\n\n", "numbers": "1. ", "bars": "|",
  "rows": "a|b\n", "dashes": "-", "spaces": " ", "lines": "\n", "addresses": "http://", "open addresses": "<http://", "angle brackets": "<", "dollars": "$a ", "two dollars": "$$",
  "formulas": "\\(", "formula lines": "\\[a\n", "entities": "&am", "hashes": "#", "hashes apart": " #", "fences": "```\n", "bad fences": "```a`\n", "underlines": "a\n-\n",
  "fences in items": "- ```\n\n", "quotes in items": "- > ", "tabs": "\t", "backslashes": "\\", "letters": "h", "images": "![",
};

test("a hostile text is read in time that grows as it does", () => {
  for (const [name, piece] of Object.entries(hostile)) {
    const size = ["stars", "brackets"].includes(name) ? 1_000_000 : 200_000;
    const once = (text) => {
      const began = performance.now();
      parse(text);
      return performance.now() - began;
    };
    const time = (bytes) => {
      const text = piece.repeat(bytes / piece.length);
      return Math.min(once(text), once(text), once(text)); // the machine may do something else in one of them
    };
    time(size / 32); // so that it is compiled
    const [small, large] = [Math.max(time(size / 8), 20), time(size)];
    assert.ok(large < 60 * small, `${name}: ${small} ms for an eighth, ${large} ms for all`); // 64 times as long is what a square takes
  }
  const began = performance.now();
  parse("_a ".repeat(100_000) + "a* ".repeat(100_000)); // ends that find no beginning
  assert.ok(performance.now() - began < 30_000, `ends without beginnings: ${performance.now() - began} ms`); // 0.2 s at rest; a square takes minutes
  parse(`${"|".repeat(50_000)}\n${"|-".repeat(50_000)}\n${"a|\n".repeat(50_000)}`);
  const ticks = Array.from({ length: 700 }, (_, i) => "`".repeat(i)).join(" ");
  parse(ticks);
  parse(Array.from({ length: 700 }, (_, i) => `${" ".repeat(i)}- a`).join("\n"));
});

test("nothing stands deep in another thing", () => {
  for (const text of ["*a ".repeat(9000) + "a* ".repeat(9000), "***a".repeat(9000) + "***".repeat(9000), "> - ".repeat(9000), "- ".repeat(9000), "[".repeat(9000) + "](http://a.b)".repeat(9000), "*".repeat(9000) + "a" + "*".repeat(9000)]) {
    let deepest = 0;
    for (const [, depth] of within(parse(text))) deepest = Math.max(deepest, depth);
    assert.ok(deepest < 250, `${text.slice(0, 12)}: ${deepest}`);
  }
});

// random returns a generator of whole numbers below a bound, the same ones each time.
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const scraps = ["*", "**", "_", "`", "```", "~~~", "[", "](", ")", "http://a.b", "javascript:x", "<", ">", "> ", "- ", "1. ", "  ", "    ", "\n", "\n\n", "|", "|-|-|", "# ", "---", "===", "a", "word ", "$", "$$", "\\", "\\[", "\\]", "![", "&lt;", "~~", "h", "\t", "\r\n", "[x] "];

test("what was read of a text holds when it grows", () => {
  const next = random(7);
  for (let round = 0; round < 1500; round++) {
    const text = Array.from({ length: 2 + next(30) }, () => scraps[next(scraps.length)]).join("");
    const whole = parse(text);
    for (const [one] of within(whole)) {
      if (one.href !== undefined) assert.match(one.href, /^(?:https?|mailto):/, JSON.stringify(text));
    }
    const grown = [];
    let settled = 0;
    for (let to = 0; to <= text.length; to++) {
      const part = parse(text.slice(settled, to));
      for (const block of part.slice(0, -2)) grown.push({ ...block, end: block.end + settled });
      if (part.length > 2) settled += part.at(-3).end;
    }
    grown.push(...parse(text.slice(settled)).map((block) => ({ ...block, end: block.end + settled })));
    assert.deepEqual(grown, whole, JSON.stringify(text));
  }
});
