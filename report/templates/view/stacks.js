// Head-of-line blocking as in figure 13 of Marx et al. (2019): what each arrival made readable at once. Upwards with
// QUIC's streams, downwards as one ordered byte stream (TCP) would have done.

const STACKS_HEIGHT = 92;
const STACK_WIDTH = 2;

class Stacks {
  constructor(recording) {
    this.recording = recording;
    this.name = "stacks";
    this.title = "Head-of-line blocking";
    this.about =
      "A bar is what one arrival made readable at once: more than its own bytes where data behind a hole had waited. " +
      "Up: with streams of QUIC, in the colour of the stream. Down: had it been one ordered stream, as over TCP" +
      (recording.order_is_estimated ? " (estimated from the client's log alone)." : ".");
  }

  height() {
    return 2 * STACKS_HEIGHT + 38;
  }

  missing() {
    return this.recording.no_stacks;
  }

  draw(surface, width, viewport, theme) {
    const scale = new Scale(viewport, width, this.recording);
    const middle = 8 + STACKS_HEIGHT;
    const bottom = middle + STACKS_HEIGHT;
    drawAxis(surface, scale, 8, bottom, theme);
    const measured = viewport.measuredWith(this.recording).filter((it) => !it.no_stacks);
    const most = Math.max(1, ...measured.map((it) => new Stacks(it).tallest(scale)));
    for (const tick of ticks(0, most, 3)) {
      const height = (tick / most) * STACKS_HEIGHT;
      for (const y of tick ? [middle - height, middle + height] : [middle]) {
        surface.line([scale.left, y, scale.left + scale.width, y], theme.grid, 1);
        surface.text(scale.left - 8, y + 4, bytesText(tick), theme.muted, "right");
      }
    }
    surface.text(8, middle - STACKS_HEIGHT / 2, "QUIC", theme.ink);
    surface.text(8, middle + STACKS_HEIGHT / 2, "as over TCP", theme.ink);
    surface.clip(scale.left, 8, scale.width, 2 * STACKS_HEIGHT);
    this.eachColumn(scale, (left, width, first, end) => {
      const up = this.tallestIn("released", first, end);
      const stream = this.recording.streams[this.recording.stream[up.frame]];
      const height = (up.bytes / most) * STACKS_HEIGHT;
      if (!this.recording.hidden[this.recording.stream[up.frame]]) surface.block(left, middle - height, width, height, stream.look);
      const down = this.recording.pyramid.highest("releasedTcp", first, end);
      surface.rect(left, middle, width, (down / most) * STACKS_HEIGHT, theme.muted);
    });
    surface.unclip();
    surface.line([scale.left, middle, scale.left + scale.width, middle], theme.ink, 1);
  }

  tallest(scale) {
    const { recording } = this;
    const first = recording.firstAt(scale.axis, scale.from);
    const last = Math.min(recording.count, recording.firstAt(scale.axis, scale.to) + 1);
    const { pyramid } = recording;
    return Math.max(pyramid.highest("released", first, last), pyramid.highest("releasedTcp", first, last));
  }

  // The tallest stack among frames, and a frame that made it.
  tallestIn(column, first, end) {
    const bytes = this.recording.pyramid.highest(column, first, end);
    return { bytes, frame: this.recording.pyramid.placeOf(column, bytes, first, end) };
  }

  eachColumn(scale, visit) {
    const { recording } = this;
    let frame = recording.firstAt(scale.axis, scale.from);
    const last = Math.min(recording.count, recording.firstAt(scale.axis, scale.to) + 1);
    while (frame < last) {
      const x = scale.x(recording.position(scale.axis, frame));
      const column = Math.floor(x);
      const end = Math.max(frame + 1, recording.firstAt(scale.axis, scale.position(column + 1)));
      // At its time, and as wide as all others.
      visit(Math.max(scale.left, x - STACK_WIDTH / 2), STACK_WIDTH, frame, Math.min(end, last));
      frame = end;
    }
  }

  at(x, y, scale) {
    return describeFrame(this.recording, scale, x);
  }

  table() {
    const { recording } = this;
    const tallest = Array.from({ length: recording.count }, (_, frame) => frame)
      .filter((frame) => recording.released[frame] > recording.bytes[frame] || recording.releasedTcp[frame] > recording.bytes[frame])
      .sort((one, other) => recording.releasedTcp[other] - recording.releasedTcp[one])
      .slice(0, 200);
    return {
      caption: "The 200 largest stacks",
      headings: ["time", "stream", "bytes of the frame", "readable at once, QUIC", "readable at once, as over TCP"],
      rows: tallest.map((frame) => [
        clockText(recording, recording.time[frame]),
        streamText(recording.streams[recording.stream[frame]]),
        countText(recording.bytes[frame]),
        countText(recording.released[frame]),
        countText(recording.releasedTcp[frame]),
      ]),
    };
  }
}
