// The list of tasks: filters, pages both ways, the search for an id, all accounts, the time zone, exports.
import { assert, browse, equal, fits, judge, step, tabTo, told, until } from "./driver.mjs";

const perPage = 25;

// create makes chat tasks and returns the answers.
async function create(page, prompts, metadata) {
  return page.evaluate(async ({ prompts, metadata }) => {
    const all = [];
    for (const prompt of prompts) {
      const answer = await fetch("/console/api/test/tasks", {
        method: "POST", body: JSON.stringify({ capability: "text.chat", input: { prompt }, metadata }),
        headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=60" },
      });
      all.push(await answer.json());
    }
    return all;
  }, { prompts, metadata });
}

const listed = (page) => page.locator("#tasks tbody a").evaluateAll((all) => all.map((a) => a.href.split("/").pop()));

// look sees that the list fits narrow windows, too.
async function look(page, what) {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await fits(page, `${what} at ${width}`);
    const out = await page.locator("#tasks .pill").evaluateAll((all) => all.filter((pill) => pill.getBoundingClientRect().right > innerWidth).length);
    equal(out, 0, `states out of sight, ${what} at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 860 });
}

async function pagesBothWays(page, all) {
  await page.goto("/console/tasks");
  equal(await listed(page), all.slice(0, perPage), "the first page");
  await tabTo(page, page.getByRole("link", { name: "Older" }), "Older");
  await page.keyboard.press("Enter");
  await page.waitForURL(/cursor=/);
  equal(await listed(page), all.slice(perPage), "the older ones");
  await look(page, "the last page");
  await tabTo(page, page.getByRole("link", { name: "Newer" }), "Newer");
  await page.keyboard.press("Enter");
  await page.waitForURL(/newer=/);
  equal(await listed(page), all.slice(0, perPage), "back again");
  await page.getByLabel("Per page").selectOption("100");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/per=100/);
  equal(await listed(page), all, "all on one page");
}

async function filters(page, failed, tagged) {
  const today = new Date().toISOString().slice(0, 10);
  await page.goto("/console/tasks");
  await page.getByLabel("From").fill("2020-01-01");
  await page.getByLabel("To").fill(today);
  await page.getByText("More filters").click();
  await look(page, "the filters");
  await page.getByLabel("Error code").selectOption("INVALID_REQUEST");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/code=INVALID_REQUEST/);
  equal(await listed(page), [failed], "by code");
  assert(await page.getByLabel("Error code").isVisible(), "the filter that is set is hidden");
  equal(await page.locator(".sums").count(), 0, "sums of a code");
  await page.getByLabel("Error code").selectOption("");
  await page.getByLabel("Metadata", { exact: true }).fill("team=search");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/metadata=team/);
  equal(await listed(page), [tagged], "by metadata");
  await page.goto("/console/tasks?until=2020-01-01");
  await page.getByText("None fits the filter.").waitFor();
  await page.getByRole("link", { name: "Clear the filters" }).click();
  await page.waitForURL((url) => !url.search.includes("until"));
  await page.goto("/console/tasks?since=2020-01-01");
  await page.getByText(/^Ended from 2020-01-01 to .*: \d+ succeeded, 1 failed, 0 canceled/).waitFor();
}

// begun opens the page of a task as it was before the task ran.
async function begun(page) {
  const id = await page.evaluate(async () => {
    const answer = await fetch("/console/api/test/tasks", {
      method: "POST", body: JSON.stringify({ capability: "text.chat", input: { prompt: "@stuck:running" } }),
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=0" },
    });
    return (await answer.json()).id;
  });
  const state = page.locator("#task .output .card-head .pill");
  const running = async () => {
    await page.goto(`/console/tasks/${id}`);
    return (await state.innerText()) === "running";
  };
  await until("the task runs", running);
  await page.route(page.url(), async (route) => {
    const answer = await route.fetch();
    const text = await answer.text();
    await route.fulfill({ response: answer, body: route.request().isNavigationRequest() ? text.replaceAll("running", "queued") : text });
  });
  await page.reload();
  await state.filter({ hasText: "running" }).waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  await state.filter({ hasText: "canceled" }).waitFor();
}

async function search(page, one) {
  for (const id of [one.id, one.request_id]) {
    await page.goto("/console/tasks");
    await page.getByLabel("Task or request id").fill(id);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/console/tasks/${one.id}`);
  }
  await page.goto("/console/tasks?id=nonsense");
  await page.waitForURL("**/console/lookup?id=nonsense");
}

// goesOn: an empty page with older ones leads on by itself, as far as there are tasks, and says how far it looked.
async function goesOn(page) {
  const pages = ["2026-01-02", "2026-01-03"];
  await page.route("**/console/tasks?state=canceled**", async (route) => {
    const answer = await route.fetch();
    const day = route.request().url().includes("cursor") ? pages.pop() : "2026-01-04";
    const more = day && `<nav class="pager"><a rel="next" data-go-on href="/console/tasks?state=canceled&cursor=task_${day}">Older</a></nav>`;
    const body = (await answer.text()).replace(/<section [^]*<\/section>/, `<section class="card flush" id="tasks" aria-label="Tasks">
      <p>${day ? `None from ${day} on` : "The oldest one"}</p>${more ?? ""}</section>`);
    await route.fulfill({ response: answer, status: 200, body });
  });
  await page.goto("/console/tasks?state=canceled");
  await page.getByText("The oldest one").waitFor();
  assert(page.url().endsWith("cursor=task_2026-01-02"), `the address is ${page.url()}`);
  await page.unroute("**/console/tasks?state=canceled**");
}

// zones: times are shown in the zone that is chosen, by keyboard, and as the browser's own.
async function zones(page) {
  await page.goto("/console/tasks");
  const shown = () => page.locator("#tasks time").first().getAttribute("title");
  assert((await shown()).endsWith(" UTC"), "times are in UTC at first");
  await tabTo(page, page.getByRole("link", { name: "Time zone: UTC" }), "the time zone");
  await page.keyboard.press("Enter");
  await page.getByText("the time zone of this browser, UTC").waitFor();
  await look(page, "the time zone");
  await page.getByLabel("Zone", { exact: true }).fill("Asia/Nowhere");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "no time zone" }).waitFor();
  await judge(page, "a zone that isn't one");
  await page.getByLabel("Zone", { exact: true }).fill("Asia/Kolkata");
  await page.keyboard.press("Enter");
  await page.getByText("Times are shown so in this browser.").waitFor();
  await page.goto("/console/tasks?since=2020-01-01&state=failed");
  assert((await shown()).endsWith(" IST"), `the time is ${await shown()}`);
  await page.getByText("The days are those of Asia/Kolkata.").waitFor();
  await page.context().addCookies([{ name: "unitask_zone", value: "~Asia/Tokyo", url: told.base }]); // the browser was there
  await page.goto("/console/tasks");
  assert((await shown()).endsWith(" JST"), `the time is ${await shown()}`);
  await page.reload();
  assert((await shown()).endsWith(" UTC"), `the browser is back, and the time is ${await shown()}`);
}

async function exports(page, count) {
  await page.goto("/console/tasks?mode=test");
  for (const [name, ending] of [["CSV", "csv"], ["JSON lines", "jsonl"]]) {
    const link = page.getByRole("link", { name, exact: true });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    assert(new RegExp(`^tasks-\\d{4}-\\d{2}-\\d{2}\\.${ending}$`).test(download.suggestedFilename()), `the file is called ${download.suggestedFilename()}`);
    const text = await link.evaluate(async (a) => (await fetch(a.href)).text());
    equal(text.trim().split("\n").length, count + (ending === "csv" ? 1 : 0), `lines of ${ending}`);
  }
  await page.goto("/console/usage");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV", exact: true }).click()]);
  assert(download.suggestedFilename().startsWith("usage-"), `the file is called ${download.suggestedFilename()}`);
}

await browse(async (page) => {
  page.refusals(400);
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  let all = [];
  await step("make tasks", async () => {
    const done = await create(page, Array.from({ length: perPage + 2 }, (_, i) => `number ${i}`));
    const tagged = await create(page, ["for the search"], { team: "search" });
    await create(page, ["@fail:INVALID_REQUEST"]);
    await page.goto("/console/tasks?per=100");
    all = await listed(page);
    equal(all.length, done.length + 2, "tasks");
    [all.failed, all.tagged, all.one] = [all[0], tagged[0].id, done[0]];
  });
  await step("page both ways", () => pagesBothWays(page, [...all]));
  await step("filter", () => filters(page, all.failed, all.tagged));
  await step("search", () => search(page, all.one));
  await step("go on by itself", () => goesOn(page));
  await step("all accounts", async () => {
    await page.goto("/console/tasks");
    await page.getByLabel("Account").selectOption("All accounts");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/account=%2A|account=\*/);
    await page.getByRole("columnheader", { name: "Account" }).waitFor();
    await look(page, "all accounts");
  });
  await step("usage and keys of all accounts", async () => {
    await page.goto("/console/usage");
    await page.getByLabel("Account").selectOption("All accounts");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("heading", { name: "Top accounts" }).waitFor();
    await look(page, "usage of all accounts");
    await page.goto("/console/keys");
    await page.getByLabel("Account").selectOption("All accounts");
    await page.getByLabel("Name").fill("NIGHTLY");
    await page.keyboard.press("Enter");
    await page.getByRole("cell", { name: "Harbour Books" }).waitFor();
    equal(await page.locator("#keys tbody tr").count(), 1, "keys of the name");
    await look(page, "keys of all accounts");
  });
  await step("the time zone", () => zones(page));
  await step("export", () => exports(page, all.length));
  await step("a task that begins before it is followed", () => begun(page));
});
