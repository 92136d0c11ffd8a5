// The palette, by keyboard alone, by mouse and in the looks: it leads to pages, capabilities, actions and ids, and leaves
// fields alone.
import { assert, browse, equal, fits, idle, judge, step, tabTo, told } from "./driver.mjs";

const list = (page) => page.getByRole("listbox", { name: "Found" });
const options = (page) => list(page).getByRole("option").allInnerTexts();
const open = (page) => page.getByRole("dialog", { name: "Palette" });
const field = (page) => page.getByRole("combobox", { name: "Page, capability, action or id" });

// go opens the palette, types and takes the first of what is found.
async function go(page, text, opened = "/") {
  await page.keyboard.press(opened);
  await list(page).getByRole("option").nth(5).waitFor();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

async function keys(page) {
  await page.goto("/console/tasks");
  const before = page.getByRole("link", { name: "Keys", exact: true });
  await before.focus();
  await page.keyboard.press("/");
  await open(page).waitFor();
  await list(page).getByRole("option", { name: "Tasks Page", exact: true }).waitFor();
  equal(await field(page).inputValue(), "", "the slash that opened it");
  const chosen = () => field(page).evaluate((e) => document.getElementById(e.getAttribute("aria-activedescendant")).innerText.split("\n")[0]);
  const first = await chosen();
  await page.keyboard.press("ArrowDown");
  assert((await chosen()) !== first, "the arrow moves the choice");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  equal(await list(page).getByRole("option", { selected: true }).count(), 1, "options that are chosen");
  assert((await chosen()) === (await options(page)).at(-1).split("\n")[0], "up from the first is the last");
  await page.keyboard.press("ArrowDown");
  equal(await chosen(), first, "down from the last");
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press("Tab");
    assert(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null), "Tab leaves the dialog");
  }
  await page.keyboard.press("Escape");
  await open(page).waitFor({ state: "hidden" });
  assert(await before.evaluate((e) => e === document.activeElement), "the focus isn't given back");
  await page.keyboard.press("Control+k");
  await open(page).waitFor();
  await page.keyboard.press("Control+k");
  await open(page).waitFor({ state: "hidden" });
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await judge(page, "the shortcuts");
  await page.keyboard.press("/");
  equal(await open(page).count(), 0, "a second dialog");
  await page.keyboard.press("Escape");
}

async function fields(page) {
  await page.goto("/console/trial?capability=text.chat&mode=test");
  await idle(page); // it looks first for runs to go on with
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.fill("");
  await prompt.focus();
  await page.keyboard.type("either/or?");
  equal(await prompt.inputValue(), "either/or?", "what is typed in a field");
  equal(await open(page).count(), 0, "a palette over a field");
  await page.keyboard.press("Control+k");
  await open(page).waitFor();
  await page.keyboard.type("zzzz");
  await page.keyboard.press("Control+Enter"); // runs the trial, but not from here
  await page.keyboard.press("Escape");
  assert(await prompt.evaluate((e) => e === document.activeElement), "the field lost the focus");
  equal(await page.locator("#result .pill").count(), 0, "runs");
  await page.keyboard.press("Control+Enter");
  await page.locator(".pill.succeeded").first().waitFor();
  await idle(page);
}

// off switches the single characters off and on by keyboard, which holds on other pages and in other tabs.
async function off(page) {
  const keyboard = page.getByRole("dialog", { name: "Keyboard" });
  const box = page.getByRole("checkbox", { name: "Single keys are shortcuts: / and ?" });
  const dialogs = async (at, ...pressed) => {
    for (const key of pressed) await at.keyboard.press(key);
    return at.locator("dialog[open]").count();
  };
  const told = (at) => at.locator("[data-palette]").getAttribute("aria-keyshortcuts");
  await page.goto("/console/tasks");
  const other = await page.context().newPage();
  await other.goto("/console/keys");
  await page.bringToFront();
  await page.keyboard.press("?");
  await keyboard.waitFor();
  equal([await box.isChecked(), await told(page)], [true, "/ Control+K"], "single keys at first");
  await tabTo(page, box, "the switch");
  await page.keyboard.press("Space");
  equal([await keyboard.locator("dt:visible").first().innerText(), await keyboard.locator("dd:visible").last().innerText()], ["Ctrl K", "close what is open"], "the list without them");
  for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    await judge(page, `the switch, ${colorScheme} at ${width}`);
    await fits(page, "the switch");
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.keyboard.press("Escape");
  await keyboard.waitFor({ state: "hidden" });
  equal(await dialogs(page, "/", "?"), 0, "dialogs by single keys that are off");
  equal(await dialogs(other, "/", "?"), 0, "dialogs by them in another tab");
  await other.close();
  await page.reload();
  equal([await dialogs(page, "/", "?"), await told(page)], [0, "Control+K"], "dialogs by them after a reload");
  await go(page, "shortcuts", "Control+k");
  await keyboard.waitFor();
  equal(await box.isChecked(), false, "the switch after a reload");
  await box.press("Space");
  equal(await told(page), "/ Control+K", "the keys of the button");
  await page.keyboard.press("Escape");
  equal(await dialogs(page, "?"), 1, "dialogs by a single key that is on again");
  await page.keyboard.press("Escape");
}

// storeless: a browser that keeps no choice has it for a page.
async function storeless(context) {
  const page = await context.newPage();
  await page.addInitScript(() => Object.defineProperty(globalThis, "localStorage", { get() { throw new Error("it keeps no data"); } }));
  await page.goto("/console/tasks");
  await page.keyboard.press("?");
  await page.getByRole("checkbox", { name: "Single keys" }).press("Space");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  equal(await page.locator("dialog[open]").count(), 0, "dialogs by single keys that are off for a page");
  await page.close();
}

// running: the button that runs a trial keeps the focus, says that it can't be used meanwhile, and does no more then.
async function running(page) {
  await page.goto("/console/trial?capability=text.chat&mode=test");
  await idle(page);
  const button = page.locator("[data-run]");
  const focused = () => button.evaluate((e) => e === document.activeElement);
  const sent = [];
  page.on("request", (r) => { if (r.method() === "POST" && /\/(request|tasks)$/.test(r.url()) && !r.postData()?.includes("preview")) sent.push(new URL(r.url()).pathname); });
  await page.getByRole("textbox", { name: "Prompt" }).fill("wait @stuck:running");
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Run", exact: true, disabled: true }).waitFor();
  await page.locator('#result[aria-live="polite"] .pill.running').waitFor();
  assert(await focused(), "the button lost the focus as it ran");
  await judge(page, "a trial that runs");
  for (const key of ["Enter", "Space", "Control+Enter"]) await page.keyboard.press(key);
  await button.click({ force: true });
  equal(await page.evaluate(() => document.querySelector("[data-problem]").checkVisibility()), false, "problems of a second press");
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await page.locator("#result .pill.canceled").waitFor();
  await idle(page);
  equal(await page.evaluate(() => document.activeElement.closest("#result .row")?.innerText), "The task's page", "the focus after Cancel");
  equal(sent, ["/console/trial/request", "/console/api/test/tasks"], "requests of a run whose button was pressed again");
  await page.getByRole("textbox", { name: "Prompt" }).fill("hello @slow:1s");
  await button.focus();
  await page.keyboard.down("Enter");
  await page.locator("#result .pill.succeeded").waitFor();
  await idle(page);
  assert(await focused(), "the button lost the focus at the end of its run");
  for (const key of ["Enter", "Control", "Enter"]) await page.keyboard.down(key); // as a key that is held does
  for (const key of ["Enter", "Control"]) await page.keyboard.up(key);
  await page.goto("/console/trial?capability=image.generate&mode=test");
  await idle(page);
  await page.getByRole("textbox", { name: "Prompt" }).first().fill("@slow:2s @failjob:PROVIDER_UNAVAILABLE");
  await button.press("Enter");
  await page.getByRole("link", { name: "The task's page" }).focus();
  await page.locator("#result .pill.failed").waitFor();
  await page.locator("#result").getByRole("button", { name: "Retry" }).waitFor();
  equal(await page.evaluate(() => document.activeElement.innerText), "The task's page", "the focus beside a button that is new");
  equal(sent.length, 6, "requests of three runs, the key of one of which was held down");
}

async function ways(page) {
  await page.goto("/console/usage");
  await go(page, "own acc");
  await page.waitForURL("**/console/overview");
  await go(page, "imgen", "Control+k");
  await page.waitForURL("**/console/trial?capability=image.generate&mode=test");
  await go(page, "new key");
  await page.waitForURL("**/console/keys/new");
  await page.getByRole("heading", { name: "New key" }).click(); // out of the field that has the focus
  await go(page, "field notes");
  await page.getByRole("heading", { name: "Field Notes" }).waitFor();
  await page.goto("/console/tasks");
  const task = await page.locator("#tasks tbody a").first().getAttribute("href");
  await page.goto("/console/");
  await go(page, task.split("/").pop());
  await page.waitForURL(`**${task}`);
  await go(page, "no such thing");
  await page.waitForURL("**/console/lookup?id=no+such+thing");
  const dark = () => page.evaluate(() => document.documentElement.dataset.theme);
  await go(page, "dark", "Control+k");
  equal(await dark(), "dark", "the theme");
  await go(page, "dark", "Control+k");
  equal(await dark(), "light", "the theme again");
}

async function secrets(page) {
  await page.goto("/console/tasks");
  await page.keyboard.press("/");
  await list(page).getByRole("option").nth(5).waitFor();
  await page.keyboard.type(`svc_live_${"a".repeat(38)}`);
  await page.getByText("That is a secret: look for the key by its id").waitFor();
  equal(await options(page), [], "ways to go with a secret");
  await page.keyboard.press("Enter");
  assert(page.url().endsWith("/console/tasks"), "it went to " + page.url());
  await field(page).fill("key");
  await page.getByText("That is a secret").waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  await page.goto("/console/keys");
  await page.getByRole("textbox", { name: "Name" }).fill(`svc_live_${"a".repeat(38)}`);
  await page.keyboard.press("Enter");
  equal(await page.evaluate(() => document.querySelector("#name").validity.patternMismatch), true, "the field of keys refuses it");
  assert(page.url().endsWith("/console/keys"), "it went to " + page.url());
}

// slowly opens a page whose commands come at answer(), and enters a text before. asked counts how often they are asked for.
async function slowly(page, text) {
  const state = { asked: 0 };
  const answer = new Promise((done) => { state.answer = done; });
  await page.unroute("**/console/commands");
  await page.route("**/console/commands", async (route) => {
    state.asked++;
    await answer;
    await route.continue().catch(() => {}); // its page may be gone
  });
  await page.goto("/console/tasks");
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  return state;
}

// late: Enter waits for the commands, which are read once for a page.
async function late(page) {
  const waits = await slowly(page, "keys");
  await page.getByText("The pages and actions are being read.").waitFor();
  equal(await options(page), ["keys\nFind"], "what is there without the commands");
  waits.answer();
  await page.waitForURL("**/console/keys");
  const state = await slowly(page, "usage");
  await page.keyboard.press("Escape"); // it isn't gone to any more
  await open(page).waitFor({ state: "hidden" });
  await page.keyboard.press("/");
  await page.keyboard.type("key");
  await page.keyboard.press("Enter");
  await page.keyboard.type("s"); // nor to the other
  state.answer();
  await list(page).getByRole("option", { name: "Keys Page", exact: true }).waitFor();
  equal(await page.getByText("are being read").count(), 0, "words of waiting");
  await page.keyboard.press("Escape");
  await open(page).waitFor({ state: "hidden" });
  await page.keyboard.press("/");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.evaluate(() => fetch("/console/commands").then((answer) => answer.text())); // as the palette would
  equal(await list(page).getByRole("option").nth(2).getAttribute("aria-selected"), "true", "the third is chosen still");
  equal([state.asked, new URL(page.url()).pathname], [2, "/console/tasks"], "how often the page and this test asked, and where it is");
  await page.keyboard.press("Escape");
  const id = await slowly(page, `task_${"0".repeat(26)}`); // no command
  await page.waitForURL("**/console/lookup?**");
  id.answer();
  await page.unroute("**/console/commands");
}

async function looks(page) {
  await page.goto("/console/");
  for (const colorScheme of ["light", "dark"]) {
    await page.evaluate(() => { delete document.documentElement.dataset.theme; });
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      await judge(page, `a page with the button, ${colorScheme} at ${width}`);
      await fits(page, "a page with the button");
      await page.getByRole("button", { name: "Find a page or an id" }).click();
      await list(page).getByRole("option", { name: "Tasks Page", exact: true }).waitFor();
      await page.keyboard.type("key");
      await judge(page, `the palette, ${colorScheme} at ${width}`);
      await fits(page, "the palette");
      await page.getByRole("button", { name: "Close" }).click();
      await open(page).waitFor({ state: "hidden" });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Find a page or an id" }).click();
  await list(page).getByRole("option", { name: "Tasks Page", exact: true }).click(); // by touch
  await page.waitForURL("**/console/tasks");
  await page.setViewportSize({ width: 1280, height: 860 });
}

async function unreachable(page) {
  page.refusals(503);
  await page.route("**/console/commands", (route) => route.fulfill({ status: 503, body: "" })); // before a page that asks at once
  await page.goto("/console/tasks");
  await page.keyboard.press("/");
  await page.getByText("The pages and actions couldn't be read.").waitFor();
  await page.keyboard.type("something");
  equal(await options(page), ["something\nFind"], "what is left");
  await page.keyboard.press("Escape");
  await open(page).waitFor({ state: "hidden" });
  await page.unroute("**/console/commands");
}

await browse(async (page, context) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  await step("by keyboard alone", () => keys(page));
  await step("fields are left alone", () => fields(page));
  await step("single keys are switched off", () => off(page));
  await step("and without a store", () => storeless(context));
  await step("a run keeps the focus", () => running(page));
  await step("a secret goes nowhere", () => secrets(page));
  await step("it leads to pages, capabilities, accounts and ids", () => ways(page));
  await step("before the commands are there", () => late(page));
  await step("looks, mouse and touch", () => looks(page));
  await step("without an answer", () => unreachable(page));
  await step("sign out", async () => {
    await go(page, "sign out");
    await page.waitForURL("**/console/sign-in");
  });
});
