// What the pointer does on a figure: drag to move, to zoom or to measure; click to pin what is there.

// Fewer pixels between pressing and letting go are a click.
const CLICK_WITHIN = 4;

function addPointer(panel) {
  const { canvas, viewport } = panel;
  let pressed = null;
  const scaleNow = () => new Scale(viewport, panel.width(), panel.recording);
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const doing = event.shiftKey ? "zoom" : event.altKey ? "measure" : viewport.drag;
    pressed = { doing, start: event.offsetX, last: event.offsetX, far: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pressed) return panel.hover(event);
    pressed.far = Math.max(pressed.far, Math.abs(event.offsetX - pressed.start));
    if (pressed.far < CLICK_WITHIN) return;
    if (!isPinned()) hideTip();
    if (pressed.doing === "move") viewport.pan((pressed.last - event.offsetX) / scaleNow().width);
    else viewport.setBand(...stretch(viewport, scaleNow(), pressed.start, event.offsetX), pressed.doing);
    pressed.last = event.offsetX;
  });
  canvas.addEventListener("pointerup", (event) => {
    const was = pressed;
    pressed = null;
    if (!was) return;
    if (was.far < CLICK_WITHIN) return panel.pin(event.offsetX, event.offsetY, event.clientX, event.clientY);
    if (was.doing !== "move") viewport.endBand(...stretch(viewport, scaleNow(), was.start, event.offsetX), was.doing);
  });
  canvas.addEventListener("pointercancel", () => (pressed = null));
  canvas.addEventListener("pointerleave", () => isPinned() || hideTip());
  canvas.addEventListener("dblclick", () => {
    hideTip();
    viewport.showAll();
  });
  addWheel(panel);
}

// Two pixels as positions in rising order, on the axis.
function stretch(viewport, scale, one, other) {
  const bounded = (x) => Math.min(viewport.length(), Math.max(0, scale.position(x)));
  return [bounded(Math.min(one, other)), bounded(Math.max(one, other))];
}

// The wheel zooms with Ctrl or Shift, so that the page can be scrolled.
function addWheel(panel) {
  const { canvas, viewport } = panel;
  canvas.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.shiftKey && !sideways) return;
    event.preventDefault();
    const scale = new Scale(viewport, panel.width());
    if (sideways && !event.ctrlKey && !event.shiftKey) viewport.pan(event.deltaX / scale.width);
    else viewport.zoom(2 ** ((event.deltaY || event.deltaX) / 300), (event.offsetX - scale.left) / scale.width);
  }, { passive: false });
}

// The band that is being drawn, or was measured, through a figure.
function drawBand(surface, viewport, scale, height, theme) {
  const band = viewport.band || viewport.measured;
  if (!band || band.to < scale.from || band.from > scale.to) return;
  const [left, right] = [Math.max(scale.left, scale.x(band.from)), Math.min(scale.left + scale.width, scale.x(band.to))];
  for (const x of [left, right]) surface.line([x, 0, x, height - 18], theme.accent, 1.5);
  surface.line([left, 5, right, 5], theme.accent, 3);
}

// What lies between two positions of the axis, for each log.
function measuredText(viewport, from, to) {
  const parts = viewport.recordings.map((recording) => {
    const [first, end] = [recording.firstAt(viewport.axis, from), recording.firstAt(viewport.axis, to)];
    const bytes = recording.newBefore(end) - recording.newBefore(first);
    const time = recording.timeAt(viewport.axis, to) - recording.timeAt(viewport.axis, from);
    const rate = time > 0 ? `, ${valueText((bytes / time) * 1e6, "bytes/s")}` : "";
    return `${timeText(time)}: ${countText(end - first)} STREAM frames, ${bytesText(bytes)} new${rate}${packetsBetween(viewport, recording, from, to)}`;
  });
  const names = viewport.recordings.length > 1;
  return parts.map((text, place) => (names ? `${viewport.recordings[place].name}: ${text}` : text)).join(" | ");
}

// How many packets each end sent.
function packetsBetween(viewport, recording, from, to) {
  const { exchange } = recording;
  if (!exchange) return "";
  const times = [from, to].map((it) => recording.timeAt(viewport.axis, it));
  const count = (log) => {
    const list = exchange.sent[log];
    const time = (place) => exchange.logs[log].timeOf(list[place]);
    const [first, end] = times.map((it) => firstOfStream(time, it, 0, list.length));
    return `; ${countText(end - first)} packets sent by ${exchange.logs[log].whose}`;
  };
  return exchange.logs.map((_, log) => count(log)).join("");
}

// The result of measuring, at the foot of the window.
function addMeasured(viewport) {
  const box = document.getElementById("measured");
  const text = box.querySelector("output");
  const [zoom, clear] = box.querySelectorAll("button");
  zoom.addEventListener("click", () => viewport.measured && viewport.show(viewport.measured.from, viewport.measured.to));
  clear.addEventListener("click", () => viewport.clear());
  return () => {
    const { measured } = viewport;
    box.hidden = !measured;
    const words = measured ? measuredText(viewport, measured.from, measured.to) : "";
    if (text.textContent !== words) text.textContent = words;
  };
}
