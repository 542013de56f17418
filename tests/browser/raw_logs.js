// The logs of both ends of a connection, read line by line: the answers that the report is compared with. It shares no code with
// the report, nor with the reader of logs.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const SPACES = { initial: "Initial", handshake: "Handshake", "1RTT": "1-RTT" };

// The events of a log in the JSON text sequence of `utmost play --qlog`, with its vantage point.
function readLog(file) {
  const records = readFileSync(file, "utf8").split("\n").map((line) => line.replace(/^\x1e/, "")).filter(Boolean).map((line) => JSON.parse(line));
  return { side: records[0].trace.vantage_point.type, events: records.slice(1) };
}

// The words that the report has for a packet.
export function packetName({ data: { header } }) {
  return `${SPACES[header.packet_type]} packet ${header.packet_number.toLocaleString("en")}`;
}

export function streamFrames(event) {
  const frames = (event.data.frames || []).filter((it) => it.frame_type === "stream");
  return frames.map((it) => ({ stream: it.stream_id, offset: it.offset, bytes: it.raw ? it.raw.payload_length : 0 }));
}

function carries(event, stream, byte) {
  return streamFrames(event).some((it) => it.stream === stream && it.offset <= byte && byte < it.offset + it.bytes);
}

export class RawLogs {
  constructor(folder) {
    const logs = readdirSync(folder).filter((it) => it.endsWith(".sqlog")).map((it) => readLog(join(folder, it)));
    for (const { side, events } of logs) this[side] = events;
    const [up, down] = [this.ways("client", "server"), this.ways("server", "client")].map((ways) => Math.min(...ways.map((it) => it.way)));
    // What leads from the server's clock to the client's, if the shortest way takes as long in both directions.
    this.toClient = (down - up) / 2;
  }

  events(side, name) {
    return this[side].filter((it) => it.name === name);
  }

  sent(side) {
    return this.events(side, "quic:packet_sent");
  }

  received(side) {
    return this.events(side, "quic:packet_received");
  }

  // What `from` sent and `to` received: the packet, and its way by the two clocks, in ms.
  ways(from, to) {
    const arrivals = new Map(this.received(to).map((it) => [packetName(it), it]));
    const arrived = this.sent(from).filter((it) => arrivals.has(packetName(it)));
    return arrived.map((sent) => ({ sent, way: arrivals.get(packetName(sent)).time - sent.time }));
  }

  // A moment of an end on the client's clock, in ms.
  onClientClock(side, time) {
    return side === "server" ? time + this.toClient : time;
  }

  // The packets that brought a byte of a stream, in the order of sending.
  carriers(stream, byte) {
    return this.sent("server").filter((it) => carries(it, stream, byte));
  }

  // Packets that did not arrive although a later one did.
  lost(from, to) {
    const came = this.received(to);
    const names = new Set(came.map(packetName));
    const isOvertaken = ({ data: { header } }) =>
      came.some((it) => it.data.header.packet_type === header.packet_type && it.data.header.packet_number > header.packet_number);
    return this.sent(from).filter((it) => !names.has(packetName(it)) && isOvertaken(it));
  }

  // Packets that took more than twice as long as the fastest, in the order of sending on the client's clock.
  slow() {
    const shift = { client: this.toClient, server: -this.toClient };
    const ways = [["client", "server"], ["server", "client"]].flatMap(([from, to]) =>
      this.ways(from, to).map(({ sent, way }) => ({ side: from, sent, way: way + shift[from] })),
    );
    const least = Math.min(...ways.map((it) => it.way));
    const time = ({ side, sent }) => this.onClientClock(side, sent.time);
    return ways.filter((it) => it.way > 2 * least).sort((one, other) => time(one) - time(other));
  }

  // What first acknowledged a packet of the server: the event, and its ranges from the highest to the lowest.
  acknowledgement({ data: { header } }) {
    for (const event of this.received("server")) {
      if (event.data.header.packet_type !== header.packet_type) continue;
      const acks = (event.data.frames || []).filter((it) => it.frame_type === "ack");
      const ranges = acks.flatMap((it) => it.acked_ranges.map(([first, last = first]) => [first, last]));
      if (!ranges.some(([first, last]) => first <= header.packet_number && header.packet_number <= last)) continue;
      return { event, ranges: ranges.sort((one, other) => other[0] - one[0]) };
    }
    return null;
  }

  // The last value of a metric of the server up to a moment of its clock.
  metric(name, time) {
    const updates = this.events("server", "quic:recovery_metrics_updated").filter((it) => it.time <= time && it.data[name] !== undefined);
    return updates.at(-1).data[name];
  }

  // The streams of the client's requests.
  requests() {
    const made = this.events("client", "http3:frame_created").filter((it) => it.data.frame.frame_type === "headers");
    return made.map((it) => it.data.stream_id);
  }

  // A request as the client logged it: when it was made, and the priority that it signals.
  request(stream) {
    const made = this.events("client", "http3:frame_created").find((it) => it.data.stream_id === stream && it.data.frame.frame_type === "headers");
    const field = (name) => made.data.frame.headers.find((it) => it.name === name)?.value;
    return { time: made.time, path: field(":path"), priority: field("priority") };
  }

  // The STREAM frames that came to the client from one moment to another, and how many of their bytes were new.
  arrivals(from, to) {
    const known = new Set();
    let [frames, fresh] = [0, 0];
    for (const event of this.received("client")) {
      for (const { stream, offset, bytes } of streamFrames(event)) {
        const isInside = event.time >= from && event.time < to;
        if (isInside) frames++;
        if (isInside && !known.has(`${stream} ${offset}`)) fresh += bytes;
        known.add(`${stream} ${offset}`);
      }
    }
    return { frames, fresh };
  }
}
