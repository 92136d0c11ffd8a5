// What the trial remembers of a person's runs: the list after a reload, running again, changing, and going on with what was
// begun; and tiers side by side.
import { assert, browse, equal, fits, idle, judge, step, told, until, within } from "./driver.mjs";
import { cut, cutAbreast, elsewhere, offline, resent, slowly, waiting } from "./runs_lost.mjs";
import { address, fill, keys, list, row, runs, tasks } from "./runs_page.mjs";

// listed waits until the list shows these runs, by their words.
async function listed(page, want, what) {
  const shown = () => list(page).locator(".open").allInnerTexts();
  for (const end = Date.now() + 60_000; JSON.stringify(await shown()) !== JSON.stringify(want) && Date.now() < end;) await page.waitForTimeout(20);
  equal(await shown(), want, what);
}

// keptRuns returns what the browser keeps, after a change of the newest, if any, of which the page is told as by another tab.
const keptRuns = (page, change) => page.evaluate(async (change) => {
  const { Store } = await import(document.querySelector("script[src*='trial.js']").src.replace(/trial\.js.*/, "runs_store.js"));
  const store = await Store.open(document.querySelector("[data-person]").dataset.person);
  if (change) {
    await store.change((await store.all())[0].key, change);
    new BroadcastChannel("unitask-runs").postMessage("");
  }
  return (await store.all()).map(({ capability, mode, state, request, cost, task }) => ({ capability, mode, state, request, cost, task }));
}, change);

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

async function remembered(page) {
  await page.goto(address("text.chat"));
  await page.getByText("Your runs are listed here").waitFor();
  await runs(page, "say a heron");
  await page.goto(address("image.generate"));
  await runs(page, "A red kite");
  await row(page, "A red kite").locator("img.thumb").waitFor();
  await page.goto(address("text.chat"));
  await listed(page, ["A red kite", "say a heron"], "the runs, the newest first");
  const small = await row(page, "A red kite").locator("img").evaluate(async (image) => {
    await image.decode();
    return image.naturalWidth;
  });
  equal(small, 112, "the picture's width");
  await page.locator("#runs-of").selectOption("text.chat");
  await listed(page, ["say a heron"], "the runs of a capability");
  await page.locator("#runs-of").selectOption("");
  const kept = await keptRuns(page);
  const ids = (await tasks(page)).map(({ id }) => id);
  equal(kept.map(({ task }) => task), ids, "the tasks that are kept");
  equal(kept[1].request.input, { prompt: "say a heron" }, "the request that is kept");
}

// pressed lets the small picture of a run come between the mouse's down and up on a button of its row.
async function pressed(page) {
  const prompt = "A barn owl";
  await page.goto(address("image.generate"));
  let release;
  const pressing = new Promise((done) => { release = done; });
  await page.route((url) => url.pathname.startsWith("/artifacts/"), async (route) => {
    if (route.request().resourceType() === "fetch") await pressing;
    await route.continue();
  });
  await runs(page, prompt);
  await idle(page);
  await page.getByRole("textbox", { name: "Prompt" }).first().fill("another");
  const tweak = row(page, prompt).getByRole("button", { name: "Tweak" });
  await tweak.hover();
  await page.mouse.down();
  release();
  await row(page, prompt).locator("img.thumb").waitFor();
  equal(await tweak.evaluate((b) => b === document.activeElement), true, "the button that is pressed has the focus");
  await page.mouse.up();
  await until("the prompt of the run", async () => (await page.getByRole("textbox", { name: "Prompt" }).first().inputValue()) === prompt);
  await page.unrouteAll();
}

const looks = [["light", 1280], ["dark", 390]];

async function judged(page, all = looks) {
  for (const [colorScheme, width] of all) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    await fits(page, `runs at ${width}`);
    await judge(page, `runs at ${width}, ${colorScheme}`);
    const tops = await page.locator("#trial, #compare:not([hidden]), #runs").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]));
    assert(tops[0][1] - tops[0][0] >= 400, `the form has little room at ${width}: ${tops}`);
    tops.slice(1).forEach(([top], i) => assert(top >= tops[i][1], `parts of the page cover each other at ${width}: ${tops}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
}

async function again(page) {
  const sent = keys(page);
  const before = (await tasks(page)).length;
  await idle(page);
  await row(page, "say a heron").getByRole("button", { name: "Run again" }).click();
  await listed(page, ["say a heron", "A red kite", "say a heron"], "runs after another one");
  await page.locator("#result .pill.succeeded").waitFor();
  await idle(page);
  assert((await page.locator("#result").innerText()).includes("a heron"), "the result isn't of the run");
  await row(page, "A red kite").getByRole("button", { name: "Run again" }).press("Enter");
  await page.waitForURL("**/trial?capability=image.generate**");
  await page.locator("#result img").waitFor();
  const all = await tasks(page);
  equal(all.length, before + 2, "tasks of two runs");
  equal(new Set(sent).size, 2, "keys of two runs");
  await page.reload();
  await page.locator("#result img").waitFor();
  equal((await tasks(page)).length, before + 2, "tasks after a reload");
}

// tweaked fills the form with a request that had a file, and one that had an artifact.
async function tweaked(page) {
  const file = { name: "heron.png", mimeType: "image/png", buffer: png };
  await page.goto(address("image.upscale"));
  await idle(page);
  await page.locator('input[type=file][name="input.image"]').setInputFiles(file);
  await page.locator('[name="input.authorization.person"][value="none"]').check({ force: true });
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  const here = list(page).first();
  await here.filter({ hasText: "with heron.png" }).locator("img.thumb").waitFor();
  equal(await here.getByRole("button", { name: "Run again" }).count(), 0, "ways to run a request again whose file isn't kept");
  await idle(page);
  await page.goto(address("text.embed"));
  await list(page).first().getByRole("button", { name: "Tweak" }).click();
  await page.waitForURL("**capability=image.upscale**");
  await page.locator("[data-problem]").filter({ hasText: "Choose again: heron.png." }).waitFor();
  const count = (await tasks(page)).length;
  await page.locator("[data-run]").click();
  await page.locator(".problem:visible").filter({ hasText: "heron.png is missing" }).waitFor();
  equal((await tasks(page)).length, count, "tasks of a request without its file");
  await row(page, "say a heron").first().getByRole("button", { name: "Tweak" }).click();
  await page.waitForURL("**capability=text.chat**");
  const prompt = page.getByRole("textbox", { name: "Prompt" }).first();
  await until("the prompt of the run", async () => (await prompt.inputValue()) === "say a heron");
  await idle(page);
  await runs(page, "say two herons");
  const { request } = (await keptRuns(page))[0];
  equal(request.input, { prompt: "say two herons" }, "the request that was changed");
}

async function followed(page, context) {
  await page.goto(address("text.chat"));
  await fill(page, "wait @stuck:running here");
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.running").waitFor();
  const [task] = await tasks(page);
  equal(new URL(page.url()).hash, `#task=${task.id}`, "the address names the task");
  await page.reload();
  await page.locator("#result .pill.running").waitFor();
  await page.locator(`#result a[href$="${task.id}"]`).waitFor();
  const other = await context.newPage(); // a tab of its own takes no run from the first
  await other.goto(address("text.chat"));
  await row(other, "wait @stuck").locator(".pill.running").waitFor();
  await idle(other);
  equal(await other.locator("#result .pill").count(), 0, "what another tab shows");
  await page.close(); // as a crash does: its run is without a page
  await until("the run of a page that is gone", async () => { // which the browser may take its time to see
    await other.goto(address("text.chat"));
    return other.locator("#result .pill.running").waitFor({ timeout: 30_000 }).then(() => true, () => false);
  });
  let release;
  const typed = new Promise((done) => { release = done; });
  await other.route("**/console/trial/show", async (route) => {
    await typed;
    await route.continue();
  });
  await other.reload();
  const prompt = other.getByRole("textbox", { name: "Prompt" }).first();
  await prompt.fill("own words meanwhile");
  release();
  await other.locator("#result .pill.running").waitFor();
  equal(await prompt.inputValue(), "own words meanwhile", "words that were typed before a run was shown again");
  await other.unrouteAll();
  await other.locator("#result").getByRole("button", { name: "Cancel" }).click();
  await other.locator("#result .pill.canceled").waitFor();
  await row(other, "wait @stuck").locator(".pill.canceled").waitFor();
  equal((await tasks(other)).filter(({ state }) => state === "canceled").map(({ id }) => id), [task.id], "the task of all readings");
  return other;
}

// addressed opens an address that holds a form in a tab that has left a run.
async function addressed(page) {
  const prompt = "wait @stuck:running aside";
  await page.goto(address("text.chat"));
  await runs(page, prompt, "running");
  await page.goto("/console/");
  const request = JSON.stringify({ capability: "text.chat", input: { prompt: "from the address" } });
  await page.goto(`${address("text.chat")}#request=${Buffer.from(request).toString("base64url")}`);
  for (const when of ["opened", "read again"]) {
    await page.getByText("The form is filled from the address").waitFor();
    await idle(page);
    equal(await page.getByRole("textbox", { name: "Prompt" }).first().inputValue(), "from the address", `the prompt of an address that is ${when}`);
    equal(await page.locator("#result .pill").count(), 0, `results beside an address that is ${when}`);
    await row(page, prompt).locator(".pill.running").waitFor();
    await page.reload();
  }
  await idle(page);
  await row(page, prompt).locator(".open").click();
  await page.locator("#result").getByRole("button", { name: "Cancel" }).click();
  await row(page, prompt).locator(".pill.canceled").waitFor();
}

// outrun lets another tab's look at a task, which goes on then, take longer than the task.
async function outrun(page, context) {
  const prompt = "wait @stuck:running longer";
  await page.goto(address("text.chat"));
  await runs(page, prompt, "running");
  const [task] = await tasks(page);
  const other = await context.newPage();
  const looks = new Promise((done) => { other.route(`**/tasks/${task.id}`, done); });
  await other.goto(address("text.embed"));
  const look = await within(120, "the other tab's look", looks);
  await page.locator("#result").getByRole("button", { name: "Cancel" }).click();
  await row(other, prompt).locator(".pill.canceled").waitFor();
  await page.evaluate(() => {
    window.told = new Promise((done) => { new BroadcastChannel("unitask-runs").addEventListener("message", done); });
  });
  await look.fulfill({ json: { ...task, state: "queued" } });
  await within(120, "word of what the other tab saw", page.evaluate(() => window.told.then(() => {})));
  equal((await keptRuns(page))[0].state, "canceled", "the state that is kept after an older one came");
  await other.close();
}

// compared runs one prompt with two capabilities, reads the page again in the middle, and compares two others live.
async function compared(page) {
  const before = (await tasks(page)).length;
  const sent = keys(page);
  await page.goto(address("text.chat"));
  await idle(page);
  equal(await page.locator("[data-peers] code").allInnerTexts(), ["text.chat.fast", "text.chat.large"], "capabilities with the same inputs");
  await page.getByRole("checkbox", { name: /large model/ }).check();
  await fill(page, "wait @stuck:running beside");
  await page.getByRole("button", { name: "Run 2 side by side" }).click();
  const columns = page.locator("#compare .column");
  const running = columns.filter({ has: page.locator(".pill.running") });
  await running.nth(1).waitFor();
  const made = await tasks(page);
  equal(made.slice(0, 2).map(({ capability }) => capability).sort(), ["text.chat", "text.chat.large"], "what runs");
  await page.reload();
  await running.nth(1).waitFor();
  equal(await columns.locator("h2 code").allInnerTexts(), ["text.chat", "text.chat.large"], "the columns after a reload");
  await columns.first().getByRole("button", { name: "Cancel" }).click();
  await columns.first().locator(".pill.canceled").waitFor();
  equal(await running.count(), 1, "the other column goes on");
  await columns.last().getByRole("button", { name: "Cancel" }).click();
  await columns.last().locator(".pill.canceled").waitFor();
  await page.goto(address("text.chat"));
  for (const name of [/large model/, /Chat fast/]) await page.getByRole("checkbox", { name }).check();
  await fill(page, "say three herons");
  await page.getByRole("button", { name: "Run 3 side by side" }).click();
  await columns.locator(".pill.succeeded").nth(2).waitFor();
  equal(await columns.locator("dt").allInnerTexts(), ["Time", "Tokens", "Cost", "Time", "Tokens", "Cost", "Time", "Tokens", "Cost"], "what columns say");
  await idle(page);
  await judged(page, looks.slice(1));
  const after = await tasks(page);
  equal(after.length, before + 5, "tasks of two comparisons");
  equal(new Set(sent).size, 5, "keys of two comparisons");
  await page.goto(address("text.embed"));
  equal(await page.locator("[data-peers]").count(), 0, "comparisons of a capability without tiers");
}

async function live(page) {
  await page.goto(address("text.chat", "live"));
  await page.getByRole("checkbox", { name: /large model/ }).check();
  const sum = page.locator("[data-sum]");
  await sum.filter({ hasText: "All together cost at most $" }).waitFor();
  equal(await page.locator("[data-price]").isVisible(), false, "the price of one beside that of all");
  const most = await page.evaluate(() => Promise.all(["text.chat", "text.chat.large"].map(async (capability) => {
    const answer = await fetch("/console/api/live/estimates", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ capability, input: { prompt: document.querySelector('[name="input.prompt"]').value }, parameters: { max_output_tokens: 200 } }),
    });
    return Number((await answer.json()).at_most.amount);
  })));
  assert(Math.abs(Number(/\$([\d.]+?)\.$/.exec(await sum.innerText())[1]) - most[0] - most[1]) < 1e-9, `the sum of ${most}: ${await sum.innerText()}`);
  await page.getByRole("checkbox", { name: /large model/ }).uncheck();
  await page.locator("[data-price]").filter({ hasText: "$" }).waitFor();
  equal([await page.locator("[data-price]").isVisible(), await sum.isVisible()], [true, false], "the price of one, and that of all");
  await runs(page, "one live run");
  const ask = row(page, "one live run").getByRole("button", { name: "Run again" });
  await idle(page);
  await ask.click();
  const yes = page.getByRole("button", { name: "Run live", exact: true });
  await yes.waitFor();
  assert(/At most \$\d+\.\d+\./.test(await row(page, "one live run").innerText()), "no price is told");
  await keptRuns(page, { cost: "0.5" });
  await row(page, "one live run").filter({ hasText: "$0.50" }).waitFor();
  equal(await yes.evaluate((b) => b === document.activeElement), true, "the answer has the focus, also once the row has changed");
  await page.getByRole("button", { name: "No", exact: true }).click();
  equal(await ask.evaluate((b) => b === document.activeElement), true, "the focus came back");
  equal((await tasks(page, "live")).length, 1, "live tasks after a no");
  await ask.click();
  await yes.click();
  await page.locator("#result .pill.succeeded").waitFor();
  await idle(page);
  equal((await tasks(page, "live")).length, 2, "live tasks after a yes");
  equal(await row(page, "one live run").count(), 2, "live runs");
}

async function separate(page, context) {
  const link = async (member, role) => {
    await page.goto("/console/accounts");
    await page.getByRole("link", { name: "Harbour Books", exact: true }).click();
    await page.getByLabel("Name of the member").fill(member);
    await page.getByLabel("Role").selectOption(role);
    await page.getByRole("button", { name: "Make a link" }).click();
    return page.locator("#secret").inputValue();
  };
  const [bob, ada] = [await link("Bob Byron", "member"), await link("Ada Byron", "operator")];
  const enter = async (at) => {
    await page.goto(at);
    await page.waitForURL("**/console/");
    await page.goto(address("text.chat"));
    await idle(page);
  };
  await page.goto(address("text.chat"));
  await list(page).first().waitFor();
  const hers = await list(page).count();
  await context.clearCookies();
  await enter(bob);
  await page.getByText("Your runs are listed here").waitFor();
  await runs(page, "say this is Bob's");
  await listed(page, ["say this is Bob's"], "another member's runs");
  await page.goto("/console/sessions");
  await page.getByRole("button", { name: "Sign out here" }).click();
  await page.waitForURL("**/console/sign-in");
  await enter(ada);
  await list(page).first().waitFor();
  equal(await list(page).count(), hers, "one's own runs");
  const owners = () => page.evaluate(() => new Promise((done) => {
    const opening = indexedDB.open("unitask-runs");
    opening.onsuccess = () => {
      const all = opening.result.transaction("runs").objectStore("runs").getAll();
      all.onsuccess = () => {
        opening.result.close();
        done(new Set(all.result.map(({ owner }) => owner)).size);
      };
    };
  }));
  equal(await owners(), 1, "people with runs after one has signed out");
  await page.getByRole("button", { name: "Clear history" }).press("Enter");
  await page.getByRole("button", { name: "Forget them" }).press("Enter");
  await page.getByText("Your runs are listed here").waitFor();
  equal(await owners(), 0, "people with runs after the history was cleared");
}

async function without(page) {
  await page.addInitScript(() => Object.defineProperty(globalThis, "indexedDB", { value: undefined }));
  await page.goto(address("text.chat"));
  await page.getByText("This browser keeps no list of your runs").waitFor();
  await fill(page, "say it runs");
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  await judge(page, "a browser without a store");
  await page.reload();
  await page.locator("#result .pill.succeeded").waitFor();
}

await browse(async (first, context) => {
  await first.goto(told.link);
  await first.waitForURL("**/console/");
  first.refusals(401, 429, 503, "ERR_FAILED");
  await step("runs are remembered", () => remembered(first));
  await step("they are good to see", () => judged(first, looks.slice(0, 1)));
  await step("run again", () => again(first));
  await step("tweak", () => tweaked(first));
  await step("a press lasts while its row changes", () => pressed(first));
  const page = await step("a run goes on after a reload, and without its page", () => followed(first, context));
  await step("an address that holds a form, after a run that was left", () => addressed(page));
  await step("a look that takes longer than its task", () => outrun(page, context));
  await step("an answer that is lost", () => cut(page, "say once", true));
  await step("a request that is lost", () => cut(page, "say once only", false));
  await step("a request that another tab takes up", () => elsewhere(page, context, "say it elsewhere"));
  await step("a page that is read again slowly", () => slowly(page, "say it slowly"));
  await step("a service that is away", () => offline(page));
  await step("tiers side by side", () => compared(page));
  await step("answers that are lost side by side", () => cutAbreast(page, "say two", ["text.chat", "text.chat.large"]));
  await step("one of them is lost", () => cutAbreast(page, "say one of two", ["text.chat.large"]));
  await step("a live run tells its price", () => live(page));
  await step("a live request without a task waits for a word", () => waiting(page, context));
  await step("a request that is refused the second time", () => resent(page));
  await step("each member has their own", () => separate(page, context));
  await step("without a store", () => without(page));
});
