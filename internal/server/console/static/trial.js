// Makes the trial's form work: what it is made of stands in modules of its own.

import { form, startForm } from "./trial_form.js";
import { startRun } from "./trial_run.js";
import { startSnippets } from "./trial_snippets.js";

if (form) {
  startForm();
  startSnippets();
  startRun();
}
