// Takes the token out of the address, so that it stays in no history, and posts it. A link that is opened on this
// very page changes the fragment alone.
function redeem() {
  const request = /^#request=([\w-]+)$/.exec(location.hash);
  if (request) return keep(request[1]);
  if (location.hash.length < 2) return;
  const form = document.querySelector("[data-sign-in]");
  form.elements.namedItem("token").value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.requestSubmit();
}

// keep holds a trial's form, whose address led here, until somebody has signed in: it is no token, and goes to no server.
function keep(request) {
  try {
    sessionStorage.setItem("trial-request", request);
  } catch {
    // without storage the address has to be opened again
  }
  history.replaceState(null, "", location.pathname);
}

addEventListener("hashchange", redeem);
redeem();
