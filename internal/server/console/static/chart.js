// A cursor over each chart: the values of a day or an hour at the pointer, and by the arrow keys. They are read from the
// chart's table at each move, so that a page that is refreshed shows the new ones.

const rowsOf = (cursor) => [...cursor.closest("figure").querySelectorAll("tbody tr")];

const cells = (row) => [...row.children].map((cell) => cell.textContent.trim());

function element(name, text = "", className = "") {
  return Object.assign(document.createElement(name), { textContent: text, className });
}

// show puts the cursor at a slot and says its values.
function show(cursor, at) {
  const figure = cursor.closest("figure");
  const rows = rowsOf(cursor);
  if (rows.length === 0) return;
  const i = Math.min(Math.max(at, 0), rows.length - 1);
  const [slot, ...values] = cells(rows[i]);
  const names = cells(figure.querySelector("thead tr")).slice(1);
  const classes = [...figure.querySelectorAll(".legend i")].map((one) => one.className);
  cursor.setAttribute("aria-valuemax", rows.length - 1);
  cursor.setAttribute("aria-valuenow", i);
  cursor.setAttribute("aria-valuetext", `${slot}: ${values.map((value, n) => `${value} ${names[n]}`).join(", ")}`);
  const mark = element("div", "", "chart-mark");
  const tip = element("div", "", "chart-tip");
  tip.append(element("strong", slot));
  values.forEach((value, n) => {
    const line = element("span");
    line.append(element("i", "", classes[n] ?? ""), element("span", names[n]), element("b", value));
    tip.append(line);
  });
  const middle = (i + 0.5) / rows.length;
  mark.style.left = `${100 * middle}%`;
  if (middle < 0.5) tip.style.left = `calc(${100 * middle}% + 10px)`;
  else tip.style.right = `calc(${100 * (1 - middle)}% + 10px)`;
  cursor.replaceChildren(mark, tip);
}

const hide = (cursor) => cursor.replaceChildren();

const now = (cursor) => Number(cursor.getAttribute("aria-valuenow"));

function move(event) {
  const cursor = event.currentTarget;
  const box = cursor.getBoundingClientRect();
  show(cursor, Math.floor(((event.clientX - box.left) / box.width) * rowsOf(cursor).length));
}

function press(event) {
  const cursor = event.currentTarget;
  const last = rowsOf(cursor).length - 1;
  const to = {
    ArrowLeft: now(cursor) - 1, ArrowDown: now(cursor) - 1, ArrowRight: now(cursor) + 1, ArrowUp: now(cursor) + 1, Home: 0, End: last,
  }[event.key];
  if (event.key === "Escape") hide(cursor);
  if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  show(cursor, to);
}

function begin(cursor) {
  const rows = rowsOf(cursor);
  if (rows.length === 0) return;
  cursor.tabIndex = 0;
  cursor.setAttribute("role", "slider");
  cursor.setAttribute("aria-label", `${cursor.closest("figure").querySelector("caption").textContent}: values`);
  cursor.setAttribute("aria-valuemin", 0);
  cursor.setAttribute("aria-valuemax", rows.length - 1);
  cursor.setAttribute("aria-valuenow", rows.length - 1);
  cursor.setAttribute("aria-valuetext", cells(rows.at(-1)).join(", "));
  cursor.addEventListener("pointermove", move);
  cursor.addEventListener("pointerdown", move);
  cursor.addEventListener("pointerleave", () => { if (document.activeElement !== cursor) hide(cursor); });
  cursor.addEventListener("keydown", press);
  cursor.addEventListener("focus", () => { if (cursor.matches(":focus-visible")) show(cursor, now(cursor)); });
  cursor.addEventListener("blur", () => hide(cursor));
}

document.querySelectorAll(".chart-cursor").forEach(begin);
