// Makes the trial's form work: what it is made of stands in modules of its own.

import { remember } from "./result.js";
import { startChooser } from "./trial_chooser.js";
import { form, startForm } from "./trial_form.js";
import { startRuns } from "./runs.js";
import { startCompare } from "./trial_compare.js";
import { startJSON } from "./trial_json.js";
import { startSliders } from "./trial_number.js";
import { preview, startPreviews } from "./trial_preview.js";
import { startPrice } from "./trial_price.js";
import { runs, startRun } from "./trial_run.js";
import { startShare } from "./trial_share.js";
import { startSnippets } from "./trial_snippets.js";

if (form) {
  startChooser(document.querySelector("[data-chooser]"));
  startForm();
  startSliders(form);
  startSnippets();
  startCompare();
  startPrice();
  startJSON();
  startPreviews();
  startRun();
  startShare();
  preview();
  startRuns();
  runs.addEventListener("start", ({ detail }) => {
    if (matchMedia("(max-width: 900px)").matches && detail.runs.length === 1) document.getElementById("result").scrollIntoView();
  });
  runs.addEventListener("start", ({ detail: { task, request } }) => remember(task.id, request?.input));
}
