// The trial of every capability that the server lists, by its example alone: a new one needs no line here.
import { assert, browse, equal, fits, idle, judge, step, told, within } from "./driver.mjs";

const { besides } = told.more;
const capabilities = told.more.capabilities.filter(({ name }) => !name.endsWith(besides));
const abreast = 4; // pages at a time

const at = (name) => `/console/trial?capability=${name}&mode=test`;

// sorted is a value with the members of its objects in the order of their names.
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
};

// filesOf returns the files of an example, by their fields.
function filesOf({ input }) {
  return Object.entries(input).flatMap(([name, value]) => [value].flat().filter((one) => one?.data).map((one, i) => {
    const { content_type: type, data: base64 } = one;
    return { wire: `input.${name}`, name: `${name}-${i}.${type.split("/")[1]}`, type, base64 };
  }));
}

// saying returns the example with a word before its first text; undefined without one.
function saying({ input }, word) {
  for (const name of ["prompt", "text", "query", "texts"]) {
    if (name in input) return [`input.${name}`, `${word} ${[input[name]].flat().join("\n")}`];
  }
  return undefined;
}

const kinds = new Map(); // of results, with the capability that is gone through in full

// kindOf returns the kind of a task's output: that of its files, or text or data.
function kindOf(output) {
  const types = [];
  JSON.stringify(output, (_, value) => {
    if (value?.content_type) types.push(value.content_type.split("/")[0]);
    return value;
  });
  return types[0] ?? (typeof output.text === "string" ? "text" : "data");
}

// seekable loads a medium and looks at its middle.
const seekable = (locator) => locator.evaluate(async (medium) => {
  const told = (name) => new Promise((done, fail) => {
    medium.addEventListener(name, done, { once: true });
    medium.addEventListener("error", () => fail(new Error(`${medium.error?.message}`)), { once: true });
  });
  if (medium.readyState < 1) {
    const loaded = told("loadedmetadata");
    medium.load();
    await loaded;
  }
  const sought = told("seeked");
  medium.currentTime = medium.duration / 2;
  await sought;
  return medium.duration > 0 && Math.abs(medium.currentTime - medium.duration / 2) < 0.1;
});

// shows fails unless the result of a kind is there as people look at it.
const shows = {
  text: async (result) => assert((await result.locator(".prose:visible, pre.wrap:visible").first().innerText()).trim() !== "", "the text is empty"),
  image: async (result) => {
    const image = result.locator(".gallery img").first();
    await image.scrollIntoViewIfNeeded(); // it is loaded once it is in sight
    const loaded = await image.evaluate((i) => i.complete || new Promise((done) => {
      i.addEventListener("load", () => done(true));
      i.addEventListener("error", () => done(false));
    }));
    assert(loaded && await image.evaluate((i) => i.naturalWidth > 0), "the picture isn't drawn");
  },
  audio: async (result) => assert(await seekable(result.locator("audio").first()), "the sound can't be sought in"),
  video: async (result) => assert(await seekable(result.locator("video").first()), "the video can't be sought in"),
  data: async (result) => {
    await result.locator("tbody tr, .tree").first().waitFor();
    assert(await result.locator("tbody tr, .tree *").count() > 0, "the data aren't shown");
  },
};

// drawn waits until the result of a kind is there as people look at it, which takes a moment once its task has ended.
const drawn = (place, kind) => within(60, `a result of the kind ${kind}, drawn`, shows[kind](place));

const tasks = (page, name) => page.evaluate(async (of) => (await (await fetch(`/console/api/test/tasks?limit=100&capability=${of}`)).json()).data, name);

const rows = (page, name) => page.locator("#runs li").filter({ has: page.locator("code", { hasText: new RegExp(`^${name.replaceAll(".", "\\.")}$`) }) });

async function open(page, address) {
  await page.goto(address);
  await page.locator("[data-share]").waitFor();
  await idle(page);
}

// give drops the example's files at their fields, and gives the word about people that it has.
async function give(page, example) {
  for (const file of filesOf(example)) {
    await page.locator(`[data-wire="${file.wire}"] .drop`).first().evaluate((zone, { name, type, base64 }) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name, { type }));
      zone.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
    }, file);
  }
  const { authorization } = example.input;
  if (authorization) await page.locator(`[name="input.authorization.person"][value="${authorization.person}"]`).check({ force: true });
}

// creation knows the creations of a capability, or of its second tier: a page also takes up what one that is closed has left.
const creation = (name) => (r) => r.method() === "POST" && r.url().endsWith("/tasks") && [name, name + besides].includes(r.postDataJSON().capability);

// send runs the form by the keyboard, and returns the request.
async function send(page, name) {
  const [sent] = await Promise.all([page.waitForRequest(creation(name)), page.keyboard.press("Control+Enter")]);
  return sent;
}

async function ended(page, state = "succeeded") {
  await page.locator(`#result .pill.${state}`).waitFor();
  await idle(page);
}

async function first(page, { name, example }) {
  await open(page, at(name));
  await give(page, example);
  const sent = (await send(page, name)).postDataJSON();
  equal(sorted(sent), sorted(example), "the request is the example");
  await ended(page);
  const [task] = await tasks(page, name);
  const kind = kindOf((await page.evaluate(async (id) => (await fetch(`/console/api/test/tasks/${id}`)).json(), task.id)).output);
  await drawn(page.locator("#result"), kind);
  await judge(page, `a result of ${name}`);
  await fits(page, `a result of ${name}`);
  await page.reload();
  await ended(page);
  await drawn(page.locator("#result"), kind);
  return kind;
}

async function again(page, { name, example }) {
  const files = filesOf(example);
  await page.locator("#runs-of").selectOption(name); // beside the runs of the other pages, some of which are newer
  if (files.length === 0) {
    await rows(page, name).first().getByRole("button", { name: "Run again" }).click();
  } else { // whose bytes aren't kept
    equal(await rows(page, name).first().getByRole("button", { name: "Run again" }).count(), 0, "ways to run it again without its files");
    await rows(page, name).first().getByRole("button", { name: "Tweak" }).click();
    await page.locator("[data-problem]").filter({ hasText: `Choose again: ${files.map((file) => file.name).join(", ")}.` }).waitFor();
    await idle(page);
    await give(page, example);
    await send(page, name);
  }
  await rows(page, name).nth(1).waitFor();
  await rows(page, name).first().locator(".pill.succeeded").waitFor();
  await ended(page);
  equal((await tasks(page, name)).length, 2, "tasks of two runs");
  for (const row of await rows(page, name).all()) {
    await row.locator(".thumb").waitFor();
    assert((await row.locator(".open").innerText()).trim() !== "", "a run without words");
  }
}

// shared opens the form's address in a page of its own, and runs it there in two tiers side by side.
async function shared(page, { name, example }, kind) {
  await page.getByRole("button", { name: "Copy link" }).click();
  const address = await page.getByLabel("The form's address").inputValue();
  const fresh = await page.context().newPage();
  await open(fresh, address);
  const note = fresh.locator("[data-note]").filter({ hasText: "The form is filled from the address." });
  await note.waitFor();
  for (const file of filesOf(example)) assert((await note.innerText()).includes(file.name), `${file.name} isn't named`);
  await give(fresh, example);
  await fresh.locator(`[data-peers] input[value="${name}${besides}"]`).check();
  const sent = [];
  fresh.on("request", (r) => { if (creation(name)(r)) sent.push(r.postDataJSON()); });
  await send(fresh, name);
  const columns = fresh.locator("#compare .column");
  await columns.nth(1).waitFor();
  for (const column of [columns.first(), columns.last()]) {
    await column.locator(".pill.succeeded").waitFor();
    await drawn(column, kind);
  }
  const want = [name, name + besides].map((capability) => sorted({ ...example, capability }));
  equal(sent.map(sorted).sort((a, b) => a.capability.length - b.capability.length), want, "the requests of a shared address");
  equal(await columns.locator("h2 code").allInnerTexts(), [name, name + besides], "what stands side by side");
  await fresh.close();
}

// whole goes through what is gone through once for each kind of result: reload in mid-run, and retry.
async function whole(page, { name, example }) {
  const fill = ([wire, text]) => page.locator(`[name="${wire}"]:enabled`).first().fill(text);
  await open(page, at(name));
  const before = (await tasks(page, name)).length;
  await fill(saying(example, "@slow:2s"));
  await send(page, name);
  await page.reload();
  await ended(page);
  equal((await tasks(page, name)).length, before + 1, "tasks of a run whose page was read again");
  await open(page, at(name));
  await fill(saying(example, "@fail:PROVIDER_UNAVAILABLE"));
  const sent = await send(page, name);
  const retry = page.getByRole("button", { name: "Retry" });
  await retry.waitFor();
  const [resent] = await Promise.all([page.waitForRequest(creation(name)), retry.click()]);
  equal(resent.headers()["idempotency-key"], sent.headers()["idempotency-key"], "the key of a retry");
  await idle(page);
  await retry.waitFor();
  assert((await tasks(page, name)).length <= before + 2, "a retry is another task");
}

await browse(async (page, context) => {
  page.refusals(400, 422, 502, 503);
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  await page.goto("/console/trial?mode=test");
  const listed = await page.getByLabel("Capabilities").locator("code").allTextContents();
  equal(listed.filter((name) => !name.endsWith(besides)).sort(), capabilities.map(({ name }) => name).sort(), "capabilities that the trial has");
  const waiting = capabilities.toSorted((a, b) => (a.name < b.name ? 1 : -1)); // those of videos first, which take longest
  await Promise.all(Array.from({ length: abreast }, async () => {
    const own = await context.newPage();
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      const { name } = one;
      const kind = await step(`${name} runs`, () => first(own, one));
      await step(`${name} runs again`, () => again(own, one));
      await step(`${name} by an address, in two tiers`, () => shared(own, one, kind));
      if (kinds.has(kind) || !saying(one.example, "") || filesOf(one.example).length > 0) continue; // files aren't kept
      kinds.set(kind, name);
      await step(`${name} cut off and retried`, () => whole(own, one));
    }
    await own.close();
  }));
  equal([...kinds.keys()].sort(), ["audio", "data", "image", "text", "video"], "kinds of results");
});
