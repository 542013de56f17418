// One log, unpacked: a column for each property of its STREAM frames, in the order of the log.

const MARKS = { RETRANSMITTED: 1, DUPLICATE: 2, REORDERED: 4 };

class Recording {
  static async load(json) {
    const recording = new Recording();
    Object.assign(recording, json);
    const frames = json.frames;
    const names = ["time", "stream", "bytes", "offset", "mark", "released", "releasedTcp"];
    const kinds = { mark: Uint8Array, stream: Uint16Array, bytes: Uint16Array, released: Uint16Array, releasedTcp: Uint16Array };
    const columns = await Promise.all(names.map((name) => unpack(frames[name], frames.count, kinds[name])));
    names.forEach((name, place) => (recording[name] = columns[place]));
    // Without what is unpacked now.
    recording.frames = { busy_us_per_byte: frames.busy_us_per_byte };
    recording.count = frames.count;
    recording.time = runningSum(recording.time);
    recording.restoreOffsets();
    recording.end = runningSum(recording.bytes.slice());
    recording.sumNew();
    recording.sent = await loadSeries(json.sent);
    recording.series = await Promise.all(json.series.map(loadSeries));
    recording.band = await loadBand(json.band);
    recording.beside = json.beside && (await Recording.load(json.beside));
    recording.events = [...findingsAsEvents(recording), ...(await Promise.all(json.events.map(loadEvents)))];
    recording.pyramid = new Pyramid(recording);
    recording.groupByStream();
    recording.hidden = new Uint8Array(json.streams.length);
    recording.hiddenChanged = () => {};
    return recording;
  }

  // Up to each frame the bytes that had not come, or gone, before.
  sumNew() {
    const old = this.is_server ? MARKS.DUPLICATE | MARKS.RETRANSMITTED : MARKS.DUPLICATE;
    this.fresh = new this.end.constructor(this.count);
    let sum = 0;
    for (let frame = 0; frame < this.count; frame++) {
      if (!(this.mark[frame] & old)) sum += this.bytes[frame];
      this.fresh[frame] = sum;
    }
  }

  // The new bytes of the frames before `frame`.
  newBefore(frame) {
    return frame > 0 ? this.fresh[frame - 1] : 0;
  }

  // An offset is embedded as its distance from where the stream's frame before it ended.
  restoreOffsets() {
    const next = new Float64Array(this.streams.length);
    for (let frame = 0; frame < this.count; frame++) {
      const stream = this.stream[frame];
      this.offset = put(this.offset, frame, next[stream] + unzigzag(this.offset[frame]));
      next[stream] = this.offset[frame] + this.bytes[frame];
    }
  }

  // The frames of each stream: `ofStream[starts[s]]` to `ofStream[starts[s + 1] - 1]`.
  groupByStream() {
    this.starts = new Uint32Array(this.streams.length + 1);
    for (let frame = 0; frame < this.count; frame++) this.starts[this.stream[frame] + 1]++;
    for (let stream = 0; stream < this.streams.length; stream++) this.starts[stream + 1] += this.starts[stream];
    this.streams.forEach((stream, place) => {
      stream.frames = this.starts[place + 1] - this.starts[place];
    });
    const next = this.starts.slice();
    this.ofStream = new Uint32Array(this.count);
    for (let frame = 0; frame < this.count; frame++) this.ofStream[next[this.stream[frame]]++] = frame;
    this.streams.forEach((stream, place) => {
      stream.last_us = stream.frames ? this.time[this.ofStream[this.starts[place + 1] - 1]] : stream.first_us;
    });
  }

  // Where frame `frame` is on an axis: its time, its number, or the bytes up to its end.
  position(axis, frame) {
    if (axis === "time") return this.time[frame];
    return axis === "frames" ? frame + 1 : this.end[frame];
  }

  // Where its block begins.
  begin(axis, frame) {
    if (axis === "frames") return frame;
    if (axis === "bytes") return this.end[frame] - this.bytes[frame];
    return this.time[frame];
  }

  // The first frame whose position is at or after `position`.
  firstAt(axis, position) {
    if (axis === "frames") return Math.min(this.count, Math.max(0, Math.ceil(position) - 1));
    const column = axis === "time" ? this.time : this.end;
    return lowerBound(column, position, 0, this.count);
  }

  // Where a moment is on an axis.
  positionOfTime(axis, time) {
    if (axis === "time") return time;
    const frame = lowerBound(this.time, time, 0, this.count);
    if (frame === 0) return 0;
    return frame >= this.count ? this.length(axis) : this.begin(axis, frame);
  }

  // The moment at a position of an axis.
  timeAt(axis, position) {
    if (axis === "time") return position;
    const frame = this.firstAt(axis, position);
    return frame < this.count ? this.time[frame] : this.duration;
  }

  // All events of both ends, once; the figures do not wait for them.
  loadEvents() {
    this.loading ??= (async () => {
      const logs = await Promise.all(this.logs.map((json, place) => EventLog.load(json, place === 0 ? this : null)));
      this.exchange = new Exchange(this, logs);
      // What was embedded is unpacked, and the form of the events needs only names.
      this.logs = this.logs.map((json) => ({ ...json, columns: { names: json.columns.names } }));
      return this.exchange;
    })();
    return this.loading;
  }

  // Hides all streams but these, by their places.
  showOnly(places) {
    this.hidden.fill(1);
    for (const place of places) this.hidden[place] = 0;
    this.hiddenChanged();
  }

  // The event that a frame of the figures came with, or null while that is unknown.
  rowOfFrame(frame) {
    const log = this.exchange && this.exchange.logs[0];
    return log && log.carrier[frame] !== NOTHING ? { log: 0, row: log.row[log.carrier[frame]] } : null;
  }

  // The first event of the shown log at a moment or after it, or null.
  rowOfTime(time) {
    const log = this.exchange && this.exchange.logs[0];
    if (!log || !log.count) return null;
    return { log: 0, row: Math.min(log.count - 1, lowerBound(log.time, time, 0, log.count)) };
  }

  // What the series say of a moment, as name and value in words.
  valuesAt(time) {
    const values = [];
    for (const series of this.series) {
      const place = lowerBound(series.time, time + 1e-6, 0, series.count) - 1;
      if (place >= 0) values.push([series.name, valueText(series.value[place], series.unit)]);
    }
    return values;
  }

  length(axis) {
    if (axis === "time") return this.duration;
    return axis === "frames" ? this.count : this.count ? this.end[this.count - 1] : 0;
  }
}

async function loadSeries(json) {
  const [time, value] = await Promise.all([unpack(json.time, json.count), unpack(json.value, json.count)]);
  return { ...json, time: runningSum(time), value };
}

async function loadEvents(json) {
  return { name: json.name, count: json.count, time: runningSum(await unpack(json.time, json.count)) };
}

// The first place in the rising `column` from `low` to `high` whose value is not below `value`.
function lowerBound(column, value, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
