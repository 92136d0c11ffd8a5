// The pages of webhooks, from the empty one to a deleted webhook.
import { createServer } from "node:http";
import { assert, equal, fits, judge, tabTo, until } from "./driver.mjs";

// receive answers each request with the status that is set.
async function receive() {
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(receiver.status).end();
  });
  receiver.status = 204;
  await new Promise((done) => { receiver.listen(0, "127.0.0.1", done); });
  receiver.target = `http://127.0.0.1:${receiver.address().port}/hooks/${"w".repeat(120)}`;
  return receiver;
}

// good judges a page in a narrow window in the dark, and sees that it fits a wide one too. One that is built as a page
// judged elsewhere has to fit alone.
async function good(page, what, options = { judged: true }) {
  await fits(page, `${what} at 1280`);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 320, height: 860 });
  await fits(page, `${what} at 320`);
  if (options.judged) await judge(page, `${what} at 320`);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });
}

// make makes a webhook by the keyboard alone.
async function make(page, address) {
  page.refusals(400);
  await page.goto("/console/webhooks");
  await page.getByText("unitask webhooks listen --forward http://localhost:3000").waitFor();
  await good(page, "webhooks-empty");
  await tabTo(page, page.getByRole("link", { name: "New webhook" }), "the link to the form");
  await page.keyboard.press("Enter");
  await page.getByLabel("Address").waitFor();
  await tabTo(page, page.getByLabel("Address"), "the address");
  await page.keyboard.type("https://10.0.0.1/");
  await tabTo(page, page.getByLabel("Description"), "the description");
  await page.keyboard.type("the till");
  await tabTo(page, page.getByLabel("failed"), "the ends");
  await page.keyboard.press("Space");
  await page.getByLabel("succeeded").check();
  await page.getByLabel("Description").press("Enter");
  await page.locator(".field .problem").waitFor();
  equal(await page.getByLabel("Description").inputValue(), "the till", "what was typed");
  assert(await page.getByLabel("failed").isChecked(), "a ticked end is lost");
  await good(page, "webhook-form", {});
  await page.getByLabel("Address").fill(address);
  await page.getByLabel("Address").press("Enter");
  const secret = await page.locator("#secret").inputValue();
  assert(/^whsec_.{20,}/.test(secret), "no secret is shown");
  await page.getByRole("button", { name: "Copy" }).waitFor();
  await good(page, "webhook-secret", {});
  await page.getByRole("link", { name: "I have it" }).click();
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  return page.url();
}

// told sees a delivery, replays it without leaving the page, and loses nothing of what is open.
async function told(page, receiver, create) {
  await create(page, { capability: "text.embed", input: { texts: ["a heron"] } });
  await page.reload();
  const delivery = page.locator(".attempt").first();
  await delivery.locator(".pill.delivered").first().waitFor();
  await delivery.locator("summary").click();
  receiver.status = 500;
  await page.getByLabel("The old one signs too for").selectOption("week");
  await page.getByRole("button", { name: /^Replay / }).click();
  await page.getByRole("status").filter({ hasText: "The event is sent again." }).waitFor();
  await delivery.getByText("2 attempts").waitFor();
  assert(await delivery.locator("details").evaluate((d) => d.open), "the attempts were closed");
  equal(await page.getByLabel("The old one signs too for").inputValue(), "week", "what was chosen");
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.locator("#tested").getByText("It didn't take the event").waitFor();
  assert(await page.getByRole("button", { name: "Send a test" }).evaluate((b) => b === document.activeElement), "the focus is elsewhere");
  await good(page, "webhook");
  await page.getByLabel("State").selectOption("failed");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("None is failed.").waitFor();
}

// webhooks goes through the life of one.
export async function webhooks(page, create) {
  const receiver = await receive();
  try {
    const at = await make(page, receiver.target);
    await told(page, receiver, create);
    receiver.status = 410;
    await page.goto(at);
    await page.getByRole("button", { name: /^Replay / }).click();
    page.refusals(400); // the event's own next attempt, after some seconds, may have come first
    await page.getByText(/The event is sent again\.|The webhook is disabled: enable it first\./).first().waitFor();
    await until("the button of a webhook that is disabled", async () => {
      await page.reload(); // the page looks for news every few seconds
      return (await page.getByRole("button", { name: "Enable the webhook" }).count()) > 0;
    });
    await page.getByRole("button", { name: "Enable the webhook" }).click();
    await page.getByRole("status").filter({ hasText: "The webhook is enabled." }).waitFor();
    await page.goto("/console/webhooks");
    await page.locator("#webhooks a").first().waitFor();
    await good(page, "webhooks", {});
    await page.goto("/console/webhooks/all");
    await good(page, "webhooks-all", {});
    await page.getByRole("button", { name: /^Disable / }).click();
    await page.getByRole("button", { name: "Disable the webhook" }).click();
    await page.getByRole("button", { name: /^Enable / }).waitFor();
    await page.goto(at);
    await page.getByText("and alone enables it").waitFor();
    await page.getByRole("button", { name: "Delete the webhook" }).click();
    await good(page, "webhook-delete", {});
    await page.getByRole("button", { name: "Delete the webhook" }).click();
    await page.getByRole("status").filter({ hasText: "The webhook is deleted." }).waitFor();
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}
