// An operator's suppliers: tested now, their last day, and where a request would go and why not elsewhere.
import { assert, browse, equal, look, shot, step, tabTo, told } from "./driver.mjs";

// cells are the texts of a table's rows.
const cells = (table) => table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));

await browse(async (page) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  await step("a task", async () => {
    const state = await page.evaluate(async () => {
      const answer = await fetch("/console/api/live/tasks", {
        method: "POST", body: JSON.stringify({ capability: "text.chat", input: { prompt: "hello" } }),
        headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=60" },
      });
      return (await answer.json()).state;
    });
    equal(state, "succeeded", "the task");
  });
  await step("a supplier is tested by the keyboard", async () => {
    await page.goto("/console/suppliers");
    await tabTo(page, page.getByRole("button", { name: "Test now: paid" }), "the test of paid");
    await page.keyboard.press("Enter");
    await page.locator("#supplier-paid").getByText("from this node: it answers").waitFor();
    const result = page.locator("#tested-paid:focus");
    await result.waitFor();
    equal(await result.evaluate((e) => [e, e.closest("section").querySelector("h2")].every((part) => {
      const { top, bottom } = part.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    })), true, "the result and its supplier's name are in sight");
    await page.getByRole("button", { name: "Test now: gone" }).click();
    await page.locator("#supplier-gone").getByText("no answer came: dial tcp 127.0.0.1:9").waitFor();
    await look(page, "suppliers tested", "Suppliers");
    await shot(page, "suppliers");
  });

  await step("its last 24 hours, with the values at the cursor", async () => {
    await page.getByRole("link", { name: "The last 24 hours of paid" }).click();
    await page.waitForURL("**/console/suppliers/paid");
    const cursor = page.getByRole("slider", { name: "Attempts at paid that ended" });
    await tabTo(page, cursor, "the chart's cursor");
    await page.keyboard.press("End");
    const last = await cursor.getAttribute("aria-valuetext");
    assert(/ [01] Succeeded, 0 Failed, 0 Refused, 0 Unknown/.test(last), `the last hour is ${last}`);
    await page.keyboard.press("Escape");
    await look(page, "a supplier", "paid");
    await page.goto("/console/suppliers");
  });

  await step("where an example would go", async () => {
    await page.locator("#supplier-paid summary").click();
    await page.locator("#supplier-paid").getByRole("link", { name: "text.chat" }).click();
    await page.waitForURL("**/console/routes?capability=text.chat&mode=live");
    const rows = await cells(page.getByRole("table"));
    equal(rows.map((row) => [row[0], row[1]]), [["1", "gone"], ["2", "paid"]], "the order");
    assert(rows[0][3].startsWith("taken"), `the first is ${rows[0][3]}`);
    await look(page, "routes", "Routes");
  });

  await step("why not, for a request of one's own, by the keyboard", async () => {
    await page.goto("/console/suppliers");
    await page.getByRole("button", { name: "Pause gone" }).click();
    await page.getByRole("button", { name: "Pause gone" }).click();
    await page.getByText("no work is sent there until it is resumed").waitFor();
    await page.goto("/console/routes");
    await tabTo(page, page.getByRole("textbox", { name: "Request" }), "the request");
    await page.keyboard.press("Control+A");
    await page.keyboard.type('{"input": {"prompt": "only here"}}');
    await tabTo(page, page.getByRole("button", { name: "Explain this request" }), "the button");
    await page.keyboard.press("Enter");
    await page.getByText("As it was sent with this form").waitFor();
    const rows = await cells(page.getByRole("table"));
    equal(rows.map((row) => [row[0], row[1]]), [["–", "gone"], ["1", "paid"]], "the order");
    assert(rows[0][3].includes("paused by an operator"), `the first is ${rows[0][3]}`);
    assert(!page.url().includes("only"), `the address is ${page.url()}`);
    await look(page, "routes of a request", "Routes");
    await shot(page, "routes");
    await page.getByRole("textbox", { name: "Request" }).fill('{"input": {"prompt": 1}}');
    await page.getByRole("button", { name: "Explain this request" }).click();
    await page.getByRole("alert").getByText("Input.prompt must be a string.").waitFor();
    await look(page, "routes of a wrong request", "Routes");
  });
});
