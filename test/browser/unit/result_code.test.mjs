// The words of code are told apart, no text is lost, and it takes a bounded time whatever the code is.
import assert from "node:assert/strict";
import test from "node:test";

import { pieces } from "./result_code.js";

for (const [language, code, want] of [
  ["go", '// c\nfunc a() { return "x" + `y` + 0x1f }', "comment:// c keyword:func keyword:return string:\"x\" string:`y` number:0x1f"],
  ["ts", "const x = 'a'; /* open", "keyword:const string:'a' comment:/* open"],
  ["python", '@d\ndef f(x):\n  """doc"""\n  return f"x" # hi', 'name:@d keyword:def string:"""doc""" keyword:return string:f"x" comment:# hi'],
  ["sh", 'for f in *.go; do echo "$f"; done # all', 'keyword:for keyword:in keyword:do keyword:echo string:"$f" keyword:done comment:# all'],
  ["json", '{"a": "b:c", "n": -1.5e3, "t": true}', 'name:"a" string:"b:c" name:"n" number:-1.5e3 name:"t" keyword:true'],
  ["sql", "SELECT a FROM t WHERE x = 'y' -- c", "keyword:SELECT keyword:FROM keyword:WHERE string:'y' comment:-- c"],
  ["yaml", 'a: 1 # c\nb: "x"', 'name:a number:1 comment:# c name:b string:"x"'],
  ["html", '<!-- c --><a href="x">don\'t</a>', 'comment:<!-- c --> keyword:<a name:href string:"x" keyword:> keyword:</a keyword:>'],
  ["css", "a { color: #fff } @media x", "name:color number:#fff keyword:@media"],
  ["diff", "--- a\n+++ b\n@@ 1 @@\n-x\n+y\n z", "comment:--- a comment:+++ b name:@@ 1 @@ removed:-x added:+y"],
  ["rust", "let mut x = 1; // y", "keyword:let keyword:mut number:1 comment:// y"],
  ["klingon", "let x = 1", ""],
  ["constructor", "let x = 1", ""],
]) {
  test(language, () => assert.equal(pieces(code, language).filter(([kind]) => kind).map((piece) => piece.join(":")).join(" "), want));
}

test("no text is lost, and none takes long", () => {
  const began = performance.now();
  for (const language of ["go", "js", "python", "sh", "json", "sql", "yaml", "html", "css", "diff", "c", "toml", "ruby"]) {
    for (const piece of ['"', '\\"', "'", "`", "/*", "#", "a", "$", "<!--", "<", '=""', "-- ", "\n", " ", "a:", "a ", "1", "-", '"""', '"a:', "@", "ä", "\u{1F600}"]) {
      const code = piece.repeat(16_000 / piece.length);
      assert.equal(pieces(code, language).map(([, text]) => text).join(""), code, `${language} of ${piece}`);
    }
  }
  assert.ok(performance.now() - began < 60_000, `it took ${performance.now() - began} ms`); // 1 s at rest
});
