// Congestion: window and bytes in flight, round-trip time, goodput. One panel each, over the same axis.

const PANEL_HEIGHT = 74;
const PANEL_GAP = 26;
const DASHES = [undefined, [6, 3], [2, 3]];

class Strip {
  constructor(recording) {
    this.recording = recording;
    this.name = "congestion";
    this.title = "Congestion and goodput";
    const { series_of, losses_of, sender, is_server } = recording;
    const alone =
      sender || series_of !== "the client" || !recording.series.length
        ? ""
        : " The client's window holds back its requests; what held back the responses, the server's log says.";
    const goodput = is_server
      ? "The rate is that of new stream bytes sent"
      : `Goodput is that of new stream bytes as they came${sender ? "; dashed, what the server sent, retransmissions included" : ""}`;
    const window = recording.series.length ? `Window, bytes in flight and round-trip times of ${series_of}.${alone} ` : "";
    this.about =
      window +
      `${goodput}. ${this.aboutTicks(losses_of)}`;
  }

  aboutTicks(losses_of) {
    const losses = this.losses();
    if (!losses) return "";
    if (losses.name === "packet lost") return `A tick at the top is a packet that ${losses_of} declared lost.`;
    return `A tick at the top is where ${losses_of}, which logs no lost packets, sent bytes again.`;
  }

  missing() {
    const { series, count } = this.recording;
    return series.length || count ? null : "the log holds neither a congestion window, RTT or bytes in flight, nor STREAM frames";
  }

  panels() {
    const panels = [];
    for (const unit of ["bytes", "us"]) {
      const series = this.recording.series.filter((it) => it.unit === unit);
      if (series.length) panels.push({ unit, series });
    }
    // Goodput needs no event of its own.
    return this.recording.count ? [...panels, { unit: "bytes/s", series: [] }] : panels;
  }

  // The panels with what their lines mean, and where each begins.
  placed(scale) {
    let top = 0;
    return this.panels().map((panel) => {
      const keys = panel.series.length ? panel.series.map((it, place) => [it.name, DASHES[place % 3]]) : this.goodputKeys(scale);
      top += PANEL_GAP + heightOfMoreKeys(scale, keys);
      const placed = { ...panel, keys, top };
      top += PANEL_HEIGHT;
      return placed;
    });
  }

  bottom(panels) {
    return panels.length ? panels[panels.length - 1].top + PANEL_HEIGHT : 0;
  }

  height(width, viewport) {
    return this.bottom(this.placed(new Scale(viewport, width, this.recording))) + 26;
  }

  draw(surface, width, viewport, theme) {
    const scale = new Scale(viewport, width, this.recording);
    const panels = this.placed(scale);
    drawAxis(surface, scale, 10, this.bottom(panels), theme);
    const losses = this.losses();
    const words = !losses ? "lost packets: none logged" : losses.name === "packet lost" ? "lost packets" : "bytes sent again";
    surface.text(Math.max(scale.left - 8, 8 + textWidth(words)), 12, words, theme.muted, "right");
    this.nameOwners(surface, panels, theme);
    for (const panel of panels) {
      const measured = viewport.measuredWith(this.recording).map((it) => new Strip(it));
      const most = Math.max(1, ...measured.map((it) => it.highest(scale, panel.unit))) * 1.05;
      if (panel.series.length) this.drawSeries(surface, scale, panel, theme, most);
      else this.drawGoodput(surface, scale, panel, theme, most);
    }
    this.drawLosses(surface, scale, theme);
  }

  // Whose values they are, beside each panel.
  nameOwners(surface, panels, theme) {
    const { series_of, shown_of } = this.recording;
    panels.forEach(({ unit, top }) => {
      const owner = unit === "bytes/s" ? shown_of : series_of;
      surface.text(8, top + PANEL_HEIGHT / 2, owner, theme.ink, "start", 84);
    });
  }

  // The highest value in view of what is drawn in this unit.
  highest(scale, unit) {
    if (unit === "bytes/s") return this.rates(scale).reduce((most, [, rate, , sent]) => Math.max(most, rate, sent), 0);
    const series = this.recording.series.filter((it) => it.unit === unit);
    return series.flatMap((it) => this.points(scale, it)).reduce((most, [, , high]) => Math.max(most, high), 0);
  }

  drawSeries(surface, scale, { series, unit, keys, top }, theme, most) {
    const lines = series.map((it) => this.points(scale, it));
    const bottom = top + PANEL_HEIGHT;
    drawLeftAxis(surface, scale, top, bottom, most, unit, theme);
    surface.clip(scale.left, top - 2, scale.width, PANEL_HEIGHT + 4);
    lines.forEach((points, place) => {
      const y = (value) => bottom - (value / most) * PANEL_HEIGHT;
      const line = stepLine(points, y);
      if (line.length) surface.line(line, theme.series[place % 3], 1.5, DASHES[place % 3]);
    });
    surface.unclip();
    drawKeys(surface, scale, top - 3, keys, theme);
  }

  // The lowest, the highest and the last value of each pixel column; a value holds until the next.
  points(scale, series) {
    const { recording } = this;
    const position = (place) => recording.positionOfTime(scale.axis, series.time[place]);
    const points = [];
    let place = Math.max(0, firstOfStream(position, scale.from, 0, series.count) - 1);
    const stride = Math.max(1, Math.floor(this.countInView(scale, series) / (scale.width * 16)));
    let column = null;
    for (; place < series.count; place += stride) {
      const x = Math.round(Math.min(scale.left + scale.width, Math.max(scale.left - 1, scale.x(position(place)))));
      const value = series.value[place];
      if (column && column[0] === x) {
        column[1] = Math.min(column[1], value);
        column[2] = Math.max(column[2], value);
        column[3] = value;
      } else {
        column = [x, value, value, value];
        points.push(column);
      }
      if (x >= scale.left + scale.width) break;
    }
    // The last value holds until the log ends.
    const end = Math.min(scale.left + scale.width, scale.x(recording.length(scale.axis)));
    if (column && end > column[0]) points.push([end, column[3], column[3], column[3]]);
    return points;
  }

  countInView(scale, series) {
    const position = (place) => this.recording.positionOfTime(scale.axis, series.time[place]);
    return firstOfStream(position, scale.to, 0, series.count) - firstOfStream(position, scale.from, 0, series.count);
  }

  goodputKeys(scale) {
    const [first] = this.rates(scale);
    const over = scale.axis === "time" && first ? `, over ${levelText((first[2] - first[0]) / scale.perUnit, "us")}` : "";
    const own = [`${this.goodputName()}${over}`, undefined];
    return this.recording.sent.count ? [own, ["sent by the server", DASHES[1]]] : [own];
  }

  drawGoodput(surface, scale, { keys, top }, theme, most) {
    const bottom = top + PANEL_HEIGHT;
    const rates = this.rates(scale);
    drawLeftAxis(surface, scale, top, bottom, most, "bytes/s", theme);
    keys.forEach(([, dash], place) => {
      const column = place ? 3 : 1;
      const line = rates.flatMap((it) => {
        const y = bottom - (it[column] / most) * PANEL_HEIGHT;
        return [it[0], y, it[2], y];
      });
      if (line.length) surface.line(line, theme.series[place], 1.5, dash);
    });
    drawKeys(surface, scale, top - 3, keys, theme);
  }

  goodputName() {
    return this.recording.is_server ? "new bytes sent" : "goodput";
  }

  // In steps of a few pixels: left, new bytes a second, right, and bytes a second that the server sent.
  rates(scale) {
    const { recording } = this;
    const rates = [];
    const inView = recording.firstAt(scale.axis, scale.to) - recording.firstAt(scale.axis, scale.from);
    // Steps shorter than twenty frames would show single frames, not a rate.
    const step = Math.min(scale.width / 24, Math.max(6, (20 * scale.width) / Math.max(1, inView)));
    const last = Math.min(scale.left + scale.width, scale.x(recording.length(scale.axis)));
    let frame = recording.firstAt(scale.axis, scale.from);
    for (let x = scale.left; x < last - 1e-6; x += step) {
      const [from, to] = [scale.position(x), scale.position(x + step)];
      const end = recording.firstAt(scale.axis, to);
      const bytes = recording.newBefore(end) - recording.newBefore(frame);
      const [start, stop] = [this.timeAt(scale, from), this.timeAt(scale, to)];
      const rate = (bytes) => (stop > start ? (bytes / (stop - start)) * 1e6 : 0);
      const sent = recording.sent.count ? rate(this.sentBefore(stop) - this.sentBefore(start)) : 0;
      rates.push([x, rate(bytes), Math.min(x + step, last), sent]);
      frame = end;
    }
    return rates;
  }

  // Stream bytes that the server had sent before a time.
  sentBefore(time) {
    const { sent } = this.recording;
    const place = lowerBound(sent.time, time, 0, sent.count);
    return place > 0 ? sent.value[place - 1] : 0;
  }

  timeAt(scale, position) {
    return this.recording.timeAt(scale.axis, position);
  }

  // Some servers do not log what they declare lost, but what they send again tells.
  losses() {
    return this.recording.events.find((it) => it.name === "packet lost" || it.name === "sent again");
  }

  drawLosses(surface, scale, theme) {
    const losses = this.losses();
    if (!losses) return;
    let before = -1;
    for (let place = 0; place < losses.count; place++) {
      const x = Math.round(scale.x(this.recording.positionOfTime(scale.axis, losses.time[place])));
      if (x !== before && x >= scale.left && x <= scale.left + scale.width) {
        surface.rect(x - 1, 1, 2, 8, theme.marks[MARKS.RETRANSMITTED]);
      }
      before = x;
    }
  }

  at(x, y, scale) {
    const { recording } = this;
    const time = this.timeAt(scale, scale.position(x));
    const lines = [clockText(recording, time, scale), ...recording.valuesAt(time).map(([name, value]) => `${name}: ${value}`)];
    const rate = this.rates(scale).find(([left, , right]) => x >= left && x < right);
    if (rate) lines.push(`${this.goodputName()}: ${valueText(rate[1], "bytes/s")}`);
    if (rate && recording.sent.count) lines.push(`sent by the server: ${valueText(rate[3], "bytes/s")}`);
    return { lines, event: recording.rowOfTime(time) };
  }

  table(viewport) {
    const { recording } = this;
    const scale = new Scale(viewport, viewport.left(0) + RIGHT + 240);
    const hasSent = recording.sent.count > 0;
    const rows = this.rates(scale).map(([x, rate, , sent]) => {
      const time = this.timeAt(scale, scale.position(x));
      const values = recording.series.map((series) => {
        const place = lowerBound(series.time, time + 1e-6, 0, series.count) - 1;
        return place < 0 ? "–" : valueText(series.value[place], series.unit);
      });
      const rates = [rate, ...(hasSent ? [sent] : [])].map((it) => valueText(it, "bytes/s"));
      return [clockText(recording, time), ...values, ...rates];
    });
    const names = recording.series.map((series) => series.name);
    const headings = ["from", ...names, this.goodputName(), ...(hasSent ? ["sent by the server"] : [])];
    return { caption: `The view in ${rows.length} steps`, headings, rows };
  }
}

// A value holds to the next column, steps through all of that column's values there, and ends at the last of them.
function stepLine(points, y) {
  const line = [];
  let held = null;
  for (const [x, low, high, last] of points) {
    if (held !== null) line.push(x, held);
    line.push(x, y(low), x, y(high), x, y(last));
    held = y(last);
  }
  return line;
}
