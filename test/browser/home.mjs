// An operator's home: the figures of all accounts, what needs attention, and the charts' values by pointer and keys.
import { assert, browse, equal, judge, look, step, tabTo, told, until } from "./driver.mjs";

async function create(page, mode, body, state) {
  const made = await page.evaluate(async ([mode, body]) => {
    const answer = await fetch(`/console/api/${mode}/tasks`, {
      method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=60" },
    });
    return answer.json();
  }, [mode, body]);
  equal(made.state, state, `the task ${JSON.stringify(made.error)}`);
}

const chat = { capability: "text.chat", input: { prompt: "hello" } };

// figure reads a tile.
const figure = (page, name) => page.locator(".tile", { has: page.locator("dt", { hasText: name }) }).locator("dd").first().innerText();

await browse(async (page) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  await step("nothing has happened yet", async () => {
    equal(await figure(page, "Tasks ended"), "0", "tasks");
    await page.getByText("No breaker is open").waitFor();
    await judge(page, "home without anything");
  });

  await step("tasks end, and the page says so by itself", async () => {
    for (let i = 0; i < 5; i++) await create(page, "live", chat, "succeeded");
    for (const capability of ["text.embed", "text.moderate"]) {
      await create(page, "test", { capability, input: { texts: ["a heron"] } }, "succeeded");
    }
    await page.locator(".concerns").getByText("gone is left alone").waitFor();
    await until("7 tasks that ended", async () => (await figure(page, "Tasks ended")) === "7");
    equal(await figure(page, "Error rate"), "0 %", "the error rate");
    await page.getByText("By the hour this node has counted since").waitFor();
  });

  await step("a chart says its values at the pointer and by the arrow keys", async () => {
    const cursor = page.getByRole("slider", { name: "Tasks that ended" });
    await cursor.hover();
    await page.locator(".chart-tip").waitFor();
    await tabTo(page, cursor, "the chart's cursor");
    await page.keyboard.press("End");
    const last = await cursor.getAttribute("aria-valuetext");
    assert(/ \d Succeeded, 0 Failed, 0 Canceled/.test(last), `the last hour is ${last}`);
    await judge(page, "a chart with its values");
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft"]) await page.keyboard.press(key); // the hour may turn in the meantime
    assert((await cursor.getAttribute("aria-valuetext")).includes("not counted"), "an hour before the start is counted");
    await page.keyboard.press("Escape");
    equal(await page.locator(".chart-tip").count(), 0, "values after Escape");
    const table = page.getByRole("table", { name: "Tasks that ended" });
    await page.locator("summary", { hasText: "As a table" }).first().click();
    const counted = (await table.locator("tbody tr").evaluateAll((all) => all.slice(-2).map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.innerText) || 0))));
    equal(counted[0].map((n, i) => n + counted[1][i]), [7, 0, 0], "the table's last two hours");
  });

  await step("the pages", async () => {
    await look(page, "home", "All accounts");
    await page.getByRole("link", { name: "Supplier", exact: true }).click();
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
    await page.getByRole("link", { name: "Live", exact: true }).click();
    await page.waitForURL("**/console/?span=hours&split=supplier&mode=live");
    equal(await figure(page, "Tasks ended"), "5", "live tasks");
    await page.getByRole("link", { name: "14 days" }).click();
    await page.waitForURL("**span=days**");
    equal(await figure(page, "Tasks ended"), "5", "live tasks by the day");
    await look(page, "home-days", "All accounts");
  });

  await step("a supplier is paused and resumed", async () => {
    await page.goto("/console/suppliers");
    await page.getByRole("button", { name: "Pause paid" }).click();
    await page.getByRole("button", { name: "Pause paid" }).click();
    await page.getByText("no work is sent there until it is resumed").waitFor();
    await look(page, "suppliers", "Suppliers");
    await page.getByRole("button", { name: "Resume paid" }).click();
    await page.getByRole("status").filter({ hasText: "It is resumed." }).waitFor();
  });
});
