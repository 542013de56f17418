// Both ends' packets joined: which sent packet arrived when, which was declared lost, and what acknowledged it.

// The packets of one log, of one kind of event and one space, by number.
class ByNumber {
  constructor(log, what, space) {
    this.packets = placesThat(log.packets, (packet) => log.space[packet] === space && log.number[packet] >= 0 && log.whatOf(packet) === what);
    const number = (packet) => log.number[packet];
    const isRising = this.packets.every((packet, place) => place === 0 || number(this.packets[place - 1]) <= number(packet));
    if (!isRising) this.packets.sort((one, other) => number(one) - number(other) || one - other);
    this.numbers = log.number.constructor.from(this.packets, number);
  }

  // The place of the first packet with this number or a higher one.
  from(number) {
    return lowerBound(this.numbers, number, 0, this.numbers.length);
  }

  // The highest number; -1 without any.
  highest() {
    return this.numbers.length ? this.numbers[this.numbers.length - 1] : -1;
  }

  // The packet of a number, or -1.
  get(number) {
    const place = this.from(number);
    return this.numbers[place] === number ? this.packets[place] : -1;
  }
}

// kPacketThreshold.
const PACKETS_OVERTAKING = 3;

class Exchange {
  constructor(recording, logs) {
    this.recording = recording;
    this.logs = logs;
    this.indexes = new Map();
    this.acknowledged = new Map();
    // The places of packets that went, or came, in the order of time.
    this.sent = logs.map((log) => packetsWith(log, WHAT.SENT));
    this.received = logs.map((log) => packetsWith(log, WHAT.RECEIVED));
    this.streamPlaces = new Map(recording.streams.map((stream, place) => [stream.id, place]));
  }

  index(log, what, space) {
    const key = 16 * log + 4 * what + space;
    if (!this.indexes.has(key)) this.indexes.set(key, new ByNumber(this.logs[log], what, space));
    return this.indexes.get(key);
  }

  other(log) {
    return this.logs.length > 1 ? 1 - log : -1;
  }

  // The same packet in the same log, or the other: what happened to it there; -1 if nothing did.
  find(log, packet, inLog, what) {
    const { number, space } = this.logs[log];
    if (inLog < 0 || number[packet] < 0) return -1;
    return this.index(inLog, what, space[packet]).get(number[packet]);
  }

  // For a packet that was sent or declared lost: the log of its sender; for one that was received: the other.
  senderOf(log, packet) {
    return this.logs[log].whatOf(packet) === WHAT.RECEIVED ? this.other(log) : log;
  }

  // All that is known of a packet, from any of its events: places in the logs, -1 where unknown.
  fate(log, packet) {
    const sender = this.senderOf(log, packet);
    const receiver = sender < 0 ? log : this.other(sender);
    const sent = sender < 0 ? -1 : this.find(log, packet, sender, WHAT.SENT);
    return {
      sender,
      receiver,
      sent,
      received: this.find(log, packet, receiver, WHAT.RECEIVED),
      lost: this.find(log, packet, sender, WHAT.LOST),
      acknowledgedBy: sent < 0 ? -1 : this.acknowledgedBy(sender, sent),
    };
  }

  // How long a packet was on its way, in µs; NaN where one end is unknown.
  onTheWay({ sender, sent, receiver, received }) {
    return sent >= 0 && received >= 0 ? this.logs[receiver].timeOf(received) - this.logs[sender].timeOf(sent) : NaN;
  }

  // Whether a packet did not arrive: it was declared lost, or a later one arrived. Without the receiver's log and without an event for
  // losses, as a sender would judge (RFC 9002, section 6.1.1).
  wasLost(fate) {
    if (fate.received >= 0 || fate.acknowledgedBy >= 0) return false;
    if (fate.lost >= 0) return true;
    if (fate.sent < 0) return false;
    if (fate.receiver < 0) return this.isOvertaken(fate.sender, fate.sent);
    const { space, number } = this.logs[fate.sender];
    return this.index(fate.receiver, WHAT.RECEIVED, space[fate.sent]).highest() > number[fate.sent];
  }

  isOvertaken(log, packet) {
    const events = this.logs[log];
    const space = events.space[packet];
    const asks = events.someFrame(packet, (frame) => events.kind[frame] !== FRAME.ACK && !isPadding(events, frame));
    this.highest ??= new Map();
    const key = 4 * log + space;
    if (!this.highest.has(key)) {
      const { packets } = this.index(log, WHAT.SENT, space);
      this.highest.set(key, packets.reduce((most, it) => (this.acknowledgedBy(log, it) >= 0 ? Math.max(most, events.number[it]) : most), -1));
    }
    return asks && events.number[packet] + PACKETS_OVERTAKING <= this.highest.get(key);
  }

  // The received packet with the first ACK of a sent one, or -1.
  acknowledgedBy(log, packet) {
    if (!this.acknowledged.has(log)) this.acknowledged.set(log, this.findAcknowledgements(log));
    return this.acknowledged.get(log)[packet];
  }

  // Each number is visited once: `next` leads past those that were acknowledged before.
  findAcknowledgements(log) {
    const events = this.logs[log];
    const by = new Int32Array(events.packets).fill(-1);
    const nexts = SPACES.map((_, space) => Uint32Array.from({ length: this.index(log, WHAT.SENT, space).packets.length + 1 }, (_, place) => place));
    for (const packet of this.received[log]) {
      const space = events.space[packet];
      const index = this.index(log, WHAT.SENT, space);
      const next = nexts[space];
      for (let frame = events.first[packet]; frame < events.first[packet + 1]; frame++) {
        if (events.kind[frame] !== FRAME.ACK) continue;
        const at = events.valueAt[frame];
        for (let range = 0; range < events.value[at]; range++) {
          const [first, last] = [events.value[at + 1 + 2 * range], events.value[at + 2 + 2 * range]];
          let place = follow(next, index.from(first));
          while (place < index.packets.length && index.numbers[place] <= last) {
            by[index.packets[place]] = packet;
            next[place] = place + 1;
            place = follow(next, place);
          }
        }
      }
    }
    return by;
  }

  // The first sent packet after `packet` that has any of its stream bytes once more, or -1.
  sentAgain(log, packet) {
    const events = this.logs[log];
    const lost = events.framesOf(packet).find((it) => it.kind === "stream" && it.bytes > 0);
    if (!lost) return -1;
    const sent = this.sent[log];
    const most = Math.min(sent.length, lowerBound(sent, packet + 1, 0, sent.length) + 50000);
    for (let place = lowerBound(sent, packet + 1, 0, sent.length); place < most; place++) {
      if (events.someFrame(sent[place], (frame) => carries(events, frame, lost.stream, lost.offset))) return sent[place];
    }
    return -1;
  }

  // Where a stream is among the recording's; undefined if it is not there.
  placeOfStream(id) {
    return this.streamPlaces.get(id);
  }

  // The shortest and the longest time on the way, in µs.
  delays() {
    this.foundDelays ??= this.findDelays();
    return this.foundDelays;
  }

  findDelays() {
    let [least, most] = [Infinity, 0];
    if (this.logs.length < 2) return { least: 0, most };
    this.logs.forEach((events, log) => {
      const other = this.other(log);
      for (const packet of this.sent[log]) {
        const received = this.find(log, packet, other, WHAT.RECEIVED);
        if (received < 0) continue;
        const delay = this.logs[other].timeOf(received) - events.timeOf(packet);
        [least, most] = [Math.min(least, delay), Math.max(most, delay)];
      }
    });
    return { least: Math.max(0, Math.min(least, most)), most };
  }
}

function isPadding(log, frame) {
  return log.kind[frame] >= FRAME.OTHERS && log.kinds[log.kind[frame] - FRAME.OTHERS] === "padding";
}

// Whether a frame has this byte of a stream.
function carries(log, place, stream, byte) {
  if (!log.isStream(place) || log.streamOf(place) !== stream) return false;
  const { offset, bytes } = log.frame(place);
  return byte >= offset && byte < offset + bytes;
}

function packetsWith(log, what) {
  return placesThat(log.packets, (packet) => log.whatOf(packet) === what);
}

// The end of a chain, which gets shorter on the way.
function follow(next, place) {
  let end = place;
  while (next[end] !== end) end = next[end];
  while (next[place] !== end) {
    const after = next[place];
    next[place] = end;
    place = after;
  }
  return end;
}
