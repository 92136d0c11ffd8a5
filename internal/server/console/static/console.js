// What every page gains by scripts: the choice of light or dark, buttons that copy, parts that stay fresh,
// and forms that leave the page as it is.
// Nothing here is needed to use a page.

import { copyButton, inPlace, refresh } from "./parts.js";

const root = document.documentElement;

function themeToggle(button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // it holds for this page alone then
    }
  });
}

// completeLast offers what the field's list holds for the last of several words.
function completeLast(input) {
  const words = [...input.list.options].map((option) => option.value);
  input.addEventListener("input", () => {
    const before = input.value.replace(/[^\s,]*$/, "");
    input.list.replaceChildren(...words.map((word) => Object.assign(document.createElement("option"), { value: before + word })));
  });
}

// poll refreshes as often as the page says, while somebody looks at it.
function poll(seconds) {
  setInterval(() => { if (!document.hidden) refresh().catch(() => {}); }, seconds * 1000);
}

// forgetful forms sign out, which takes along what this browser keeps of the person, but waits for no browser that doesn't answer.
function forgetful(out) {
  out.addEventListener("submit", (event) => {
    event.preventDefault();
    const forgotten = import("./runs_store.js").then(({ forget }) => forget(out.dataset.person));
    const enough = new Promise((resolve) => { setTimeout(resolve, 3000); });
    Promise.race([forgotten, enough]).catch(() => {}).then(() => out.submit());
  });
}

// What was done is said once: not again where the page is read anew.
const here = new URL(location.href);
if (here.searchParams.has("done")) {
  here.searchParams.delete("done");
  history.replaceState(null, "", here);
}

// A browser whose zone the pages follow may be elsewhere by now: the next page has it.
if (root.dataset.zoneFollows !== undefined) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && zone !== root.dataset.zone) {
    document.cookie = `unitask_zone=~${zone}; path=/; max-age=31536000; samesite=strict${location.protocol === "https:" ? "; secure" : ""}`;
  }
}

document.querySelector(".nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); // in a narrow window
document.querySelectorAll("[data-theme-toggle]").forEach(themeToggle);
document.querySelectorAll("form[data-person]").forEach(forgetful);
document.querySelectorAll("[data-copy]").forEach(copyButton);
document.addEventListener("submit", (event) => { if (event.target.matches("[data-in-place]")) inPlace(event); });
document.querySelectorAll("input[list]").forEach(completeLast);
const every = Number(document.querySelector("[data-poll]")?.dataset.poll);
if (every > 0) poll(every);
