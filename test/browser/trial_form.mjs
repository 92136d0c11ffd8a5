// The trial's form: fields that exclude each other, rows, and remarks in the form's own words.
import { assert, equal, fits, idle, judge } from "./driver.mjs";

// trial opens the form of a capability with all that it has.
async function trial(page, capability) {
  await page.goto(`/console/trial?capability=${capability}&mode=test`);
  const rest = page.locator("[data-rest] > summary");
  if (await rest.count()) await rest.click();
}

// asks runs the form and returns the body of the creation that it sends.
async function asks(page) {
  const [sent] = await Promise.all([
    page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/tasks")), page.locator("[data-run]").click(),
  ]);
  await idle(page);
  return sent.postDataJSON();
}

export async function exclusive(page) {
  await trial(page, "image.generate");
  equal(await page.getByRole("radio", { name: "Size" }).isChecked(), true, "the example's way is chosen");
  equal(await page.getByLabel("Aspect ratio", { exact: true }).and(page.getByRole("combobox")).count(), 0, "fields of a way that isn't chosen");
  await judge(page, "one of two fields");
  await page.getByRole("textbox", { name: "Prompt" }).first().fill("A heron");
  await page.getByRole("radio", { name: "Aspect ratio" }).check();
  await page.getByRole("combobox", { name: "Aspect ratio" }).selectOption("3:2");
  equal((await asks(page)).parameters, { aspect_ratio: "3:2" }, "parameters with an aspect ratio");
  await page.getByRole("radio", { name: "Size" }).check();
  equal((await asks(page)).parameters, { size: "1024x1024" }, "parameters with a size");
}

export async function rows(page) {
  await trial(page, "text.chat");
  await page.getByRole("radio", { name: "Messages" }).check();
  equal(await page.getByRole("button", { name: /^Remove/ }).count(), 0, "ways to remove the only row");
  for (const [i, text] of ["One", "Two", "Three"].entries()) {
    if (i > 0) await page.getByRole("button", { name: "Add another" }).click();
    await page.getByLabel("Content").nth(i).fill(text);
  }
  await judge(page, "three rows");
  await fits(page, "three rows");
  await page.getByRole("button", { name: "Remove 2" }).click();
  equal(await page.getByLabel("Content").last().evaluate((e) => e === document.activeElement), true, "the next row has the focus");
  await page.locator("#code-0").filter({ hasText: "Three" }).filter({ hasNotText: "Two" }).waitFor();
  equal((await asks(page)).input, { messages: [{ content: "One", role: "user" }, { content: "Three", role: "user" }] }, "the input");
  await page.getByRole("button", { name: "Remove 1" }).click();
  equal(await page.getByRole("button", { name: /^Remove/ }).count(), 0, "ways to remove the last row");
}

// remarks returns what is said beside the fields once a form was refused.
async function remarks(page) {
  await page.locator("[data-run]").click();
  await page.locator("[data-problem]:visible").waitFor();
  await idle(page);
  return page.locator(".problem:visible p").allInnerTexts();
}

export async function formTerms(page) {
  page.refusals(400, 403, 429);
  const top = () => page.locator("[data-problem]").evaluate((e) => e.firstChild.textContent);
  await trial(page, "text.chat");
  await page.getByRole("radio", { name: "Messages" }).check();
  equal(await remarks(page), ["Prompt or messages: is required"], "a choice that is empty");
  equal(await top(), "INVALID_REQUEST: see Messages.", "the top");
  const rows = [
    { field: "input.messages.1.content", message: "must have at most 4000000 characters" }, { field: "parameters.temperature", message: "must be at most 2" },
    { field: "metadata", message: "is not allowed" },
  ];
  await page.getByLabel("Content").fill("One");
  await page.route("**/tasks", (route) => route.fulfill({
    status: 400, json: { error: { code: "INVALID_REQUEST", message: `${rows[0].field} ${rows[0].message}`, retryable: false, details: rows }, request_id: "req_three" },
  }));
  equal(await remarks(page), ["Messages, item 2, Content: must have at most 4000000 characters", "Temperature: must be at most 2"], "two fields");
  equal(await top(), "INVALID_REQUEST: metadata is not allowed.", "the top has what belongs to no field");
  await page.unroute("**/tasks");
  await page.getByLabel("Temperature", { exact: true }).fill("7");
  equal(await remarks(page), ["Temperature: must be at most 2"], "one field");
  equal(await top(), "INVALID_REQUEST: see Temperature.", "the top names the field");
  await judge(page, "remarks in the form's words");
  await page.getByLabel("Temperature", { exact: true }).fill("");
  await page.route("**/tasks", (route) => route.fulfill({
    status: 429, json: {
      error: { code: "RATE_LIMIT_EXCEEDED", message: "the account's budget for this period doesn't cover the request", retryable: true, retry_after_seconds: 3600, details: [] },
      request_id: "req_hour",
    },
  }));
  equal(await remarks(page), [], "fields of a budget");
  equal(await top(), "RATE_LIMIT_EXCEEDED: the account's budget for this period doesn't cover the request. Try again in 1 hour.", "a wait in words");
  await page.unroute("**/tasks");
  await trial(page, "image.edit");
  await page.locator('[name="input.images"]').last().fill("https://a.example/b.png");
  equal(await remarks(page), [
    'Choose "none" as Person if no identifiable person is shown.',
    'Or choose "authorized" as Person and fill in a Statement saying how each person shown agreed; Evidence may hold media that prove it.',
  ], "a word about people");
  equal(await top(), "AUTHORIZATION_REQUIRED: Authorization is required: Images may show a person.", "the top");
  const snippet = page.locator("#code-0");
  await page.locator('input[type=file][name="input.images"]').setInputFiles({ name: "heron.png", mimeType: "image/png", buffer: png });
  await snippet.filter({ hasText: "@heron.png" }).waitFor();
  equal((await remarks(page)).length, 2, "remarks about a file");
  assert((await snippet.innerText()).includes("@heron.png"), `the command names the file after a refusal: ${await snippet.innerText()}`);
  await trial(page, "video.generate");
  await page.getByLabel("Prompt").fill("");
  await page.getByLabel("Last image by address or artifact").fill("https://a.example/b.png");
  await page.getByRole("radio", { name: "none" }).check();
  equal(await remarks(page), ["Prompt: is required, unless Image is given", "Image: is required with Last image"], "fields that need each other");
}

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

// largeFiles sends files ahead, through a request that fails, and names them where the form has them.
export async function largeFiles(page) {
  const large = { name: "large.png", mimeType: "image/png", buffer: Buffer.concat([png, Buffer.alloc(5 << 20)]) };
  const small = { name: "small.png", mimeType: "image/png", buffer: png };
  await trial(page, "image.edit");
  await page.getByRole("textbox", { name: "Prompt" }).first().fill("bluer");
  await page.getByRole("radio", { name: "none" }).check();
  await page.locator('input[type=file][name="input.images"]').setInputFiles([large, small]);
  const puts = [];
  let shown = false;
  await page.route("**/uploads/art_*", async (route) => {
    if (route.request().method() === "PUT") puts.push(route.request().headers()["content-range"]);
    shown ||= await page.locator("progress[data-sending]").isVisible();
    if (puts.length !== 2 || route.request().method() !== "PUT") return route.continue();
    return route.fulfill({ status: 503, json: { error: { code: "CAPACITY_EXHAUSTED", message: "no room", retryable: true, retry_after_seconds: 1 }, request_id: "req_busy" } });
  });
  page.refusals(503);
  const { input } = await asks(page);
  const size = large.buffer.length;
  const four = 4 << 20;
  const ranges = [[0, four], [four, size], [four, size]].map(([from, to]) => `bytes ${from}-${to - 1}/${size}`);
  equal(puts, ranges, "the requests with bytes");
  equal(shown, true, "the bar is there while a file goes ahead");
  equal(await page.locator("progress[data-sending]").isVisible(), false, "the bar once it has gone");
  equal(input.images.map((image) => Object.keys(image).sort().join()), ["artifact", "content_type,data"], "the images");
  await page.unroute("**/uploads/art_*");
  await trial(page, "text.chat");
  await page.getByRole("radio", { name: "Messages" }).check();
  await page.getByLabel("Content").fill("What is this?");
  await page.locator('input[type=file][name="input.messages.files"]').setInputFiles(large);
  const { messages } = (await asks(page)).input;
  equal(messages[0].content[1].image.artifact?.slice(0, 4), "art_", "the part of a message");
}
