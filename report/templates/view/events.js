// All events of one log, unpacked when the figures are drawn: a column for each property of the events, of the packets among them,
// and of the packets' frames. `report/src/viewer/event_columns.rs` makes the columns.

const WHAT = { OTHER: 0, SENT: 1, RECEIVED: 2, LOST: 3, STREAM: 4 };
const FRAME = { IN_FIGURES: 0, IN_FIGURES_FIN: 1, STREAM: 2, STREAM_FIN: 3, ACK: 4, OTHERS: 5 };
const SPACES = ["Initial", "Handshake", "1-RTT"];
const NOTHING = 0xffffffff;

class EventLog {
  // `recording` has the values of the frames that stand in the figures, if the log is the one that they show.
  static async load(json, recording) {
    const { columns, count, packets } = json;
    const log = new EventLog();
    Object.assign(log, { whose: json.whose, file: json.file, shift: json.to_own_clock_us, count, packets, recording });
    Object.assign(log, { names: columns.names, kinds: columns.kinds, packedText: fromBase64(columns.text) });
    log.time = runningSum(await unpack(columns.time, count));
    log.name = await unpack(columns.name, count, Uint16Array);
    log.what = await unpack(columns.what, count, Uint8Array);
    log.textEnd = runningSum(await unpack(columns.textBytes, count, Uint32Array));
    log.space = await unpack(columns.space, packets, Uint8Array);
    log.number = await unpack(columns.number, packets);
    log.bytes = await unpack(columns.bytes, packets, Uint16Array);
    log.first = startsOf(await unpack(columns.frames, packets, Uint8Array));
    log.kind = await unpack(columns.kind, columns.kindCount, Uint8Array);
    log.value = await unpack(columns.value, columns.valueCount);
    log.refer();
    log.stream = await unpack(columns.stream, log.streamRow.length);
    log.restoreNumbers();
    log.placeValues();
    return log;
  }

  // The rows of packets, and of events of streams.
  refer() {
    const { what } = this;
    this.row = placesThat(this.count, (row) => what[row] !== WHAT.OTHER && what[row] !== WHAT.STREAM);
    this.streamRow = placesThat(this.count, (row) => what[row] === WHAT.STREAM);
  }

  // A number is embedded as its distance from the one before it of the same kind of event and space; -1 where none was logged.
  restoreNumbers() {
    const before = new Float64Array(16);
    let numbers = new Int32Array(this.packets);
    for (let packet = 0; packet < this.packets; packet++) {
      const key = 4 * this.what[this.row[packet]] + this.space[packet];
      if (this.number[packet] > 0) before[key] += unzigzag(this.number[packet] - 1);
      numbers = put(numbers, packet, this.number[packet] > 0 ? before[key] : -1);
    }
    this.number = numbers;
  }

  // Where each frame has its values; a frame of the figures has its place there. `carrier` is the reverse: the packet of each.
  placeValues() {
    this.valueAt = new Uint32Array(this.kind.length);
    this.carrier = new Uint32Array(this.recording ? this.recording.count : 0).fill(NOTHING);
    const largest = new Float64Array(4);
    let [value, shown] = [0, 0];
    for (let packet = 0; packet < this.packets; packet++) {
      for (let frame = this.first[packet]; frame < this.first[packet + 1]; frame++) {
        const kind = this.kind[frame];
        if (kind <= FRAME.IN_FIGURES_FIN) {
          this.carrier[shown] = packet;
          this.valueAt[frame] = shown++;
          continue;
        }
        this.valueAt[frame] = value;
        if (kind === FRAME.ACK) value = this.restoreRanges(value, largest, this.what[this.row[packet]]);
        else value += kind < FRAME.ACK ? 3 : 2;
      }
    }
  }

  // Makes of each range's two values its first and its last number. Returns where the next frame's values are.
  restoreRanges(at, largest, what) {
    const end = at + 1 + 2 * this.value[at];
    let above = largest[what];
    for (let place = at + 1; place < end; place += 2) {
      const last = above + unzigzag(this.value[place]);
      const first = last - this.value[place + 1];
      if (place === at + 1) largest[what] = last;
      this.value = put(this.value, place, first);
      this.value = put(this.value, place + 1, last);
      above = first;
    }
    return end;
  }

  // A frame as an object: STREAM, ACK with its ranges, or another kind.
  frame(place) {
    const [kind, at] = [this.kind[place], this.valueAt[place]];
    if (kind <= FRAME.IN_FIGURES_FIN) {
      const { recording } = this;
      const stream = recording.streams[recording.stream[at]].id;
      return { kind: "stream", stream, offset: recording.offset[at], bytes: recording.bytes[at], fin: kind === FRAME.IN_FIGURES_FIN };
    }
    if (kind <= FRAME.STREAM_FIN) {
      const [stream, offset, bytes] = this.value.subarray(at, at + 3);
      return { kind: "stream", stream, offset, bytes, fin: kind === FRAME.STREAM_FIN };
    }
    if (kind === FRAME.ACK) {
      const ranges = [];
      for (let range = 0; range < this.value[at]; range++) ranges.push([this.value[at + 1 + 2 * range], this.value[at + 2 + 2 * range]]);
      return { kind: "ack", ranges };
    }
    const [stream, value] = this.value.subarray(at, at + 2);
    return { kind: this.kinds[kind - FRAME.OTHERS], stream: stream ? stream - 1 : null, value: value ? value - 1 : null };
  }

  // The stream of a frame, without making an object; -1 without.
  streamOf(place) {
    const [kind, at] = [this.kind[place], this.valueAt[place]];
    if (kind <= FRAME.IN_FIGURES_FIN) return this.recording.streams[this.recording.stream[at]].id;
    if (kind <= FRAME.STREAM_FIN) return this.value[at];
    return kind === FRAME.ACK ? -1 : this.value[at] - 1;
  }

  isStream(place) {
    return this.kind[place] <= FRAME.STREAM_FIN;
  }

  framesOf(packet) {
    return Array.from({ length: this.first[packet + 1] - this.first[packet] }, (_, place) => this.frame(this.first[packet] + place));
  }

  // Whether a packet has a frame that satisfies `wanted(place)`.
  someFrame(packet, wanted) {
    for (let place = this.first[packet]; place < this.first[packet + 1]; place++) if (wanted(place)) return true;
    return false;
  }

  // The row's packet, or -1.
  packetAt(row) {
    const what = this.what[row];
    return what === WHAT.OTHER || what === WHAT.STREAM ? -1 : lowerBound(this.row, row, 0, this.packets);
  }

  // The stream of a row that is an event of a stream, or -1.
  streamAt(row) {
    return this.what[row] === WHAT.STREAM ? this.stream[lowerBound(this.streamRow, row, 0, this.streamRow.length)] : -1;
  }

  timeOf(packet) {
    return this.time[this.row[packet]];
  }

  whatOf(packet) {
    return this.what[this.row[packet]];
  }

  // All that is kept of the events' bodies, as bytes.
  texts() {
    this.unpackedText ??= gunzip(this.packedText);
    return this.unpackedText;
  }

  // What is kept of an event's body; empty if nothing is.
  async text(row) {
    const bytes = await this.texts();
    return new TextDecoder().decode(bytes.subarray(row ? this.textEnd[row - 1] : 0, this.textEnd[row]));
  }

  hasText(row) {
    return this.textEnd[row] > (row ? this.textEnd[row - 1] : 0);
  }
}

// The places from 0 to `count - 1` that satisfy `isWanted(place)`.
function placesThat(count, isWanted) {
  const places = new Uint32Array(count);
  let wanted = 0;
  for (let place = 0; place < count; place++) if (isWanted(place)) places[wanted++] = place;
  return places.slice(0, wanted);
}

// Where each of several stretches begins, from their lengths; and where the last ends.
function startsOf(lengths) {
  const starts = new Uint32Array(lengths.length + 1);
  for (let place = 0; place < lengths.length; place++) starts[place + 1] = starts[place] + lengths[place];
  return starts;
}
