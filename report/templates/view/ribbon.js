// The ribbon: which stream's bytes came one after another. Close up a block is a STREAM frame; from far
// away a column shows the shares of the streams in it.

const RIBBON_TOP = 8;
const RIBBON_HEIGHT = 64;
const MARKS_HEIGHT = 11;
const CELLS_A_COLUMN = 8;

class Ribbon {
  constructor(recording) {
    this.recording = recording;
    this.name = "ribbon";
    this.title = "Multiplexing";
    this.about =
      "Each block is a STREAM frame in the colour of its stream; from far away a column shows the shares of " +
      "the streams. Below, by cause: what was retransmitted, what came in vain, what others had overtaken.";
  }

  missing() {
    return this.recording.count ? null : this.recording.no_frames;
  }

  height() {
    return RIBBON_TOP + RIBBON_HEIGHT + 4 + 3 * (MARKS_HEIGHT + 2) + 22;
  }

  draw(surface, width, viewport, theme) {
    const { recording } = this;
    const scale = new Scale(viewport, width, this.recording);
    const bottom = RIBBON_TOP + RIBBON_HEIGHT + 4 + 3 * (MARKS_HEIGHT + 2);
    surface.rect(scale.left, RIBBON_TOP, scale.width, RIBBON_HEIGHT, theme.track);
    drawAxis(surface, scale, RIBBON_TOP, bottom, theme);
    surface.text(scale.left - 8, RIBBON_TOP + RIBBON_HEIGHT / 2 + 4, "frames", theme.muted, "right");
    const first = recording.firstAt(scale.axis, scale.from);
    const last = Math.min(recording.count, recording.firstAt(scale.axis, scale.to) + 1);
    surface.clip(scale.left, 0, scale.width, bottom);
    if (last - first <= 3 * scale.width) this.drawFrames(surface, scale, first, last, theme);
    else this.drawColumns(surface, scale, theme);
    surface.unclip();
    this.drawMarks(surface, scale, theme);
  }

  drawFrames(surface, scale, first, last, theme) {
    const { recording } = this;
    const blocks = frameBlocks(recording, scale, first, last);
    for (const { frame, left, width } of blocks) {
      const stream = recording.stream[frame];
      if (recording.hidden[stream]) continue;
      const height = frame % 2 && width > 3 ? RIBBON_HEIGHT - 6 : RIBBON_HEIGHT;
      const look = recording.streams[stream].look;
      // A frame that came at the axis' very start would end there.
      const shown = Math.max(left, scale.left - width + 2);
      surface.block(shown, RIBBON_TOP + RIBBON_HEIGHT - height, Math.max(1, width), height, look);
      if (width > 34 && recording.streams[stream].role !== "datagrams") {
        surface.rect(left + 3, RIBBON_TOP + 24, Math.min(width - 6, 30), 17, theme.paper);
        surface.text(left + 6, RIBBON_TOP + 37, String(recording.streams[stream].id), theme.ink);
      }
    }
  }

  drawColumns(surface, scale, theme) {
    const { recording } = this;
    let frame = recording.firstAt(scale.axis, scale.from);
    for (let column = 0; column < scale.width && frame < recording.count; column++) {
      const end = recording.firstAt(scale.axis, scale.position(scale.left + column + 1));
      if (end > frame) this.drawColumn(surface, scale.left + column, shares(recording, frame, end));
      frame = end;
    }
  }

  drawColumn(surface, left, shares) {
    let top = RIBBON_TOP;
    for (const [stream, share] of shares) {
      const height = share * RIBBON_HEIGHT;
      const recording = this.recording;
      if (!recording.hidden[stream]) surface.rect(left, top, 1.02, height, recording.streams[stream].look.colour);
      top += height;
    }
  }

  drawMarks(surface, scale, theme) {
    const rows = [
      MARKS.RETRANSMITTED,
      MARKS.DUPLICATE,
      MARKS.REORDERED,
    ];
    rows.forEach((mark, row) => {
      const name = markText(mark);
      const top = RIBBON_TOP + RIBBON_HEIGHT + 4 + row * (MARKS_HEIGHT + 2);
      surface.text(scale.left - 8, top + MARKS_HEIGHT - 1, name, theme.muted, "right");
      for (const [left, width] of columnsWith(this.recording, scale, (marks) => marks & mark)) {
        surface.rect(left, top, width, MARKS_HEIGHT, theme.marks[mark]);
      }
    });
  }

  at(x, y, scale) {
    return describeFrame(this.recording, scale, x);
  }

  table(viewport) {
    const { recording } = this;
    const first = recording.firstAt(viewport.axis, viewport.from);
    const last = Math.min(recording.count, recording.firstAt(viewport.axis, viewport.to) + 1);
    const most = 500;
    const rows = [];
    for (let frame = first; frame < Math.min(last, first + most); frame++) {
      rows.push([
        clockText(recording, recording.time[frame]),
        streamText(recording.streams[recording.stream[frame]]),
        countText(recording.offset[frame]),
        countText(recording.bytes[frame]),
        markText(recording.mark[frame]),
      ]);
    }
    const shown = last - first > most ? `the first ${most} of ` : "";
    return {
      caption: `Frames in view: ${shown}${countText(Math.max(0, last - first))}`,
      headings: ["time", "stream", "offset", "bytes", "marks"],
      rows,
    };
  }
}

// Where the blocks of frames are, in pixels. On the time axis a block ends when its frame came and is as wide as
// the time since the frame before it, at most what its bytes need at the rate of a busy moment; frames of one
// instant stand one after another before it.
function frameBlocks(recording, scale, first, last) {
  const blocks = [];
  if (scale.axis !== "time") {
    for (let frame = first; frame < last; frame++) {
      const left = scale.x(recording.begin(scale.axis, frame));
      blocks.push({ frame, left, width: scale.x(recording.position(scale.axis, frame)) - left });
    }
    return blocks;
  }
  let next = Infinity;
  for (let frame = last - 1; frame >= first; frame--) {
    const end = Math.min(recording.time[frame], next);
    next = end - recording.bytes[frame] * recording.frames.busy_us_per_byte;
    if (frame > 0 && recording.time[frame - 1] > next && recording.time[frame - 1] < end) next = recording.time[frame - 1];
    blocks.push({ frame, left: scale.x(next), width: (end - next) * scale.perUnit });
  }
  return blocks.reverse();
}

// The streams in a stretch of frames and their shares of its bytes, in the order of the streams.
function shares(recording, first, last) {
  const { level, first: low, last: high } = recording.pyramid.cover(first, last, CELLS_A_COLUMN);
  const sums = new Map();
  let total = 0;
  for (let cell = low; cell < high; cell++) {
    const weight = level.weight[cell] || 1;
    sums.set(level.stream[cell], (sums.get(level.stream[cell]) || 0) + weight);
    total += weight;
  }
  return [...sums].sort((one, other) => one[0] - other[0]).map(([stream, sum]) => [stream, sum / total]);
}

// Stretches of pixel columns in which some frame's marks satisfy `wanted`.
function columnsWith(recording, scale, wanted) {
  const found = [];
  let frame = recording.firstAt(scale.axis, scale.from);
  for (let column = 0; column < scale.width && frame < recording.count; column++) {
    const end = recording.firstAt(scale.axis, scale.position(scale.left + column + 1));
    if (end > frame && wanted(recording.pyramid.marks(frame, end))) {
      const last = found[found.length - 1];
      if (last && last[0] + last[1] === scale.left + column) last[1]++;
      else found.push([scale.left + column, 1]);
    }
    frame = end;
  }
  return found.map(([left, width]) => [left, Math.max(2, width)]);
}

// What there is to say of the frame nearest to a pixel.
function describeFrame(recording, scale, x) {
  if (!recording.count) return { lines: [] };
  const position = scale.position(x);
  let frame = Math.min(recording.count - 1, recording.firstAt(scale.axis, position));
  if (scale.axis === "time" && frame > 0) {
    const [before, after] = [position - recording.time[frame - 1], recording.time[frame] - position];
    if (before < after && before * scale.perUnit < 4) frame--;
  }
  return { lines: frameLines(recording, frame, scale), event: recording.rowOfFrame(frame), stream: recording.stream[frame] };
}

function frameLines(recording, frame, scale) {
  const stream = recording.streams[recording.stream[frame]];
  const from = recording.offset[frame];
  const lines = [
    `${clockText(recording, recording.time[frame], scale)}, frame ${countText(frame + 1)} of ${countText(recording.count)}`,
    `stream ${streamText(stream)}${stream.priority ? `, ${stream.priority}` : ""}`,
    `${byteRangeText(from, recording.bytes[frame])} (${bytesText(recording.bytes[frame])})`,
  ];
  const marks = markText(recording.mark[frame]);
  if (marks) lines.push(`${marks}: ${recording.causes[recording.mark[frame]] || ""}`);
  if (recording.released[frame] > recording.bytes[frame]) {
    lines.push(`filled a hole: ${bytesText(recording.released[frame])} became readable at once`);
  }
  lines.push(...carrierLines(recording, frame, scale));
  return lines;
}
