// A list whose filter selects few tasks goes on to the older ones by itself, until it shows some, ends, or has looked for
// long enough. Its address goes along, so that a reload stays there.

const mostPages = 400;

async function goOn() {
  for (let page = 0; page < mostPages; page++) {
    const section = document.getElementById("tasks");
    const link = section.querySelector("[data-go-on]");
    if (!link || document.hidden) return;
    const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
    if (answer.redirected || !answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("tasks");
    if (!next) return;
    history.replaceState(null, "", link.href);
    const focused = section.contains(document.activeElement);
    const shown = document.importNode(next, true);
    section.replaceWith(shown);
    if (focused) shown.querySelector("a")?.focus();
  }
}

goOn().catch(() => {}); // the link is there
