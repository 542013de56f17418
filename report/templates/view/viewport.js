// What part of the axis is in view: one for the whole page, so that all figures of all logs move together.

const ZOOM_MAX = 1e7;

class Viewport {
  constructor(recordings) {
    this.recordings = recordings;
    // Whether the logs stand side by side, to be compared.
    this.isBeside = false;
    this.axis = "time";
    this.cursor = null;
    // What dragging does: move, zoom or measure.
    this.drag = "move";
    // The stretch that is being drawn, and the one that was measured: positions on the axis.
    this.band = null;
    this.measured = null;
    // The event that was clicked: a recording, and the places of its log and its row.
    this.selected = null;
    this.changed = () => {};
    this.showEvent = () => {};
    this.showAll();
  }

  // What names leave of a figure of this width begins here.
  left(width) {
    this.names ??= longestName(this.recordings);
    // On a telephone the names get less, so that the figures have something.
    const least = Math.min(LEFT_LEAST, 0.36 * width);
    return Math.round(Math.min(Math.max(least, this.names + 14), LEFT_MOST, Math.max(least, 0.38 * width)));
  }

  // The logs whose values have one axis: those side by side, or each by itself.
  measuredWith(recording) {
    return this.isBeside ? this.recordings : [recording];
  }

  // The longest of the logs.
  length() {
    return Math.max(1, ...this.recordings.map((recording) => recording.length(this.axis)));
  }

  showAll() {
    this.from = 0;
    this.to = this.length();
    this.changed();
  }

  setAxis(axis) {
    const share = [this.from / this.length(), this.to / this.length()];
    this.axis = axis;
    this.cursor = null;
    this.measured = null;
    this.show(share[0] * this.length(), share[1] * this.length());
  }

  // Shows `from` to `to`, or the nearest that is on the axis and not too small to draw.
  show(from, to) {
    const length = this.length();
    const width = Math.min(length, Math.max(length / ZOOM_MAX, to - from, 1e-3));
    this.from = Math.min(Math.max(0, from), length - width);
    this.to = this.from + width;
    this.changed();
  }

  // Zooms around the place that is at `share` of the width.
  zoom(factor, share) {
    const width = this.to - this.from;
    const fixed = this.from + share * width;
    this.show(fixed - share * width * factor, fixed + (1 - share) * width * factor);
  }

  pan(share) {
    const by = share * (this.to - this.from);
    const bounded = Math.min(Math.max(by, -this.from), this.length() - this.to);
    this.show(this.from + bounded, this.to + bounded);
  }

  setCursor(position) {
    this.cursor = position;
    this.changed();
  }

  setBand(from, to, doing) {
    this.band = { from, to, doing };
    if (doing === "measure") this.measured = this.band;
    this.changed();
  }

  endBand(from, to, doing) {
    this.band = null;
    if (doing === "measure") this.measured = { from, to };
    if (doing === "zoom") this.show(from, to);
    this.changed();
  }

  select(event) {
    this.selected = event;
    this.changed();
  }

  // Takes back what a hand has left on the figures.
  clear() {
    [this.band, this.measured, this.selected, this.cursor] = [null, null, null, null];
    hideTip();
    this.changed();
  }
}

// Where figures have their axes, in pixels: as far from the left as the longest name needs, within bounds.
const LEFT_LEAST = 168;
const LEFT_MOST = 340;
const RIGHT = 36;

// Of the first streams of each log: more are seldom in view at once.
function longestName(recordings) {
  const names = recordings.flatMap((it) => it.streams.slice(0, 300).map((stream) => rowName(stream, LEFT_MOST - 14)));
  return Math.max(0, ...names.map(textWidth));
}

// The viewport on a figure of a given width: from positions to pixels and back.
class Scale {
  constructor(viewport, width, recording) {
    this.axis = viewport.axis;
    this.from = viewport.from;
    this.to = viewport.to;
    this.left = viewport.left(width);
    this.width = Math.max(10, width - this.left - RIGHT);
    this.perUnit = this.width / (this.to - this.from);
    // The log's clock where the axis begins.
    this.origin = recording && this.axis === "time" ? recording.start : 0;
  }

  x(position) {
    return this.left + (position - this.from) * this.perUnit;
  }

  position(x) {
    return this.from + (x - this.left) / this.perUnit;
  }

  inView(position) {
    return position >= this.from && position <= this.to;
  }
}

// Round places for ticks: 1, 2 or 5 times a power of ten apart.
function ticks(from, to, most) {
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to && list.length < 100; at += step) list.push(at);
  return list;
}

// All ticks of an axis in one unit, with as many decimals as tell them apart.
function tickText(axis, tick, places) {
  const step = places.length > 1 ? places[1] - places[0] : tick || 1;
  if (axis === "frames") return countText(tick);
  const largest = places[places.length - 1];
  const units = axis === "time" ? [[1e6, "s"], [1e3, "ms"], [1, "µs"]] : [[1e6, "MB"], [1e3, "kB"], [1, "B"]];
  // Times between are read best in milliseconds.
  const unit = units.find(([size]) => largest >= size * (size === 1e6 && axis === "time" ? 10 : 1)) || units[2];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit[0]) - 1e-9));
  return `${(tick / unit[0]).toFixed(Math.min(9, decimals))} ${unit[1]}`;
}

function drawAxis(surface, scale, top, bottom, theme) {
  // On a phone, a tick less would be none.
  const places = ticks(scale.from + scale.origin, scale.to + scale.origin, Math.max(3, scale.width / 110));
  for (const tick of places) {
    const x = Math.round(scale.x(tick - scale.origin)) + 0.5;
    surface.line([x, top, x, bottom], theme.grid, 1);
    surface.text(x, bottom + 15, tickText(scale.axis, tick, places), theme.muted, "center");
  }
}

const KEY_LINE = 15;
// A line's dash, and the gaps beside its name.
const KEY_BESIDE = 46;

// What lines mean, in a row above them; where that has no room for whole names, in several rows over the width of the figure.
function keyRows(scale, keys) {
  const widths = keys.map(([name]) => KEY_BESIDE + textWidth(name));
  const all = widths.reduce((sum, width) => sum + width, 0);
  if (all <= scale.width - 4) return { left: scale.left + 4, rows: [keys.map((it, place) => place)] };
  const left = 8;
  const rows = [];
  let room = 0;
  widths.forEach((width, place) => {
    // Nothing follows the last name.
    if (width - 19 > room) {
      rows.push([]);
      room = scale.left + scale.width + RIGHT - left;
    }
    rows[rows.length - 1].push(place);
    room -= width;
  });
  return { left, rows };
}

// What the keys need above their first row.
function heightOfMoreKeys(scale, keys) {
  return (keyRows(scale, keys).rows.length - 1) * KEY_LINE;
}

// Names with their dashes; the last row is on the baseline.
function drawKeys(surface, scale, baseline, keys, theme) {
  const { left, rows } = keyRows(scale, keys);
  const most = scale.left + scale.width + RIGHT - left - 27;
  rows.forEach((row, place) => {
    const y = baseline - (rows.length - 1 - place) * KEY_LINE;
    let x = left;
    for (const key of row) {
      const [name, dash] = keys[key];
      surface.line([x, y - 4, x + 22, y - 4], theme.series[key % 3], 2, dash);
      surface.text(x + 27, y, fitted(name, most), theme.ink);
      x += KEY_BESIDE + textWidth(name);
    }
  });
}

// A scale at the left edge from 0 to `most`.
function drawLeftAxis(surface, scale, top, bottom, most, unit, theme) {
  for (const tick of ticks(0, most, (bottom - top) / 28)) {
    const y = bottom - (tick / most) * (bottom - top);
    surface.line([scale.left, y, scale.left + scale.width, y], theme.grid, 1);
    surface.text(scale.left - 8, y + 4, levelText(tick, unit), theme.muted, "right");
  }
}
