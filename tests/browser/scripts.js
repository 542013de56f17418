// Runs the report's scripts in Node, without a browser: what they compute rather than how it looks.
//
// node tests/browser/scripts.js

import assert from "node:assert";
import fs from "node:fs";
import vm from "node:vm";
import zlib from "node:zlib";

const scripts = new URL("../../report/templates/view/", import.meta.url);
const context = vm.createContext({
  document: { createElement: () => ({ getContext: () => ({ measureText: (text) => ({ width: 6 * text.length }) }) }) },
  FONT: "12px sans-serif",
  atob, Blob, DecompressionStream, Response, TextDecoder, TextEncoder, URLSearchParams, setTimeout, location: { hash: "" },
});
const NAMES = [
  "decode", "events", "exchange", "recording", "words", "packet_words", "viewport", "waterfall", "packets", "strip", "legend",
  "event_filter", "event_form", "permalink", "findings", "difference", "rows", "stacks",
];
for (const name of NAMES) vm.runInContext(fs.readFileSync(new URL(`${name}.js`, scripts), "utf8"), context);

let failures = 0;

async function test(name, check) {
  try {
    await check();
    console.log(`ok   ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${error.message}`);
    failures++;
  }
}

// What the scripts make of `code`, as plain data of this program.
const run = async (code, values = {}) => {
  Object.assign(context, values);
  const result = await vm.runInContext(`(async () => { ${code} })()`, context);
  return result === undefined ? undefined : JSON.parse(JSON.stringify(result));
};

// Columns as the report has them: varints, gzip, base64.
function pack(values) {
  const bytes = [];
  for (let value of values) {
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  }
  return zlib.gzipSync(Uint8Array.from(bytes)).toString("base64");
}
const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value);

// A log of `events`: time, what (1 sent, 2 received, 3 lost, 4 of a stream), and number and frames, or stream. Frames are lists of a
// kind and its values.
function log(whose, events) {
  const packets = events.filter((it) => it.what > 0 && it.what < 4);
  const frames = packets.flatMap((it) => it.frames || []);
  const before = [0, 0, 0, 0];
  const numbers = packets.map(({ what, number }) => {
    const step = number - before[what];
    before[what] = number;
    return zigzag(step) + 1;
  });
  const steps = events.map((it, place) => it.time - (place ? events[place - 1].time : 0));
  const texts = events.map((it) => it.text || "");
  const names = ["other", "quic:packet_sent", "quic:packet_received", "recovery:packet_lost", "http3:frame_parsed"];
  const columns = {
    names, kinds: ["padding", "max_data"], time: pack(steps), name: pack(events.map((it) => it.what)), what: pack(events.map((it) => it.what)),
    stream: pack(events.filter((it) => it.what === 4).map((it) => it.stream)), space: pack(packets.map(() => 2)), number: pack(numbers),
    bytes: pack(packets.map(() => 1200)), frames: pack(packets.map((it) => (it.frames || []).length)), kind: pack(frames.map((it) => it[0])),
    kindCount: frames.length, value: pack(frames.flatMap((it) => it.slice(1))), valueCount: frames.flatMap((it) => it.slice(1)).length,
    textBytes: pack(texts.map((it) => Buffer.byteLength(it))), text: zlib.gzipSync(texts.join("")).toString("base64"),
  };
  return { whose, file: `${whose}.qlog`, to_own_clock_us: 0, count: events.length, packets: packets.length, columns };
}

// The server sends four packets; the second is lost and goes again as the fifth.
const stream = (offset) => [2, 8, offset, 100];
const SERVER = log("the server", [
  { time: 10, what: 1, number: 1, frames: [stream(0)], text: '{"one":1}' },
  { time: 11, what: 1, number: 2, frames: [stream(100)] },
  { time: 12, what: 1, number: 3, frames: [stream(200)] },
  { time: 13, what: 1, number: 4, frames: [stream(300), [6, 0, 5001]] },
  // ACK of 1 and of 3 to 4: the highest range first.
  { time: 50, what: 2, number: 7, frames: [[4, 2, zigzag(4), 1, zigzag(1 - 3), 0]] },
  { time: 51, what: 3, number: 2 },
  { time: 52, what: 1, number: 5, frames: [stream(100)] },
  // ACK of 1 and of 3 to 5, as the distance of 5 from 4.
  { time: 90, what: 2, number: 8, frames: [[4, 2, zigzag(1), 2, zigzag(1 - 3), 0]] },
]);
const CLIENT = log("the client", [
  { time: 20, what: 2, number: 1, frames: [[0]] },
  { time: 25, what: 2, number: 3, frames: [[0]] },
  { time: 25, what: 4, stream: 8, text: '{"frame":"Ünder"}' },
  { time: 26, what: 2, number: 4, frames: [[0], [6, 0, 5001]] },
  { time: 40, what: 1, number: 7, frames: [[4, 2, zigzag(4), 1, zigzag(1 - 3), 0]] },
  { time: 70, what: 2, number: 5, frames: [[1]] },
]);
// The client's frames, which the figures have.
const RECORDING = `
  const recording = Object.assign(new Recording(), {
    name: "test", streams: [{ id: 8, role: "request", url: "/a", priority: "u=1" }], start: 0, duration: 100, count: 4, events: [], series: [],
    time: Float64Array.of(20, 25, 26, 70), stream: new Uint32Array(4), offset: [0, 200, 300, 100], bytes: [100, 100, 100, 100], end: Float64Array.of(100, 200, 300, 400),
    hidden: new Uint8Array(1), logs: [client, server], hiddenChanged() {}, findings: { verdict: "", list: [] },
  });
  const exchange = await recording.loadEvents();
`;
const LOGS = { client: CLIENT, server: SERVER };

await test("bars of head-of-line blocking stand at their times and are equally wide", async () => {
  const bars = await run(`
    const positions = [10, 11, 30, 300];
    const recording = { count: 4, firstAt: (_, position) => positions.filter((it) => it < position).length, position: (_, frame) => positions[frame] };
    const scale = { axis: "time", from: 0, to: 400, left: 0, width: 400, perUnit: 1, x: (it) => it, position: (x) => x };
    const bars = [];
    new Stacks(recording).eachColumn(scale, (left, width) => bars.push([left + width / 2, width]));
    return bars;`);
  assert.deepStrictEqual(bars, [[10, 2], [11, 2], [30, 2], [300, 2]]);
});

await test("packets, frames and ranges come out of their columns", async () => {
  const found = await run(
    `${RECORDING}
    const [client_, server_] = exchange.logs;
    return {
      numbers: Array.from(server_.number),
      frames: server_.framesOf(4).concat(server_.framesOf(3)),
      inFigures: client_.framesOf(4),
      words: eventText(server_, 4),
      carriers: [0, 1, 2, 3].map((frame) => recording.rowOfFrame(frame)),
    };`,
    LOGS,
  );
  assert.deepStrictEqual(found.numbers, [1, 2, 3, 4, 7, 2, 5, 8]);
  assert.deepStrictEqual(found.frames, [
    { kind: "ack", ranges: [[3, 4], [1, 1]] },
    { kind: "stream", stream: 8, offset: 300, bytes: 100, fin: false },
    { kind: "max_data", stream: null, value: 5000 },
  ]);
  assert.deepStrictEqual(found.inFigures, [{ kind: "stream", stream: 8, offset: 100, bytes: 100, fin: true }]);
  assert.strictEqual(found.words, "ACK 3 to 4, 1");
  // Each frame of a figure leads to its packet's event.
  assert.deepStrictEqual(found.carriers, [0, 1, 3, 5].map((row) => ({ log: 0, row })));
});

await test("a packet's fate is known from both ends", async () => {
  const found = await run(
    `${RECORDING}
    return {
      lost: exchange.fate(1, 1),
      arrived: exchange.fate(0, 1),
      was: [exchange.wasLost(exchange.fate(1, 1)), exchange.wasLost(exchange.fate(1, 2))],
      again: exchange.sentAgain(1, 1),
      words: fateLines(exchange, 1, 2),
      lostWords: fateLines(exchange, 1, 1),
      delays: exchange.delays(),
    };`,
    LOGS,
  );
  assert.deepStrictEqual(found.lost, { sender: 1, receiver: 0, sent: 1, received: -1, lost: 5, acknowledgedBy: -1 });
  assert.deepStrictEqual(found.arrived, { sender: 1, receiver: 0, sent: 2, received: 1, lost: -1, acknowledgedBy: 4 });
  assert.deepStrictEqual(found.was, [true, false]);
  assert.strictEqual(found.again, 6);
  assert.deepStrictEqual(found.words, [
    "sent by the server at 0.012 ms",
    "received by the client at 0.025 ms, 0.013 ms on the way",
    "acknowledged at 0.050 ms by 1-RTT packet 7: ACK 3 to 4, 1",
  ]);
  assert.deepStrictEqual(found.lostWords, [
    "sent by the server at 0.011 ms",
    "the client's log does not have it",
    "declared lost by the server at 0.051 ms",
    "its bytes went again at 0.052 ms in 1-RTT packet 5",
  ]);
  assert.deepStrictEqual(found.delays, { least: 10, most: 18 });
});

await test("the table of packets lists those that the reader chose", async () => {
  const found = await run(
    `${RECORDING}
    // The packet that brought the lost bytes again comes late: after 23 us, where the fastest take 10.
    exchange.logs[0].time[5] = 75;
    const packets = new Packets(recording);
    const listed = (wanted) => {
      packets.wanted = wanted;
      const { caption, rows } = packets.table(new Viewport([recording]));
      return [caption, ...rows.map((it) => it[4])];
    };
    const few = ["lost packets", "slow packets", "packets with ACK", "packets with STREAM"].map(listed);
    recording.hidden[0] = 1;
    return [...few, listed(ALL_PACKETS)];`,
    LOGS,
  );
  assert.deepStrictEqual(found, [
    ["Lost packets in view: 1; the server sent 2", "1-RTT packet 2"],
    ["Slow packets in view: 1; the server sent 5", "1-RTT packet 5"],
    ["Packets with ACK in view: 1; the client sent 7", "1-RTT packet 7"],
    ["Packets with STREAM in view: 5; the server sent 1 to 5", 1, 2, 3, 4, 5].map((it) => (it > 0 ? `1-RTT packet ${it}` : it)),
    ["Packets in view: 1 of 6", "1-RTT packet 7"],
  ]);
});

await test("names of lines keep their letters on a phone, in as many rows as they need", async () => {
  const found = await run(
    `const keys = [["smoothed RTT"], ["latest RTT"], ["least RTT"], ["allowed by the connection's flow control"]];
    const drawn = (left, width) => {
      const texts = [];
      const surface = { line: () => {}, text: (x, y, words) => texts.push([x, y, words]) };
      drawKeys(surface, { left, width }, 40, keys, { series: [1, 2, 3] });
      return [...texts, heightOfMoreKeys({ left, width }, keys)];
    };
    return [drawn(140, 194), drawn(168, 1000)];`,
  );
  const last = "allowed by the connection's flow control";
  const phone = [[35, 10, "smoothed RTT"], [153, 10, "latest RTT"], [259, 10, "least RTT"], [35, 25, last]];
  assert.deepStrictEqual(found[0].map((it) => it[2]).slice(0, 4), phone.map((it) => it[2]));
  assert.deepStrictEqual(found[0].slice(0, 4).map((it) => it[1]), [25, 25, 25, 40]);
  assert.strictEqual(found[0][4], 15);
  assert.deepStrictEqual([...new Set(found[1].slice(0, 4).map((it) => it[1]))], [40], "one row where it has room");
});

await test("a lost packet says that no event tells when it was declared lost, as in logs of quiche", async () => {
  const found = await run(
    `${RECORDING}
    const fate = exchange.fate.bind(exchange);
    exchange.fate = (log, packet) => ({ ...fate(log, packet), lost: -1 });
    const packets = new Packets(recording);
    packets.wanted = "lost packets";
    const { caption, headings, rows } = packets.table(new Viewport([recording]));
    return [caption, ...rows.map((it) => it[headings.indexOf("declared lost")])];`,
    LOGS,
  );
  assert.deepStrictEqual(found, [
    "Lost packets in view: 1; the server sent 2. “not logged”: it was lost, and no event says when its sender declared it so",
    "not logged",
  ]);
});

await test("the events of both ends are found by stream, byte, packet, name and time", async () => {
  const find = (filter) => `[...filtered(exchange, order, ${filter}, null)].map((id) => [id & 1, id >>> 1])`;
  const found = await run(
    `${RECORDING}
    const order = inOrder(exchange.logs);
    return {
      order: [...order].map((id) => [id & 1, id >>> 1]),
      byte: ${find("{ stream: 8, byte: 150 }")},
      stream: ${find("{ stream: 8, log: 0 }")},
      packet: ${find("{ packet: 7 }")},
      name: ${find('{ name: "recovery:packet_lost" }')},
      time: ${find("{ from: 25, to: 26 }")},
    };`,
    LOGS,
  );
  assert.deepStrictEqual(found.order.slice(4, 8), [[0, 0], [0, 1], [0, 2], [0, 3]]);
  // The packet that was lost, the one that brought its bytes again, and where that came.
  assert.deepStrictEqual(found.byte, [[1, 1], [1, 6], [0, 5]]);
  assert.deepStrictEqual(found.stream, [[0, 0], [0, 1], [0, 2], [0, 3], [0, 5]]);
  assert.deepStrictEqual(found.packet, [[0, 4], [1, 4]]);
  assert.deepStrictEqual(found.name, [[1, 5]]);
  assert.deepStrictEqual(found.time, [[0, 1], [0, 2], [0, 3]]);
});

await test("a text is found in what events said, and in the words for packets whose text is not kept", async () => {
  const find = (log, text) => `[...(await rowsWith(exchange.logs[${log}], ${JSON.stringify(text)}, () => false))].flatMap((hit, row) => (hit ? [row] : []))`;
  const found = await run(
    `${RECORDING}
    return [${find(1, '"ONE":1')}, ${find(0, "fRAME\":\"Ünd")}, ${find(1, "bytes 100 to 199")}, ${find(0, "nowhere")}, await exchange.logs[0].text(2)];`,
    LOGS,
  );
  assert.deepStrictEqual(found, [[0], [2], [1, 6], [], '{"frame":"Ünder"}']);
});

await test("a link leads back to the view, the filters and the event", async () => {
  const found = await run(
    `${RECORDING}
    const state = () => {
      const viewport = new Viewport([recording]);
      const form = { filled: {}, state() { return this.filled; }, setState(filled) { this.filled = filled; } };
      return { viewport, recordings: [recording], views: [{ form }] };
    };
    const page = state();
    page.viewport.show(10, 40);
    page.viewport.measured = { from: 12, to: 20.5 };
    page.viewport.selected = { recording, log: 1, row: 5 };
    page.views[0].form.filled = { text: "a&b=c", packet: "7", view: "1" };
    recording.hidden[0] = 1;
    const link = linkOf(page);
    recording.hidden[0] = 0;
    const other = state();
    const linked = followLink(link, other);
    const { from, to, measured } = other.viewport;
    return { linked, from, to, measured, filled: other.views[0].form.filled, hidden: recording.hidden[0], again: linkOf({ ...other, viewport: Object.assign(other.viewport, { selected: page.viewport.selected }) }) === link };`,
    LOGS,
  );
  assert.deepStrictEqual(found, {
    linked: [[1, 5]], from: 10, to: 40, measured: { from: 12, to: 20.5 }, filled: { text: "a&b=c", packet: "7", view: "1" }, hidden: 1, again: true,
  });
});

await test("many hidden streams make a short link", async () => {
  const found = await run(`
    const flags = new Uint8Array(1500).fill(1);
    flags[3] = flags[5] = 0;
    const other = new Uint8Array(1500);
    setRanges(other, rangesText(flags));
    return { text: rangesText(flags), isSame: flags.every((it, place) => it === other[place]) };`);
  assert.deepStrictEqual(found, { text: "0-2.4.6-1499", isSame: true });
});

await test("of too many packets all lost ones are drawn", async () => {
  const found = await run(`
    const lines = Array.from({ length: 1000 }, (_, place) => ({ place, isLost: place === 7 || place === 992 }));
    const kept = thinned(lines, 100);
    return [kept.length, kept.filter((it) => it.isLost).length];`);
  assert.deepStrictEqual(found, [102, 2]);
});

// A log whose congestion window falls and rises within one pixel column, on a clock that had begun 600 us before.
const drawn = await run(`
  const recording = Object.assign(new Recording(), {
    streams: [], start: 600, duration: 1000, count: 0, events: [], sent: { count: 0 },
    series_of: "the client", losses_of: "the client", shown_of: "the client", sender: null, is_server: false,
    series: [{ name: "congestion window", unit: "bytes", time: [0, 500, 500.2], value: [100, 80, 50], count: 3 }],
  });
  const viewport = new Viewport([recording]);
  const scale = new Scale(viewport, 1200, recording);
  const lines = [];
  const surface = new Proxy({}, { get: (_, name) => (name === "line" ? (...line) => lines.push(line) : () => {}) });
  const theme = { series: ["first", "second", "third"], grid: "grid", muted: "muted", ink: "ink" };
  new Strip(recording).drawSeries(surface, scale, { unit: "bytes", series: recording.series, keys: [], top: 0 }, theme, 100);
  return {
    line: Array.from(lines.find(([points, colour]) => colour === "first" && points.length > 4)[0]),
    exact: clockText(recording, 90000),
    far: clockText(recording, 90012, { axis: "time", perUnit: 0.001 }),
  };`);

await test("a value holds until the next: no part of its line is a slope", () => {
  for (let at = 2; at < drawn.line.length; at += 2) {
    const isSlope = drawn.line[at] !== drawn.line[at - 2] && drawn.line[at + 1] !== drawn.line[at - 1];
    assert(!isSlope, `a slope at ${drawn.line[at]}: ${drawn.line}`);
  }
});

await test("times are those of the log's clock, with the digits that the view tells apart", () => {
  assert.deepStrictEqual([drawn.exact, drawn.far], ["90.600 ms", "91 ms"]);
});

await test("the keys of lists that lack some come in the order of each", async () => {
  const found = await run(`return mergedKeys([
    [["h2"], ["facts"], ["figure a"], ["figure b"]],
    [["h2"], ["remarks"], ["facts"], ["lint"], ["figure a"], ["figure c"], ["figure b"]],
  ]);`);
  const expected = ["h2", "remarks", "facts", "lint", "figure a", "figure c", "figure b"];
  assert.deepStrictEqual(found, expected);
});

await test("what moved is said in words, with the sign of each change", async () => {
  const run_ = (complete_ms, place) => ({ stream: 0, requested_ms: 0, first_ms: 10, complete_ms, place, bytes_before: place * 1000 });
  const resources = [
    { url: "/a", bytes: 5, runs: [run_(20, 1), run_(32.5, 2)], moved: { first_later_ms: 0, later_ms: 12.5, index_later_ms: 3, places_later: 1, more_bytes_before: 1000 } },
    { url: "/b", bytes: 5, runs: [run_(30, 2), null], moved: { first_later_ms: null, later_ms: null, index_later_ms: null, places_later: null, more_bytes_before: null } },
  ];
  const found = await run(`
    const figure = new Difference({ with: 1, began_us: [1000, 2000], in_common: 1, resources, note: null }, [{ name: "one" }, { name: "other" }]);
    return { text: differenceText(figure.difference), lines: figure.lines(resources[0]), words: resources.map((it) => figure.words(it)) };
  `, { resources });
  assert.strictEqual(found.text, "1 resource in common, 1 in one of them only: 1 later, 0 earlier; together they change the ByteIndex by +3.0 ms.");
  assert.deepStrictEqual(found.words, ["+12.5 ms", "only in one"]);
  assert.deepStrictEqual(found.lines, [
    "first byte: 10.0 ms → 10.0 ms (±0.0 ms)",
    "last byte: 20.0 ms → 32.5 ms (+12.5 ms)",
    "place: 1 → 2 (+1)",
    "bytes of others before: 1,000 → 2,000 (+1,000)",
  ]);
});

await test("both runs begin where the first one does on the time axis, and where they do on others", async () => {
  const found = await run(`
    const positionOfTime = (axis, time) => time;
    const figure = new Difference({ began_us: [1000, 5000], resources: [], in_common: 0 , with: 1}, [{ positionOfTime }, { positionOfTime }]);
    const scale = (axis) => ({ axis, x: (position) => position });
    return ["time", "bytes"].map((axis) => [0, 1].map((place) => figure.x(scale(axis), place, 2)));
  `);
  assert.deepStrictEqual(found, [[3000, 3000], [3000, 7000]]);
});

// The workbench's order and state, which are modules.
const workbench = new URL("../../report/templates/workbench/", import.meta.url);
const imported = (name) => import(`data:text/javascript,${encodeURIComponent(fs.readFileSync(new URL(`${name}.js`, workbench), "utf8"))}`);
const { inOrder, moved, withPriority } = await imported("order");
const { fromHash, isReadable } = await imported("state");

await test("a move by hand changes one urgency by as little as it takes", () => {
  const resource = (id, urgency, incremental) => ({ id, urgency, incremental });
  const all = [resource(0, 0, true), resource(1, 3, false), resource(2, 3, false), resource(3, 3, true)];
  const requestedMs = new Map(all.map((it) => [it.id, 10 * it.id]));
  const ids = (byHand) => inOrder(all, byHand, requestedMs).map((it) => it.id).join(" ");
  assert.strictEqual(ids(null), "0 1 2 3");
  // An incremental response goes after whole ones of its urgency, so it needs a smaller one.
  const before = moved(all[3], all[2], false, null, requestedMs);
  assert.deepStrictEqual(before, { urgency: 2, incremental: true });
  const byHand = withPriority(null, all[3], before);
  assert.strictEqual(ids(byHand), "0 3 1 2");
  assert.deepStrictEqual(moved(all[1], all[2], true, null, requestedMs), { urgency: 4, incremental: false });
  // Nothing that shares goes before an earlier request of the first urgency.
  assert.strictEqual(moved(all[3], all[0], false, byHand, requestedMs), null);
  assert.strictEqual(withPriority(byHand, all[3], { urgency: 3, incremental: true }), null);
});

await test("a link that says nothing of the workbench gives the default page", () => {
  const linked = (text) => [isReadable(text), Object.keys(fromHash(text)).join(" ")].join(" ");
  const hash = (said) => `#${encodeURIComponent(JSON.stringify(said))}`;
  assert.strictEqual(linked(hash({ page: "a", seed: "x", other: 1 })), "true page");
  assert.strictEqual(linked(""), "true ");
  for (const damaged of ["#%7Bbad", "#%", "#null", "#3"]) assert.strictEqual(linked(damaged), "false ");
});

process.exitCode = failures ? 1 : 0;
