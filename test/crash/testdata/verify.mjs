// Verifies kept deliveries with Standard Webhooks' own library and prints how many there are:
//
//   node verify.mjs NODE_MODULES FILE
//
// The first that isn't signed with its endpoint's secret ends it with an error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, file] = process.argv.slice(2);
const { Webhook } = createRequire(modules + "/")("standardwebhooks");
const all = JSON.parse(readFileSync(file, "utf8"));
const now = Date.now;
for (const one of all) {
  // The library compares the timestamp with the clock; a long run is verified at its end.
  Date.now = () => Number(one.headers["webhook-timestamp"]) * 1000;
  new Webhook(one.secret).verify(one.body, one.headers);
}
Date.now = now;
console.log(all.length);
