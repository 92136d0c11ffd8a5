// An account of many is found by a part of its name, by keyboard alone, in light, dark and a narrow window.
import { browse, equal, fits, judge, step, told } from "./driver.mjs";

const field = (page) => page.getByRole("textbox", { name: "Account, or * for all" });
const at = (page) => new URL(page.url());

// looks judges the page as it is.
async function looks(page, what) {
  for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 390]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    await judge(page, `${what}, ${colorScheme}, ${width}`);
    await fits(page, `${what} at ${width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
}

async function find(page, section, typed) {
  await page.goto(`/console/${section}?account=*&mode=live`);
  equal(await field(page).inputValue(), "*", "all accounts");
  await field(page).focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(typed);
  await page.keyboard.press("Enter");
}

await browse(async (page) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  page.refusals(404);
  for (const section of ["tasks", "usage", "keys"]) {
    await step(`on the page of ${section}`, async () => {
      await page.goto(`/console/${section}?account=*`);
      await looks(page, section);
      await find(page, section, "field");
      await page.waitForURL(`**/console/${section}?account=acct_*`);
      equal([await field(page).inputValue(), at(page).searchParams.get("mode")], ["Field Notes", "live"], "the account, and the mode as before");
      await find(page, section, "HOP 11");
      const links = page.getByRole("table").getByRole("link");
      await page.getByText("11 accounts have “HOP 11” in their names.").waitFor();
      equal((await links.allInnerTexts()).slice(0, 2), ["shop 11", "shop 110"], "those that fit");
      await looks(page, "those that fit");
      await links.nth(1).focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/console/${section}?account=acct_*`);
      equal([await field(page).inputValue(), at(page).searchParams.get("mode")], ["shop 110", "live"], "the one that is chosen");
      await find(page, section, "shop 999");
      await page.getByText("No account has “shop 999” as its id or in its name.").waitFor();
      await looks(page, "no account");
    });
  }
});
