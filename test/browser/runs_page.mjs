// What the scripts of runs share: the trial's page with its list of runs.
import { idle } from "./driver.mjs";

export const address = (capability, mode = "test") => `/console/trial?capability=${capability}&mode=${mode}`;

// tasks returns the tasks that the service has, the newest first.
export const tasks = (page, mode = "test") => page.evaluate(async (mode) => (await (await fetch(`/console/api/${mode}/tasks?limit=100`)).json()).data, mode);

export const list = (page) => page.locator("#runs li");
export const row = (page, words) => list(page).filter({ hasText: words });

export async function fill(page, prompt) {
  await idle(page);
  await page.getByRole("textbox", { name: "Prompt" }).first().fill(prompt);
}

export async function runs(page, prompt, state = "succeeded") {
  await fill(page, prompt);
  await page.locator("[data-run]").click();
  await page.locator("#result").filter({ hasText: state }).waitFor();
  await row(page, prompt).first().locator(`.pill.${state}`).waitFor();
}

// keys notes the Idempotency-Keys of creations.
export function keys(page) {
  const all = [];
  page.on("request", (r) => { if (r.method() === "POST" && r.url().endsWith("/tasks")) all.push(r.headers()["idempotency-key"]); });
  return all;
}
