// The state of the page in its address, so that a link leads to what is in view: after `#`, as `name=value&...`.

// What a link says: the view, hidden streams, marks, what was measured, the event that is selected, and the filters of the list.
function linkOf({ viewport, recordings, views }) {
  const state = new URLSearchParams();
  const round = (number) => String(Number(number.toFixed(3)));
  if (viewport.axis !== "time") state.set("axis", viewport.axis);
  if (viewport.from > 0 || viewport.to < viewport.length()) state.set("view", `${round(viewport.from)}~${round(viewport.to)}`);
  if (viewport.cursor !== null) state.set("at", round(viewport.cursor));
  if (viewport.measured) state.set("measured", `${round(viewport.measured.from)}~${round(viewport.measured.to)}`);
  recordings.forEach((recording, place) => {
    const hidden = rangesText(recording.hidden);
    if (hidden) state.set(`hidden${place}`, hidden);
    const marks = recording.events.filter((it) => it.isShown).map((it) => it.name);
    if (marks.length) state.set(`marks${place}`, marks.join("|"));
    const { selected } = viewport;
    if (selected && selected.recording === recording) state.set(`event${place}`, `${selected.log}.${selected.row}`);
    const filters = views[place] && views[place].form ? views[place].form.state() : {};
    for (const [name, value] of Object.entries(filters)) state.set(`${name}${place}`, value);
  });
  return state.toString();
}

// Makes the page as a link says. What does not fit this report is ignored.
function followLink(text, { viewport, recordings, views }) {
  const state = new URLSearchParams(text);
  const numbers = (name, separator) => {
    const all = (state.get(name) || "").split(separator).map(Number);
    return state.get(name) && all.every(Number.isFinite) ? all : null;
  };
  if (["frames", "bytes"].includes(state.get("axis"))) viewport.setAxis(state.get("axis"));
  const view = numbers("view", "~");
  if (view && view.length === 2 && view[0] < view[1]) viewport.show(...view);
  const at = numbers("at", "~");
  if (at) [viewport.cursor] = at;
  const measured = numbers("measured", "~");
  if (measured && measured.length === 2) viewport.measured = { from: measured[0], to: measured[1] };
  recordings.forEach((recording, place) => {
    if (setRanges(recording.hidden, state.get(`hidden${place}`) || "")) recording.hiddenChanged();
    const marks = (state.get(`marks${place}`) || "").split("|");
    for (const events of recording.events) if (marks.includes(events.name) && events.setShown) events.setShown(true);
    const filters = ["text", "name", "log", "packet", "stream", "byte", "from", "to", "view"].map((name) => [name, state.get(`${name}${place}`)]);
    if (views[place] && views[place].form) views[place].form.setState(Object.fromEntries(filters.filter(([, value]) => value !== null)));
  });
  viewport.changed();
  return recordings.map((_, place) => numbers(`event${place}`, "."));
}

// The places of ones as `0-4.7`.
function rangesText(flags) {
  const ranges = [];
  for (let place = 0; place < flags.length; place++) {
    if (!flags[place]) continue;
    const first = place;
    while (place + 1 < flags.length && flags[place + 1]) place++;
    ranges.push(first === place ? `${first}` : `${first}-${place}`);
  }
  return ranges.join(".");
}

// The reverse; whether there was anything.
function setRanges(flags, text) {
  for (const range of text.split(".").filter(Boolean)) {
    const [first, last = first] = range.split("-").map(Number);
    for (let place = first; place <= Math.min(last, flags.length - 1); place++) flags[place] = 1;
  }
  return text !== "";
}

// Browsers refuse many changes of an address in a short time.
const LINK_AFTER_MS = 400;

function keepLink(page) {
  let waiting = 0;
  // The page does not change its address in a way that calls this: a reader has typed another one.
  addEventListener("hashchange", () => location.reload());
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const link = linkOf(page);
      if (link !== location.hash.slice(1)) history.replaceState(null, "", `#${link}`);
    }, LINK_AFTER_MS);
  };
}
