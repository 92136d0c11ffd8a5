// An account's people and state: an admin invites, an operator suspends, and the pages of both.
import { assert, browse, equal, fits, judge, step, told } from "./driver.mjs";

const wanted = process.env.PEOPLE_PICTURES;

async function look(page, what, { judged = false } = {}) {
  await fits(page, `${what} at 1280`);
  if (judged) await judge(page, `${what}, light`);
  await picture(page, what);
  await page.emulateMedia({ colorScheme: "dark" });
  if (judged) await judge(page, `${what}, dark`, { runOnly: ["color-contrast"] });
  await picture(page, `${what}-dark`);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, `${what} at 390`);
  await picture(page, `${what}-390`);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });
}

async function picture(page, name) {
  if (wanted) await page.screenshot({ path: `${wanted}/${name}.png`, fullPage: true, animations: "disabled" });
}

async function link(page, name, role) {
  await page.getByLabel("Name of the member").fill(name);
  await page.getByLabel("Role").selectOption(role);
  await page.getByRole("button", { name: "Make a link" }).click();
  return page.locator("#secret").inputValue();
}

await browse(async (page) => {
  page.refusals(400);
  await page.goto(told.link);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const admin = await step("an operator makes an admin, suspends the account and resumes it", async () => {
    await page.goto("/console/accounts");
    await page.getByRole("link", { name: "Field Notes" }).click();
    await look(page, "account");
    const made = await link(page, "Grace Hopper", "admin");
    await page.getByRole("link", { name: "Done" }).click();
    await page.getByRole("button", { name: "Suspend" }).click();
    await page.getByRole("button", { name: "Suspend Field Notes" }).click();
    await page.getByText("The account is suspended").waitFor();
    await look(page, "account-suspended", { judged: true });
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("status").filter({ hasText: "It is resumed." }).waitFor();
    return made;
  });
  await step("the admin's pages", async () => {
    await page.goto("/console/sessions");
    await look(page, "sessions");
    await page.goto(admin);
    await page.getByRole("link", { name: "People" }).click();
    await link(page, "Alan Turing", "member");
    await page.getByRole("link", { name: "Done" }).click();
    await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
    await look(page, "people");
    await page.getByRole("button", { name: "Remove Grace Hopper" }).click();
    await page.getByRole("button", { name: "Remove Grace Hopper" }).click();
    assert((await page.getByRole("alert").innerText()).includes("last admin"), "the last admin may go");
  });
  await step("a session is ended by its owner", async () => {
    await page.goto("/console/sessions");
    equal(await page.locator("tbody tr").count(), 1, "sessions");
    await page.getByRole("button", { name: "Sign out here" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});
