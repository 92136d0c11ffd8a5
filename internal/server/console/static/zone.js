// The choice of a time zone: that of this browser, and the names that it knows.

const form = document.querySelector("form[action$='/time-zone']");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (own) {
  const label = form.querySelector("[data-browser]");
  label.hidden = false;
  label.querySelector("span").textContent = `the time zone of this browser, ${own}`;
  form.elements.browser.value = own;
}
const names = Object.assign(document.createElement("datalist"), { id: "zones" });
names.append(...(Intl.supportedValuesOf?.("timeZone") ?? []).map((value) => Object.assign(document.createElement("option"), { value })));
form.append(names);
form.elements.zone.setAttribute("list", names.id);
form.elements.zone.addEventListener("input", () => { form.elements.choice.value = "named"; });
