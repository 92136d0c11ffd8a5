// Dresses the result on the page of a task that has ended, or that is followed.
import { dress } from "./result.js";

document.querySelectorAll("#task .output").forEach(dress);
