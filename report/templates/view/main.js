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
  const sections = recordings.map((recording, place) => addSection(recording, viewport, place));
  if (viewport.isBeside) alignRows(document.querySelectorAll(".side-by-side > section"));
  const panels = [...addDifferences(json.differences, recordings, viewport), ...sections.flatMap((it) => it.panels)];
  const views = sections.map((it) => it.view);
  const page = { recordings, viewport, panels, views };
  const showMeasured = addMeasured(viewport);
  const updateLink = keepLink(page);
  let isPending = false;
  const redraw = () => {
    updateLink();
    if (isPending) return;
    isPending = true;
    requestAnimationFrame(() => {
      isPending = false;
      panels.forEach((panel) => panel.draw());
      showMeasured();
    });
  };
  let tables = 0;
  viewport.changed = () => {
    redraw();
    clearTimeout(tables);
    tables = setTimeout(() => {
      panels.forEach((panel) => panel.fillTable());
      views.forEach((view) => view.viewChanged());
    }, 250);
  };
  viewport.showEvent = (recording, event) => {
    hideTip();
    views[recordings.indexOf(recording)].show(event);
  };
  recordings.forEach((recording) => (recording.changed = redraw));
  addControls(viewport, redraw);
  new ResizeObserver(redraw).observe(document.querySelector("main"));
  trimTail(viewport);
  const linked = followLink(location.hash.slice(1), page);
  document.getElementById("axis").value = viewport.axis;
  panels.forEach((panel) => panel.draw());
  addEventListener("beforeprint", () => preparePrint(panels));
  addEventListener("afterprint", endPrint);
  addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
  document.getElementById("loading").remove();
  // For tests, and for the console. The events come after the figures.
  globalThis.report = { ...page, svgOf, whole: openEvents(page, linked, redraw) };
}

// A long time without data at the end is out of view at first; "Show all" has it.
function trimTail(viewport) {
  const ends = viewport.recordings.map((it) => (it.count ? it.time[it.count - 1] : it.duration));
  const end = 1.02 * Math.max(...ends);
  if (end < 0.8 * viewport.length()) viewport.show(0, end);
}

// Unpacks the events once the figures are drawn.
async function openEvents({ recordings, views }, linked, redraw) {
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (const [place, recording] of recordings.entries()) {
    const { logs } = await recording.loadEvents();
    await views[place].ready();
    redraw();
    const [log, row] = linked[place] || [];
    if (logs[log] && row < logs[log].count && views[place].list) await views[place].show({ log, row });
  }
}

function addSection(recording, viewport, place) {
  const section = document.getElementById(`log-${place + 1}`);
  const changed = () => recording.changed && recording.changed();
  linkAnswer(recording, viewport, section);
  addLegend(recording, section, changed);
  addFindings(recording, viewport, section);
  addAnnotationChoice(recording, section, changed);
  const figures = [Ribbon, Waterfall, Packets, Stacks, Curve, Strip, Band].map((Figure) => new Figure(recording));
  const panels = figures.map((figure) => new Panel(figure, recording, viewport, section));
  [recording.firstPanel] = panels;
  if (recording.beside) panels.push(...addBeside(recording.beside, viewport, section));
  section.append(...section.querySelectorAll(".in-numbers"));
  const view = new EventView(recording, viewport, section);
  addContents(section);
  return { panels, view };
}

// Leads to the figures of a log. The address keeps the view, so that it cannot name a figure.
function addContents(section) {
  const contents = build("nav", { className: "contents", ariaLabel: "Figures" });
  section.querySelector(".answer, h2, .legend-tools").after(contents);
  for (const heading of section.querySelectorAll("h3")) {
    const link = build("a", { href: "#", textContent: heading.textContent }, contents);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      heading.scrollIntoView({ block: "start" });
    });
  }
}

// Uploads and datagrams, which no other figure has.
function addBeside(recording, viewport, section) {
  recording.hiddenChanged = () => viewport.changed();
  const titles = [["uploads", "Uploads and datagrams"], ["upload-waterfall", "Waterfall of uploads and datagrams"]];
  return [Ribbon, Waterfall].map((Figure, place) => {
    const [name, title] = titles[place];
    return new Panel(Object.assign(new Figure(recording), { name, title }), recording, viewport, section);
  });
}

function addControls(viewport, redraw) {
  const on = (id, event, action) => document.getElementById(id).addEventListener(event, action);
  on("axis", "change", (event) => viewport.setAxis(event.target.value));
  on("zoom-in", "click", () => viewport.zoom(0.5, 0.5));
  on("zoom-out", "click", () => viewport.zoom(2, 0.5));
  on("zoom-all", "click", () => viewport.showAll());
  on("earlier", "click", () => viewport.pan(-0.5));
  on("later", "click", () => viewport.pan(0.5));
  on("drag", "change", (event) => (viewport.drag = event.target.value));
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
