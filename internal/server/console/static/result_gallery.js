// Shows pictures large, one at a time, above the page.

import { make } from "./result_make.js";

let box; // the dialog, which all galleries share
let pictures = []; // the links that are shown, in order
let at = 0;

// dressGallery opens the pictures of a gallery here; with a key held, a link opens as any other.
export function dressGallery(gallery) {
  const links = [...gallery.querySelectorAll("a:has(> img)")];
  for (const [i, link] of links.entries()) {
    link.addEventListener("click", (event) => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      pictures = links;
      open(i);
    });
  }
}

function open(i) {
  box ??= build();
  show(i);
  box.showModal();
}

function build() {
  const step = (by, label, sign) => {
    const button = make("button", { type: "button", class: "button", "aria-label": label, "data-step": by }, sign);
    button.addEventListener("click", () => show(at + by));
    return button;
  };
  const close = make("button", { type: "button", class: "button", autofocus: true }, "Close");
  close.addEventListener("click", () => box.close());
  const dialog = make("dialog", { class: "lightbox", "aria-label": "Picture" },
    make("img", { alt: "" }),
    make("div", { class: "lightbox-bar" },
      step(-1, "Previous picture", "←"), make("p", { "aria-live": "polite" }), step(1, "Next picture", "→"), make("a", { class: "button", download: true }, "Download"), close));
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) show(at + by);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); }); // beside what it holds
  document.body.append(dialog);
  return dialog;
}

function show(i) {
  at = (i + pictures.length) % pictures.length;
  const link = pictures[at];
  const { alt } = link.querySelector("img");
  const told = [...link.closest("figure").querySelectorAll("figcaption > span")].map((one) => one.textContent);
  Object.assign(box.querySelector("img"), { src: link.href, alt });
  box.querySelector("a").href = link.href;
  box.querySelector("p").textContent = [pictures.length > 1 && `${at + 1} of ${pictures.length}`, ...told].filter(Boolean).join(" · ");
  for (const button of box.querySelectorAll("[data-step]")) button.hidden = pictures.length === 1;
}
