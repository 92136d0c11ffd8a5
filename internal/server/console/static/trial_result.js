// Shows what comes of a run: the section of the task's own page, with its text as it comes and its progress.

import { dress as dressResult, stream as write } from "./result.js";
import { form } from "./trial_form.js";

const result = document.getElementById("result");
const idle = result?.firstElementChild.cloneNode(true); // what stands there before anything ran

// reset shows what stands there before anything ran, maybe in other words.
export const reset = (words) => {
  result.replaceChildren(idle.cloneNode(true));
  if (words) result.querySelector("p").textContent = words;
};

// dress adds to a task's section what its page hasn't, and returns the link to that page. A task that is known by its id
// alone has no other members.
function dress(task, section, again) {
  const links = document.createElement("div");
  links.className = "row";
  const link = Object.assign(document.createElement("a"), { className: "button small", href: form.dataset.pages + task.id, textContent: "The task's page" });
  links.append(link);
  if (section.querySelector("progress")) links.prepend(canceler(task.id));
  else if (again) links.prepend(again);
  section.append(links);
  return link;
}

// goesOn reports whether a task is known not to have ended.
const goesOn = ({ state, finished_at: end }) => state !== undefined && !end;

// paneOf shows one run at a time at a place of the page. isShown reports whether that is still the run of a call.
export function paneOf(place) {
  const stream = (said) => write(place.firstElementChild, said);

  // show puts the result of the task's own page here. The button is for doing the same again, should that be of use. A page
  // that is further than a task which goes on isn't shown: the task's end comes, and would put the same here once more.
  async function show(task, { said, again, isShown = () => true } = {}) {
    const answer = await fetch(form.dataset.pages + task.id);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const section = page.querySelector("#task .output");
    if (!section || !isShown() || (goesOn(task) && !section.querySelector("progress"))) return;
    const link = dress(task, section, again);
    const focused = place.contains(document.activeElement) && document.activeElement.textContent;
    place.replaceChildren(section);
    dressResult(section);
    // The focus stays where it is, or in the result: on no other button, which somebody would press unawares.
    if (focused !== false) ([...section.querySelectorAll("a, button, summary")].find((one) => one.textContent === focused) ?? link).focus({ preventScroll: true });
    if (said) stream(said);
  }

  // progress shows how far the task is.
  function progress(task) {
    const bar = place.querySelector("progress");
    if (bar && task.progress !== null) bar.value = task.progress;
  }

  return { show, stream, progress };
}

// The pane in the place of results.
export const { show, stream, progress } = paneOf(result);

function canceler(id) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button small danger", textContent: "Cancel" });
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true"); // a disabled one would lose the focus
    const free = () => button.removeAttribute("aria-disabled");
    fetch(`${form.dataset.tasks}/${id}/cancel`, { method: "POST" }).then((answer) => answer.ok || free(), free);
  });
  return button;
}
