// The show: sign in, make a key, limit it, use it by the command line, see its task, run capabilities in the
// trial, see the usage grow, revoke the key and see it refused; and the pictures for the documentation.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { assert, browse, cli, equal, idle, judge, plays, shot, step, tabTo, told } from "./driver.mjs";

const visited = new Map(); // each page's name and address, for the pictures

async function visit(page, name, address) {
  await page.goto(address);
  visited.set(name, new URL(page.url()).pathname + new URL(page.url()).search);
}

async function makeKey(page) {
  await page.goto("/console/");
  await page.keyboard.press("Tab");
  assert(await page.getByText("Skip to the content").evaluate((e) => e === document.activeElement), "the first Tab isn't the way to the content");
  await tabTo(page, page.getByRole("link", { name: "Keys", exact: true }), "Keys");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/keys");
  await tabTo(page, page.getByRole("link", { name: "New key" }), "New key");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/keys/new*");
  await tabTo(page, page.getByLabel("Name"), "Name");
  await page.keyboard.type("web shop");
  await tabTo(page, page.getByRole("button", { name: "Create the key" }), "Create the key");
  await page.keyboard.press("Enter");
  const secret = page.locator("#secret");
  await secret.waitFor();
  const key = await secret.inputValue();
  assert(/^svc_test_[0-9A-Za-z]{38}$/.test(key), "that is no key");
  await judge(page, "a new key");
  await shot(page, "key-made");
  await tabTo(page, page.getByRole("link", { name: "I have it" }), "I have it");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "web shop" }).waitFor();
  assert(!(await page.content()).includes(key), "the key is shown twice");
  await shot(page, "key");
  visited.set("key", new URL(page.url()).pathname);
  await visit(page, "key-new", "/console/keys/new");
  await shot(page, "key-new");
  await visit(page, "keys", "/console/keys");
  await shot(page, "keys");
  assert(!(await page.content()).includes(key), "the list shows the key");
  return { key, keyPage: visited.get("key") };
}

async function limit(page, keyPage) {
  await page.goto(keyPage);
  await page.getByLabel("Open tasks at once").fill("60");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("dt", { hasText: "Open tasks" }).waitFor();
}

async function useKey(page, key) {
  const done = await cli(key, "run", "text.chat", "What is a key for?", "--json");
  equal(done.code, 0, "the command's end");
  const made = JSON.parse(done.stdout);
  await visit(page, "tasks", "/console/tasks");
  await page.getByText(made.id).waitFor();
  await visit(page, "task", `/console/tasks/${made.id}`);
  await page.locator(".pill.succeeded").first().waitFor();
  await visit(page, "lookup", `/console/lookup?id=${made.id}`);
  await page.getByText(made.id).first().waitFor();
}

// usage returns how many tasks have succeeded, as the page says.
async function usage(page) {
  await visit(page, "usage", "/console/usage");
  return Number(await page.locator("dt", { hasText: /^Succeeded$/ }).locator("xpath=following-sibling::dd[1]").innerText());
}

async function open(page, capability) {
  await visit(page, `trial-${capability}`, `/console/trial?capability=${capability}&mode=test`);
}

async function runTrial(page) {
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  await idle(page);
}

const more = (page) => page.locator("[data-rest] > summary").click();

const trials = new Map([
  ["text.chat", async (page) => {
    await open(page, "text.chat");
    const snippet = page.locator("#code-0");
    assert((await snippet.textContent()).startsWith("unitask run text.chat"), "no command is shown");
    await page.getByRole("textbox", { name: "Prompt" }).fill("Why is the sky blue at noon?");
    await snippet.filter({ hasText: "sky blue" }).waitFor();
    for (const name of ["curl", "Go", "Python", "JavaScript", "CLI"]) {
      await page.getByRole("button", { name, exact: true }).click();
      const shown = await page.locator("[data-code]:visible").innerText();
      assert(name === "CLI" || (shown.includes("UNITASK_API_KEY") && shown.includes("sky blue")), `${name} shows ${shown}`);
      assert(!/svc_(live|test)_/.test(shown), `${name} shows a key`);
    }
    await runTrial(page);
    assert((await page.locator("#result pre").innerText()).includes("sky blue"), "the answer isn't about the prompt");
    await shot(page, "trial-text");
    await page.getByRole("radio", { name: "Messages" }).check();
    await page.getByLabel("Content").fill("And at dusk?");
    await page.getByRole("button", { name: "Add another" }).click();
    await page.getByLabel("Content").nth(1).fill("Then it is red.");
    await page.getByRole("button", { name: "Add another" }).click();
    await page.getByLabel("Content").nth(2).fill("Why red?");
    await runTrial(page);
  }],
  ["image.generate", async (page) => {
    await open(page, "image.generate");
    await page.getByLabel("Prompt", { exact: false }).first().fill("A red fox in fresh snow, early light");
    await more(page);
    await page.getByRole("textbox", { name: "Size" }).fill("432x270");
    await runTrial(page);
    await drawn(page);
    await more(page);
    await shot(page, "trial-image");
  }],
  ["image.edit", async (page) => {
    await open(page, "image.edit");
    const picture = path.join(told.folder, "picture.png");
    writeFileSync(picture, await (await page.context().request.get(await lastPicture(page))).body());
    await open(page, "image.edit");
    await page.locator('input[type=file][name="input.images"]').setInputFiles(picture);
    page.refusals(403);
    await page.locator("[data-run]").click(); // nobody vouched for people yet
    const person = page.locator('[data-wire="input.authorization.person"]');
    await person.locator(".problem:visible").waitFor();
    assert((await page.locator("[data-problem]").innerText()).includes("AUTHORIZATION_REQUIRED"), "it isn't asked for an authorization");
    await judge(page, "a refusal");
    await person.getByRole("radio", { name: "none" }).check();
    await runTrial(page);
    await drawn(page);
  }],
  ["video.generate", async (page) => {
    await open(page, "video.generate");
    await page.getByLabel("Prompt", { exact: false }).first().fill("Waves roll onto a pebble beach at dusk");
    await more(page);
    await page.getByLabel("Duration seconds", { exact: true }).fill("1");
    await runTrial(page);
    const { width } = await plays(page.locator("#result video"));
    assert(width > 0, "the video has no picture");
    await more(page);
    await shot(page, "trial-video");
  }],
]);

async function drawn(page) {
  const image = page.locator("#result img").first();
  await image.waitFor();
  await image.evaluate((i) => i.decode());
  assert(await image.evaluate((i) => i.naturalWidth > 0), "the picture isn't drawn");
}

// lastPicture returns the address of the newest picture, from its task's page.
async function lastPicture(page) {
  await page.goto("/console/tasks?capability=image.generate");
  await page.locator("tbody a").first().click();
  const image = page.locator(".output img").first();
  await image.waitFor();
  visited.set("task-image", new URL(page.url()).pathname);
  return new URL(await image.getAttribute("src"), told.base).href;
}

async function refusals(page) {
  page.refusals(400, 403, 413, 422); // 422 where the task that is to fail does so before its stream begins
  await page.goto("/console/trial?capability=text.chat");
  await page.getByRole("textbox", { name: "Prompt" }).fill("");
  await more(page);
  await page.getByLabel("Max output tokens").fill("many");
  await page.getByLabel("Temperature", { exact: true }).fill("7");
  await more(page);
  await page.locator("[data-run]").click();
  await page.locator("[data-problem]:visible").waitFor();
  const problems = await page.locator(".problem:visible").allInnerTexts();
  equal(problems.length, 3, `problems beside fields: ${problems.join("; ")}`);
  await judge(page, "fields with problems");
  await page.getByLabel("Max output tokens").fill("20");
  await page.getByLabel("Temperature", { exact: true }).fill("");
  await page.getByRole("textbox", { name: "Prompt" }).fill("@fail:CONTENT_POLICY_VIOLATION");
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.failed").waitFor();
  equal(await page.locator(".problem:visible").count(), 0, "problems after a request that is right");
  await judge(page, "a failure");
}

async function live(page) {
  await page.goto("/console/trial?capability=text.chat");
  await page.getByLabel("Mode").getByRole("link", { name: "Live" }).click();
  await page.waitForURL("**mode=live");
  const price = "$1 in, $2 out / M tokens";
  assert((await page.locator("main").innerText()).includes(price), "the price isn't shown");
  visited.set("trial-live", "/console/trial?capability=text.chat&mode=live");
  await page.getByRole("textbox", { name: "Prompt" }).fill("everything");
  await page.getByRole("button", { name: "Run live at this price" }).click();
  await page.locator("#result .pill.succeeded").waitFor();
  await shot(page, "trial-live");
  await page.getByRole("link", { name: "The task's page" }).click();
  await page.getByText("$0.00003").first().waitFor();
}

async function cancel(page) {
  await page.goto("/console/trial?capability=image.generate");
  await page.getByLabel("Prompt", { exact: false }).first().fill("@stuck:running a fox");
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.running, #result .pill.queued").first().waitFor();
  await judge(page, "a task under way");
  await page.locator("#result").getByRole("button", { name: "Cancel" }).click();
  await page.locator("#result .pill.canceled").waitFor();
}

async function revoke(page, key, keyPage) {
  await page.goto(keyPage);
  await page.getByLabel("I'm sure").check();
  await Promise.all([
    page.waitForResponse((r) => r.url().endsWith("/revoke")),
    page.getByRole("button", { name: "Revoke the key" }).click(),
  ]);
  const from = Date.now();
  let [status, begun] = [];
  do {
    begun = Date.now();
    status = (await fetch(new URL("/api/ai/v1/capabilities", told.base), { headers: { Authorization: `Bearer ${key}` } })).status;
  } while (status !== 401 && begun - from < 1000);
  equal(status, 401, "a second after the revocation");
  const { code } = await cli(key, "run", "text.chat", "Still there?");
  equal(code, 4, "the command's end with a revoked key");
}

// pictures takes those of the pages in one look.
async function pictures(page, look, width) {
  await page.emulateMedia({ colorScheme: look });
  await page.setViewportSize({ width, height: width < 500 ? 844 : 860 });
  visited.set("home", "/console/");
  visited.set("overview", "/console/overview");
  visited.set("suppliers", "/console/suppliers");
  visited.set("accounts", "/console/accounts");
  await page.goto("/console/accounts");
  visited.set("account", await page.getByRole("link", { name: "Harbour Books", exact: true }).getAttribute("href"));
  const names = new Map([[`light1280`, ["home", "overview", "tasks", "task-image", "usage", "lookup", "accounts", "account"]],
    ["dark1280", ["overview", "task-image"]], ["light390", ["overview", "trial-text.chat"]]]).get(look + width);
  for (const name of names) {
    await page.goto(visited.get(name));
    await page.getByRole("heading", { level: 1 }).waitFor();
    const suffix = look === "dark" ? "-dark" : width === 390 ? "-390" : "";
    await page.waitForFunction(() => [...document.images].every((i) => i.complete));
    await shot(page, name.replace(".", "-") + suffix, name === "tasks" ? { clip: { x: 0, y: 0, width: 1280, height: 700 } } : {});
  }
}

await browse(async (page) => {
  await step("the sign-in page", async () => {
    await page.goto("/console/");
    await page.waitForURL("**/console/sign-in");
    await shot(page, "sign-in");
  });

  await step("a one-time link signs in, once", async () => {
    await page.goto(told.link);
    await page.waitForURL("**/console/");
    assert(!page.url().includes("#"), "the token is left in the address");
    await judge(page, "overview without anything");
    page.refusals(401);
    const again = await page.context().request.fetch(new URL("/console/sign-in", told.base).href, {
      method: "POST", form: { token: told.link.split("#")[1] }, headers: { "Sec-Fetch-Site": "same-origin" },
    });
    equal(again.status(), 401, "the link again");
  });

  const { key, keyPage } = await step("a key is made by keyboard alone, and shown once", () => makeKey(page));
  await step("the key gets a limit of its own", () => limit(page, keyPage));
  await step("the key is used by the command line, and its task is there", () => useKey(page, key));
  const before = await usage(page);
  for (const [name, run] of trials) await step(`the trial runs ${name}`, () => run(page));
  await step("the trial says what is wrong at the field", () => refusals(page));
  await step("live mode shows the price, and runs at it", () => live(page));
  await step("a task is canceled from the trial", () => cancel(page));
  await step("the usage grows", async () => {
    const after = await usage(page);
    equal(after - before, trials.size + 2, "tasks that succeeded since"); // text.chat ran three times
  });
  await step("a revoked key is refused within a second", () => revoke(page, key, keyPage));
  for (const [look, width] of told.screenshots ? [["light", 1280], ["dark", 1280], ["light", 390]] : []) {
    await step(`pictures in the ${look} at ${width}`, () => pictures(page, look, width));
  }
  await step("signing out ends the session", async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto("/console/");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/console/sign-in");
    await page.goto("/console/keys");
    await page.waitForURL("**/console/sign-in");
  });
});
