// Shows what comes of a run: the section of the task's own page, with its text as it comes and its progress.

import { form } from "./trial_form.js";

const result = document.getElementById("result");
const idle = result?.firstElementChild.cloneNode(true); // what stands there before anything ran

// reset shows what stands there before anything ran.
export const reset = () => result.replaceChildren(idle.cloneNode(true));

// dress adds to a task's section what its page hasn't. A task that is known by its id alone has no other members.
function dress(task, section, again) {
  const links = document.createElement("div");
  links.className = "row";
  const link = Object.assign(document.createElement("a"), { className: "button small", href: form.dataset.pages + task.id, textContent: "The task's page" });
  links.append(link);
  if (section.querySelector("progress")) links.prepend(canceler(task.id));
  else if (again) links.prepend(again);
  section.append(links);
}

// show puts the result of the task's own page here. The button is for doing the same again, should that be of use.
export async function show(task, { text, again } = {}) {
  const answer = await fetch(form.dataset.pages + task.id);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const section = page.querySelector("#task .output");
  if (!section) return;
  dress(task, section, again);
  result.replaceChildren(section);
  if (text) stream(text);
}

function canceler(id) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button small danger", textContent: "Cancel" });
  button.addEventListener("click", () => {
    button.disabled = true;
    fetch(`${form.dataset.tasks}/${id}/cancel`, { method: "POST" }).catch(() => { button.disabled = false; });
  });
  return button;
}

// stream shows the text that has come so far.
export function stream(text) {
  const at = result.querySelector("#stream");
  if (!at) return;
  at.hidden = false;
  at.textContent = text;
}

// progress shows how far the task is.
export function progress(task) {
  const bar = result.querySelector("progress");
  if (bar && task.progress !== null) bar.value = task.progress;
}
