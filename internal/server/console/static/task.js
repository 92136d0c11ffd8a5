// Follows a task that hasn't ended: its text as it comes, and the page anew whenever its state changes.
import { saidWith } from "./events.js";
import { refresh } from "./parts.js";
import { stream } from "./result.js";

const source = new EventSource(document.querySelector("[data-follow]").dataset.follow);
let said;
let shown;

source.addEventListener("open", () => { said = { text: "", thoughts: "" }; }); // it begins anew
source.addEventListener("delta", (event) => {
  said = saidWith(said, JSON.parse(event.data));
  stream(document.querySelector("#task .output"), said);
});

source.addEventListener("task", (event) => {
  const task = JSON.parse(event.data);
  if (task.finished_at) {
    source.close();
    location.reload(); // what a finished page has and a running one hasn't: no script, and no button to cancel
  } else if (shown !== event.data) { // also at first: the page may be older
    refresh().catch(() => {});
  }
  shown = event.data;
});
