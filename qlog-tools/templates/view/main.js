// Puts the page together: reads the embedded logs, then one section each with its figures.

let themeNow = null;

function currentTheme() {
  return (themeNow ??= readTheme());
}

async function open() {
  const json = JSON.parse(document.getElementById("data").textContent);
  const recordings = [];
  for (const trace of json.traces) recordings.push(await Recording.load(trace));
  const viewport = new Viewport(recordings);
  viewport.isBeside = document.querySelector(".side-by-side") !== null;
  const panels = recordings.flatMap((recording, place) => addSection(recording, viewport, place));
  let isPending = false;
  const redraw = () => {
    if (isPending) return;
    isPending = true;
    requestAnimationFrame(() => {
      isPending = false;
      panels.forEach((panel) => panel.draw());
    });
  };
  let tables = 0;
  viewport.changed = () => {
    redraw();
    clearTimeout(tables);
    tables = setTimeout(() => panels.forEach((panel) => panel.fillTable()), 250);
  };
  recordings.forEach((recording) => (recording.changed = redraw));
  addControls(viewport, redraw);
  new ResizeObserver(redraw).observe(document.querySelector("main"));
  panels.forEach((panel) => panel.draw());
  addEventListener("beforeprint", () => preparePrint(panels));
  addEventListener("afterprint", endPrint);
  document.getElementById("loading").remove();
  // For tests, and for the console.
  globalThis.report = { recordings, viewport, panels, svgOf };
}

function addSection(recording, viewport, place) {
  const section = document.getElementById(`log-${place + 1}`);
  const changed = () => recording.changed && recording.changed();
  addLegend(recording, section, changed);
  addAnnotationChoice(recording, section, changed);
  const figures = [new Ribbon(recording), new Waterfall(recording), new Stacks(recording), new Curve(recording), new Strip(recording), new Band(recording)];
  return figures.map((figure) => new Panel(figure, recording, viewport, section));
}

function addControls(viewport, redraw) {
  const on = (id, event, action) => document.getElementById(id).addEventListener(event, action);
  on("axis", "change", (event) => viewport.setAxis(event.target.value));
  on("zoom-in", "click", () => viewport.zoom(0.5, 0.5));
  on("zoom-out", "click", () => viewport.zoom(2, 0.5));
  on("zoom-all", "click", () => viewport.showAll());
  on("earlier", "click", () => viewport.pan(-0.5));
  on("later", "click", () => viewport.pan(0.5));
  on("theme", "click", () => {
    toggleTheme();
    refresh();
  });
  const refresh = () => {
    themeNow = null;
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
}

open().catch((error) => {
  document.getElementById("loading").textContent = `This browser cannot show the figures: ${error.message}`;
  throw error;
});
