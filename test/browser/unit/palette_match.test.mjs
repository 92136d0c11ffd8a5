// What is typed finds the commands that people mean, and ids are told from names.
import assert from "node:assert/strict";
import test from "node:test";

import { identifies, ranked, secret } from "./palette_match.js";

const commands = [
  ["All accounts", "Page"], ["Tasks", "Page"], ["Keys", "Page"], ["Keys of all accounts", "Page"], ["New key", "Action"], ["text.chat · Chat", "Trial"],
  ["image.generate · Pictures from words", "Trial"], ["Sign out", "Action"], ["Kestrel Yard", "Account"],
].map(([text, kind]) => ({ text, kind }));

const best = (typed) => ranked(commands, typed).map(({ text }) => text);

test("the best comes first", () => {
  assert.deepEqual(best(""), commands.map(({ text }) => text), "all, in their order");
  assert.equal(best("keys")[0], "Keys");
  assert.equal(best("KEY")[0], "Keys");
  assert.equal(best("new k")[0], "New key");
  assert.equal(best("nk")[0], "New key");
  assert.equal(best("imgen")[0], "image.generate · Pictures from words");
  assert.equal(best("trial chat")[0], "text.chat · Chat");
  assert.equal(best("so")[0], "Sign out");
  assert.deepEqual(best("zzz"), []);
  assert.deepEqual(best("keys zzz"), []);
});

test("secrets", () => {
  const body = "0123456789ABCDEFGHIJKLMNOPQRSTUV2nuRgb";
  for (const mode of ["live", "test", "operator"]) {
    for (const text of [`svc_${mode}_${body}`, `Bearer acme2_${mode}_${body}`, `svc_${mode}_${body.slice(0, 30)}`]) assert.ok(secret(text), text);
  }
  for (const text of ["", "svc_live_", "my_test_key", "Rgb2", "key_06h1hb5k47s8yywch02xpw6tv1", body]) assert.ok(!secret(text), text);
});

test("ids", () => {
  const id = "06h1hb5k47s8yywch02xpw6tv1";
  for (const prefix of ["task", "req", "key", "acct", "whe"]) assert.ok(identifies(`${prefix}_${id}`), prefix);
  for (const text of ["", "task_", id, `x task_${id}`, `task_${id}0`, `other_${id}`, "task of mine"]) assert.ok(!identifies(text), text);
});
