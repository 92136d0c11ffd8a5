// What every page gains by scripts: the choice of light or dark, buttons that copy, and parts that stay fresh.
// Nothing here is needed to use a page.

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

// copyButton copies the field or the text that its data-copy selects.
function copyButton(button) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const from = document.querySelector(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(from.value ?? from.textContent);
      button.textContent = "Copied";
    } catch {
      from.select?.();
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// refresh reads the page again and puts its live parts in the place of those shown.
export async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.redirected) location.reload(); // to the sign-in page
  if (!answer.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = next.getElementById(part.id);
    if (!fresh || fresh.innerHTML === part.innerHTML || part.querySelector("video, audio")) continue;
    const held = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    part.replaceChildren(...fresh.childNodes);
    if (held) part.querySelector(`[href="${CSS.escape(held)}"]`)?.focus();
  }
}

// poll refreshes as often as the page says, while somebody looks at it.
function poll(seconds) {
  setInterval(() => { if (!document.hidden) refresh().catch(() => {}); }, seconds * 1000);
}

document.querySelectorAll("[data-theme-toggle]").forEach(themeToggle);
document.querySelectorAll("[data-copy]").forEach(copyButton);
const every = Number(document.querySelector("[data-poll]")?.dataset.poll);
if (every > 0) poll(every);
