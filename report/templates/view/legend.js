// The streams with their looks; a click hides a stream in all figures of its log, or shows it again. A search finds one of many.

// As many are listed at once; a search finds the others.
const LEGEND_MOST = 1500;

function addLegend(recording, parent, changed) {
  const tools = build("div", { className: "legend-tools" }, parent);
  const label = build("label", { textContent: "Streams " }, tools);
  const search = build("input", { type: "search", placeholder: "ID, URL or priority", autocomplete: "off" }, label);
  const group = build("div", { className: "legend" }, parent);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", `Streams of ${recording.name}`);
  let found = [];
  let buttons = [];

  function fill() {
    found = streamsWith(recording, search.value);
    buttons = found.slice(0, LEGEND_MOST).map((place) => [place, legendEntry(recording, place)]);
    group.replaceChildren(...buttons.map((it) => it[1]));
    const more = found.length - buttons.length;
    const words = more > 0 ? `and ${countText(more)} more: search for them` : found.length ? "" : "no such stream";
    if (words) build("span", { className: "more", textContent: words }, group);
  }

  const isResponse = (stream) => stream.role === "request" || stream.role === "push";
  const places = () => recording.streams.map((_, place) => place);
  for (const [words, shown] of [
    ["Show all", places],
    ["Only responses", () => places().filter((place) => isResponse(recording.streams[place]))],
    ["Only those found", () => found],
  ]) {
    build("button", { type: "button", className: "all", textContent: words }, tools).addEventListener("click", () => recording.showOnly(shown()));
  }
  search.addEventListener("input", fill);
  recording.hiddenChanged = () => {
    for (const [place, button] of buttons) button.setAttribute("aria-pressed", String(!recording.hidden[place]));
    changed();
  };
  fill();
}

// The places of the streams with a text in their ID, URL or priority.
function streamsWith(recording, text) {
  const wanted = text.trim().toLowerCase();
  const has = (stream) => `${stream.id} ${stream.role} ${stream.url} ${stream.priority}`.toLowerCase().includes(wanted);
  return recording.streams.map((_, place) => place).filter((place) => !wanted || has(recording.streams[place]));
}

// A stream with its priority and when it was requested, as far as the log has them.
function entryTitle(recording, stream) {
  const parts = [streamText(stream), stream.priority];
  if (stream.requested_us !== null) parts.push(`requested at ${clockText(recording, stream.requested_us)}`);
  return parts.filter(Boolean).join(", ");
}

function legendEntry(recording, place) {
  const stream = recording.streams[place];
  const button = build("button", { type: "button", className: "entry", title: entryTitle(recording, stream) });
  button.setAttribute("aria-pressed", String(!recording.hidden[place]));
  const swatch = build("span", { className: `swatch ${stream.look.pattern}` }, button);
  swatch.style.backgroundColor = stream.look.colour;
  swatch.style.setProperty("--over", stream.look.ink);
  swatch.setAttribute("aria-hidden", "true");
  build("span", { textContent: shortStreamText(stream, 190) }, button);
  button.addEventListener("click", () => {
    recording.hidden[place] = recording.hidden[place] ? 0 : 1;
    recording.hiddenChanged();
  });
  return button;
}
