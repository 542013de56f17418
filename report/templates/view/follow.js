// Loads the page again when its logs have grown. The address keeps the view.

const FOLLOW_MS = 1000;

async function follow() {
  const known = document.body.dataset.follow;
  while ((await (await fetch(`sizes${location.search}`)).text()) === known) {
    await new Promise((done) => setTimeout(done, FOLLOW_MS));
  }
  location.reload();
}

// The program was stopped: the page stays as it is.
follow().catch(() => {});
