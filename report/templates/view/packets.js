// The sequence diagram: a line a packet, from the moment when it went to the moment when it came. Time goes to the right as in the
// other figures, so the slope is the delay.

const LANE_TOP = 24;
const LANE_BOTTOM = 170;
// A line that ends on the way goes so far.
const SHARE_WITHOUT_END = 0.55;
// As many packets are looked at one by one.
const PACKETS_LOOKED_AT = 20000;
// Of more, one is drawn for so many columns of pixels: lines at every column would be one area, and take twice the time.
const COLUMNS_A_PACKET = 2;
const NEAR = 12;

const ALL_PACKETS = "all packets";
// What else the reader can choose to see.
const SOME_PACKETS = {
  "packets with STREAM": ({ logs }, log, packet) => logs[log].someFrame(packet, (frame) => logs[log].isStream(frame)),
  "packets with ACK": ({ logs }, log, packet) => logs[log].someFrame(packet, (frame) => logs[log].kind[frame] === FRAME.ACK),
  "lost packets": (exchange, log, packet) => exchange.wasLost(exchange.fate(log, packet)),
  "slow packets": (exchange, log, packet) => exchange.onTheWay(exchange.fate(log, packet)) > SLOW * exchange.delays().least,
};
// As many times the shortest time on the way.
const SLOW = 2;
// Lost, but the log does not say when that was noticed: quiche counts such packets only.
const UNSAID = "not logged";
// The table has so many rows of each end, found among so many packets.
const ROWS_MOST = 250;
const PACKETS_SEARCHED = 500000;

class Packets {
  constructor(recording) {
    this.recording = recording;
    this.name = "packets";
    this.title = "Packets";
    const both = recording.logs.length > 1;
    this.about =
      (both
        ? "A line is a packet, from where it was sent to where it was received: its slope is the one-way delay. A cross is a packet that did not arrive. "
        : "A line is a packet of this log; with the logs of both ends it leads to the other end, and its slope is the one-way delay. ") +
      "Colours are those of streams; thin grey lines are acknowledgements alone. A bar at an end is a packet that it declared lost. " +
      "From far away, one packet is drawn for every two columns of pixels. A click on a packet shows what it acknowledges.";
    this.drawn = [];
    this.wanted = ALL_PACKETS;
  }

  missing() {
    return this.recording.logs.some((it) => it.packets) ? null : "the log has no packets";
  }

  height() {
    return LANE_BOTTOM + 32;
  }

  // What the reader can choose to see.
  choices() {
    return { label: "Show", values: [ALL_PACKETS, ...Object.keys(SOME_PACKETS)], choose: (value) => (this.wanted = value) };
  }

  draw(surface, width, viewport, theme) {
    const { exchange } = this.recording;
    const scale = new Scale(viewport, width, this.recording);
    drawAxis(surface, scale, LANE_TOP, LANE_BOTTOM + 6, theme);
    this.drawLanes(surface, scale, theme);
    this.drawn = [];
    if (!exchange) return surface.text(scale.left + 8, LANE_TOP + 20, "Unpacking packets…", theme.muted);
    surface.clip(scale.left, 0, scale.width, LANE_BOTTOM + 6);
    exchange.logs.forEach((_, log) => this.addPackets(scale, log));
    for (const line of this.drawn) this.drawLine(surface, line, theme);
    exchange.logs.forEach((_, log) => this.drawDeclaredLost(surface, scale, log, theme));
    this.drawSelected(surface, scale, viewport, theme);
    surface.unclip();
  }

  // The client below, as the one that packets of responses come to.
  laneOf(log) {
    const isServer = this.recording.logs[log].whose === "the server";
    return isServer ? LANE_TOP : LANE_BOTTOM;
  }

  otherLane(log) {
    return LANE_TOP + LANE_BOTTOM - this.laneOf(log);
  }

  drawLanes(surface, scale, theme) {
    const { logs } = this.recording;
    const words = { [LANE_TOP]: "", [LANE_BOTTOM]: "" };
    logs.forEach((it, log) => (words[this.laneOf(log)] = it.whose));
    for (const lane of [LANE_TOP, LANE_BOTTOM]) {
      surface.line([scale.left, lane, scale.left + scale.width, lane], theme.ink, 1);
      surface.text(scale.left - 8, lane + 4, words[lane] || "the other end: no log", words[lane] ? theme.ink : theme.muted, "right");
    }
  }

  x(scale, time) {
    return scale.x(this.recording.positionOfTime(scale.axis, time));
  }

  // What a log sent; and, of a lone log, what it received.
  addPackets(scale, log) {
    const { exchange } = this.recording;
    this.addList(scale, log, exchange.sent[log], exchange.delays().most);
    if (exchange.logs.length === 1) this.addList(scale, log, exchange.received[log], 0);
  }

  addList(scale, log, list, slack) {
    const events = this.recording.exchange.logs[log];
    const time = (place) => events.timeOf(list[place]);
    const [from, to] = [scale.from, scale.to].map((it) => this.recording.timeAt(scale.axis, it));
    let place = firstOfStream(time, from - slack, 0, list.length);
    const end = firstOfStream(time, to + 1e-6, place, list.length);
    const stride = (COLUMNS_A_PACKET * (to - from)) / scale.width;
    const isDense = end - place > PACKETS_LOOKED_AT;
    const lines = [];
    while (place < end) {
      const line = this.lineOf(scale, log, this.wantedAt(events, log, list, place, end));
      if (line && Math.max(line.from[0], line.to[0]) >= scale.left && line.from[0] <= scale.left + scale.width) lines.push(line);
      place = isDense ? firstOfStream(time, time(place) + stride, place + 1, end) : place + 1;
    }
    this.drawn.push(...thinned(lines, scale.width / COLUMNS_A_PACKET));
  }

  // The first of a few packets that the reader wants to see, or -1.
  wantedAt(events, log, list, place, end) {
    for (let at = place; at < Math.min(end, place + 16); at++) {
      if (this.isWanted(events, log, list[at])) return list[at];
      if (end - place <= PACKETS_LOOKED_AT) return -1;
    }
    return -1;
  }

  isWanted(events, log, packet) {
    const { exchange, hidden } = this.recording;
    const place = this.streamPlace(events, packet);
    if (place !== undefined && hidden[place]) return false;
    return this.wanted === ALL_PACKETS || SOME_PACKETS[this.wanted](exchange, log, packet);
  }

  // Where the stream of the packet's first STREAM frame is; undefined without one.
  streamPlace(events, packet) {
    for (let place = events.first[packet]; place < events.first[packet + 1]; place++) {
      if (events.isStream(place)) return this.recording.exchange.placeOfStream(events.streamOf(place));
    }
    return undefined;
  }

  lineOf(scale, log, packet) {
    if (packet < 0) return null;
    const { exchange } = this.recording;
    const events = exchange.logs[log];
    const x = this.x(scale, events.timeOf(packet));
    const lane = this.laneOf(log);
    const half = lane + SHARE_WITHOUT_END * (this.otherLane(log) - lane);
    const look = this.lookOf(events, packet);
    if (events.whatOf(packet) === WHAT.RECEIVED) return { log, packet, from: [x, half], to: [x, lane], look };
    const received = exchange.find(log, packet, exchange.other(log), WHAT.RECEIVED);
    if (received >= 0) {
      const end = this.x(scale, exchange.logs[exchange.other(log)].timeOf(received));
      return { log, packet, from: [x, lane], to: [end, this.otherLane(log)], look };
    }
    // As steep as those that arrive soonest.
    const end = this.x(scale, events.timeOf(packet) + SHARE_WITHOUT_END * exchange.delays().least);
    return { log, packet, from: [x, lane], to: [end, half], look, isLost: exchange.wasLost(exchange.fate(log, packet)) };
  }

  lookOf(events, packet) {
    const place = this.streamPlace(events, packet);
    if (place !== undefined) return { colour: this.recording.streams[place].look.colour, width: 1.4 };
    return { colour: null, width: events.someFrame(packet, (frame) => events.kind[frame] === FRAME.ACK) ? 0.7 : 1 };
  }

  drawLine(surface, { from, to, look, isLost }, theme) {
    const lost = theme.marks[MARKS.DUPLICATE];
    surface.line([...from, ...to], isLost ? lost : look.colour || theme.muted, look.width);
    if (!isLost) return;
    const [x, y] = to;
    surface.line([x - 4, y - 4, x + 4, y + 4], lost, 1.8);
    surface.line([x - 4, y + 4, x + 4, y - 4], lost, 1.8);
  }

  // Bars beside the lane of whoever declared packets lost; one a column.
  drawDeclaredLost(surface, scale, log, theme) {
    const { exchange } = this.recording;
    const events = exchange.logs[log];
    const lane = this.laneOf(log);
    exchange.declaredLost ??= exchange.logs.map((it) => packetsWith(it, WHAT.LOST));
    const list = exchange.declaredLost[log];
    const time = (place) => events.timeOf(list[place]);
    const from = this.recording.timeAt(scale.axis, scale.from);
    let place = firstOfStream(time, from, 0, list.length);
    while (place < list.length) {
      const x = Math.round(this.x(scale, time(place)));
      if (x > scale.left + scale.width) break;
      surface.rect(x - 1, lane === LANE_TOP ? lane - 12 : lane - 8, 2, lane === LANE_TOP ? 12 : 8, theme.marks[MARKS.DUPLICATE]);
      const next = this.recording.timeAt(scale.axis, scale.position(x + 1));
      place = firstOfStream(time, next, place + 1, list.length);
    }
  }

  // The packet that was clicked, what acknowledged it, and what it acknowledged.
  drawSelected(surface, scale, viewport, theme) {
    const { exchange } = this.recording;
    const { selected } = viewport;
    if (!selected || selected.recording !== this.recording) return;
    const packet = exchange.logs[selected.log].packetAt(selected.row);
    if (packet < 0) return;
    const fate = exchange.fate(selected.log, packet);
    const owner = fate.sent >= 0 ? [fate.sender, fate.sent] : [selected.log, packet];
    this.emphasise(surface, this.lineOf(scale, ...owner), theme.accent, 3);
    if (fate.acknowledgedBy >= 0) {
      const answer = exchange.fate(fate.sender, fate.acknowledgedBy);
      const line = answer.sent >= 0 ? [answer.sender, answer.sent] : [fate.sender, fate.acknowledgedBy];
      this.emphasise(surface, this.lineOf(scale, ...line), theme.accent, 1.8);
    }
    this.drawAcknowledged(surface, scale, owner, theme);
  }

  emphasise(surface, line, colour, width) {
    if (line) surface.line([...line.from, ...line.to], colour, width);
  }

  // Bars along the lane of whoever sent what the packet acknowledges, from the first to the last of each range.
  drawAcknowledged(surface, scale, [log, packet], theme) {
    const { exchange } = this.recording;
    const own = exchange.logs[log];
    const isReceived = own.whatOf(packet) === WHAT.RECEIVED;
    // Of a lone log, what it sent or received itself.
    const [to, what] = exchange.logs.length > 1 && !isReceived ? [exchange.other(log), WHAT.SENT] : [log, isReceived ? WHAT.SENT : WHAT.RECEIVED];
    const index = exchange.index(to, what, own.space[packet]);
    for (const [first, last] of acknowledgedRanges(own, packet)) {
      const [low, high] = [index.from(first), index.from(last + 1) - 1];
      if (low > high) continue;
      const [left, right] = [low, high].map((place) => this.x(scale, exchange.logs[to].timeOf(index.packets[place])));
      surface.rect(left - 2, this.laneOf(to) - 3, Math.max(4, right - left + 4), 6, theme.accent);
    }
  }

  at(x, y, scale) {
    const { exchange } = this.recording;
    if (!exchange) return { lines: [] };
    let best = null;
    let least = NEAR;
    for (const line of this.drawn) {
      const distance = distanceTo(line, x, y);
      if (distance < least) [best, least] = [line, distance];
    }
    if (!best) return { lines: [] };
    const events = exchange.logs[best.log];
    return {
      lines: packetLines(exchange, best.log, best.packet, scale),
      event: { log: best.log, row: events.row[best.packet] },
      stream: this.streamPlace(events, best.packet),
    };
  }

  table(viewport) {
    const { exchange } = this.recording;
    const headings = ["sent", "received", "on the way", "by", "packet", "bytes", "frames", "declared lost", "acknowledged"];
    if (!exchange) return { caption: "The packets are still being unpacked", headings, rows: [] };
    const [from, to] = [viewport.from, viewport.to].map((it) => this.recording.timeAt(viewport.axis, it));
    const rows = [];
    const numbers = [];
    let count = 0;
    let isAll = true;
    exchange.logs.forEach((events, log) => {
      const lists = exchange.logs.length > 1 ? [exchange.sent[log]] : [exchange.sent[log], exchange.received[log]];
      for (const list of lists) {
        const time = (place) => events.timeOf(list[place]);
        const [first, end] = [firstOfStream(time, from, 0, list.length), firstOfStream(time, to + 1e-6, 0, list.length)];
        count += end - first;
        const { found, next } = this.firstWanted(log, list, first, end);
        for (const packet of found) rows.push(this.tableRow(log, packet));
        if (found.length) numbers.push(numbersText(events, found));
        isAll &&= next === end;
      }
    });
    rows.sort((one, other) => one.time - other.time);
    const chosen =
      this.wanted === ALL_PACKETS
        ? `Packets in view: ${rows.length < count ? `${rows.length} of ` : ""}${countText(count)}`
        : `${this.wanted[0].toUpperCase()}${this.wanted.slice(1)} in view: ${[`${isAll ? "" : "the first "}${countText(rows.length)}`, ...numbers].join("; ")}`;
    const isUnsaid = rows.some((it) => it.cells.includes(UNSAID));
    const caption = isUnsaid ? `${chosen}. “${UNSAID}”: it was lost, and no event says when its sender declared it so` : chosen;
    return { caption, headings, rows: rows.map((it) => it.cells) };
  }

  // What the reader wants to see of a stretch of a list, and where the search ended.
  firstWanted(log, list, first, end) {
    const found = [];
    const last = Math.min(end, first + PACKETS_SEARCHED);
    let place = first;
    for (; place < last && found.length < ROWS_MOST; place++) {
      if (this.isWanted(this.recording.exchange.logs[log], log, list[place])) found.push(list[place]);
    }
    return { found, next: place };
  }

  tableRow(log, packet) {
    const { exchange } = this.recording;
    const events = exchange.logs[log];
    const fate = exchange.fate(log, packet);
    const clock = (place, it) => (it < 0 ? "–" : clockText(this.recording, exchange.logs[place].timeOf(it)));
    const delay = exchange.onTheWay(fate);
    const cells = [
      clock(fate.sender, fate.sent), clock(fate.receiver, fate.received), Number.isNaN(delay) ? "–" : timeText(delay), fate.sender < 0 ? "the other end" : exchange.logs[fate.sender].whose,
      packetName(events, packet), countText(events.bytes[packet]), framesText(events, packet, 4).join("; "),
      fate.lost < 0 && fate.sent >= 0 && exchange.wasLost(fate) ? UNSAID : clock(fate.sender, fate.lost), clock(fate.sender, fate.acknowledgedBy),
    ];
    return { time: events.timeOf(packet), cells };
  }
}

function acknowledgedRanges(log, packet) {
  return log.framesOf(packet).flatMap((frame) => (frame.kind === "ack" ? frame.ranges : []));
}

// At most N lines of a list, evenly chosen, and all that were lost.
function thinned(lines, most) {
  if (lines.length <= most) return lines;
  const step = lines.length / most;
  return lines.filter((line, place) => line.isLost || Math.floor(place / step) !== Math.floor((place - 1) / step));
}

// In pixels, from a point to a line.
function distanceTo({ from, to }, x, y) {
  const [width, height] = [to[0] - from[0], to[1] - from[1]];
  const share = ((x - from[0]) * width + (y - from[1]) * height) / (width * width + height * height || 1);
  const bounded = Math.min(1, Math.max(0, share));
  return Math.hypot(x - from[0] - bounded * width, y - from[1] - bounded * height);
}
