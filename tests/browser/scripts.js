// Runs the report's scripts in Node, without a browser: what they compute rather than how it looks.
//
// node tests/browser/scripts.js

import assert from "node:assert";
import fs from "node:fs";
import vm from "node:vm";

const scripts = new URL("../../qlog-tools/templates/view/", import.meta.url);
const context = vm.createContext({
  document: { createElement: () => ({ getContext: () => ({ measureText: (text) => ({ width: 6 * text.length }) }) }) },
  FONT: "12px sans-serif",
});
for (const name of ["recording", "words", "viewport", "waterfall", "strip"]) {
  vm.runInContext(fs.readFileSync(new URL(`${name}.js`, scripts), "utf8"), context);
}

// A log whose congestion window falls and rises within one pixel column, on a clock that had begun 600 us before.
const drawn = vm.runInContext(
  `
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
  new Strip(recording).drawSeries(surface, scale, { unit: "bytes", series: recording.series }, 0, theme, 100);
  ({
    line: Array.from(lines.find(([points, colour]) => colour === "first" && points.length > 4)[0]),
    exact: clockText(recording, 90000),
    far: clockText(recording, 90012, { axis: "time", perUnit: 0.001 }),
  })
  `,
  context,
);

// A value holds until the next: no part of its line is a slope.
for (let at = 2; at < drawn.line.length; at += 2) {
  const isSlope = drawn.line[at] !== drawn.line[at - 2] && drawn.line[at + 1] !== drawn.line[at - 1];
  assert(!isSlope, `a slope at ${drawn.line[at]}: ${drawn.line}`);
}
// Times are those of the log's clock, with the digits that the view tells apart.
assert.strictEqual(drawn.exact, "90.600 ms");
assert.strictEqual(drawn.far, "91 ms");
console.log("the scripts are right");
