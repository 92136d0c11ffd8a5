// What the pages' scripts share. Each imports it from here, under one address, so that it is there once: a script that is
// imported under two addresses runs twice.

// copyButton copies the field or the text that its data-copy selects.
export function copyButton(button) {
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

let [begun, shown] = [0, 0]; // readings of the page, and the last of them that is shown

// refresh reads the page again and merges its live parts into those shown, unless a later reading came sooner.
export async function refresh() {
  const mine = ++begun;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.redirected) location.reload(); // to the sign-in page
  if (!answer.ok) return;
  const next = await read(answer);
  if (mine < shown) return;
  shown = mine;
  take(next, "[data-live]");
}

const read = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

// take merges those parts of another page that the selector names, and returns how many it has.
function take(next, selector) {
  let taken = 0;
  for (const part of document.querySelectorAll(selector)) {
    const fresh = next.getElementById(part.id);
    if (fresh) {
      merge(part, fresh);
      taken++;
    }
  }
  return taken;
}

// inPlace sends a form without leaving the page, so that what was filled in, opened and scrolled to stays, and shows what
// the answer says: in the parts that say what was done, and in the live ones.
export async function inPlace(event) {
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("button");
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true");
  let said = "No answer came: try again.";
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "text/html" } });
    const next = await read(answer);
    const done = next.querySelector("main > .notice");
    shown = ++begun;
    if (take(next, "[data-live], [data-answer]") > 0) said = done?.textContent ?? "";
    else said = next.querySelector("[role=alert]")?.textContent ?? "Sign in again: the session has ended.";
  } catch {
    // it is said below
  }
  button.removeAttribute("aria-disabled");
  const place = form.querySelector("[data-answer]") ?? document.getElementById("acted");
  if (said) place.replaceChildren(Object.assign(document.createElement("p"), { className: "notice", textContent: said }));
}

// merge makes a part what fresh is, and touches only what differs: what somebody has opened, selected or scrolled to,
// and what has the focus, stays as it is.
function merge(part, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (part.getAttribute(name) !== value && !(name === "src" && sameFile(part.src, value))) part.setAttribute(name, value);
  }
  for (const { name } of [...part.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") part.removeAttribute(name);
  }
  const rest = told(part);
  for (const next of told(fresh)) {
    const at = rest.findIndex((one, i) => alike(one, next) && (i === 0 || one.nodeType === Node.ELEMENT_NODE));
    if (at < 0) {
      part.insertBefore(document.importNode(next, true), rest[0] ?? null);
      continue;
    }
    for (const gone of rest.splice(0, at)) gone.remove();
    const same = rest.shift();
    if (same.nodeType === Node.TEXT_NODE) {
      if (same.data !== next.data) same.data = next.data;
    } else if (!same.hasAttribute("data-kept")) {
      merge(same, next);
    }
  }
  for (const one of rest) one.remove();
}

// told returns what an element holds, without the white space between.
const told = (element) => [...element.childNodes].filter((one) => one.nodeType !== Node.TEXT_NODE || one.data.trim() !== "");

// alike reports whether two nodes stand for the same: a row for what it leads to.
const alike = (one, next) => one.nodeName === next.nodeName && key(one) === key(next);

function key(node) {
  if (node.id) return node.id;
  return ["TR", "LI", "ARTICLE"].includes(node.nodeName) ? node.querySelector("a[href]")?.getAttribute("href") : undefined;
}

// sameFile reports whether two addresses differ in their signatures alone: a file that is shown isn't loaded again.
const sameFile = (one, other) => one?.split("?")[0] === new URL(other, location.href).href.split("?")[0];
