// What the scripts share: a Chromium of their own, a page whose every complaint counts, and waiting for
// conditions, never for time.
import { createRequire } from "node:module";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

export const told = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(path.join(told.modules, "package.json"));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const patience = 120_000; // of a busy machine; nothing waits that long where all is well

export function assert(ok, what) {
  if (!ok) throw new Error(what);
}

export function equal(got, want, what) {
  assert(JSON.stringify(got) === JSON.stringify(want), `${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

// step says what is being done, so that a failure has a place.
export async function step(what, work) {
  const started = Date.now();
  try {
    const out = await within(300, "the end of this step", work()); // less than a script has
    console.log(`${what}: ${Date.now() - started} ms`);
    return out;
  } catch (error) {
    error.message = `${what}: ${error.message}`;
    throw error;
  }
}

// within fails, by the name of what is awaited, where the work isn't done in time: a page that waits for its own events, as
// those of a medium, has no bound.
export function within(seconds, what, work) {
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`after ${seconds} s still awaited: ${what}`)), seconds * 1000); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

// until asks again and again, until a condition holds.
export async function until(what, holds) {
  const end = Date.now() + patience;
  while (!(await holds())) {
    assert(Date.now() < end, `after ${patience / 1000} s still awaited: ${what}`);
    await new Promise((next) => { setTimeout(next, 20); });
  }
}

// browse runs the work in a browser with a profile of its own.
export async function browse(work) {
  const context = await chromium.launchPersistentContext(path.join(told.folder, "profile"), {
    executablePath: told.chromium, headless: true, chromiumSandbox: !told.root, viewport: { width: 1280, height: 860 },
    acceptDownloads: false, baseURL: told.base, locale: "en-GB", timezoneId: "UTC", colorScheme: "light", reducedMotion: "reduce",
    permissions: [], args: ["--disable-gpu", "--disable-dev-shm-usage", "--mute-audio", "--autoplay-policy=no-user-gesture-required"],
  });
  try {
    context.setDefaultTimeout(patience);
    const complaints = [];
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI}`));
    });
    const expected = new Set();
    const heed = (page) => {
      page.on("console", (message) => {
        const refused = /status of (\d+)|net::(ERR_\w+)/.exec(message.text());
        if (["error", "warning"].includes(message.type()) && !(refused && expected.has(refused[1] ?? refused[2]))) {
          complaints.push(`${page.url()}: ${message.text()} (${message.location().url})`);
        }
      });
      page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
      page.on("dialog", (dialog) => complaints.push(`${page.url()}: a dialog: ${dialog.message()}`));
      // refusals lets the browser report answers of the status, and failures of the network, which a test provokes.
      page.refusals = (...statuses) => statuses.forEach((status) => expected.add(String(status)));
    };
    const page = context.pages()[0];
    heed(page);
    context.on("page", heed);
    try {
      await work(page, context);
    } catch (error) {
      console.error(`${error.message}\ncomplaints: ${complaints.join("\n")}`);
      for (const one of context.pages()) {
        const shown = await one.locator("main").innerText({ timeout: 1000 }).catch(() => "");
        console.error(`at ${one.url()}, which shows:\n${shown.replace(/svc_(live|test)_\w+/g, "svc_…")}`);
      }
      throw error;
    }
    equal(complaints, [], "complaints of pages");
  } finally {
    await context.close();
  }
}

// judge lets axe judge the page as it is, or a part of it; of its rules those that options name.
export async function judge(page, what, options = {}, part = undefined) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  const { violations, passes } = await page.evaluate(([o, at]) => window.axe.run(at ?? document, { resultTypes: ["violations"], ...o }), [options, part]);
  assert(part || passes.length > 0, `axe found nothing to judge on ${what}`);
  const found = violations.map((v) => `${v.id}: ${v.help} at ${v.nodes.map((n) => `${n.target.join(" ")} ${n.failureSummary}`).join(" | ")}`);
  equal(found, [], `axe on ${what}`);
}

// fits fails where a page is wider than its window.
export async function fits(page, what) {
  const wide = await page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    if (document.scrollingElement.scrollWidth <= room) return [];
    return [...document.querySelectorAll("body *:not(.nav *)")].filter((e) => e.getBoundingClientRect().right > room + 1).slice(0, 5).map((e) => e.outerHTML.slice(0, 120));
  });
  equal(wide, [], `wider than the window: ${what}`);
}

// shot takes a picture for the documentation. No key is in one.
export async function shot(page, name, options = {}) {
  if (!told.screenshots) return;
  mkdirSync(told.screenshots, { recursive: true });
  const masked = await page.evaluate(() => {
    scrollTo(0, 0);
    const fields = [...document.querySelectorAll("input:not([type=file]), textarea")];
    for (const one of fields) one.value = one.value.replace(/(\w_(?:live|test)_)[0-9A-Za-z]{38}/, `$1${"•".repeat(38)}`);
    return !/\w_(live|test)_[0-9A-Za-z]{38}/.test(document.body.innerText + fields.map((one) => one.value).join(" "));
  });
  assert(masked, `a key would be on the screenshot ${name}`);
  await page.screenshot({ path: path.join(told.screenshots, `${name}.png`), animations: "disabled", caret: "hide", ...options });
}

// wanted is the folder for pictures of the pages, for whoever works on them.
const wanted = process.env.HOME_PICTURES;

// look judges a page in light, in dark and at 390 pixels, and takes its pictures.
export async function look(page, what, heading) {
  await fits(page, `${what} at 1280`);
  await judge(page, `${what}, light`);
  await page.emulateMedia({ colorScheme: "dark" });
  await judge(page, `${what}, dark`, { runOnly: ["color-contrast"] });
  await picture(page, `${what}-dark`);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, `${what} at 390`);
  await judge(page, `${what} at 390`, { rules: { "color-contrast": { enabled: false } } });
  await picture(page, `${what}-390`);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });
  await picture(page, what);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
}

async function picture(page, name) {
  if (wanted) await page.screenshot({ path: `${wanted}/${name}.png`, fullPage: true, animations: "disabled" });
}

// tabTo goes on by the Tab key until the element has the focus.
export async function tabTo(page, locator, what) {
  for (let i = 0; i < 120; i++) {
    if (await locator.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab doesn't reach ${what}`);
}

// idle waits until the trial has done what it does. Its button stays in the order of the focus, so it is no disabled one.
export const idle = (page) => page.locator("[data-run]:not([aria-disabled])").waitFor();

// plays fails unless a medium is loaded and plays to its end.
export async function plays(locator) {
  await locator.waitFor();
  const got = await locator.evaluate(async (medium) => {
    const seen = [];
    if (medium.readyState >= 2) seen.push("loadeddata");
    else {
      medium.load();
      await new Promise((done, fail) => {
        medium.addEventListener("loadeddata", done, { once: true });
        medium.addEventListener("error", () => fail(new Error(`it can't be loaded: ${medium.error?.message}`)), { once: true });
      });
      seen.push("loadeddata");
    }
    medium.muted = true;
    medium.playbackRate = 4;
    const over = new Promise((done, fail) => {
      medium.addEventListener("ended", done, { once: true });
      medium.addEventListener("error", () => fail(new Error(`it breaks off: ${medium.error?.message}`)), { once: true });
    });
    await medium.play();
    await over;
    seen.push("ended");
    return { seen, duration: medium.duration > 0, width: medium.videoWidth ?? null };
  });
  equal(got.seen, ["loadeddata", "ended"], "events");
  assert(got.duration, "the medium has no duration");
  return got;
}

const execute = promisify(execFile);

// cli runs the program as its user would, with a key in the environment.
export async function cli(key, ...words) {
  const env = Object.fromEntries(told.environment.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
  try {
    const { stdout } = await execute(told.binary, words, { env: { ...env, UNITASK_API_KEY: key, UNITASK_BASE_URL: told.base } });
    return { code: 0, stdout };
  } catch (error) {
    return { code: error.code, stdout: error.stdout, stderr: error.stderr };
  }
}
