// The curves whose upper areas are the ByteIndex: the share of bytes in complete responses, and of all bytes.

const CURVE_HEIGHT = 150;
const CURVE_TOP = 26;

class Curve {
  constructor(recording) {
    this.recording = recording;
    this.name = "byte-index";
    this.title = "ByteIndex";
    this.about =
      "Steps: the share of body bytes whose response is complete, of all responses that finished; the area above them is the ByteIndex. " +
      "Line: the share of bytes that had arrived. " +
      (recording.metrics ? `${recording.metrics}.` : "") +
      (recording.is_server ? " In a server's log these are bytes sent: they arrived later." : "");
  }

  missing() {
    return this.recording.no_metrics;
  }

  keys() {
    return [["complete responses"], [`bytes ${this.recording.is_server ? "sent" : "that were there"}`, [5, 3]]];
  }

  bottom(scale) {
    return CURVE_TOP + heightOfMoreKeys(scale, this.keys()) + CURVE_HEIGHT;
  }

  height(width, viewport) {
    return this.bottom(new Scale(viewport, width, this.recording)) + 24;
  }

  draw(surface, width, viewport, theme) {
    const scale = new Scale(viewport, width, this.recording);
    const bottom = this.bottom(scale);
    const top = bottom - CURVE_HEIGHT;
    drawAxis(surface, scale, top, bottom, theme);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const y = bottom - share * CURVE_HEIGHT;
      surface.line([scale.left, y, scale.left + scale.width, y], theme.grid, 1);
      surface.text(scale.left - 8, y + 4, `${share * 100} %`, theme.muted, "right");
    }
    surface.clip(scale.left, top - 2, scale.width, CURVE_HEIGHT + 4);
    surface.line(this.arrivals(scale, bottom), theme.series[1], 1.5, [5, 3]);
    surface.line(this.steps(scale, bottom), theme.series[0], 2);
    surface.unclip();
    drawKeys(surface, scale, top - 13, this.keys(), theme);
  }

  arrivals(scale, bottom) {
    const { recording } = this;
    const total = recording.newBefore(recording.count) || 1;
    const points = [];
    for (let column = 0; column <= scale.width; column++) {
      const x = scale.left + column;
      const frame = recording.firstAt(scale.axis, scale.position(x));
      const there = recording.newBefore(frame);
      points.push(x, bottom - (there / total) * CURVE_HEIGHT);
    }
    return points;
  }

  steps(scale, bottom) {
    const points = [scale.left, bottom];
    let y = bottom;
    for (const [time, share] of this.recording.completed) {
      const x = scale.x(this.recording.positionOfTime(scale.axis, time));
      points.push(x, y);
      y = bottom - share * CURVE_HEIGHT;
      points.push(x, y);
    }
    points.push(scale.left + scale.width, y);
    return points;
  }

  at(x, y, scale) {
    const { recording } = this;
    const frame = recording.firstAt(scale.axis, scale.position(x));
    const time = recording.timeAt(scale.axis, scale.position(x));
    const step = recording.completed.filter(([at]) => at <= time).pop();
    const there = recording.newBefore(frame);
    const lines = [
      clockText(recording, time, scale),
      `complete: ${((step ? step[1] : 0) * 100).toFixed(1)} %`,
      `there: ${((100 * there) / (recording.newBefore(recording.count) || 1)).toFixed(1)} % (${bytesText(there)})`,
    ];
    return { lines, event: recording.rowOfTime(time) };
  }

  table() {
    return {
      caption: "Completions",
      headings: ["time", "share of bytes complete"],
      rows: this.recording.completed.map(([time, share]) => [clockText(this.recording, time), `${(share * 100).toFixed(2)} %`]),
    };
  }
}
