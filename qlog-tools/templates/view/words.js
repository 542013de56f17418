// Numbers as a reader wants them.

function timeText(microseconds) {
  const size = Math.abs(microseconds);
  if (size >= 1e7) return `${(microseconds / 1e6).toFixed(2)} s`;
  if (size >= 1e4) return `${(microseconds / 1e3).toFixed(1)} ms`;
  return `${(microseconds / 1e3).toFixed(3)} ms`;
}

function bytesText(bytes) {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(2)} MB`;
  if (bytes >= 1e3) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${Math.round(bytes)} B`;
}

function countText(count) {
  return Math.round(count).toLocaleString("en");
}

function valueText(value, unit) {
  if (unit === "bytes") return bytesText(value);
  if (unit === "us") return timeText(value);
  return unit === "bytes/s" ? `${((value * 8) / 1e6).toFixed(2)} Mbit/s` : countText(value);
}

function positionText(axis, position) {
  if (axis === "time") return timeText(position);
  return axis === "frames" ? `frame ${countText(position)}` : bytesText(position);
}

function streamText(stream) {
  const roles = { request: "", push: " push", server: " of the server", control: " one-way" };
  const url = stream.url ? ` ${stream.url}` : "";
  return `${stream.id}${roles[stream.role] || ""}${url}`;
}

// The same in about so many pixels: the ID, and the end of the URL, which says more than its start.
function shortStreamText(stream, limit) {
  const id = streamText({ ...stream, url: "" });
  return stream.url ? `${id} ${shortened(stream.url, limit - 7 * (id.length + 1))}` : id;
}

function markText(mark) {
  const names = [];
  if (mark & MARKS.RETRANSMITTED) names.push("retransmitted");
  if (mark & MARKS.DUPLICATE) names.push("duplicate");
  if (mark & MARKS.REORDERED) names.push("reordered");
  return names.join(", ");
}
