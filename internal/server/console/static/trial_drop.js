// Places for files: dropped, pasted or chosen, shown with a preview, in their order, beside addresses and artifacts.

const prefix = "file:"; // of a text that stands for a file

// dropZones makes the places of a form, and has changed called whenever one holds others than before.
export function dropZones(form, changed) {
  const zones = [...form.querySelectorAll("[data-drop]")].map((at) => new Zone(at, changed));
  // A picture that is pasted anywhere goes to the place that has the focus, else to the first that takes it.
  document.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0 || event.clipboardData.getData("text/plain")) return;
    const open = zones.filter((zone) => !zone.disabled && zone.at.checkVisibility());
    const zone = open.find(({ at }) => at.closest(".field").contains(document.activeElement)) ?? open.find((one) => files.every((file) => one.takes(file)));
    if (!zone) return;
    event.preventDefault();
    zone.take(files);
  });
  // A file that misses its place isn't opened in the place of the page.
  for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
  return zones;
}

class Zone {
  items = []; // each { file }, { name, type } of a missing file or { text } of an address or artifact

  constructor(at, changed) {
    const { drop, title, noun, accept } = at.dataset;
    Object.assign(this, { at, changed, wire: drop, title, noun, accept: accept ? accept.split(",") : [], many: "many" in at.dataset, beside: "beside" in at.dataset });
    this.input = at.querySelector("input[type=file]");
    this.list = at.querySelector(".files");
    this.address = at.querySelector(".secret textarea, input:not([type])");
    this.listen();
  }

  get disabled() { return this.input.matches(":disabled"); }

  get missing() { return this.items.filter(({ name }) => name).map(({ name }) => name); }

  get bytes() { return this.items.reduce((sum, { file }) => sum + (file?.size ?? 0), 0); }

  listen() {
    const { at, input, address } = this;
    input.addEventListener("change", (event) => {
      event.stopPropagation();
      this.take([...input.files]);
      input.value = "";
    });
    at.addEventListener("dragover", () => at.classList.add("over"));
    for (const name of ["dragleave", "drop"]) at.addEventListener(name, () => at.classList.remove("over"));
    at.addEventListener("drop", (event) => {
      event.preventDefault();
      this.take([...event.dataTransfer.files]);
    });
    if (!this.many) return address?.addEventListener("input", () => { if (address.value.trim()) this.set([]); });
    const add = at.querySelector("[data-name]");
    if (!add) return;
    add.hidden = false;
    add.addEventListener("click", () => this.name());
    address.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
      event.preventDefault();
      this.name();
    });
  }

  // name puts the addresses that are written among the items.
  name() {
    const texts = this.address.value.split("\n").map((text) => text.trim()).filter(Boolean);
    this.address.value = "";
    this.address.focus();
    if (texts.length > 0) this.set([...this.items, ...texts.map((text) => ({ text }))], `${texts.join(", ")} added`);
  }

  // takes reports whether a file is of a kind that belongs here, as far as the browser knows its type.
  takes({ type }) {
    return this.accept.length === 0 || type === "" || this.accept.some((one) => one === type || (one.endsWith("/*") && type.startsWith(one.slice(0, -1))));
  }

  take(files) {
    const wrong = files.filter((file) => !this.takes(file));
    const right = files.filter((file) => this.takes(file)).slice(0, this.many ? undefined : 1);
    this.refuse(wrong.map((file) => `${this.title}: ${file.name} is ${file.type}, and ${this.noun} is wanted`));
    if (right.length === 0) return;
    if (!this.many && this.address) this.address.value = "";
    const items = this.many ? [...this.items] : [];
    for (const file of right) {
      const gap = items.findIndex(({ name }) => name === file.name);
      items.splice(gap < 0 ? items.length : gap, gap < 0 ? 0 : 1, { file });
    }
    this.set(items, `${right.map(({ name }) => name).join(", ")} added`);
  }

  // refuse says what is wrong with files, beside the field.
  refuse(remarks) {
    const problem = this.at.closest(".field").querySelector(".problem");
    problem.replaceChildren(...remarks.map((remark) => Object.assign(document.createElement("p"), { textContent: remark })));
    problem.hidden = remarks.length === 0;
    this.at.querySelector("[data-told]").textContent = remarks.join(" ");
  }

  set(items, told = "") {
    this.items = items;
    this.draw();
    if (told) this.at.querySelector("[data-told]").textContent = told;
    this.changed();
  }

  // put makes the items those of a request's texts. A file that is here already is found by its name.
  put(texts) {
    const held = this.items.filter(({ file }) => file);
    const items = texts.flatMap((text) => {
      if (!text.startsWith(prefix)) return [{ text }];
      const [, name, type] = /^file:(.*?)(?: (\S+))?$/.exec(text);
      const at = held.findIndex(({ file }) => file.name === name);
      return at < 0 ? [{ name, type: type ?? "application/octet-stream" }] : held.splice(at, 1);
    });
    if (!this.many && this.address) this.address.value = items[0]?.text ?? "";
    this.items = this.many ? items : items.filter(({ text }) => !text);
    if (this.many && this.address) this.address.value = "";
    this.draw();
  }

  // write puts the items into the values of a form, in their order, and what is written beside them last.
  write(data, names) {
    data.delete(this.wire);
    for (const { file, name, type, text } of this.items) {
      data.append(this.wire, text ?? `${prefix}${file?.name ?? name} ${(file ? file.type : type) || "application/octet-stream"}`);
      if (file && !names) data.append(this.wire, file);
    }
    if (this.address?.value.trim()) data.append(this.wire, this.address.value);
  }

  draw() {
    for (const medium of this.list.querySelectorAll("[src^='blob:']")) URL.revokeObjectURL(medium.src);
    this.list.replaceChildren(...this.items.map((item, i) => this.row(item, i)));
    this.list.hidden = this.items.length === 0;
  }

  row(item, i) {
    const row = document.createElement("li");
    const name = item.file?.name ?? item.name ?? item.text.split(" ")[0];
    const words = element("span", { className: "file-name" });
    words.append(element("span", { className: "cut", textContent: name, title: name }), element("span", { className: item.name ? "problem" : "sub", textContent: detail(item) }));
    row.append(thumb(item.file), words);
    if (this.many && i > 0) row.append(button("↑", `Move ${name} up`, () => this.move(i)));
    row.append(button("×", `Remove ${name}`, () => this.remove(i)));
    return row;
  }

  move(i) {
    const items = [...this.items];
    items.splice(i - 1, 0, ...items.splice(i, 1));
    this.set(items, `moved to place ${i}`);
    this.list.children[i - 1].querySelector("button").focus();
  }

  remove(i) {
    const { file, name, text } = this.items[i];
    this.set(this.items.filter((_, at) => at !== i), `${file?.name ?? name ?? text} removed`);
    (this.list.children[Math.min(i, this.items.length - 1)]?.querySelector("button:last-child") ?? this.input).focus();
  }
}

const element = (name, members) => Object.assign(document.createElement(name), members);

function button(text, label, work) {
  const one = element("button", { type: "button", className: "icon-button", textContent: text });
  one.setAttribute("aria-label", label);
  one.addEventListener("click", work);
  return one;
}

function detail({ file, name, text }) {
  if (name) return "The file is missing: choose it again.";
  if (text) return /^https?:/i.test(text) ? "Address" : "Artifact";
  return `${file.type || "unknown type"}, ${size(file.size)}`;
}

function size(bytes) {
  const [unit, of] = [["MB", 1e6], ["kB", 1e3]].find(([, least]) => bytes >= least) ?? ["bytes", 1];
  return `${of === 1 ? bytes : (bytes / of).toFixed(1)} ${unit}`;
}

// thumb shows a file as far as a browser can.
function thumb(file) {
  const family = file?.type.split("/")[0];
  if (family === "image") return element("img", { className: "thumb", alt: "", src: URL.createObjectURL(file) });
  if (family === "video") {
    const video = element("video", { className: "thumb", muted: true, preload: "metadata", src: URL.createObjectURL(file) });
    video.setAttribute("aria-hidden", "true");
    return video;
  }
  if (family === "audio") {
    const audio = element("audio", { controls: true, preload: "metadata", src: URL.createObjectURL(file) });
    audio.setAttribute("aria-label", file.name);
    return audio;
  }
  const ending = /\.(\w{1,4})$/.exec(file?.name)?.[1];
  const kind = element("span", { className: "thumb", textContent: file ? (ending ?? "file") : "…" });
  kind.setAttribute("aria-hidden", "true");
  return kind;
}
