// Packets, their frames and what became of them, in words.

const FRAMES_IN_WORDS = 6;
const RANGES_IN_WORDS = 8;
const RUNS_IN_WORDS = 60;

// `1-RTT packet 17`.
function packetName(log, packet) {
  const number = log.number[packet];
  return `${SPACES[log.space[packet]]} packet ${number < 0 ? "without a number" : countText(number)}`;
}

// The numbers of some packets of one log: `the server sent 17, 19 to 23`.
function numbersText(log, packets) {
  const runs = [];
  for (const packet of packets) {
    const last = runs[runs.length - 1];
    const follows = last && log.space[packet] === log.space[last[1]] && log.number[packet] === log.number[last[1]] + 1;
    if (follows) last[1] = packet;
    else runs.push([packet, packet]);
  }
  const texts = runs.slice(0, RUNS_IN_WORDS).map(([first, last]) => {
    const space = SPACES[log.space[first]] === "1-RTT" ? "" : `${SPACES[log.space[first]]} `;
    return `${space}${countText(log.number[first])}${first === last ? "" : ` to ${countText(log.number[last])}`}`;
  });
  const more = runs.length - RUNS_IN_WORDS;
  return `${log.whose} ${log.whatOf(packets[0]) === WHAT.SENT ? "sent" : "received"} ${texts.join(", ")}${more > 0 ? ` and ${countText(more)} more ranges` : ""}`;
}

function frameText(frame) {
  if (frame.kind === "stream") {
    const fin = frame.fin ? ", FIN" : "";
    return `STREAM ${frame.stream}: ${byteRangeText(frame.offset, frame.bytes)}${fin}`;
  }
  if (frame.kind === "ack") {
    const ranges = frame.ranges.slice(0, RANGES_IN_WORDS).map(([first, last]) => (first === last ? countText(last) : `${countText(first)} to ${countText(last)}`));
    const more = frame.ranges.length - RANGES_IN_WORDS;
    return `ACK ${ranges.join(", ")}${more > 0 ? ` and ${more} more ranges` : ""}`;
  }
  const stream = frame.stream === null ? "" : ` of stream ${frame.stream}`;
  const from = frame.kind === "crypto" ? "from byte " : "";
  const value = frame.value === null ? "" : ` ${from}${countText(frame.value)}`;
  return `${frame.kind.toUpperCase()}${stream}${value}`;
}

function framesText(log, packet, most) {
  const frames = log.framesOf(packet);
  const texts = frames.slice(0, most).map(frameText);
  if (frames.length > most) texts.push(`and ${frames.length - most} more frames`);
  return texts;
}

// The packet of a frame in the figures, and what became of it.
function carrierLines(recording, frame, scale) {
  const event = recording.rowOfFrame(frame);
  if (!event) return [];
  const { exchange } = recording;
  const packet = exchange.logs[event.log].packetAt(event.row);
  return [packetName(exchange.logs[event.log], packet), ...fateLines(exchange, event.log, packet, scale)];
}

// When it went, arrived, was declared lost, was acknowledged, and went again.
function fateLines(exchange, log, packet, scale) {
  const { logs, recording } = exchange;
  const fate = exchange.fate(log, packet);
  const clock = (place, it) => clockText(recording, logs[place].timeOf(it), scale);
  const lines = [];
  if (fate.sent >= 0) lines.push(`sent by ${logs[fate.sender].whose} at ${clock(fate.sender, fate.sent)}`);
  if (fate.received >= 0) {
    const delay = fate.sent < 0 ? "" : `, ${timeText(exchange.onTheWay(fate))} on the way`;
    lines.push(`received by ${logs[fate.receiver].whose} at ${clock(fate.receiver, fate.received)}${delay}`);
  } else if (fate.sent >= 0 && fate.receiver >= 0) lines.push(`${logs[fate.receiver].whose}'s log does not have it`);
  if (fate.lost >= 0) lines.push(`declared lost by ${logs[fate.sender].whose} at ${clock(fate.sender, fate.lost)}`);
  if (fate.acknowledgedBy >= 0) {
    const by = logs[fate.sender];
    const ack = by.framesOf(fate.acknowledgedBy).find((frame) => frame.kind === "ack");
    lines.push(`acknowledged at ${clock(fate.sender, fate.acknowledgedBy)} by ${packetName(by, fate.acknowledgedBy)}: ${frameText(ack)}`);
  }
  const again = repairOf(exchange, fate);
  if (again >= 0) lines.push(`its bytes went again at ${clock(fate.sender, again)} in ${packetName(logs[fate.sender], again)}`);
  return lines;
}

// The first packet that carries bytes of a lost one once more, in the log of its sender; -1 without.
function repairOf(exchange, fate) {
  const isLost = fate.sent >= 0 && (fate.lost >= 0 || exchange.wasLost(fate));
  return isLost ? exchange.sentAgain(fate.sender, fate.sent) : -1;
}

// What there is to say of a packet where it is drawn.
function packetLines(exchange, log, packet, scale) {
  const events = exchange.logs[log];
  const bytes = events.bytes[packet] ? `, ${countText(events.bytes[packet])} bytes` : "";
  return [
    `${packetName(events, packet)}${bytes}`,
    ...framesText(events, packet, FRAMES_IN_WORDS),
    ...fateLines(exchange, log, packet, scale),
  ];
}

// A row of the list in a line: what the event is about.
function eventText(log, row) {
  const packet = log.packetAt(row);
  if (packet < 0) return log.what[row] === WHAT.STREAM ? `stream ${log.streamAt(row)}` : "";
  return framesText(log, packet, 4).join("; ");
}
// The first packet that carries bytes of a lost one once more, in the log of its sender; -1 without.
function repairOf(exchange, fate) {
  const isLost = fate.sent >= 0 && (fate.lost >= 0 || exchange.wasLost(fate));
  return isLost ? exchange.sentAgain(fate.sender, fate.sent) : -1;
}

