// The trial's form as it stands on the page: fields that exclude each other, and rows. readForm is all that the form says.

export const form = document.getElementById("trial");

// changed is called whenever the form is another one than before without an event that says so.
const changed = () => form.dispatchEvent(new Event("change"));

// startForm gives the form what a page without scripts hasn't.
export function startForm() {
  document.querySelectorAll("[data-ways]").forEach((ways) => {
    give(ways);
    ways.addEventListener("change", () => give(ways));
  });
  document.querySelectorAll("[data-add]").forEach((button) => {
    const rows = button.parentElement.querySelector("[data-rows]");
    button.hidden = false;
    button.addEventListener("click", () => addRow(rows));
    rows.addEventListener("click", ({ target }) => { if (target.matches("[data-remove]")) removeRow(target.closest("[data-rows] > *")); });
    removable(rows);
  });
}

// readForm returns the form's values, files among them.
export const readForm = () => new FormData(form);

// give shows the chosen one of fields that exclude each other. Nothing of a disabled fieldset is sent.
function give(ways) {
  const chosen = ways.querySelector(".segments :checked").value;
  for (const way of ways.querySelectorAll("[data-way]")) way.hidden = way.disabled = way.dataset.way !== chosen;
}

function addRow(rows) {
  const last = rows.lastElementChild;
  const row = last.cloneNode(true);
  row.querySelectorAll("textarea").forEach((text) => { text.value = ""; });
  const role = row.querySelector("select");
  if (role) role.selectedIndex = last.querySelector("select").selectedIndex === 0 ? 1 : 0; // the first two speakers take turns
  rows.append(row);
  removable(rows);
  row.querySelector("textarea").focus();
  changed();
}

function removeRow(row) {
  const rows = row.parentElement;
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  removable(rows);
  next.querySelector("textarea").focus();
  changed();
}

// removable lets each row be removed but the last one.
function removable(rows) {
  [...rows.children].forEach((row, i) => {
    const button = row.querySelector("[data-remove]");
    button.hidden = rows.children.length === 1;
    button.setAttribute("aria-label", `Remove ${i + 1}`);
  });
}
