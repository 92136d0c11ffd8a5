// Tells the words of code apart: for each language a few patterns, tried in order at each place. It makes pairs of a
// kind and a text and touches no page. Each pattern takes the text that it looks at, also without an end to it, so that
// the time grows as the code does.

const longest = 64 << 10; // characters that are told apart; longer code is plain

// pieces returns the code in order as [kind, text], where the kind is "keyword", "string", "comment", "number", "name",
// "added", "removed" or "" for the rest.
export function pieces(code, language) {
  const patterns = code.length <= longest ? languages.get(language) : undefined;
  if (!patterns) return [["", code]];
  const out = [];
  let at = 0;
  for (const found of code.matchAll(patterns.all)) {
    const kind = patterns.kinds[found.slice(1).findIndex((text) => text !== undefined)];
    if (found.index > at) out.push(["", code.slice(at, found.index)]);
    out.push([kind === "word" ? patterns.kindOf(found[0]) : kind, found[0]]);
    at = found.index + found[0].length;
  }
  if (at < code.length) out.push(["", code.slice(at)]);
  return out;
}

const word = ["word", /[\p{L}_$][\p{L}\p{N}_$]*/];
const number = ["number", /\b\d[\w.]*/];
const double = ["string", /"(?:[^"\\\n]|\\[^])*"?/];
const single = ["string", /'(?:[^'\\\n]|\\[^])*'?/];
const long = ["string", /`(?:[^`\\]|\\[^])*`?/];
const slashes = ["comment", /\/\/.*/];
const between = ["comment", /\/\*[^]*?(?:\*\/|$)/];
const hash = ["comment", /#.*/];

// language puts patterns together. Of words, keywords are told apart; fold: in any case. By lines, ^ is a line's start.
function language(patterns, keywords, { fold = false, lines = false } = {}) {
  const known = new Set(keywords.split(" "));
  return {
    all: new RegExp(patterns.map(([, { source }]) => `(${source})`).join("|"), lines ? "gmu" : "gu"),
    kinds: patterns.map(([kind]) => kind),
    kindOf: (text) => (known.has(fold ? text.toLowerCase() : text) ? "keyword" : ""),
  };
}

const go = language([slashes, between, double, ["string", /`[^`]*`?/], ["string", /'(?:[^'\\\n]|\\[^])*'?/], word, number],
  "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var");

const script = language([slashes, between, double, single, long, word, number],
  "abstract as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null of private protected public readonly return set static super switch this throw true try type typeof undefined var void while yield");

const python = language(
  [hash, ["string", /[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?)/], ["name", /@[\w.]+/], word, number],
  "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield");

const shell = language(
  [["comment", /(?<![^\s;(])#.*/], ["string", /"(?:[^"\\]|\\[^])*"?/], ["string", /'[^']*'?/], ["name", /\$\{?[\w@#?*!-]+\}?/], ["", /[\w./:=-]*[./:=-][\w./:=-]*/], word, number],
  "case cd do done echo elif else esac exit export fi for function if in local return set source then until while");

const json = language([slashes, between, ["name", /"(?:[^"\\\n]|\\[^])*"(?=\s{0,99}:)/], double, word, ["number", /-?\b\d[\w.+-]*/]], "true false null");

const sql = language([["comment", /--.*/], between, single, double, word, number],
  "add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists explain false foreign from full group having if in index inner insert intersect into is join key left like limit not null offset on or order outer over partition primary references returning right rollback select set table then transaction true union unique update using values view when where with",
  { fold: true });

const yaml = language(
  [["comment", /(?<![^\s])#.*/], ["name", /^[ \t]*(?:- +)*[\w./-]+(?=[ \t]{0,99}:(?:\s|$))/], double, single, word, number], "true false null yes no on off", { lines: true });

const html = language([["comment", /<!--[^]*?(?:-->|$)/], ["keyword", /<[/!?]?[A-Za-z][\w:-]*|\/?>/], ["string", /(?<==)(?:"[^"]*"?|'[^']*'?)/], ["name", /[\w:-]+(?==["'])/], ["", /[\w:-]+/]], "");

const css = language([between, double, single, ["keyword", /@[\w-]+/], ["number", /#[\da-fA-F]{3,8}\b|\b\d[\w.%]*/], ["name", /[\w-]+(?=[ \t]{0,99}:)/], ["", /[\w-]+/]], "");

const diff = language([["comment", /^(?:diff|index|---|\+\+\+)(?: .*)?$/], ["name", /^@@.*/], ["added", /^\+.*/], ["removed", /^-.*/]], "", { lines: true });

const like = language([slashes, between, double, single, word, number], // C and its like
  "abstract and as async auto await bool boolean break byte case catch char class const continue crate default delete do double else enum extends extern false final finally float fn for foreach friend fun func function goto if impl implements import in include inline instanceof int interface internal is let long loop match mod move mut namespace new nil null nullptr object operator override package private protected pub public readonly ref return self sealed short signed sizeof static string struct super switch template this throw throws trait true try type typedef typename union unsafe unsigned use using val var virtual void volatile when where while yield");

const toml = language([hash, ["name", /^[ \t]*(?:\[[^\]\n]*\]|[\w.-]+(?=[ \t]{0,99}=))/], double, single, word, number], "true false", { lines: true });

const ruby = language([hash, double, single, ["name", /[:@]\w+/], word, number],
  "begin break case class def do else elsif end ensure false for if in module next nil not or puts redo rescue require return self super then true unless until when while yield");

const languages = new Map(Object.entries({
  go, golang: go, js: script, javascript: script, jsx: script, mjs: script, ts: script, typescript: script, tsx: script, python, py: python, sh: shell, bash: shell,
  shell, zsh: shell, console: shell, dockerfile: shell, makefile: shell, json, jsonc: json, json5: json, jsonl: json, sql, yaml, yml: yaml, html, xml: html, svg: html,
  css, scss: css, diff, patch: diff, c: like, cpp: like, "c++": like, "c#": like, cs: like, csharp: like, java: like, kotlin: like, rust: like, rs: like, swift: like,
  php: like, scala: like, zig: like, toml, ini: toml, ruby, rb: ruby,
}));
