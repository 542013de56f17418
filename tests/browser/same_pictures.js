// Compares what the report's scripts draw of a log with the pictures that the program draws of it: both show the same figures, and in
// them the same steps, lanes, marks, names and heights. It needs Node, and no browser.
//
// node tests/browser/same_pictures.js REPORT FOLDER

import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [reportFile, folder] = process.argv.slice(2);
const scripts = new URL("../../report/templates/view/", import.meta.url);
const context = vm.createContext({
  document: { createElement: () => ({ getContext: () => ({ measureText: (text) => ({ width: 6 * text.length }) }) }) },
  FONT: "12px sans-serif",
  atob, Blob, DecompressionStream, Response, TextDecoder, TextEncoder, setTimeout, location: { hash: "" },
});
const NAMES = [
  "decode", "pyramid", "events", "exchange", "recording", "words", "packet_words", "viewport", "ribbon", "waterfall", "packets", "stacks",
  "curve", "strip", "band", "findings", "rows", "legend", "permalink",
];
for (const name of NAMES) vm.runInContext(fs.readFileSync(new URL(`${name}.js`, scripts), "utf8"), context);

// The page's figures by the names of the pictures, in their order.
const PICTURES = {
  multiplexing: "Ribbon", waterfall: "Waterfall", "head-of-line-blocking": "Stacks", "byte-index": "Curve", congestion: "Strip", limits: "Band",
};
// Where the pictures' plots are, so that the scripts draw on the same pixels.
const [LEFT, WIDTH, TOP] = [240, 920, 42];

context.json = fs.readFileSync(reportFile, "utf8").match(/<script[^>]* id="data"[^>]*>([\s\S]*?)<\/script>/)[1];
Object.assign(context, { LEFT, WIDTH, classes: Object.values(PICTURES) });
// What the scripts draw of the whole log: rectangles and words of each figure that can be drawn, and what their curves are.
const drawn = JSON.parse(await vm.runInContext(`(async () => {
  const recording = await Recording.load(JSON.parse(json).traces[0]);
  const viewport = { axis: "time", from: 0, to: recording.duration, left: () => LEFT, measuredWith: (it) => [it] };
  const scale = new Scale(viewport, LEFT + WIDTH + RIGHT, recording);
  const figures = { Ribbon, Waterfall, Stacks, Curve, Strip, Band };
  const of = (name) => new figures[name](recording);
  const shown = classes.filter((name) => !of(name).missing());
  const rects = (draw) => {
    const rects = [];
    draw({ rect: (left, top, width, height) => rects.push([left, width, height]) });
    return rects;
  };
  const band = of("Band");
  const shares = shown.includes("Band") ? band.shares(scale) : [];
  const theme = { marks: {} };
  return JSON.stringify({
    shown,
    steps: of("Curve").steps(scale, 0).map((it, place) => (place % 2 ? -it / CURVE_HEIGHT : it)),
    tallest: of("Stacks").tallest(scale),
    series: recording.series.map((it) => it.name),
    series_of: recording.series_of,
    losses: rects((surface) => of("Strip").drawLosses(surface, scale, theme)).map(([left]) => left),
    streams: recording.streams.map((it) => it.id),
    lanes: (shown.includes("Band") ? band.lanes() : []).map((lane) => ({
      words: lane.name + " " + lane.percent.toFixed(1) + " %",
      blocks: rects((surface) => band.drawLane(surface, scale, shares[lane.place], 0, "")),
    })),
  });
})()`, context));

const files = fs.readdirSync(folder).filter((it) => it.startsWith("1-") && it.endsWith(".svg"));
const shown = drawn.shown.map((name) => Object.keys(PICTURES).find((it) => PICTURES[it] === name));
assert.deepStrictEqual(files.map((it) => it.slice(2, -4)).sort(), shown.slice().sort(), "the same figures");
const picture = (name) => fs.readFileSync(path.join(folder, `1-${name}.svg`), "utf8");
const words = (svg) => Array.from(svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g), (it) => it[1].replace(/&#39;/g, "'"));
const rects = (svg, pattern) => Array.from(svg.matchAll(pattern), (it) => it.slice(1).map(Number));
const near = (one, other, least, what) => assert.ok(Math.abs(one - other) <= least, `${what}: ${one} and ${other}`);

function sameSteps() {
  const line = picture("byte-index").match(/<path d="M([^"]*)" fill="none" stroke="#0072b2"/)[1];
  const points = line.split("L").map((it) => it.split(" ").map(Number));
  assert.strictEqual(points.length * 2, drawn.steps.length);
  points.forEach(([x, y], place) => {
    near(x, drawn.steps[2 * place], 0.01, "when a response was complete");
    near((TOP + 220 - y) / 220, drawn.steps[2 * place + 1], 0.001, "the share that was complete");
  });
}

function sameLanes() {
  const svg = picture("limits");
  for (const { words: name } of drawn.lanes) assert.ok(words(svg).includes(name), `${name} in ${words(svg)}`);
  const pattern = /<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)" fill="#(?:0072b2|b34a00|00735c|5a5a5a)"\/>/g;
  assert.deepStrictEqual(rects(svg, pattern), drawn.lanes.flatMap((it) => it.blocks));
}

function sameCongestion() {
  const svg = picture("congestion");
  for (const name of drawn.series) assert.ok(words(svg).includes(`${name} of ${drawn.series_of}`), name);
  const marks = rects(svg, /<rect x="([\d.]+)" y="42" width="2" height="10"/g).map(([left]) => left);
  assert.strictEqual(marks.length > 0, drawn.losses.length > 0);
  // Each mark is in the column of one of the page's, which rounds where the picture cuts.
  for (const left of marks) assert.ok(drawn.losses.some((it) => Math.abs(it - left) <= 1.5), `a loss at ${left}`);
}

function sameStreams() {
  const ids = words(picture("waterfall")).map((it) => it.split(" ")[0]);
  for (const id of drawn.streams.slice(0, 120)) assert.ok(ids.includes(String(id)), `stream ${id}`);
}

function sameStacks() {
  const tallest = drawn.tallest >= 1e6 ? `${(drawn.tallest / 1e6).toFixed(2)} MB` : `${(drawn.tallest / 1e3).toFixed(1)} kB`;
  assert.ok(words(picture("head-of-line-blocking")).includes(tallest), tallest);
}

const checks = { "byte-index": sameSteps, limits: sameLanes, congestion: sameCongestion, waterfall: sameStreams, "head-of-line-blocking": sameStacks };
for (const [name, check] of Object.entries(checks)) if (shown.includes(name)) check();
console.log(`the same: ${shown.join(", ")}`);
