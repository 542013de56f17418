// Numbers as a reader wants them.

// A span of time.
function timeText(microseconds) {
  const size = Math.abs(microseconds);
  if (size >= 1e7) return `${(microseconds / 1e6).toFixed(2)} s`;
  if (size >= 1e4) return `${(microseconds / 1e3).toFixed(1)} ms`;
  return `${(microseconds / 1e3).toFixed(3)} ms`;
}

// A moment of a log on the log's own clock, as the log and the commands have it: with all digits, or with those that tell the
// pixels of a view apart.
function clockText(recording, time, scale) {
  const pixel = scale && scale.axis === "time" ? 1 / scale.perUnit : 1;
  const decimals = Math.min(3, Math.max(0, Math.ceil(3 - Math.log10(pixel) - 1e-9)));
  return `${((time + recording.start) / 1e3).toFixed(decimals)} ms`;
}

function bytesText(bytes) {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(2)} MB`;
  if (bytes >= 1e3) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${Math.round(bytes)} B`;
}

// Once: a new one for each number takes a hundred times as long.
const COUNTS = new Intl.NumberFormat("en");

function countText(count) {
  return COUNTS.format(Math.round(count));
}

// The first byte and the last, as packets and acknowledged ranges are told.
function byteRangeText(offset, bytes) {
  if (bytes === 0) return `no bytes at ${countText(offset)}`;
  return bytes === 1 ? `byte ${countText(offset)}` : `bytes ${countText(offset)} to ${countText(offset + bytes - 1)}`;
}

function valueText(value, unit) {
  if (unit === "bytes") return bytesText(value);
  if (unit === "us") return timeText(value);
  return unit === "bytes/s" ? rateText(value * 8) : countText(value);
}

function rateText(bits) {
  const [size, unit] = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"]].find(([it]) => bits >= it) || [1, "bit/s"];
  return `${shortNumber(bits / size)} ${unit}`;
}

// At most three digits that count.
function shortNumber(value) {
  return String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

// A tick of a level axis: without decimals that say nothing.
function levelText(value, unit) {
  if (unit === "us") return `${shortNumber(value / 1e3)} ms`;
  if (unit === "bytes/s") return rateText(value * 8);
  const [size, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([it]) => value >= it) || [1, "B"];
  return `${shortNumber(value / size)} ${name}`;
}

function streamText(stream) {
  const roles = { request: "", push: " push", server: " of the server", control: " one-way", upload: " upload" };
  const url = stream.url ? ` ${stream.url}` : "";
  if (stream.role === "datagrams") return `datagrams${url}`;
  return `${stream.id}${roles[stream.role] || ""}${url}`;
}

// The same within a width in pixels: the whole ID, and what fits of the URL.
function shortStreamText(stream, limit) {
  const id = streamText({ ...stream, url: "" });
  return stream.url ? `${id} ${shortUrl(stream.url, limit - textWidth(`${id} `))}` : id;
}

// A URL within a width in pixels. Drops what tells least first: the origin, the query, folders beside the file's name, then
// the middle of the name itself.
function shortUrl(url, limit) {
  const fits = (text) => textWidth(text) <= limit;
  const path = url.replace(/^[a-z]+:\/\/[^/]*(?=\/)/i, "");
  if (fits(path)) return path;
  const bare = path.split(/[?#]/)[0];
  const mark = bare.length < path.length ? "?…" : "";
  if (fits(bare + mark)) return bare + mark;
  const name = bare.replace(/\/+$/, "").split("/").pop();
  const folders = bare.slice(0, bare.lastIndexOf(name)).split("/").slice(0, -1);
  for (let kept = Math.min(folders.length - 1, 8); kept >= 0; kept--) {
    const text = `${folders.slice(0, kept).map((it) => `${it}/`).join("")}…/${name}${mark}`;
    if (fits(text)) return text;
  }
  return fitted(name, limit);
}

// A text within a width in pixels: drops its middle, since both ends of a name tell most.
function fitted(text, limit) {
  if (textWidth(text) <= limit) return text;
  let [low, high] = [1, Math.min(text.length, 400)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(withoutMiddle(text, middle)) <= limit) low = middle;
    else high = middle - 1;
  }
  return withoutMiddle(text, low);
}

// Cut to a number of characters.
function withoutMiddle(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${tail ? text.slice(-tail) : ""}`;
}

const textWidths = new Map();
let measure = null;

// In pixels, in the font of figures.
function textWidth(text) {
  if (text.length > 400) return Infinity;
  let width = textWidths.get(text);
  if (width === undefined) {
    measure ??= document.createElement("canvas").getContext("2d");
    measure.font = FONT;
    width = measure.measureText(text).width;
    if (textWidths.size > 20000) textWidths.clear();
    textWidths.set(text, width);
  }
  return width;
}

function markText(mark) {
  const names = [];
  if (mark & MARKS.RETRANSMITTED) names.push("retransmitted");
  if (mark & MARKS.DUPLICATE) names.push("duplicate (spurious)");
  if (mark & MARKS.REORDERED) names.push("reordered (overtaken)");
  return names.join(", ");
}
