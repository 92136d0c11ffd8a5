// Requests without an answer: whether they arrived or not, each becomes one task.
import { assert, equal, idle, until } from "./driver.mjs";
import { address, fill, keys, row, tasks } from "./runs_page.mjs";

// cut lets a creation's answer be lost on the way, after the service has it or before.
export async function cut(page, prompt, arrives) {
  const before = (await tasks(page)).length;
  const sent = keys(page);
  await page.goto(address("text.chat"));
  await page.route("**/tasks", async (route) => {
    if (arrives) await route.fetch();
    await route.abort();
  });
  await fill(page, prompt);
  await page.locator("[data-run]").click();
  await page.locator("[data-problem]").filter({ hasText: "can't be reached" }).waitFor();
  await row(page, prompt).filter({ hasText: "no answer yet" }).waitFor();
  equal((await tasks(page)).length, before + (arrives ? 1 : 0), "tasks before the reload");
  await page.unroute("**/tasks");
  await page.reload();
  await page.locator("#result .pill.succeeded").waitFor();
  await row(page, prompt).locator(".pill.succeeded").waitFor();
  equal(await row(page, prompt).count(), 1, "runs of one request");
  equal((await tasks(page)).length, before + 1, "tasks of one request");
  equal(new Set(sent).size, 1, `keys of one request: ${sent}`);
}

// elsewhere lets another tab take up a request whose answer is lost here, and see its end before this page is read again.
export async function elsewhere(page, context, prompt) {
  const before = (await tasks(page)).length;
  const sent = keys(page);
  await page.goto(address("text.chat"));
  await unsent(page, prompt, (route) => route.abort(), "can't be reached");
  const tab = await context.newPage();
  await tab.goto(address("text.embed"));
  await row(page, prompt).locator(".pill.succeeded").waitFor();
  await tab.close();
  await page.reload();
  await page.locator("#result .pill.succeeded").waitFor();
  equal([(await tasks(page)).length, new Set(sent).size], [before + 1, 1], "tasks and keys of a request that another tab has taken up");
  await page.goto("/console/");
  await page.goto(address("text.chat"));
  await idle(page);
  equal(await page.locator("#result .pill").count(), 0, "results in another visit, once the end was seen");
}

// slowly reads the page again while a request is on its way, and lets the old page see its end before the new one comes.
export async function slowly(page, prompt) {
  const before = (await tasks(page)).length;
  await page.goto(address("text.chat"));
  await fill(page, prompt);
  let [leaving, told] = [];
  const left = new Promise((done) => { leaving = done; });
  const seen = new Promise((done) => { told = done; });
  await page.exposeFunction("tellEnd", told); // the driver itself asks nothing of a page that is being left
  await page.evaluate(() => new MutationObserver(() => {
    if (document.querySelector("#result .pill.succeeded")) window.tellEnd();
  }).observe(document.getElementById("result"), { childList: true }));
  await page.route("**/tasks", async (route) => {
    await left;
    await route.continue();
  });
  await page.route("**/console/trial?*", async (route) => {
    leaving();
    await seen;
    await route.continue();
  });
  await Promise.all([page.waitForRequest("**/tasks"), page.locator("[data-run]").click()]);
  await page.reload();
  await page.unrouteAll();
  await page.locator("#result .pill.succeeded").waitFor();
  await row(page, prompt).locator(".pill.succeeded").waitFor();
  equal((await tasks(page)).length, before + 1, "tasks of a page that was read again slowly");
  await page.goto("/console/");
  await page.goto(address("text.chat"));
  await idle(page);
  await page.reload();
  await idle(page);
  equal(await page.locator("#result .pill").count(), 0, "results in another visit, read again");
}

// offline sends a request again by hand, after a reload that found no service.
export async function offline(page) {
  const before = (await tasks(page)).length;
  const sent = keys(page);
  await page.goto(address("text.chat"));
  await page.route("**/tasks", (route) => route.abort());
  await fill(page, "say nothing is lost");
  await page.locator("[data-run]").click();
  await page.locator("[data-problem]").filter({ hasText: "can't be reached" }).waitFor();
  await page.reload();
  await page.locator("[data-problem]").filter({ hasText: "can't be reached" }).waitFor();
  await page.unroute("**/tasks");
  await fill(page, "say nothing is lost");
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  equal((await tasks(page)).length, before + 1, "tasks of a request that was typed again");
  equal(new Set(sent).size, 1, `keys of it: ${sent}`);
}

// cutAbreast runs two capabilities side by side, of which the answers of some are lost, and runs them once more.
export async function cutAbreast(page, prompt, lost) {
  const before = (await tasks(page)).length;
  const sent = keys(page);
  await page.goto(address("text.chat"));
  let aborted = 0;
  await page.route("**/tasks", async (route) => {
    if (!lost.includes(route.request().postDataJSON().capability)) return route.continue();
    await route.fetch();
    await route.abort();
    aborted++;
    return undefined;
  });
  await idle(page);
  await page.getByRole("checkbox", { name: /large model/ }).check();
  await fill(page, prompt);
  const button = page.getByRole("button", { name: "Run 2 side by side" });
  await button.click();
  await page.locator("[data-problem]").filter({ hasText: "can't be reached" }).waitFor();
  const succeeded = row(page, prompt).locator(".pill.succeeded");
  await until("the answers that aren't lost, and the loss of the others", async () => (await succeeded.count()) >= 2 - lost.length && aborted === lost.length);
  await page.unroute("**/tasks");
  await button.click();
  await page.locator("#compare .column .pill.succeeded").nth(1).waitFor();
  await idle(page);
  equal(await row(page, prompt).count(), 2, "runs of one comparison");
  equal((await tasks(page)).length, before + 2, "tasks of one comparison");
  equal(new Set(sent).size, 2, `keys of one comparison: ${sent}`);
  await button.click(); // all are settled now
  await succeeded.nth(3).waitFor();
  equal((await tasks(page)).length, before + 4, "tasks of two comparisons");
}

const problem = (status, code) => ({
  status, contentType: "application/json", body: JSON.stringify({ error: { code, message: "not now", retryable: true, details: [] }, request_id: "req_1" }),
});

// unsent runs a prompt to which route gives no task.
async function unsent(page, prompt, route, said) {
  await page.route("**/tasks", route);
  await fill(page, prompt);
  await page.locator("[data-run]").click();
  await page.locator("[data-problem]").filter({ hasText: said }).waitFor();
  await page.unroute("**/tasks");
}

const open = (page, prompt) => row(page, prompt).filter({ hasText: "no answer yet" });

// waiting leaves live requests without a task, which cost only after a word.
export async function waiting(page, context) {
  const before = (await tasks(page, "live")).length;
  const sent = keys(page);
  await page.goto(address("text.chat", "live"));
  await unsent(page, "live and lost", (route) => route.abort(), "can't be reached");
  await page.reload();
  await page.locator("#result .pill.succeeded").waitFor();
  equal((await tasks(page, "live")).length, before + 1, "tasks of a live request that this tab shows");
  await unsent(page, "live and signed out", (route) => route.fulfill(problem(401, "UNAUTHENTICATED")), "Your session has ended");
  equal(await row(page, "live and signed out").count(), 0, "runs of a request that was refused");
  const tab = await context.newPage();
  await tab.goto(address("text.chat"));
  await unsent(tab, "say it later", (route) => route.abort(), "can't be reached");
  await tab.close();
  await unsent(page, "live and older", (route) => route.abort(), "can't be reached");
  await unsent(page, "live and broken", (route) => route.fulfill(problem(503, "UNAVAILABLE")), "not now");
  await open(page, "live and broken").waitFor();
  const broken = sent.at(-1);
  equal(await open(page, "say it later").count(), 1, "a test request of a tab that is gone");
  await page.reload();
  await row(page, "say it later").locator(".pill:not(.waiting)").waitFor(); // the newer ones had their turn
  for (const prompt of ["live and older", "live and broken"]) equal(await open(page, prompt).count(), 1, `${prompt} waits`);
  equal((await tasks(page, "live")).length, before + 1, "live tasks without a word");
  await idle(page);
  const again = keys(page);
  await row(page, "live and broken").locator(".open").click();
  await page.locator("[data-problem]").filter({ hasText: "Send it again" }).waitFor();
  await row(page, "live and broken").getByRole("button", { name: "Send again" }).click();
  await page.getByRole("button", { name: "Run live", exact: true }).waitFor();
  assert(/At most \$\d/.test(await row(page, "live and broken").innerText()), "no price is told");
  equal(again, [], "requests before the answer");
  await page.getByRole("button", { name: "Run live", exact: true }).click();
  await row(page, "live and broken").locator(".pill.succeeded").waitFor();
  equal(again, [broken], "the key of what is sent again");
  equal((await tasks(page, "live")).length, before + 2, "live tasks after a word");
}

// resent refuses a request that may have arrived before.
export async function resent(page) {
  const before = (await tasks(page)).length;
  const sent = keys(page);
  await page.goto(address("text.chat"));
  await unsent(page, "say it arrived", async (route) => {
    await route.fetch();
    await route.abort();
  }, "can't be reached");
  await page.route("**/tasks", (route) => route.fulfill(problem(429, "RATE_LIMITED")));
  await page.reload();
  await idle(page);
  await page.unroute("**/tasks");
  await open(page, "say it arrived").getByRole("button", { name: "Send again" }).click();
  await row(page, "say it arrived").locator(".pill.succeeded").waitFor();
  equal([sent.length, new Set(sent).size], [3, 1], "requests and keys");
  equal((await tasks(page)).length, before + 1, "tasks of a request that was refused the second time");
}
