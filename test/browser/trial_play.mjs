// The trial's form: files by drop and paste, sliders, choices, JSON both ways, keys, a shared address, the price.
import path from "node:path";
import { assert, browse, equal, fits, idle, judge, step, told, until } from "./driver.mjs";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = Buffer.from("%PDF-1.4\n").toString("base64");

async function open(page, capability, mode = "test") {
  await page.goto(`/console/trial?capability=${capability}&mode=${mode}`);
  await page.locator("[data-share]").waitFor();
  await idle(page);
}

const more = (page) => page.locator("[data-rest] > summary").click();

const look = (page, name) => (process.env.TRIAL_LOOK ? page.screenshot({ path: path.join(process.env.TRIAL_LOOK, `${name}.png`) }) : undefined);

// give drops or pastes files, as a browser's events bring them.
async function give(locator, event, ...files) {
  await locator.evaluate((at, { event, files }) => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of files) data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name, { type }));
    const init = { bubbles: true, cancelable: true };
    at.dispatchEvent(event === "paste" ? new ClipboardEvent("paste", { ...init, clipboardData: data }) : new DragEvent("drop", { ...init, dataTransfer: data }));
  }, { event, files });
}

const file = (name, type = "image/png", base64 = png) => ({ name, type, base64 });

// ran runs the form by the keyboard, and returns the body of the creation.
async function ran(page) {
  const [sent] = await Promise.all([page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/tasks")), page.keyboard.press("Control+Enter")]);
  await page.locator("#result .pill.succeeded").waitFor();
  await idle(page);
  return sent.postDataJSON();
}

// json returns the request as the JSON view has it.
async function json(page) {
  await page.getByRole("tab", { name: "JSON" }).click();
  const text = page.getByLabel("The request as JSON");
  await page.waitForFunction(() => document.getElementById("json").value !== "");
  return { text, value: async () => JSON.parse(await text.inputValue()) };
}

// signingIn opens an address of a form before anybody has signed in: it is no token, and the form is filled afterwards.
async function signingIn(page) {
  const posted = [];
  page.on("request", (r) => { if (r.method() === "POST") posted.push(r.url()); });
  const request = Buffer.from('{"capability":"text.chat","input":{"prompt":"Kept meanwhile"}}').toString("base64url");
  await page.goto(`/console/trial?capability=text.chat&mode=test#request=${request}`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.waitForFunction(() => location.hash === "");
  equal(posted, [], "posts of a form that nobody may see yet");
  await page.goto(told.link);
  await page.locator("[data-note]").filter({ hasText: "The form is filled from the address." }).waitFor();
  equal(await page.getByRole("textbox", { name: "Prompt" }).inputValue(), "Kept meanwhile", "the prompt");
  await page.reload();
  equal(await page.getByRole("textbox", { name: "Prompt" }).inputValue(), "Say hello in three languages.", "the prompt of a page that is read again");
}

async function choosing(page) {
  await open(page, "text.chat");
  await page.locator(".chooser > summary").click();
  await page.getByRole("searchbox", { name: "Find a capability" }).fill("no such");
  await page.getByText("No capability is called so.").waitFor();
  await page.getByRole("searchbox", { name: "Find a capability" }).fill("make im");
  equal(await page.getByLabel("Capabilities").getByRole("link").count(), 1, "capabilities that are found");
  await judge(page, "the list of capabilities");
  await look(page, "chooser");
  await page.keyboard.press("Escape");
  equal(await page.locator(".chooser").evaluate((e) => e.open), false, "Escape closes the list");
  await page.keyboard.press("Enter");
  await page.keyboard.type("image.gen");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**capability=image.generate**");
}

async function dropping(page) {
  await open(page, "image.edit");
  const field = page.locator('[data-wire="input.images"]');
  const names = () => field.locator(".file-name .cut").allInnerTexts();
  await give(field.locator(".drop"), "drop", file("notes.pdf", "application/pdf", pdf));
  equal(await field.locator(".problem").innerText(), "Images: notes.pdf is application/pdf, and a picture is wanted", "a wrong kind");
  await give(field.locator(".drop"), "drop", file("one.png"), file("two.png"));
  equal(await field.locator(".problem").isVisible(), false, "what was wrong is said no more");
  await give(page.locator("body"), "paste", file("three.png"));
  equal(await names(), ["one.png", "two.png", "three.png"], "files in their order");
  await field.locator("img.thumb").first().evaluate((i) => i.decode());
  await page.getByLabel("Images by address or artifact").fill("https://a.example/four.png");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Move https://a.example/four.png up" }).click();
  await page.getByRole("button", { name: "Move https://a.example/four.png up" }).click();
  await page.getByRole("button", { name: "Remove one.png" }).press("Enter");
  equal(await names(), ["https://a.example/four.png", "two.png", "three.png"], "after moving and removing");
  equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Remove https://a.example/four.png", "the focus");
  await judge(page, "files");
  await look(page, "files");
  const { value } = await json(page);
  const images = async () => (await value()).input.images?.map((one) => one.url ?? one.data).join(" ");
  await until("the images in JSON", async () => (await images()) === "https://a.example/four.png file:two.png file:three.png");
  await page.getByRole("tab", { name: "Form" }).click();
  await page.getByRole("button", { name: "Remove https://a.example/four.png" }).click();
  await page.getByRole("radio", { name: "none" }).check();
  const { input } = await ran(page);
  equal(input.images, [{ content_type: "image/png", data: png }, { content_type: "image/png", data: png }], "the images");
  await page.getByText("More options").click();
  await field.getByRole("button", { name: "Remove two.png" }).focus();
  const mask = page.locator('[data-wire="input.mask"]');
  await mask.locator("input[type=file]").setInputFiles({ name: "mask.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") });
  equal(await mask.locator(".file-name .sub").innerText(), `image/png, ${Buffer.from(png, "base64").length} bytes`, "what is told of a file");
  await page.getByLabel("Mask by address or artifact").fill("art_1");
  equal(await mask.locator(".files li").count(), 0, "a file beside an address where one medium is taken");
}

async function controls(page) {
  await open(page, "text.chat");
  await more(page);
  const number = page.getByLabel("Temperature", { exact: true });
  const slider = page.getByRole("slider", { name: "Temperature" });
  await slider.focus();
  await page.keyboard.press("End");
  equal(await number.inputValue(), "2", "the field follows the slider");
  await number.fill("0.5");
  equal(await slider.inputValue(), "0.5", "the slider follows the field");
  await number.fill("0.123456");
  await page.getByRole("radio", { name: "high" }).check();
  await page.getByRole("radiogroup", { name: "Web search" }).getByRole("radio", { name: "Off" }).check();
  await judge(page, "sliders and choices");
  await look(page, "controls");
  await page.locator("[data-rest]").evaluate((e) => e.scrollIntoView());
  const { parameters } = await ran(page);
  equal([parameters.temperature, parameters.reasoning, parameters.web_search], [0.123456, "high", false], "the parameters");
  await number.fill("");
  equal(await slider.getAttribute("aria-valuetext"), "not set", "a slider without a value");
}

async function bothWays(page) {
  page.refusals(400);
  await open(page, "text.chat");
  await page.getByRole("textbox", { name: "Prompt" }).fill("First");
  const { text, value } = await json(page);
  await text.evaluate((e) => new Promise((done) => {
    const look = () => (e.value.includes("First") ? done() : setTimeout(look, 20));
    look();
  }));
  equal((await value()).input, { prompt: "First" }, "the form's request");
  await judge(page, "the JSON view");
  await look(page, "json");
  await text.fill('{\n  "capability": "text.chat",\n  "input": {"prompt": }\n}');
  await page.locator("#json-problem").filter({ hasText: "line 3, column 23" }).waitFor();
  await judge(page, "JSON with a mistake");
  await look(page, "json-wrong");
  await page.getByRole("tab", { name: "Form" }).click();
  equal(await text.isVisible(), true, "the JSON stays until it can be read");
  await page.keyboard.press("Control+Enter");
  await idle(page);
  equal(await page.locator("#result .pill").count(), 0, "runs of a mistake");
  await text.fill(JSON.stringify({
    capability: "text.chat", metadata: { team: "search" },
    input: { messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello" }, { role: "user", content: "Who?" }], mood: 1 },
    parameters: { temperature: 0.5, reasoning: "low", stop: ["a", "b"] },
  }));
  await page.getByRole("tab", { name: "Form" }).click();
  await page.getByLabel("Content").nth(2).waitFor();
  equal(await page.getByLabel("Content").evaluateAll((all) => all.map((one) => one.value)), ["Hi", "Hello", "Who?"], "the rows");
  equal(await page.locator("[data-way]:enabled [data-rows] select").evaluateAll((all) => all.map((one) => one.value)), ["user", "assistant", "user"], "the speakers");
  equal(await page.getByLabel("Temperature", { exact: true }).inputValue(), "0.5", "a number");
  equal(await page.getByRole("radio", { name: "low" }).isChecked(), true, "a choice");
  equal(await page.getByLabel("Stop").inputValue(), "a\nb", "a list");
  const kept = page.locator("[data-kept]");
  equal(await kept.locator("p").innerText(), "This form doesn't show, but sends: input.mood, metadata.team.", "what the form can't show");
  await judge(page, "a form with more than it shows");
  await page.keyboard.press("Control+Enter");
  await page.locator("[data-problem]").filter({ hasText: "mood" }).waitFor();
  await (await json(page)).text.fill('{"capability":"text.chat","input":{"prompt":"Fine"},"metadata":{"team":"search"}}');
  const body = await ran(page);
  equal(body, { capability: "text.chat", input: { prompt: "Fine" }, metadata: { team: "search" } }, "a run from the JSON view");
  await page.getByRole("tab", { name: "Form" }).click();
  await kept.getByRole("button", { name: "Leave it out" }).click();
  equal((await ran(page)).metadata, undefined, "what was left out");
}

async function sharing(page, context) {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, "image.edit");
  await page.getByRole("textbox", { name: "Prompt" }).first().fill("Make it <b>blue</b> – bitte");
  await give(page.locator('[data-wire="input.images"] .drop'), "drop", file("a fox.png"));
  await page.getByRole("radio", { name: "none" }).check();
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("It has the names of the files, not their bytes.").waitFor();
  await judge(page, "a copied address");
  await look(page, "shared");
  const address = await page.evaluate(() => navigator.clipboard.readText());
  equal(new URL(address).search, "?capability=image.edit&mode=test", "what reaches the server");
  const sent = [];
  page.on("request", (r) => sent.push(`${r.method()} ${r.url()}`));
  await page.goto("/console/keys");
  await page.goto(address);
  await page.locator("[data-note]").filter({ hasText: "Missing: a fox.png." }).waitFor();
  equal(await page.getByRole("textbox", { name: "Prompt" }).first().inputValue(), "Make it <b>blue</b> – bitte", "the prompt");
  equal(await page.getByRole("radio", { name: "none" }).isChecked(), false, "a word about people from somebody else");
  await judge(page, "a form from an address");
  await look(page, "opened");
  await idle(page);
  await page.keyboard.press("Control+Enter");
  await page.getByText("Images: a fox.png is missing: choose it again or remove it").waitFor();
  await give(page.locator('[data-wire="input.images"] .drop'), "drop", file("a fox.png"));
  await page.getByRole("radio", { name: "none" }).check();
  equal((await ran(page)).input.images.length, 1, "the images");
  equal(sent.filter((one) => one.includes("request=")), [], "requests with the form in their address");
  equal(sent.filter((one) => one.endsWith("/tasks")).length, 1, "tasks that were made");
  await page.getByRole("textbox", { name: "Prompt" }).first().fill("x".repeat(9000));
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.locator("[data-shared]").filter({ hasText: "cut off more than 8000" }).waitFor();
  await page.goto("/console/keys");
  await page.goto("/console/trial?capability=text.chat&mode=test#request=e30x");
  await page.getByText("The address holds no request that the form can show").waitFor();
}

// changing changes the form while its address is being made, and lets the newer form be answered first.
async function changing(page) {
  await open(page, "text.chat");
  const prompt = page.getByRole("textbox", { name: "Prompt" }).first();
  let release;
  const answered = new Promise((done) => { release = done; });
  await page.route("**/trial/request", async (route) => {
    if (route.request().postData().includes("Some words")) await answered;
    await route.continue();
  });
  await prompt.fill("Some words");
  await Promise.all([page.waitForRequest((r) => r.postData()?.includes("Some words")), page.getByRole("button", { name: "Copy link" }).click()]);
  await Promise.all([page.waitForResponse((r) => r.request().postData()?.includes("Other words")).then((r) => r.finished()), prompt.fill("Other words")]);
  release();
  await page.locator("[data-shared] [role=status]").waitFor();
  const address = await page.locator("[data-shared]").getByLabel("The form's address").inputValue();
  const request = JSON.parse(Buffer.from(new URL(address).hash.replace("#request=", ""), "base64url").toString());
  equal(request.input, { prompt: "Other words" }, "the request of an address that was made while the form changed");
  await page.unrouteAll();
}

async function pricing(page) {
  page.refusals(400);
  await open(page, "text.chat", "live");
  const price = page.locator("[data-price]");
  await price.filter({ hasText: /^At most \$0\.\d+ with these inputs\.$/ }).waitFor();
  const before = await price.innerText();
  await more(page);
  await page.getByLabel("Max output tokens").fill("4000");
  await page.waitForFunction((was) => !["", was].includes(document.querySelector("[data-price]").textContent), before);
  assert(/^At most \$0\.008\d* /.test(await price.innerText()), `4000 tokens at $2 a million are ${await price.innerText()}`);
  await judge(page, "the price before a live run");
  await look(page, "price");
  await page.getByLabel("Max output tokens").fill("many");
  await price.filter({ hasText: "once the form is right" }).waitFor();
}

// looks sees that the form fits a narrow window, where its button is in sight.
async function looks(page) {
  const dark = process.env.TRIAL_LOOK ? [["dark", 1280, "dark"], ["narrow-dark", 390, "dark"]] : [];
  for (const [name, width, colorScheme] of [["narrow", 390, "light"], ...dark]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    for (const capability of ["text.chat", "image.edit"]) {
      await open(page, capability);
      if (capability === "image.edit") await give(page.locator('[data-wire="input.images"] .drop'), "drop", file("one.png"), file("two.png"));
      await look(page, `${capability}-${name}`);
      await more(page);
      await fits(page, `${capability}, ${name}`);
      const button = page.locator("[data-run]");
      assert(await button.evaluate((e) => e.getBoundingClientRect().bottom <= innerHeight && e.getBoundingClientRect().top >= 0), `the button is out of sight: ${name}`);
      await look(page, `${capability}-more-${name}`);
      if (name !== "narrow" || capability !== "text.chat") continue;
      await ran(page);
      assert(await page.locator("#result").evaluate((e) => e.getBoundingClientRect().top < innerHeight * 0.75), "the result of a run is out of sight");
      await page.locator(".trial-foot").evaluate((foot) => scrollBy({ top: foot.getBoundingClientRect().top, behavior: "instant" }));
      assert(await page.evaluate(() => document.elementFromPoint(innerWidth / 2, 20).closest(".bar") !== null), "the form's foot covers the bar");
    }
  }
}

await browse(async (page, context) => {
  await step("an address holds the form through the sign-in", () => signingIn(page));
  await step("a capability is found in the list", () => choosing(page));
  await step("files are dropped, pasted, ordered and removed", () => dropping(page));
  await step("sliders and choices", () => controls(page));
  await step("JSON both ways", () => bothWays(page));
  await step("an address holds the form", () => sharing(page, context));
  await step("an address is made while the form changes", () => changing(page));
  await step("the price before a live run", () => pricing(page));
  await step("narrow", () => looks(page));
});
