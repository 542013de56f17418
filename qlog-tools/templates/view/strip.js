// Congestion: window and bytes in flight, round-trip time, goodput. One panel each, over the same axis.

const PANEL_HEIGHT = 74;
const PANEL_GAP = 26;
const DASHES = [undefined, [6, 3], [2, 3]];

class Strip {
  constructor(recording) {
    this.recording = recording;
    this.name = "congestion";
    this.title = "Congestion and goodput";
    this.about =
      "Window, bytes in flight and round-trip time as the log's side saw them; goodput is that of the stream bytes in " +
      "the log, over the width of a few pixels. A tick at the top is a packet declared lost.";
  }

  // Goodput needs no event of its own.
  panels() {
    const panels = [];
    for (const unit of ["bytes", "us"]) {
      const series = this.recording.series.filter((it) => it.unit === unit);
      if (series.length) panels.push({ unit, series });
    }
    return [...panels, { unit: "bytes/s", series: [] }];
  }

  height() {
    return this.panels().length * (PANEL_HEIGHT + PANEL_GAP) + 26;
  }

  draw(surface, width, viewport, theme) {
    const scale = new Scale(viewport, width);
    const panels = this.panels();
    const bottom = panels.length * (PANEL_HEIGHT + PANEL_GAP);
    drawAxis(surface, scale, 10, bottom, theme);
    surface.text(scale.left - 8, 12, "lost packets", theme.muted, "right");
    panels.forEach((panel, place) => {
      const top = PANEL_GAP + place * (PANEL_HEIGHT + PANEL_GAP);
      if (panel.series.length) this.drawSeries(surface, scale, panel, top, theme);
      else this.drawGoodput(surface, scale, top, theme);
    });
    this.drawLosses(surface, scale, theme);
  }

  drawSeries(surface, scale, panel, top, theme) {
    const lines = panel.series.map((series) => this.points(scale, series));
    const most = Math.max(1, ...lines.flat().map(([, , high]) => high)) * 1.05;
    const bottom = top + PANEL_HEIGHT;
    drawLeftAxis(surface, scale, top, bottom, most, panel.unit, theme);
    surface.clip(scale.left, top - 2, scale.width, PANEL_HEIGHT + 4);
    lines.forEach((points, place) => {
      const y = (value) => bottom - (value / most) * PANEL_HEIGHT;
      const line = [];
      for (const [x, low, high] of points) line.push(x, y(low), x, y(high));
      if (line.length) surface.line(line, theme.series[place % 3], 1.5, DASHES[place % 3]);
    });
    surface.unclip();
    let x = scale.left + 4;
    panel.series.forEach((series, place) => {
      surface.line([x, top - 7, x + 22, top - 7], theme.series[place % 3], 2, DASHES[place % 3]);
      surface.text(x + 27, top - 3, series.name, theme.ink);
      x += 46 + 7 * series.name.length;
    });
  }

  // The lowest and highest value of each pixel column; a value holds until the next.
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
      } else {
        if (column) points.push([x, column[3], column[3]]);
        column = [x, value, value, value];
        points.push(column);
      }
      column[3] = value;
      if (x >= scale.left + scale.width) break;
    }
    // The last value holds until the log ends.
    const end = Math.min(scale.left + scale.width, scale.x(recording.length(scale.axis)));
    if (column && end > column[0]) points.push([end, column[3], column[3]]);
    return points;
  }

  countInView(scale, series) {
    const position = (place) => this.recording.positionOfTime(scale.axis, series.time[place]);
    return firstOfStream(position, scale.to, 0, series.count) - firstOfStream(position, scale.from, 0, series.count);
  }

  drawGoodput(surface, scale, top, theme) {
    const bottom = top + PANEL_HEIGHT;
    const rates = this.rates(scale);
    const most = Math.max(1, ...rates.map(([, rate]) => rate)) * 1.05;
    drawLeftAxis(surface, scale, top, bottom, most, "bytes/s", theme);
    const line = [];
    for (const [x, rate, next] of rates) {
      const y = bottom - (rate / most) * PANEL_HEIGHT;
      line.push(x, y, next, y);
    }
    if (line.length) surface.line(line, theme.series[0], 1.5);
    surface.text(scale.left + 4, top - 3, "goodput", theme.ink);
  }

  // Bytes a second in steps of a few pixels.
  rates(scale) {
    const { recording } = this;
    const rates = [];
    const inView = recording.firstAt(scale.axis, scale.to) - recording.firstAt(scale.axis, scale.from);
    // Steps shorter than twenty frames would show single frames, not a rate.
    const step = Math.min(scale.width / 4, Math.max(6, (20 * scale.width) / Math.max(1, inView)));
    let frame = recording.firstAt(scale.axis, scale.from);
    for (let x = scale.left; x < scale.left + scale.width; x += step) {
      const [from, to] = [scale.position(x), scale.position(x + step)];
      const end = recording.firstAt(scale.axis, to);
      const bytes = (end > 0 ? recording.end[end - 1] : 0) - (frame > 0 ? recording.end[frame - 1] : 0);
      const time = this.timeAt(scale, to) - this.timeAt(scale, from);
      rates.push([x, time > 0 ? (bytes / time) * 1e6 : 0, Math.min(x + step, scale.left + scale.width)]);
      frame = end;
    }
    return rates;
  }

  timeAt(scale, position) {
    if (scale.axis === "time") return position;
    const { recording } = this;
    const frame = recording.firstAt(scale.axis, position);
    return frame < recording.count ? recording.time[frame] : recording.duration;
  }

  drawLosses(surface, scale, theme) {
    const losses = this.recording.events.find((it) => it.name === "packet lost");
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
    const lines = [timeText(time)];
    for (const series of recording.series) {
      const place = lowerBound(series.time, time + 1e-6, 0, series.count) - 1;
      if (place >= 0) lines.push(`${series.name}: ${valueText(series.value[place], series.unit)}`);
    }
    const rate = this.rates(scale).find(([left, , right]) => x >= left && x < right);
    if (rate) lines.push(`goodput: ${valueText(rate[1], "bytes/s")}`);
    return lines;
  }

  table(viewport) {
    const { recording } = this;
    const scale = new Scale(viewport, LEFT + RIGHT + 240);
    const rows = this.rates(scale).map(([x, rate]) => {
      const time = this.timeAt(scale, scale.position(x));
      const values = recording.series.map((series) => {
        const place = lowerBound(series.time, time + 1e-6, 0, series.count) - 1;
        return place < 0 ? "–" : valueText(series.value[place], series.unit);
      });
      return [timeText(time), ...values, valueText(rate, "bytes/s")];
    });
    const names = recording.series.map((series) => series.name);
    return { caption: "The view in forty steps", headings: ["from", ...names, "goodput"], rows };
  }
}
