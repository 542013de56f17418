// The streams with their looks; a click hides a stream in all figures of its log, or shows it again.

const LEGEND_MOST = 500;

function addLegend(recording, parent, changed) {
  const group = build("div", { className: "legend" }, parent);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", `Streams of ${recording.name}`);
  const buttons = recording.streams.slice(0, LEGEND_MOST).map((stream, place) => addEntry(recording, place, group, changed));
  const more = recording.streams.length - LEGEND_MOST;
  if (more > 0) build("span", { className: "more", textContent: `and ${countText(more)} more` }, group);
  const all = build("button", { type: "button", className: "all", textContent: "Show all" }, group);
  all.addEventListener("click", () => setHidden(() => 0));
  const requests = build("button", { type: "button", className: "all", textContent: "Only responses" }, group);
  requests.addEventListener("click", () => setHidden((stream) => (stream.role === "request" || stream.role === "push" ? 0 : 1)));

  function setHidden(of) {
    recording.streams.forEach((stream, place) => (recording.hidden[place] = of(stream)));
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(!recording.hidden[place])));
    changed();
  }
}

function addEntry(recording, place, group, changed) {
  const stream = recording.streams[place];
  const button = build("button", { type: "button", className: "entry", title: streamText(stream) }, group);
  button.setAttribute("aria-pressed", String(!recording.hidden[place]));
  const swatch = build("span", { className: `swatch ${stream.look.pattern}` }, button);
  swatch.style.backgroundColor = stream.look.colour;
  swatch.style.setProperty("--over", stream.look.ink);
  swatch.setAttribute("aria-hidden", "true");
  build("span", { textContent: shortStreamText(stream, 190) }, button);
  button.addEventListener("click", () => {
    recording.hidden[place] = recording.hidden[place] ? 0 : 1;
    button.setAttribute("aria-pressed", String(!recording.hidden[place]));
    changed();
  });
  return button;
}
