// What held the sender back: bytes sent, acknowledged and lost with the edges of its windows, and a lane for each restraint.

const BAND_TOP = 26;
const BAND_PLOT = 150;
const LANE_HEIGHT = 17;
const LANE_BLOCK = 12;
const BAND_DASHES = [undefined, [6, 3], [2, 3], [10, 3, 2, 3], [1, 2]];

class Band {
  constructor(recording) {
    const { band, series_of } = recording;
    this.recording = recording;
    this.band = band;
    this.strip = new Strip(recording);
    this.name = "limits";
    this.title = "What held the sender back";
    const edges = "Bytes of packets so far, and how far windows allowed to send: where the sent bytes meet an edge, it is the limit.";
    const lanes = "Below, a lane for each restraint: a block is as high as its share of the time of that column, in blue where the path was the limit, in orange where the client was, in green where the sender itself was.";
    this.about = band ? `${edges} ${lanes} The sender is ${series_of}; this is ${band.basis}. ${band.assumed.map((it) => `Assumed: ${it}.`).join(" ")}` : "";
  }

  missing() {
    return this.band ? null : this.recording.no_band || "the recording has no log of a sender";
  }

  // The restraints that held at all, with their places.
  lanes() {
    return this.band.totals.map((total, place) => ({ ...total, place })).filter((it) => it.us > 0);
  }

  keys() {
    return this.band.series.map((it, place) => [it.name, BAND_DASHES[place]]);
  }

  top(scale) {
    return BAND_TOP + heightOfMoreKeys(scale, this.keys());
  }

  height(width, viewport) {
    const top = this.top(new Scale(viewport, width, this.recording));
    return top + BAND_PLOT + 10 + this.lanes().length * LANE_HEIGHT + 26;
  }

  draw(surface, width, viewport, theme) {
    const scale = new Scale(viewport, width, this.recording);
    const top = this.top(scale) + BAND_PLOT + 10;
    drawAxis(surface, scale, this.top(scale), top + this.lanes().length * LANE_HEIGHT, theme);
    this.drawCurves(surface, scale, theme);
    const shares = this.shares(scale);
    this.lanes().forEach((lane, row) => {
      const y = top + row * LANE_HEIGHT;
      // The table has the whole name and more digits.
      const words = `${lane.short_name} ${Math.round(lane.percent)} %`;
      surface.text(scale.left - 8, y + 10, fitted(words, scale.left - 16), theme.muted, "right");
      surface.rect(scale.left, y + LANE_BLOCK, scale.width, 1, theme.grid);
      this.drawLane(surface, scale, shares[lane.place], y, lane.colour === null ? theme.muted : theme.series[lane.colour]);
    });
  }

  drawCurves(surface, scale, theme) {
    const top = this.top(scale);
    const bottom = top + BAND_PLOT;
    const curves = this.band.series.map((series) => this.strip.points(scale, series));
    const [low, high] = this.range(curves);
    const y = (value) => bottom - ((value - low) / (high - low)) * BAND_PLOT;
    for (const tick of ticks(low, high, BAND_PLOT / 28)) {
      surface.line([scale.left, y(tick), scale.left + scale.width, y(tick)], theme.grid, 1);
      surface.text(scale.left - 8, y(tick) + 4, levelText(tick, "bytes"), theme.muted, "right");
    }
    surface.clip(scale.left, top - 2, scale.width, BAND_PLOT + 4);
    curves.forEach((points, place) => {
      const line = stepLine(points, y);
      if (line.length) surface.line(line, theme.series[place % 3], 1.5, BAND_DASHES[place]);
    });
    surface.unclip();
    drawKeys(surface, scale, top - 9, this.keys(), theme);
  }

  // The values that are worth seeing: those of what was sent and acknowledged. Windows may be far wider.
  range(curves) {
    const kept = ["sent", "acknowledged"];
    const points = curves.filter((it, place) => kept.includes(this.band.series[place].name)).flat();
    const low = points.reduce((least, [, value]) => Math.min(least, value), Infinity);
    const high = points.reduce((most, [, , value]) => Math.max(most, value), 1);
    const room = Math.max(1, (high - Math.min(low, high)) * 0.15);
    return [Math.max(0, Math.min(low, high) - room), high + room];
  }

  // For each restraint the share of each pixel column in view.
  shares(scale) {
    const { band, recording } = this;
    const columns = Math.ceil(scale.width);
    const shares = band.totals.map(() => new Float64Array(columns));
    const at = (time) => Math.min(columns, Math.max(0, scale.x(recording.positionOfTime(scale.axis, time)) - scale.left));
    const { spans } = band;
    for (let place = 0; place < spans.count; place++) {
      const [from, to] = [at(spans.time[place]), at(place + 1 < spans.count ? spans.time[place + 1] : spans.end)];
      const share = shares[spans.by[place]];
      for (let column = Math.floor(from); column < to; column++) share[column] += Math.min(to, column + 1) - Math.max(from, column);
    }
    return shares;
  }

  drawLane(surface, scale, share, top, colour) {
    const height = (column) => (share[column] > 0 ? Math.max(1, Math.round(share[column] * LANE_BLOCK)) : 0);
    for (let column = 0; column < share.length; ) {
      const block = height(column);
      let end = column + 1;
      while (end < share.length && height(end) === block) end++;
      if (block) surface.rect(scale.left + column, top + LANE_BLOCK - block, end - column, block, colour);
      column = end;
    }
  }

  at(x, y, scale) {
    const { band, recording } = this;
    const time = this.strip.timeAt(scale, scale.position(x));
    const lines = [clockText(recording, time, scale)];
    const span = lowerBound(band.spans.time, time + 1e-6, 0, band.spans.count) - 1;
    if (span >= 0 && time <= band.spans.end) lines.push(`held back by: ${band.totals[band.spans.by[span]].name}`);
    for (const series of band.series) {
      const place = lowerBound(series.time, time + 1e-6, 0, series.count) - 1;
      if (place >= 0) lines.push(`${series.name}: ${bytesText(series.value[place])}`);
    }
    return { lines, event: recording.rowOfTime(time) };
  }

  table() {
    const rows = this.band.totals.map(({ name, us, percent }) => [name, (us / 1e3).toFixed(1), percent.toFixed(1)]);
    return { caption: `The whole log, ${this.band.basis}`, headings: ["held back by", "ms", "%"], rows };
  }
}

async function loadBand(json) {
  if (!json) return null;
  const [time, by] = await Promise.all([unpack(json.spans.time, json.spans.count), unpack(json.spans.by, json.spans.count)]);
  const spans = { ...json.spans, time: runningSum(time), by };
  return { ...json, spans, series: await Promise.all(json.series.map(loadSeries)) };
}
