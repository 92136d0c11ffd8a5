// What comes of tasks, as their pages and the trial show it: texts as Markdown, code, trees, tables, pictures and media.
import { assert, browse, equal, fits, idle, judge, step, told } from "./driver.mjs";

// create makes a task as the trial does, and opens its page.
async function create(page, capability, input, parameters = {}) {
  const made = await page.evaluate(async (body) => {
    const answer = await fetch("/console/api/test/tasks", {
      method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Prefer: "wait=60" },
    });
    return answer.json();
  }, { capability, input, parameters });
  equal(made.state, "succeeded", `the task ${JSON.stringify(made.error)}`);
  await page.goto(`/console/tasks/${made.id}`);
  return made;
}

// looks judges the page in light, in the dark, and at 390 pixels.
async function looks(page, what) {
  for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 390]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 860 });
    await judge(page, `${what}, ${scheme}, ${width}`);
    await fits(page, `${what} at ${width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
}

const answer = `# Rivers

A river *bends* because **the outer bank** wears away; see [the survey](https://example.com/survey "A survey") or https://example.org/rivers.

### In short

1. Water is faster outside
   - it takes sand along
   - \`erosion()\` in the model
2. It is slower inside
   - [x] sand settles

| Place | Speed | Note |
|:------|------:|:----:|
| outer | 1.4 m/s | wears |
| inner | 0.3 m/s | fills |

> A quote that says so.

\`\`\`go
// Bend returns how far a river bends.
func Bend(speed float64) string {
	if speed > 1.5 {
		return "far"
	}
	return \`a little\`
}
\`\`\`

\`\`\`diff
- old
+ new
\`\`\`

$$E = m * c^2 * x$$

![A map](https://example.com/map.png)

---

The end.`;

async function markdown(page) {
  await create(page, "text.chat", { prompt: `say ${answer}` });
  const prose = page.locator(".output .prose");
  equal(await prose.locator("h3, h4, h5").evaluateAll((all) => all.map((one) => `${one.nodeName} ${one.textContent}`)), ["H3 Rivers", "H4 In short"], "headings");
  equal(await prose.locator("> ol > li > ul > li").count(), 3, "items within items");
  equal(await prose.locator("tbody td.right").allInnerTexts(), ["1.4 m/s", "0.3 m/s"], "cells at the right");
  equal(await prose.locator(".t-keyword").evaluateAll((all) => all.map((one) => one.textContent)), ["func", "if", "return", "return"], "keywords");
  equal(await prose.locator("a").evaluateAll((all) => all.map((a) => `${a.getAttribute("href")} ${a.rel} ${a.nextElementSibling?.className ?? ""}`)),
    ["https://example.com/survey noopener noreferrer host", "https://example.org/rivers noopener noreferrer ", "https://example.com/map.png noopener noreferrer host"], "links");
  equal(await prose.locator("img").count(), 0, "pictures that the answer would load");
  await looks(page, "a text as Markdown");
  await page.evaluate(() => { // of what is copied; the browser's own clipboard asks for leave
    window.copied = [];
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied.push(text); } } });
  });
  await prose.getByRole("button", { name: "Copy the code" }).nth(1).click();
  await page.getByRole("button", { name: "Copy the whole text" }).click();
  equal(await page.evaluate(() => window.copied), ["- old\n+ new", answer], "what was copied");
  await page.getByRole("button", { name: "Plain text" }).click();
  equal(await page.locator("pre[data-text]").innerText(), answer, "the text as it was written");
  equal(await prose.isVisible(), false, "Markdown beside the plain text");
  await page.reload();
  await page.locator("pre[data-text]:visible").waitFor();
  await looks(page, "a text as it was written");
  await page.getByRole("button", { name: "Markdown", exact: true }).click();
  await prose.waitFor();
}

const hostile = `[a](javascript:alert(1)) [b](<JavaScript:alert(1)>) <a href="https://x.y" onclick="alert(1)">c</a> <img src=x onerror=alert(1)>

![d](data:text/html,<script>alert(1)</script>) <javascript:alert(1)> [e](https://example.com/"onclick="alert(1)) [f](https://example.com "t\\" onmouseover=alert(1)")

\`\`\`"><script>alert(1)</script>
<script>alert(1)</script>
\`\`\`

<script>alert(1)</script>`;

async function harmless(page) {
  await create(page, "text.chat", { prompt: `say ${hostile}` });
  const prose = page.locator(".output .prose");
  await prose.waitFor();
  const found = await prose.evaluate((at) => ({
    elements: [...new Set([...at.querySelectorAll("*")].map((one) => one.localName))].sort(),
    handlers: [...at.querySelectorAll("*")].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith("on") || name === "src" || name === "style"),
    addresses: [...at.querySelectorAll("[href]")].map((one) => new URL(one.href).protocol),
  }));
  equal(found.handlers, [], "attributes that do something");
  assert(found.elements.every((name) => ["a", "button", "code", "div", "figure", "p", "pre", "span"].includes(name)), `elements: ${found.elements}`);
  assert(found.addresses.length > 0 && found.addresses.every((one) => one === "https:"), `addresses: ${found.addresses}`);
  assert((await prose.innerText()).includes("<img src=x onerror=alert(1)>"), "HTML isn't shown as text");
}

async function grows(page) {
  const got = await page.evaluate(async (answer) => {
    const { Prose } = await import("/console/static/result_prose.js");
    const grown = new Prose();
    let kept = true;
    let first;
    for (let to = 0; to <= answer.length; to += 3) {
      grown.show(answer.slice(0, to));
      if (to > 200) kept &&= grown.element.firstElementChild === (first ??= grown.element.firstElementChild);
    }
    grown.show(answer);
    const whole = new Prose();
    whole.show(answer);
    const late = new Prose(); // what looks like a heading first is text
    for (let to = 0; to <= 8; to++) late.show("one\n#two".slice(0, to));
    const long = new Prose();
    long.show("- a\n".repeat(50_000));
    const other = new Prose();
    other.show("# One\n\ntwo\n\nthree\n\nfour");
    other.show("five");
    return { same: grown.element.isEqualNode(whole.element), kept, last: whole.element.lastElementChild.textContent, elements: long.element.querySelectorAll("*").length, rest: long.element.lastElementChild.localName, other: other.element.textContent, late: late.element.children.length };
  }, answer);
  equal(got, { same: true, kept: true, last: "The end.", elements: 2, rest: "pre", other: "five", late: 1 }, "a text that grows");
  await page.goto("/console/trial?capability=text.chat&mode=test");
  await page.locator("[data-run]").waitFor();
  await page.evaluate((answer) => { // a task that goes on, and the answer that stays when it has ended
    const real = window.fetch;
    window.fetch = async (address, options) => {
      if (options?.method !== "POST" || !String(address).endsWith("/tasks")) return real(address, options);
      const made = await (await real(address, { ...options, body: JSON.stringify({ capability: "text.chat", input: { prompt: "say done @slow:30s" } }), headers: { ...options.headers, Accept: "application/json" } })).json();
      const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
      const body = new ReadableStream({
        async start(to) {
          const say = (text) => to.enqueue(new TextEncoder().encode(text));
          say(event("task", made));
          for (const reasoning of ["They ask ", "for <b>", "much.</b>"]) say(event("delta", { reasoning }));
          await new Promise((think) => { window.think = think; });
          for (let i = 0; i < 16_000; i++) say(event("delta", { reasoning: ` ${i}` }));
          await new Promise((answer) => { window.answer = answer; });
          for (let i = 0; i < answer.length; i += 40) say(event("delta", { text: answer.slice(i, i + 40) }));
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    };
  }, answer);
  await page.locator("[data-run]").click();
  const thoughts = page.locator("#result [data-thoughts]");
  await thoughts.locator("pre").getByText("They ask for <b>much.</b>", { exact: true }).waitFor();
  equal(await thoughts.locator("summary").innerText(), "The model is thinking", "thoughts that come");
  await looks(page, "thoughts that come");
  const long = await thoughts.locator("pre").evaluate(async (pre) => {
    let drawn = 0;
    new MutationObserver((changes) => { drawn += changes.length; }).observe(pre, { childList: true, characterData: true, subtree: true });
    window.think();
    while (!pre.textContent.endsWith(" 15999")) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame); // the last change is told of
    return { drawn, texts: pre.childNodes.length, length: pre.textContent.length };
  });
  assert(long.drawn > 0 && long.drawn < 4000, `16,000 pieces of thoughts are drawn ${long.drawn} times: not once in a frame`);
  equal([long.texts, long.length], [1, 25 + 84_890], "texts of thoughts, and characters");
  await page.evaluate(() => window.answer());
  await page.locator("#result .prose hr").waitFor();
  await thoughts.locator("summary").filter({ hasText: "The model's thoughts" }).waitFor();
  equal(await thoughts.evaluate((box) => [box.open, box.firstElementChild.textContent]), [false, "The model's thoughts"], "thoughts before an answer");
  equal(await readThoughts(page), [true, true, "The model's thoughts"], "thoughts that are read while an answer begins: open, with the focus");
  await page.locator("#result .prose").getByText("The end.").waitFor();
  const clock = page.locator("#result [data-elapsed]");
  const before = await clock.innerText();
  await clock.filter({ hasNotText: before }).waitFor();
  await looks(page, "a text that is being written");
  await page.goto("/console/"); // with the real fetch again
}

// readThoughts has an answer begin while its thoughts have the focus, and returns whether they are open and have it still.
function readThoughts(page) {
  return page.evaluate(async () => {
    const { stream } = await import("/console/static/result.js");
    const section = document.querySelector("#result .output").cloneNode(true);
    document.querySelector("main").append(section);
    const box = section.querySelector("[data-thoughts]");
    const [summary, pre] = box.children;
    summary.textContent = "";
    box.open = true;
    pre.focus();
    stream(section, { text: "So", thoughts: "Well" });
    while (!summary.textContent) await new Promise(requestAnimationFrame);
    const focused = document.activeElement === pre;
    section.remove();
    return [box.open, focused, summary.textContent];
  });
}

async function trees(page) {
  const many = Array.from({ length: 350 }, (_, i) => `m${i}`);
  const schema = { type: "object", properties: { rows: { type: "array", items: { type: "string", enum: ["é", "z"] } } }, required: ["rows"], additionalProperties: false };
  await create(page, "text.chat", { prompt: "Which rows are there?" }, { output_schema: schema });
  await page.locator(".tree").waitFor();
  await looks(page, "JSON as a tree");
  const tools = [{ name: "weather_of", description: "Weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false } }];
  await create(page, "text.chat", { prompt: "What is the weather in Bergen?" }, { tools, reasoning: "low", web_search: true });
  await page.locator(".call strong").filter({ hasText: "weather_of" }).waitFor();
  assert((await page.locator(".call .tree").innerText()).includes("city"), "the call's arguments");
  await looks(page, "a call of a tool");
  const shown = await page.evaluate(async (many) => {
    const { dressJSON } = await import("/console/static/result_tree.js");
    const box = document.createElement("div");
    document.querySelector(".output").append(box);
    const value = { deep: many.reduce((inner) => [inner], "end"), many, text: "long ".repeat(400), number: 0, html: "<img src=x onerror=alert(1)>" };
    box.append(Object.assign(document.createElement("pre"), { textContent: JSON.stringify(value).replace('"number":0', '"number":12345678901234567890') }));
    box.id = "large";
    dressJSON(box.firstChild);
    return box.querySelectorAll("*").length;
  }, many);
  assert(shown < 400, `a large tree has ${shown} elements`);
  const large = page.locator("#large .tree");
  assert((await large.innerText()).includes("12345678901234567890"), "a large number is rounded");
  assert((await large.innerText()).includes("<img src=x onerror=alert(1)>"), "a text isn't shown as text");
  const list = large.locator("details", { has: page.locator("> summary").filter({ hasText: "many: [ ] 350 items" }) }).last();
  await list.locator("> summary").focus();
  await page.keyboard.press("Enter");
  await list.locator("li").nth(99).waitFor();
  equal(await list.locator("li").count(), 100, "rows at first");
  for (let i = 0; i < 3; i++) await list.getByRole("button", { name: /^Show \d+ more of 350$/ }).press("Enter");
  equal(await list.locator("li").count(), 350, "rows in all");
  equal(await page.evaluate(() => document.activeElement.textContent), "300: \"m300\"", "the focus where the button was");
  await large.getByRole("button", { name: "Show all 2,000 characters" }).click();
  await judge(page, "a large tree");
}

async function tables(page) {
  await create(page, "text.embed", { texts: ["a red fox in the snow", "a crimson fox", "bread and butter"] });
  equal(await page.locator(".alike tbody tr").count(), 3, "rows of vectors");
  equal(await page.locator(".alike .alike-10").count() >= 3, true, "each is like itself");
  await looks(page, "vectors");
  await create(page, "text.embed", { texts: ["one alone"] }, { encoding: "base64" });
  await page.getByText("1 vector of 256 numbers").waitFor();
  await looks(page, "a vector");
  await create(page, "text.rerank", { query: "Which animal hunts at night?", documents: ["Bees gather nectar by day.", "Owls hunt in the dark, at night."] });
  equal(await page.locator(".output tbody th").allInnerTexts(), ["Text 2", "Text 1"], "texts by their scores");
  await looks(page, "a ranking");
  await create(page, "text.moderate", { texts: ["What a lovely morning.", "I will kill you."] });
  equal(await page.locator(".output tbody .pill").allInnerTexts(), ["fine", "flagged"], "judgements");
  equal(await page.locator(".output thead th").nth(2).innerText(), "violence", "the first column of scores");
  await looks(page, "a judgement");
  await page.goto("/console/trial?capability=text.rerank&mode=test");
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  assert((await page.locator("#result tbody th").first().innerText()).includes("Owls hunt in the dark."), "the text beside its score");
  const cells = await page.locator("#result tbody tr").first().locator("th, td").evaluateAll((all) => all.map((one) => getComputedStyle(one).display));
  equal(cells, ["table-cell", "table-cell", "table-cell", "table-cell"], "cells in the trial");
  await looks(page, "a ranking in the trial");
  assert(/^took .*\$\d/s.test(await page.locator("#result .measures").innerText()), "the line of measures");
}

// once fails if a result is put in its place again after it was seen there, with all that was opened, chosen or played in it:
// here its page is read for a state before, and comes when the task has ended.
async function once(page) {
  const pages = /\/console\/tasks\/task_\w+$/;
  await page.goto("/console/trial?capability=image.generate&mode=test");
  await idle(page);
  await page.evaluate(() => {
    window.ends = 0;
    new MutationObserver((changes) => {
      const added = changes.flatMap((one) => [...one.addedNodes]);
      window.ends += added.filter((one) => one.querySelector?.(".pill.succeeded")).length;
    }).observe(document.getElementById("result"), { childList: true });
  });
  await page.route(pages, async (route) => {
    const id = route.request().url().split("/").at(-1);
    await page.evaluate(async (of) => fetch(`/console/api/test/tasks/${of}`, { headers: { Prefer: "wait=60" } }), id);
    await route.continue();
  });
  await page.locator("[data-run]").click();
  await page.locator("#result .pill.succeeded").waitFor();
  await idle(page);
  equal(await page.evaluate(() => window.ends), 1, "times that a result is put in its place");
  await page.unroute(pages);
}

async function pictures(page) {
  await create(page, "image.generate", { prompt: "a blue heron" }, { size: "320x200", n: 3 });
  const images = page.locator(".gallery img");
  equal(await images.count(), 3, "pictures");
  await looks(page, "pictures");
  const second = page.locator(".gallery a:has(> img)").nth(1);
  await second.focus();
  await page.keyboard.press("Enter");
  const box = page.getByRole("dialog");
  await box.waitFor();
  const says = () => box.locator("p").innerText();
  assert(/^2 of 3 · image\/png · 320 × 200 · [\d.]+ kB$/.test(await says()), `it says ${await says()}`);
  await judge(page, "a large picture");
  await page.keyboard.press("ArrowRight");
  assert((await says()).startsWith("3 of 3"), `after one step: ${await says()}`);
  await page.keyboard.press("ArrowRight");
  assert((await says()).startsWith("1 of 3"), `after the last: ${await says()}`);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  equal(await box.locator("img").evaluate((i) => i.decode().then(() => [i.naturalWidth, i.naturalHeight, i.alt])), [320, 200, "Image 2 of the result"], "the picture");
  const href = await box.getByRole("link", { name: "Download" }).getAttribute("href");
  equal(href.includes(await second.getAttribute("href")), true, "the download is of the picture that is shown");
  for (const [scheme, width] of [["dark", 1280], ["light", 390]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 860 });
    await judge(page, `a large picture, ${scheme}, ${width}`);
  }
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "hidden" });
  equal(await second.evaluate((one) => one === document.activeElement), true, "the focus is where it was");
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/console/trial?capability=image.generate&mode=test");
  await page.locator("[data-rest] > summary").click();
  await page.locator('[name="parameters.n"]').fill("2");
  await page.locator("[data-run]").click();
  await page.locator("#result .gallery img").nth(1).waitFor();
  equal(await page.locator(".trial-side").evaluate((side) => side.scrollWidth - side.clientWidth), 0, "pixels of the trial's pictures out of sight");
}

async function media(page) {
  for (const [capability, input, parameters, name] of [["audio.speech", { text: "A long sentence about rivers, which bend." }, {}, "audio"], ["video.generate", { prompt: "a river" }, { duration_seconds: 3 }, "video"]]) {
    await create(page, capability, input, parameters);
    const medium = page.locator(`.output ${name}`);
    const got = await medium.evaluate(async (one) => {
      if (one.readyState < 1) await new Promise((done) => { one.addEventListener("loadedmetadata", done, { once: true }); });
      one.currentTime = one.duration / 2;
      await new Promise((done) => { one.addEventListener("seeked", done, { once: true }); });
      const answer = await fetch(one.currentSrc, { headers: { Range: "bytes=10-19" } });
      return { there: Math.abs(one.currentTime - one.duration / 2) < 0.1, status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
    });
    equal(got, { there: true, status: 206, bytes: 10 }, `${name} is sought in`);
    assert(/\d s.*\d [kM]?B/s.test(await page.locator("figcaption").innerText()), `${name} tells its length and size`);
    await looks(page, name);
  }
}

async function spoken(page) {
  const speech = await create(page, "audio.speech", { text: "Anna: Hello there. Ben: Good day." });
  await create(page, "audio.transcribe", { audio: { artifact: speech.output.audio.id } }, { timestamps: "both", speakers: true });
  await page.locator(".output table").first().waitFor();
  equal(await page.locator(".output .prose").count(), 0, "a transcript as Markdown");
  await page.getByRole("button", { name: "Copy the whole text" }).waitFor();
  await looks(page, "a transcript");
}

async function withoutScripts(page) {
  await page.route("**/static/*.js*", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await create(page, "text.chat", { prompt: `say ${answer}` });
  equal(await page.getByLabel("Text of the result").innerText(), answer, "the text");
  await create(page, "image.generate", { prompt: "a heron" }, { size: "64x64" });
  await page.getByRole("img", { name: "Image 1 of the result" }).waitFor();
  await judge(page, "a picture without scripts");
  await page.unroute("**/static/*.js*");
}

await browse(async (page) => {
  await page.goto(told.link);
  await page.waitForURL("**/console/");
  await step("a text is shown as Markdown, or as it is written", () => markdown(page));
  await step("a hostile text is text", () => harmless(page));
  await step("a text is shown as it grows", () => grows(page));
  await step("JSON is a tree", () => trees(page));
  await step("vectors, scores and judgements are tables", () => tables(page));
  await step("a result comes once", () => once(page));
  await step("pictures are shown large", () => pictures(page));
  await step("sound and video are sought in", () => media(page));
  await step("a transcript keeps its lines", () => spoken(page));
  await step("results are there without scripts", () => withoutScripts(page));
});
