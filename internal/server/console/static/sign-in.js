// Takes the token out of the address, so that it stays in no history, and posts it. A link that is opened on this
// very page changes the fragment alone.
function redeem() {
  if (location.hash.length < 2) return;
  const form = document.querySelector("[data-sign-in]");
  form.elements.namedItem("token").value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.requestSubmit();
}

addEventListener("hashchange", redeem);
redeem();
