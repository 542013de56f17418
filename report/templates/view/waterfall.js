// The waterfall: one row a stream, from its request to its last byte.

const ROW_HEIGHT = 20;
const WATERFALL_HEIGHT_MAX = 480;

class Waterfall {
  constructor(recording) {
    this.recording = recording;
    this.name = "waterfall";
    this.title = "Waterfall";
    this.about =
      "A triangle is the request, the thin line the wait for the first byte, blocks are data, " +
      "the vertical end is the moment when the last byte was there. Marks as in the ribbon.";
    this.scrolls = true;
  }

  missing() {
    return this.recording.streams.length ? null : this.recording.no_frames;
  }

  // The streams that are not hidden and have something in view, by place in `streams`.
  rows(scale) {
    const { recording } = this;
    const at = (time) => recording.positionOfTime(scale.axis, time);
    return recording.streams
      .map((_, place) => place)
      .filter((place) => {
        if (recording.hidden[place]) return false;
        const { requested_us, first_us, last_us } = recording.streams[place];
        return at(requested_us ?? first_us ?? 0) <= scale.to && at(last_us ?? Infinity) >= scale.from;
      });
  }

  shown() {
    return this.recording.hidden.filter((hidden) => !hidden).length;
  }

  height() {
    return Math.min(this.fullHeight(), WATERFALL_HEIGHT_MAX);
  }

  fullHeight() {
    return Math.max(1, this.shown()) * ROW_HEIGHT + 26;
  }

  draw(surface, width, viewport, theme, scrollTop, height) {
    const scale = new Scale(viewport, width, this.recording);
    const bottom = height - 22;
    drawAxis(surface, scale, 2, bottom, theme);
    const rows = this.rows(scale);
    const first = Math.floor(scrollTop / ROW_HEIGHT);
    const last = Math.min(rows.length, Math.ceil((scrollTop + bottom) / ROW_HEIGHT));
    surface.clip(0, 0, width, bottom);
    for (let row = first; row < last; row++) {
      this.drawRow(surface, scale, rows[row], row * ROW_HEIGHT - scrollTop + 2, theme);
    }
    surface.unclip();
  }

  drawRow(surface, scale, place, top, theme) {
    const stream = this.recording.streams[place];
    const middle = top + ROW_HEIGHT / 2;
    surface.text(scale.left - 8, middle + 4, rowName(stream, scale.left - 14), theme.ink, "right");
    surface.clip(scale.left, top, scale.width, ROW_HEIGHT);
    const at = (time) => scale.x(this.recording.positionOfTime(scale.axis, time));
    if (stream.requested_us !== null) {
      const [from, to] = [at(stream.requested_us), at(stream.first_us ?? stream.requested_us)];
      surface.line([from, middle, Math.max(to, from), middle], theme.muted, 1);
      surface.line([from, top + 5, from + 6, middle, from, top + ROW_HEIGHT - 5, from, top + 5], theme.ink, 1.2);
    }
    for (const [left, width] of this.runs(scale, place)) {
      surface.block(left, top + 4, width, ROW_HEIGHT - 8, stream.look);
    }
    this.drawMarks(surface, scale, place, top, theme);
    if (stream.complete_us !== null) {
      const x = at(stream.complete_us);
      surface.line([x, top + 1, x, top + ROW_HEIGHT - 1], theme.ink, 1.5);
    }
    surface.unclip();
  }

  // Stretches of pixels with data of the stream. Costs what the pixels cost: it leaps from column to column.
  runs(scale, place) {
    const { recording } = this;
    const runs = [];
    this.eachColumn(scale, place, (column, frame) => {
      const last = runs[runs.length - 1];
      // As in the ribbon: on the time axis as wide as the bytes take at a busy moment, ending when they came.
      const span =
        scale.axis === "time"
          ? recording.bytes[frame] * recording.frames.busy_us_per_byte
          : recording.position(scale.axis, frame) - recording.begin(scale.axis, frame);
      const wide = span * scale.perUnit;
      const left = column - Math.max(0, wide - 1);
      if (last && last[0] + last[1] >= left - 0.5) last[1] = column + 1 - last[0];
      else runs.push([left, column + 1 - left]);
    });
    return runs.map(([left, width]) => [left, Math.max(1.5, width)]);
  }

  drawMarks(surface, scale, place, top, theme) {
    const { recording } = this;
    const { retransmitted, duplicate, reordered } = recording.streams[place];
    if (!retransmitted && !duplicate && !reordered) return;
    this.eachColumn(scale, place, (column, first, end) => {
      let marks = 0;
      for (let at = first; at < Math.min(end, first + 16); at++) marks |= recording.mark[recording.ofStream[at]];
      for (const mark of Object.values(MARKS)) {
        if (marks & mark) surface.rect(column - 1, top + ROW_HEIGHT - 5, 2, 4, theme.marks[mark]);
      }
    }, true);
  }

  // Calls `visit(x, frame)` for each column that has data of the stream; with `wantsRange`, `visit(x, first, end)`
  // with places in `ofStream`.
  eachColumn(scale, place, visit, wantsRange) {
    const { recording } = this;
    const end = recording.starts[place + 1];
    const position = (at) => recording.position(scale.axis, recording.ofStream[at]);
    let at = firstOfStream(position, scale.from, recording.starts[place], end);
    while (at < end && position(at) <= scale.to) {
      const column = Math.floor(scale.x(position(at)));
      const next = firstOfStream(position, scale.position(column + 1), at + 1, end);
      if (wantsRange) visit(column, at, next);
      else visit(column, recording.ofStream[at]);
      at = next;
    }
  }

  at(x, y, scale, scrollTop) {
    const rows = this.rows(scale);
    const place = rows[Math.floor((y + scrollTop - 2) / ROW_HEIGHT)];
    if (place === undefined) return { lines: [] };
    const stream = this.recording.streams[place];
    const lines = [`stream ${streamText(stream)}${stream.priority ? `, ${stream.priority}` : ""}`];
    for (const [name, time] of [["requested", stream.requested_us], ["first byte", stream.first_us], ["complete", stream.complete_us]]) {
      if (time !== null) lines.push(`${name} ${clockText(this.recording, time, scale)}`);
    }
    lines.push(`${bytesText(stream.bytes)} in ${countText(stream.frames)} frames`);
    for (const cause of ["retransmitted", "duplicate", "reordered"]) {
      if (stream[cause]) lines.push(`${bytesText(stream[cause])} ${cause}`);
    }
    const frame = this.frameAt(place, scale, x);
    const event = frame === null ? this.recording.rowOfTime(stream.requested_us ?? 0) : this.recording.rowOfFrame(frame);
    if (frame !== null) lines.push(...carrierLines(this.recording, frame, scale));
    return { lines, event, stream: place };
  }

  // The stream's frame at a pixel or after it, or its last one before; null if it has none.
  frameAt(place, scale, x) {
    const { recording } = this;
    const [start, end] = [recording.starts[place], recording.starts[place + 1]];
    if (start === end) return null;
    const at = firstOfStream((it) => recording.position(scale.axis, recording.ofStream[it]), scale.position(x), start, end);
    return recording.ofStream[Math.min(at, end - 1)];
  }

  table() {
    const time = (it) => (it === null ? "–" : clockText(this.recording, it));
    return {
      caption: "Streams",
      headings: ["stream", "URL", "priority", "requested", "first byte", "complete", "bytes", "retransmitted", "duplicate", "reordered"],
      rows: this.recording.streams.map((it) => [
        streamText({ ...it, url: "" }), withoutMiddle(it.url, 200), it.priority, time(it.requested_us), time(it.first_us),
        time(it.complete_us), countText(it.bytes), countText(it.retransmitted), countText(it.duplicate),
        countText(it.reordered),
      ]),
    };
  }
}

// A stream and its priority within a width in pixels.
function rowName(stream, limit) {
  const priority = stream.priority ? ` ${fitted(stream.priority, 0.4 * limit)}` : "";
  return shortStreamText(stream, limit - textWidth(priority)) + priority;
}

function firstOfStream(position, value, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (position(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
