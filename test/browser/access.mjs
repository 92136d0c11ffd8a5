// Every page of the console, as its routes name them, judged for each role: in light and dark, at 1280 and 390 pixels.
import { assert, browse, equal, fits, judge, step, told } from "./driver.mjs";

const { links, pages, values } = told.more;
const root = "/console";

// files are addresses without a page.
const files = ["/static/{file}", "/commands", "/tasks/export", "/usage/export"];

// others are further looks of a page, by its path.
const others = {
  "/": ["/?span=days&split=supplier&mode=live"],
  "/keys": ["/keys?status=revoked"],
  "/lookup": [`/lookup?id=${values.task_id}`],
  "/tasks": ["/tasks?since=2020-01-01&until=2020-01-02", "/tasks?colour=red"],
  "/tasks/{task_id}": [`/tasks/${values.picture}`, `/tasks/${values.failed}`, `/tasks/${values.canceled}`, `/tasks/${values.running}`],
  "/trial": ["/trial?capability=image.edit&mode=test", "/trial?capability=text.chat&mode=live"],
  "/webhooks/{webhook_id}": ["/webhooks/no_such"],
};
const together = { // for operators
  "/tasks?account=*": 200, "/usage?account=*": 200, "/keys?account=*": 200, "/keys?account=o": 200, "/usage?account=no+such+one&days=7": 404,
};

// statuses of pages that aren't there for all roles, beside those of operators alone.
const statuses = { "/people": { member: 404 } };

// made are the values in addresses that hold once.
const made = {
  // a key is shown once, on the page that its form leads to
  word: async (page) => {
    const answer = await page.context().request.post(`${root}/keys`, {
      form: { name: "once", mode: "test" }, headers: { "Sec-Fetch-Site": "same-origin" }, maxRedirects: 0,
    });
    equal(answer.status(), 303, "making a key");
    return new URL(answer.headers().location, told.base).pathname.split("/").pop();
  },
};

async function address(page, path) {
  const parts = path.split("/").map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (!name) return part;
    assert(made[name] ?? values[name], `${path} is new here: say in access_test.go which ${name} it is looked at with`);
    return made[name]?.(page) ?? values[name];
  });
  return (await Promise.all(parts)).join("/");
}

const seen = new Set();

// isNew reports whether a part of the page is another than those that were judged: where one is, ids, numbers and times aside.
async function isNew(page, part) {
  const all = (await page.locator(part).evaluate((e) => e.outerHTML)).replaceAll(' aria-current="page"', "")
    .replace(/\b[a-z]{3,4}_\w{20,}/g, "id").replace(/<time[^]*?<\/time>/g, "time").replace(/(class="[^"]*")|\d+/g, (_, classes) => classes ?? "0");
  return !seen.has(all) && Boolean(seen.add(all));
}

const contrast = "color-contrast"; // the rule that takes most of the time

// narrow returns the elements that are there only now that the window is narrow, for axe. They bear no mark: a poll would
// take it off.
const narrow = (page) => page.evaluateHandle(() => ({
  include: [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && !window.wide.has(one)),
}));

async function show(page, colorScheme, width) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 860 });
}

// inAllLooks judges light and dark, wide and narrow. The contrast of whatever a wide window shows is judged there.
async function inAllLooks(page, what) {
  await judge(page, `${what}, light, 1280`);
  await fits(page, `${what} at 1280`);
  await page.evaluate(() => { window.wide = new Set([...document.querySelectorAll("body *")].filter((one) => one.checkVisibility())); });
  await show(page, "dark", 1280);
  await judge(page, `${what}, dark, 1280`, { runOnly: [contrast] });
  await show(page, "light", 390);
  await judge(page, `${what}, light, 390`, { rules: { [contrast]: { enabled: false } } });
  await fits(page, `${what} at 390`);
  const more = await narrow(page);
  for (const theme of (await more.evaluate(({ include }) => include.length)) > 0 ? ["light", "dark"] : []) {
    await show(page, theme, 390);
    await judge(page, `${what}, ${theme}, 390`, { runOnly: [contrast] }, more);
  }
  await show(page, "light", 1280);
}

// look judges the page as it is, with what is folded open, unless each of its parts was judged for another role.
async function look(page, what) {
  await page.locator("main details:not([data-chooser])").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
  await page.waitForFunction(() => [...document.images].every((i) => i.complete));
  const parts = await page.evaluate(() => ["head > title", "body > header", "main"].filter((one) => document.querySelector(one)));
  let fresh = parts.length < 2; // without a title and more, it is for axe to say
  for (const part of parts) fresh = (await isNew(page, part)) || fresh;
  if (fresh) await inAllLooks(page, what);
}

async function visit(page, role, at, status) {
  const answer = await page.goto(root + at);
  equal(answer.status(), status, `${at} for ${role}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await look(page, `${at} for ${role}`);
}

async function signedOut(page) {
  for (const { path } of pages.filter((one) => !files.includes(one.path))) {
    const at = path.replace(/\{\w+\}/g, "some");
    const answer = await page.context().request.get(root + at);
    equal([answer.status(), new URL(answer.url()).pathname], [200, `${root}/sign-in`], `${at} without a session`);
  }
  await visit(page, "somebody signed out", "/sign-in", 200);
  await page.goto(`${root}/sign-in#token=wrong`);
  await page.getByRole("alert").waitFor();
  await look(page, "a link that doesn't hold");
}

async function signedIn(page, role) {
  await page.context().clearCookies();
  await page.goto(links[role]);
  await page.waitForURL(`**${root}/`);
  for (const { path, operators } of pages) {
    if (files.includes(path) || path === "/sign-in") continue;
    const refused = operators && role !== "operator" ? 404 : undefined;
    const status = refused ?? statuses[path]?.[role] ?? 200;
    await visit(page, role, await address(page, path), status);
    if (status !== 200 || role === "admin") continue; // whose further looks are a member's
    for (const at of others[path] ?? []) await visit(page, role, at, { "/tasks?colour=red": 400, "/webhooks/no_such": 404 }[at] ?? 200);
  }
  await visit(page, role, "/no/such/page", 404);
  if (role === "operator") for (const [at, status] of Object.entries(together)) await visit(page, role, at, status);
}

await browse(async (page) => {
  page.refusals(400, 401, 404);
  const known = pages.map(({ path }) => path);
  equal(Object.keys(others).concat(Object.keys(statuses), files).filter((path) => !known.includes(path)), [], "pages that are gone");
  await step("signed out", () => signedOut(page));
  for (const role of ["member", "admin", "operator"]) await step(`each page for ${role}`, () => signedIn(page, role));
});
