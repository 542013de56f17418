// Opens the report and the local page in Chromium, and the workbench in Firefox, too: `npm ci && npm test`, with UTMOST_REPORT (a report of a real log),
// UTMOST_HOSTILE_REPORT (of one with markup in it: `run` has it), UTMOST_STREAMS_REPORT (of one with 60 streams:
// the same), UTMOST_LINT_REPORT (of one that lint has something to say about: the same), UTMOST_LOSSY_REPORT and
// UTMOST_LOSSY_LOGS (of one with losses, and the folder of its logs: the same), UTMOST_RUNS_REPORT (of two runs of a page, side by
// side: the same), UTMOST_LARGE_REPORT (that of `cargo run --example large_report 1000000 FILE`), and UTMOST_BIN. What is not there is
// skipped with a line.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workbenchWorksInFirefox } from "./firefox.js";
import { launch, open } from "./pages.js";
import { paperIsComplete } from "./paper.js";
import { askQuestions } from "./questions.js";
import { measure } from "./speed.js";
import { workbenchWorks } from "./workbench.js";

const { UTMOST_REPORT, UTMOST_HOSTILE_REPORT, UTMOST_STREAMS_REPORT, UTMOST_LINT_REPORT, UTMOST_LOSSY_REPORT, UTMOST_LOSSY_LOGS, UTMOST_RUNS_REPORT, UTMOST_LARGE_REPORT, UTMOST_BIN, UTMOST_LOGS } = process.env;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const MINUTES_MOST = 5;
let failures = 0;

setTimeout(() => {
  console.log(`FAIL the tests take at most ${MINUTES_MOST} minutes`);
  process.exit(1);
}, MINUTES_MOST * 60000).unref();

function check(name, isGood, found) {
  console.log(`${isGood ? "ok  " : "FAIL"} ${name}${found === undefined ? "" : `: ${found}`}`);
  if (!isGood) failures++;
}

async function accessibility(page, name) {
  // As a script of the page it would be refused by the page's own policy; the debugger is not bound by it.
  await page.evaluate(readFileSync(AXE, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter((it) => ["serious", "critical"].includes(it.impact));
  check(`${name}: no serious accessibility problem`, !serious.length, serious.map((it) => `${it.id} ${it.nodes[0].html.slice(0, 90)}`).join("; ") || undefined);
}

async function reportWorks(browser, file) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, problems } = await open(browser, file, { colorScheme });
    await page.locator("summary").evaluateAll((all) => all.forEach((it) => it.click()));
    await page.evaluate(() => report.whole);
    await page.locator(".list .row").first().click();
    await accessibility(page, `report, ${colorScheme}`);
    check(`report, ${colorScheme}: no errors, no requests`, !problems.length, problems[0]);
    await page.context().close();
  }
  const { page, problems } = await open(browser, file);
  await keysWork(page);
  await legendWorks(page);
  await hoverWorks(page);
  await exportsWork(page);
  await namesFit(page);
  await eventsWork(page);
  await packetsWork(page);
  await listWorks(page);
  await handsWork(page);
  const owners = await page.evaluate(() => [report.recordings[0].series_of, report.recordings[0].losses_of]);
  check("window and losses are the server's when its log is there", owners.join() === "the server,the server", owners.join());
  check("report: no errors, no requests after use", !problems.length, problems[0]);
  await page.context().close();
}

async function keysWork(page) {
  const width = () => page.evaluate(() => report.viewport.to - report.viewport.from);
  const whole = await width();
  await page.locator("canvas").first().focus();
  await page.keyboard.press("+");
  check("plus zooms in", (await width()) < whole);
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  check("a step to the next frame is announced", /frame \d+ of/.test(await page.locator("#announcement").textContent()));
  await page.keyboard.press("0");
  check("0 shows all", (await width()) === whole);
  await page.selectOption("#axis", "bytes");
  check("the axis can be bytes", (await width()) !== whole);
  await page.selectOption("#axis", "time");
}

async function legendWorks(page) {
  const entry = page.locator(".legend .entry").first();
  await entry.click();
  const isHidden = await page.evaluate(() => report.recordings[0].hidden[0] === 1);
  check("a click in the legend hides a stream", isHidden && (await entry.getAttribute("aria-pressed")) === "false");
  await entry.click();
}

async function hoverWorks(page) {
  const box = await page.locator("canvas").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  check("hovering shows a frame's values", /stream \d+/.test(await page.locator("#tip").textContent()));
}

// Names in the waterfall keep the stream and the file, however little room there is.
async function namesFit(page) {
  const found = await page.evaluate(() => {
    const stream = { id: 44, role: "request", url: "/static/images/gallery/2026/hero-large.jpg?w=300", priority: "u=3, i" };
    return [340, 260, 200].map((room) => [room, rowName(stream, room), textWidth(rowName(stream, room))]);
  });
  const isGood = ([room, name, width]) => width <= room && /^44 .*hero-large\.jpg.* u=3, i$/.test(name);
  check("names keep the stream and the file", found.every(isGood), found.map(([, name]) => name).join(" | "));
}

async function eventsWork(page) {
  await page.getByText("Any event of the log").first().click();
  const box = page.locator(".choices details input").first();
  await box.check();
  const shown = await page.evaluate(() => report.recordings[0].events.filter((it) => it.isShown).map((it) => it.name));
  check("any event of the log can be marked", shown.length === 1 && shown[0].includes(":"), shown.join());
  await box.uncheck();
}

// From every figure one gets to the packet and its event.
async function packetsWork(page) {
  const found = await page.evaluate(async () => {
    await report.whole;
    report.viewport.showAll();
    const panel = report.panels.find((it) => it.figure.name === "packets");
    panel.isVisible = true;
    panel.draw();
    const crossing = panel.figure.drawn.filter((it) => !it.isLost).length;
    const { exchange } = report.recordings[0];
    const arrived = [...exchange.sent[1]].filter((packet) => exchange.fate(1, packet).received >= 0).length;
    const hits = report.panels.filter((it) => it.canvas).map((it) => {
      const scale = new Scale(report.viewport, it.width(), it.recording);
      const [x, y] = it.figure.name === "packets" ? panel.figure.drawn[0].from : [scale.left + scale.width / 2, 30];
      return [it.figure.name, it.figure.at(x, y, scale, 0)];
    });
    const lines = frameLines(report.recordings[0], 100);
    return { crossing, arrived, sent: exchange.sent[1].length, without: hits.filter(([, hit]) => !hit.event).map(([name]) => name), lines };
  });
  check("packets are lines from one end to the other", found.crossing > 100 && found.arrived > 0.9 * found.sent, JSON.stringify([found.crossing, found.arrived, found.sent]));
  check("every figure leads to an event", !found.without.length, found.without.join() || undefined);
  check("a frame's words name its packet, and when it went and came", /packet \d+.*sent by the server.*received by the client/.test(found.lines.join(" ")), found.lines.join("; "));
}

async function listWorks(page) {
  const [events, rows] = await page.evaluate(() => [report.views[0].order.length, document.querySelectorAll(".list .row").length]);
  check("of thousands of events only those in view are in the document", events > 2000 && rows < 40, `${rows} of ${events}`);
  await page.getByLabel("Packet", { exact: true }).fill("20");
  await page.getByLabel("Event", { exact: true }).selectOption({ label: "quic:packet_received" });
  await page.waitForFunction(() => report.views[0].shown.length === 2);
  await page.locator(".list .row").first().click();
  await page.waitForFunction(() => document.querySelector(".event-detail").textContent.includes("packet_number"));
  const detail = await page.locator(".event-detail").textContent();
  check("a packet is found by its number, and its event shows what was logged", /packet 20/.test(detail) && /"packet_number": 20/.test(detail), detail.slice(0, 60));
  await page.locator(".list").focus();
  await page.keyboard.press("ArrowDown");
  check("keys go from event to event", (await page.locator(".list .row[aria-selected=true]").getAttribute("aria-posinset")) === "2");
  await page.getByRole("button", { name: "Clear", exact: true }).last().click();
  await page.getByLabel("Text", { exact: true }).fill("max_stream_data");
  await page.waitForFunction((all) => report.views[0].shown.length > 0 && report.views[0].shown.length < all, events);
  check("events are found by their text", true);
  await page.getByLabel("Text", { exact: true }).fill("");
  await page.waitForFunction((all) => report.views[0].shown.length === all, events);
}

async function handsWork(page) {
  await page.evaluate(() => scrollTo(0, 0));
  const box = await page.locator("canvas").first().boundingBox();
  const drag = async (from, to, key) => {
    if (key) await page.keyboard.down(key);
    await page.mouse.move(box.x + from * box.width, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + to * box.width, box.y + 30, { steps: 4 });
    await page.mouse.up();
    if (key) await page.keyboard.up(key);
  };
  await drag(0.5, 0.7, "Alt");
  check("dragging with Alt measures", /ms: \d+ STREAM frames/.test(await page.locator("#measured").textContent()));
  await drag(0.5, 0.7, "Shift");
  const [from, to, length] = await page.evaluate(() => [report.viewport.from, report.viewport.to, report.viewport.length()]);
  check("dragging with Shift zooms to a stretch", to - from < 0.4 * length && from > 0.1 * length, [from, to, length].join());
  await page.mouse.click(box.x + 0.6 * box.width, box.y + 30);
  await page.mouse.move(box.x + 0.9 * box.width, box.y + 400);
  const pinned = await page.locator("#tip").textContent();
  check("a click pins what is there", /stream \d+.*Show the event/.test(pinned), pinned.slice(0, 80));
  await page.waitForTimeout(600);
  const link = await page.evaluate(() => location.href);
  await page.getByRole("button", { name: "Show the event" }).click();
  await page.waitForFunction(() => !report.views[0].detail.hidden);
  check("and leads to its event", (await page.locator(".list .row[aria-selected=true]").count()) === 1);
  const again = await page.context().newPage();
  await again.goto(link);
  await again.waitForFunction(() => globalThis.report !== undefined);
  await again.evaluate(() => report.whole);
  const same = await again.evaluate(() => [report.viewport.from, report.viewport.to, report.viewport.measured !== null, report.viewport.selected !== null]);
  check("a link shows the same", Math.abs(same[0] - from) < 1 && Math.abs(same[1] - to) < 1 && same[2] && same[3], same.join());
  await again.close();
}

// What lint finds is marked in the figures and leads there.
async function findingsAreShown(browser, file) {
  const { page, problems } = await open(browser, file);
  await page.getByText(/^lint: [1-9]\d* of \d+ packets broke the order/).click();
  await page.locator(".finding-list button").first().click();
  const [isShown, cursor] = await page.evaluate(() => [report.recordings[0].events[0].isShown, report.viewport.cursor]);
  check("what lint finds is shown in place", isShown && cursor > 0, cursor);
  check("findings: no errors", !problems.length, problems[0]);
  await page.context().close();
}

// Two runs: the same figures on one row, one range, and what moved.
async function runsAreCompared(browser, file) {
  const { page, problems } = await open(browser, file);
  await page.evaluate(() => report.whole);
  const tops = () => page.evaluate(() => {
    const sections = [...document.querySelectorAll(".side-by-side > section")];
    const of = (section) => Object.fromEntries([...section.querySelectorAll("figure.panel")].map((it) => [it.querySelector("h3").textContent, it.querySelector(".drawing, .missing").getBoundingClientRect().top]));
    const [one, other] = sections.map(of);
    return Object.keys(one).map((name) => [name, Math.round(other[name] - one[name])]);
  });
  const apart = (await tops()).filter(([, by]) => by !== 0);
  check("the same figure of both runs is on one row", !apart.length, apart.join("; ") || undefined);
  await page.locator(".side-by-side details summary").first().click();
  const still = (await tops()).filter(([, by]) => by !== 0);
  check("and stays there when something above it opens", !still.length, still.join("; ") || undefined);
  const moved = await page.evaluate(() => {
    const { figure } = report.panels[0];
    const { resources, in_common } = figure.difference;
    const scale = new Scale(report.viewport, 1000, report.recordings[0]);
    const [first] = resources;
    const ends = first.runs.map((run, place) => figure.x(scale, place, run.complete_ms));
    return { in_common, first: first.moved.later_ms, by: (ends[1] - ends[0]) / scale.perUnit / 1e3, lines: figure.at(500, 10, scale, 0).lines };
  });
  check("a line is as long as its resource moved", moved.in_common > 5 && Math.abs(moved.by - moved.first) < 0.01, JSON.stringify([moved.in_common, moved.first, moved.by]));
  check("its words say what moved", /last byte: .* → .*place: \d+ → \d+.*bytes of others before: /.test(moved.lines.join(" ")), moved.lines.join("; "));
  const rows = await page.locator("#differences tbody tr").count();
  check("the table has every resource", rows >= moved.in_common, rows);
  await page.evaluate(() => report.viewport.zoom(0.5, 0.5));
  const svgs = await page.evaluate(() => report.panels.filter((it) => it.canvas && it.figure.name === "waterfall").map((it) => report.svgOf(it).match(/>[\d.]+ ms</g).join(" ")));
  check("both show the same range", svgs.length === 2 && new Set(svgs).size === 1, svgs.join(" "));
  await accessibility(page, "two runs");
  for (const width of [1000, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(200);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(`two runs keep within a window of ${width}`, overflow <= 0, overflow);
  }
  check("two runs: no errors", !problems.length, problems[0]);
  await page.context().close();
}

async function exportsWork(page) {
  for (const [kind, start] of [["SVG", "<svg"], ["PNG", "\x89PNG"]]) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: `Save ${kind}: Waterfall of` }).first().click(),
    ]);
    const bytes = readFileSync(await download.path(), "latin1");
    check(`${kind} is saved`, bytes.startsWith(start), `${bytes.length} bytes`);
  }
}

// A page that gets narrower keeps within its window, and saves what is scrolled whole.
async function manyStreamsFit(browser, file) {
  const { page, problems } = await open(browser, file);
  const rows = await page.evaluate(() => svgOf(report.panels[1]).match(/>\d+ [^<]*item-\d+\.bin u=3</g).length);
  check("all rows of a scrolled waterfall are saved", rows === 60, rows);
  await page.setViewportSize({ width: 390, height: 900 });
  await page.waitForTimeout(200);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check("a page that gets narrower keeps within its window", overflow <= 0, overflow);
  check("many streams: no errors", !problems.length, problems[0]);
  await page.context().close();
}

async function largeReportIsSmooth(browser, file) {
  const best = await measure(browser, file);
  check("its 1,500,000 events are there in 6 s (best of 3)", best.wholeMs < 6000, `${best.wholeMs.toFixed(0)} ms`);
  check("a million frames open in under 3 s (best of 3)", best.openedMs < 3000, `${best.openedMs.toFixed(0)} ms`);
  const slowest = Math.min(best.panAll, best.panHalf, best.panClose);
  check("and pan at 30 frames a second or more (best of 3)", slowest >= 30, slowest.toFixed(0));
  check("and take at most 400 MB (best of 3)", best.memoryMb <= 400, `${best.memoryMb.toFixed(0)} MB`);
}

async function hostileReportIsHarmless(browser, file) {
  const { page, problems } = await open(browser, file);
  await page.locator("summary").evaluateAll((all) => all.forEach((it) => it.click()));
  await hoverWorks(page);
  const made = await page.evaluate(() => document.querySelectorAll("img").length);
  const isShown = (await page.locator("h1").textContent()).includes("<script>alert(1)");
  check("a hostile log's markup is shown as text", isShown && made === 0);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check("and its long names make the page no wider", overflow <= 0, overflow);
  check("and runs no script", !problems.length, problems[0]);
  await page.context().close();
}

async function localPageWorks(browser) {
  const server = spawn(UTMOST_BIN, ["view", UTMOST_LOGS], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address = await new Promise((done) => server.stdout.once("data", (it) => done(String(it).match(/http:\S+/)[0])));
    const page = await (await browser.newContext()).newPage();
    const outside = [];
    page.on("request", (request) => request.url().startsWith(new URL(address).origin) || /^(blob|data):/.test(request.url()) || outside.push(request.url()));
    await page.goto(address);
    await accessibility(page, "list of logs");
    // Both ends of one connection would be shown as one.
    const boxes = page.locator("#files input[value*=client]");
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.getByRole("button", { name: "Open" }).click();
    await page.waitForFunction(() => globalThis.report !== undefined);
    check("two logs open side by side", (await page.evaluate(() => report.recordings.length)) === 2);
    // All that is written at the left edge of a figure, on both sides.
    const axes = await page.evaluate(() => ["stacks", "congestion"].map((name) => {
      const panels = report.panels.filter((panel) => panel.canvas && panel.figure.name === name);
      return panels.map((panel) => (report.svgOf(panel).match(/>[\d.]+ (B|kB|MB|µs|ms|[kM]?B\/s|[kM]?bit\/s)</g) || []).join(" "));
    }));
    check("whose values have the same axes", axes.every((sides) => new Set(sides).size <= 1), JSON.stringify(axes));
    await page.goto(address);
    const dropped = join(mkdtempSync(join(tmpdir(), "utmost-")), "dropped.sqlog");
    writeFileSync(dropped, '{"file_schema":"x"}\n{"time":1,"name":"quic:packet_sent","data":{}}\n');
    await page.setInputFiles("#add", dropped);
    await page.getByText("dropped: dropped.sqlog").waitFor();
    check("a dropped file is listed", true);
    check("nothing leaves the machine", !outside.length, outside[0]);
  } finally {
    server.kill();
  }
}

const browser = await launch();
if (!browser) console.log("skipped: no Chromium; name one in UTMOST_CHROMIUM");
else {
  if (UTMOST_REPORT) {
    await reportWorks(browser, UTMOST_REPORT);
    await paperIsComplete(browser, UTMOST_REPORT, check);
  } else console.log("skipped: UTMOST_REPORT is not set");
  if (UTMOST_HOSTILE_REPORT) await hostileReportIsHarmless(browser, UTMOST_HOSTILE_REPORT);
  else console.log("skipped: UTMOST_HOSTILE_REPORT is not set");
  if (UTMOST_STREAMS_REPORT) await manyStreamsFit(browser, UTMOST_STREAMS_REPORT);
  else console.log("skipped: UTMOST_STREAMS_REPORT is not set");
  if (UTMOST_LINT_REPORT) await findingsAreShown(browser, UTMOST_LINT_REPORT);
  else console.log("skipped: UTMOST_LINT_REPORT is not set");
  if (UTMOST_LOSSY_REPORT && UTMOST_LOSSY_LOGS) await askQuestions(browser, UTMOST_LOSSY_REPORT, UTMOST_LOSSY_LOGS, check);
  else console.log("skipped: UTMOST_LOSSY_REPORT and UTMOST_LOSSY_LOGS are not set");
  if (UTMOST_RUNS_REPORT) await runsAreCompared(browser, UTMOST_RUNS_REPORT);
  else console.log("skipped: UTMOST_RUNS_REPORT is not set");
  if (UTMOST_LARGE_REPORT) await largeReportIsSmooth(browser, UTMOST_LARGE_REPORT);
  else console.log("skipped: UTMOST_LARGE_REPORT is not set");
  if (UTMOST_BIN && UTMOST_LOGS) await localPageWorks(browser);
  else console.log("skipped: UTMOST_BIN and UTMOST_LOGS are not set");
  if (UTMOST_BIN) await workbenchWorks(browser, UTMOST_BIN, accessibility, check);
  await browser.close();
}
if (UTMOST_BIN) await workbenchWorksInFirefox(UTMOST_BIN, accessibility, check);
process.exitCode = failures ? 1 : 0;
