// What pages do under somebody's hands: pictures keep their shape, polling leaves alone what was opened, selected or
// scrolled to, what is made once is made once, and what was saved is said.
import { assert, browse, equal, fits, idle, judge, step, told, until } from "./driver.mjs";
import { exclusive, formTerms, largeFiles, rows } from "./trial_form.mjs";
import { webhooks } from "./webhooks.mjs";

const widths = [1280, 390];

// create makes a task as the trial does, and returns it once it has ended.
async function create(page, body) {
  const made = await page.evaluate(async (body) => {
    const answer = await fetch("/console/api/test/tasks", {
      method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=60" },
    });
    return answer.json();
  }, body);
  equal(made.state, "succeeded", `the task ${JSON.stringify(made.error)}`);
  return made.id;
}

// shaped fails where a picture isn't shown in its own shape, as large as its place and its pixels allow.
async function shaped(page, what) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 860 });
    const image = page.locator(".output img").first();
    await image.scrollIntoViewIfNeeded();
    await image.evaluate((i) => i.decode());
    const got = await image.evaluate((i) => {
      const style = getComputedStyle(i);
      const inner = { width: i.clientWidth - parseFloat(style.paddingLeft) * 2, height: i.clientHeight - parseFloat(style.paddingTop) * 2 };
      return { ...inner, naturalWidth: i.naturalWidth, naturalHeight: i.naturalHeight };
    });
    const off = got.width / got.height / (got.naturalWidth / got.naturalHeight) - 1;
    assert(Math.abs(off) < 0.015, `${what} at ${width}: ${JSON.stringify(got)} is ${(off * 100).toFixed(1)} % off`);
    assert(got.width >= 150, `${what} at ${width} is small: ${JSON.stringify(got)}`);
    await fits(page, `${what} at ${width}`);
  }
}

async function pictures(page) {
  for (const size of ["768x768", "576x1024", "1024x576"]) {
    const id = await create(page, { capability: "image.generate", input: { prompt: "a heron at the weir" }, parameters: { size } });
    await page.goto(`/console/tasks/${id}`);
    await shaped(page, `the task's page with ${size}`);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto("/console/trial?capability=image.generate&mode=test");
    await page.locator("[data-rest] > summary").click();
    await page.getByRole("textbox", { name: "Size" }).fill(size);
    await page.locator("[data-run]").click();
    await page.locator("#result .pill.succeeded").waitFor();
    await page.locator("#result img").first().waitFor();
    await shaped(page, `the trial with ${size}`);
  }
}

async function polling(page) {
  await page.setViewportSize({ width: 390, height: 860 });
  await page.clock.install();
  await page.goto("/console/overview");
  const polled = async (times) => {
    for (let i = 0; i < times; i++) {
      await Promise.all([page.waitForResponse((r) => r.url() === page.url()).then((r) => r.finished()), page.clock.runFor(5000)]);
    }
  };
  await page.locator("#overview details > summary").click();
  const table = page.locator("#overview .scroll").last();
  const link = table.locator("tbody a").first();
  await link.focus();
  await page.evaluate(() => {
    const words = [...document.querySelectorAll("#overview h2")].find((h) => h.textContent === "Recent tasks").firstChild;
    getSelection().setBaseAndExtent(words, 0, words, 6);
    [...document.querySelectorAll("#overview .scroll")].at(-1).scrollLeft = 80;
    window.touched = [];
    const note = (records) => {
      for (const { target } of records) {
        const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
        if (!element?.closest("time")) window.touched.push(element?.outerHTML.slice(0, 200));
      }
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  const held = async (when) => {
    assert(await page.locator("#overview details").evaluate((d) => d.open), `${when} the table is closed`);
    equal(await page.evaluate(() => getSelection().toString()), "Recent", `${when} the selection`);
    equal(await table.evaluate((t) => t.scrollLeft), 80, `${when} the sideways scroll`);
    assert(await link.evaluate((l, href) => l === document.activeElement || document.activeElement.getAttribute("href") === href, address), `${when} the focus is elsewhere`);
  };
  const address = await link.getAttribute("href");
  await polled(12);
  equal(await page.evaluate(() => window.touched), [], "what a minute touched of a page that is the same");
  await held("after a minute");
  const id = await create(page, { capability: "text.embed", input: { texts: ["a heron"] } });
  await polled(1);
  await page.locator(`#overview a[href$="${id}"]`).waitFor();
  equal(await page.locator("#overview tbody a").first().getAttribute("href").then((href) => href.endsWith(id)), true, "the new task stands first");
  await held("after a task came");
  equal(await page.locator(`#overview tbody a`).evaluateAll((all) => new Set(all.map((a) => a.href)).size === all.length), true, "each task stands there once");
  await judge(page, "a page that was merged");
  await outrun(page);
}

// outrun lets the answer to a poll come after that to the next one.
async function outrun(page) {
  const make = () => create(page, { capability: "text.embed", input: { texts: ["a heron"] } });
  const polls = [];
  await page.route(page.url(), (route) => { polls.push(route); });
  await page.clock.runFor(10_000);
  await until("two polls", () => polls.length > 1);
  const older = await polls[0].fetch();
  const link = page.locator(`#overview a[href$="${await make()}"]`);
  await polls[1].continue();
  await link.waitFor();
  await link.evaluate((one) => new MutationObserver(() => { window.lost ||= !one.isConnected; }).observe(document.body, { subtree: true, childList: true }));
  await polls[0].fulfill({ response: older });
  await page.unroute(page.url());
  const next = await make();
  await page.clock.runFor(5000);
  await page.locator(`#overview a[href$="${next}"]`).waitFor();
  equal(await page.evaluate(() => window.lost), false, "a row of a newer answer is gone after an older one");
}

// loaded lets a sound be there before the script that dresses it, on a page that tells no length itself.
async function loaded(page) {
  const id = await create(page, { capability: "audio.speech", input: { text: "A short sentence." } });
  let release;
  const there = new Promise((done) => { release = done; });
  await page.route("**/static/result_page.js*", async (route) => {
    await there;
    await route.continue();
  });
  await page.goto(`/console/tasks/${id}`, { waitUntil: "commit" });
  const sound = page.locator(".output audio");
  await sound.evaluate((one) => one.closest("figure").querySelector("[data-duration]")?.remove());
  await until("the sound's length", () => sound.evaluate((one) => one.readyState >= HTMLMediaElement.HAVE_METADATA));
  release();
  await page.locator("figcaption [data-duration]").waitFor();
  await page.unrouteAll();
}

async function once(page) {
  const keys = async () => {
    await page.goto("/console/keys");
    return page.locator("#keys tbody tr").count();
  };
  const before = await keys();
  await page.goto("/console/keys/new");
  await page.getByLabel("Name").fill("till");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.locator("#secret").waitFor();
  page.refusals(410);
  await page.reload();
  await page.getByRole("heading", { name: "This was shown once" }).waitFor();
  await judge(page, "a key that was shown");
  equal((await keys()) - before, 1, "keys that were made");
}

async function said(page) {
  await page.goto("/console/keys");
  await page.locator("#keys a").first().click();
  await page.getByLabel("Open tasks at once").fill("7");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").filter({ hasText: "Saved." }).waitFor();
  await judge(page, "what was saved");
  assert(!page.url().includes("done"), "the address still says so");
  await page.reload();
  await page.getByRole("button", { name: "Save" }).waitFor();
  equal(await page.getByRole("status").count(), 0, "messages after another look");
}

async function asked(page) {
  const ask = async () => {
    await page.getByRole("button", { name: "Rotate the key" }).click();
    await page.getByRole("heading", { name: /^Rotate .*\?$/ }).waitFor();
  };
  await ask();
  await judge(page, "a question");
  await page.getByRole("link", { name: "No, go back" }).click();
  await ask();
  await page.getByRole("button", { name: "Rotate the key" }).click();
  await page.locator("#secret").waitFor();
}

// link makes a one-time link for another member, as an operator does.
async function link(page, member, role = "member", account = "Harbour Books") {
  await page.goto("/console/accounts");
  await page.getByRole("link", { name: account, exact: true }).click();
  await page.getByLabel("Name of the member").fill(member);
  await page.getByLabel("Role").selectOption(role);
  await page.getByRole("button", { name: "Make a link" }).click();
  return page.locator("#secret").inputValue();
}

async function session(page, context) {
  const [first, second] = [await link(page, "Bob Byron"), await link(page, "Cleo Byron")];
  await page.goto("/console/trial?capability=text.chat&mode=test");
  await page.getByRole("textbox", { name: "Prompt" }).fill("Who kept the form?");
  page.refusals(401);
  await context.clearCookies();
  await page.locator("[data-run]").click();
  const problem = page.locator("[data-problem]");
  await problem.filter({ hasText: "Your session has ended." }).waitFor();
  await judge(page, "a session that ended");
  const [tab] = await Promise.all([context.waitForEvent("page"), problem.getByRole("link", { name: "Sign in" }).click()]);
  await tab.goto(first);
  await tab.waitForURL("**/console/");
  await tab.close();
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  assert((await page.locator("#result pre").innerText()).includes("Who kept the form?"), "the form isn't as it was");
  await context.clearCookies();
  await page.goto("/console/tasks?mode=test&capability=text.chat");
  await page.waitForURL("**/console/sign-in");
  await page.goto(second);
  await page.waitForURL("**/console/tasks?mode=test&capability=text.chat");
}

async function again(page) {
  page.refusals(400, 403, 422, 429, 502, 503, 504);
  await page.goto("/console/trial?capability=text.chat&mode=test");
  const runs = async (prompt, pill) => {
    await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
    await page.locator("[data-run]").click();
    await page.locator(`#result .pill.${pill}`).waitFor();
    await idle(page);
  };
  await runs("A first answer", "succeeded");
  await page.getByRole("textbox", { name: "Prompt" }).fill("");
  await page.locator("[data-run]").click();
  await page.locator("[data-problem]:visible").waitFor();
  equal(await page.locator("#result .pill").count(), 0, "old results beside a refusal");
  equal(await page.locator("#problem-request").innerText().then((id) => /^req_\w+$/.test(id)), true, "the request's id stands there");
  await page.getByRole("button", { name: "Copy the request's id" }).waitFor();
  await judge(page, "a refusal with its id");
  await page.getByRole("textbox", { name: "Prompt" }).fill("Two stops");
  await page.locator("[data-rest] > summary").click();
  const stop = page.locator('[data-wire="parameters.stop"]');
  await stop.getByRole("textbox").fill(`${"a".repeat(2000)}\nfine\n${"b".repeat(2000)}`);
  await page.locator("[data-run]").click();
  await stop.locator(".problem:visible").waitFor();
  equal(await stop.locator(".problem p").allInnerTexts(), ["Stop, item 1: must have at most 256 characters", "Stop, item 3: must have at most 256 characters"], "what is wrong with two lines of a field");
  assert((await page.locator("[data-problem]").innerText()).startsWith("INVALID_REQUEST: see Stop."), "the top names no field");
  await stop.getByRole("textbox").fill("");
  let busy = true; // of the next form that is read to be run, and of no preview
  await page.route("**/trial/request", (route) => {
    if (!busy || route.request().postData().includes('name="preview"')) return route.fallback();
    busy = false;
    return route.fulfill({ status: 503, json: { error: { code: "CAPACITY_EXHAUSTED", message: "no room", retryable: true, details: [] }, request_id: "req_busy" } });
  });
  await page.getByRole("textbox", { name: "Prompt" }).fill("This one, and none before it");
  await page.locator("[data-run]").click();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator("#result .pill.succeeded").waitFor();
  assert((await page.locator("#result pre").innerText()).includes("This one, and none before it"), "another request was sent again");
  const keys = [];
  page.on("request", (r) => { if (r.method() === "POST" && r.url().endsWith("/tasks")) keys.push(r.headers()["idempotency-key"]); });
  await runs("@fail:PROVIDER_UNAVAILABLE", "failed");
  await Promise.all([page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/tasks")), page.getByRole("button", { name: "Retry" }).click()]);
  await idle(page);
  await page.getByRole("button", { name: "Retry" }).waitFor();
  equal(keys.length === 2 && keys[0] === keys[1], true, `a retry has the same key: ${keys}`);
  await runs("@fail:CONTENT_POLICY_VIOLATION", "failed");
  equal(await page.getByRole("button", { name: "Retry" }).count(), 0, "retries of what would fail again");
}

async function scopes(page) {
  page.refusals(400);
  await page.goto("/console/keys/new");
  const field = page.getByLabel("Scopes");
  const offered = () => field.evaluate((f) => [...f.list.options].map((option) => option.value));
  equal((await offered()).filter((one) => one.startsWith("image")), ["image.*", "image.background_remove", "image.edit", "image.generate", "image.upscale"], "what a first scope may be");
  await field.pressSequentially("text.chat, im");
  equal((await offered()).includes("text.chat, image.*"), true, "what a second scope may be");
  await field.fill("vedio.* text.caht");
  await page.getByLabel("Name").fill("typo");
  await page.getByRole("button", { name: "Create the key" }).click();
  const said = page.locator(".field", { has: page.getByLabel("Scopes") }).locator(".problem");
  equal((await said.innerText()).match(/perhaps \S+ is meant/g), ["perhaps video.* is meant", "perhaps text.chat is meant"], "what is said of two scopes");
  equal(await field.inputValue(), "vedio.* text.caht", "the form stays as it was");
  await judge(page, "scopes that open nothing");
}

// lengthen puts a long name in the place of each capability and supplier that the page shows.
const lengthen = (page) => page.evaluate(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const all = [];
  while (texts.nextNode()) all.push(texts.currentNode);
  for (const text of all) text.data = text.data.replace(/\b(?:text|image|video|audio)\.\w+|\bsandbox[\w-]*/g, (name) => name + "w".repeat(100));
});

async function longNames(page, context) {
  page.refusals(400);
  const back = await link(page, "Ada Byron", "operator");
  const [account, member, key] = ["A", "M", "K"].map((letter) => letter.repeat(100));
  const seen = [];
  const fitsAll = async () => {
    const what = `${new URL(page.url()).pathname} with long names`;
    seen.push(what);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 860 });
      await page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
      await lengthen(page);
      await fits(page, `${what} at ${width}`);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
  };
  await page.goto("/console/accounts");
  await page.getByLabel("Name").fill(account);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByRole("heading", { name: account }).waitFor();
  const accountPage = page.url();
  const into = await link(page, member, "operator", account);
  await fitsAll();
  await context.clearCookies();
  await page.goto(into);
  await page.waitForURL("**/console/");
  const made = await create(page, { capability: "image.generate", input: { prompt: "W".repeat(300) }, parameters: { size: "64x64" } });
  await page.goto("/console/keys/new");
  await page.getByLabel("Name").fill(key);
  await page.getByLabel("Scopes").fill(`text.${"w".repeat(200)}`);
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.locator(".problem").waitFor();
  await fitsAll();
  await page.getByLabel("Scopes").fill("text.chat image.*");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.locator("#secret").waitFor();
  await fitsAll();
  await page.getByRole("link", { name: "I have it" }).click();
  await page.getByRole("heading", { name: key }).waitFor();
  await fitsAll();
  await page.getByRole("button", { name: "Rotate the key" }).click();
  await page.getByRole("heading", { name: /^Rotate .*\?$/ }).waitFor();
  await fitsAll();
  for (const address of ["/console/", "/console/trial", "/console/trial?capability=video.generate", "/console/tasks", `/console/tasks/${made}`, "/console/keys",
    "/console/usage", `/console/lookup?id=${made}`, "/console/suppliers", "/console/accounts", accountPage]) {
    await page.goto(address);
    await fitsAll();
  }
  equal(seen.length, 16, "pages with long names");
  await context.clearCookies();
  await page.goto(back);
  await page.waitForURL("**/console/");
}

// looks fails unless the button for light and dark changes the look of each page, whatever scripts it has.
async function looks(page) {
  const shown = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  for (const address of ["/console/", "/console/trial?capability=text.chat&mode=test", "/console/tasks"]) {
    await page.goto(address);
    const before = await shown();
    await page.locator("[data-theme-toggle]:visible").click();
    const after = await shown();
    assert(before !== after, `${address} stays ${before}`);
  }
}

await browse(async (page, context) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  await step("light and dark can be chosen on each page", () => looks(page));
  await step("console 1: pictures keep their shape", () => pictures(page));
  await step("a sound that is there before its script tells its length", () => loaded(page));
  await step("console 6: a key is made once", () => once(page));
  await step("console 8: what was saved is said", () => said(page));
  await step("console 7: a rotation is asked about", () => asked(page));
  await step("scopes are completed and checked", () => scopes(page));
  await step("webhooks from the first to the last", () => webhooks(page, create));
  await step("long names break no page", () => longNames(page, context));
  await step("console 3: a session that ends keeps the form, and the page", () => session(page, context));
  await step("console 5 and 10: a refusal says all and clears the result, and what may succeed is retried", () => again(page));
  await step("fields that exclude each other are one choice", () => exclusive(page));
  await step("rows are added and removed", () => rows(page));
  await step("what is wrong is said in the form's words", () => formTerms(page));
  await step("large files go ahead", () => largeFiles(page));
  await step("console 2: polling leaves the page alone", () => polling(page));
});
