// Kept requests: turned on by a form, seen in the list and on a task's page, as texts and as JSON, and turned off.
import { assert, browse, equal, fits, judge, step, tabTo, told, until } from "./driver.mjs";

const views = [["light", 1280], ["dark", 1280], ["light", 390]];

// good judges a page in the light and in the dark, and narrow.
async function good(page, what) {
  for (const [colorScheme, width] of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    await fits(page, `${what} at ${width}`);
    await judge(page, `${what}, ${colorScheme}, at ${width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
}

// send makes a task as a page does, and returns it at its end.
const send = (page, body) => page.evaluate(async (text) => {
  const answer = await fetch("/console/api/test/tasks", {
    method: "POST", body: text, headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=60" },
  });
  return answer.json();
}, JSON.stringify(body));

await browse(async (page) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");

  await step("nothing is kept at first", async () => {
    const task = await send(page, { capability: "text.chat", input: { prompt: "A plum-coloured secret" } });
    await page.goto(`/console/tasks/${task.id}`);
    await page.getByText("an input is erased when its task ends").waitFor();
    assert(!(await page.locator("#request").innerText()).includes("secret"), "the request is on the page");
    await page.getByRole("link", { name: "Keep those of new tasks" }).click();
  });

  await step("it is turned on by the keyboard", async () => {
    const choice = page.getByLabel("Requests of new tasks are kept");
    await tabTo(page, choice, "the choice");
    await until("a week", async () => {
      if ((await choice.inputValue()) === "7") return true;
      await page.keyboard.press("ArrowDown");
      return false;
    });
    await tabTo(page, page.getByRole("button", { name: "Save" }), "the button");
    await page.keyboard.press("Enter");
    await page.getByText("It holds for new tasks").waitFor();
    equal(await choice.inputValue(), "7", "days");
  });

  await step("a task's page shows what was asked", async () => {
    const made = await send(page, { capability: "image.generate", input: { prompt: "A fox at the harbour, by night" }, parameters: { size: "256x256" } });
    const image = { artifact: made.output.images[0].id };
    const task = await send(page, {
      capability: "text.chat", parameters: { temperature: 0.2, max_output_tokens: 400 },
      input: { messages: [{ role: "system", content: "Answer in one line." }, { role: "user", content: [{ type: "text", text: "Which colours has this picture of a harbour, and why would a person choose them?" }, { type: "image", image }] }] },
    });
    await page.goto(`/console/tasks/${task.id}`);
    const request = page.locator("#request");
    await request.getByText("Which colours has this picture").waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll("#request img")].every((one) => one.complete && one.naturalWidth === 256));
    assert(await page.getByText("Ada Byron in the console").isVisible(), "nobody asked");
    await good(page, "request");
    await tabTo(page, request.getByRole("link", { name: "JSON" }), "the JSON");
    await page.keyboard.press("Enter");
    await request.getByText('"temperature": 0.2').waitFor();
    await judge(page, "the request as JSON");
  });

  await step("it is edited in the trial", async () => {
    await page.getByRole("link", { name: "Edit in trial" }).click();
    await page.getByText("The form is filled from the address").waitFor();
    equal(await page.getByLabel("Content").nth(0).inputValue(), "Answer in one line.", "the first message");
    equal(await page.locator('[name="parameters.temperature"]').first().inputValue(), "0.2", "the temperature");
  });

  await step("the list shows its first words", async () => {
    await page.goto("/console/tasks?mode=test");
    await page.getByText("A fox at the harbour, by night").waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll(".thumb")].some((one) => one.naturalWidth === 256));
    assert(!(await page.locator("main").innerText()).includes("plum-coloured"), "a request from before is shown");
    await good(page, "list");
  });

  await step("the list is searched by words", async () => {
    const chats = page.locator("#tasks").getByText("Which colours has this picture");
    await page.getByLabel("Words").fill("harbour FOX");
    await page.keyboard.press("Enter");
    await page.waitForURL(/words=harbour\+FOX/);
    await page.getByText("A fox at the harbour, by night").waitFor();
    equal(await chats.count(), 0, "tasks without all the words");
    equal(await page.getByLabel("Words").inputValue(), "harbour FOX", "the words");
    await good(page, "list by words");
    await page.getByLabel("Words").fill("answer in one line"); // of the message of the system, which the list doesn't show
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/words=answer/);
    await chats.waitFor();
    equal(await page.getByText("A fox at the harbour").count(), 0, "tasks of other words");
    await page.getByRole("link", { name: "Clear the filters" }).click();
    await page.getByText("A fox at the harbour, by night").waitFor();
    equal(await page.getByLabel("Words").inputValue(), "", "the words, cleared");
  });

  await step("turned off, it is gone", async () => {
    await page.goto("/console/memory");
    await page.getByLabel("Requests of new tasks are kept").selectOption("0");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Erase them" }).click();
    await page.getByText("what was to be erased").waitFor();
    await page.goto("/console/tasks?mode=test");
    await page.getByRole("link", { name: "image.generate" }).waitFor();
    assert(!(await page.locator("main").innerText()).includes("fox at the harbour"), "the list shows it still");
    equal(await page.getByLabel("Words").count(), 0, "fields for words");
  });
});
