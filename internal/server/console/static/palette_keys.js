// The shortcuts of a single character. They are in the way of somebody who speaks to the browser, or hits a key unawares: so
// they can be switched off, and the browser keeps that.

const name = "single-keys";
let chosen = "on"; // for this page alone, where the browser keeps no choice

// singleKeys reports whether they are on, as they are in other tabs too.
export function singleKeys() {
  try {
    return (localStorage.getItem(name) ?? chosen) === "on";
  } catch {
    return chosen === "on";
  }
}

export function switchSingleKeys(on) {
  chosen = on ? "on" : "off";
  try {
    localStorage.setItem(name, chosen);
  } catch {
    // it holds for this page alone then
  }
}
