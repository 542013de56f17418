// Makes the pictures of docs/qlog.md and docs/qlog-report.md of two reports: one of a load with losses, and that of tests/cli/data/first-come.qlog.

import { join } from "node:path";
import { launch, open } from "./pages.js";

const [lossy, firstCome, folder] = process.argv.slice(2);
if (!folder) throw new Error("node tests/browser/pictures.js LOSSY.html FIRST-COME.html FOLDER");
const WIDTH = 1150;
// What is around a lost packet in the picture, in µs.
const AROUND = 100000;
// It is one after several streams have begun.
const FROM = 3000000;

const browser = await launch();
if (!browser) throw new Error("no Chromium; install it, or name it in UTMOST_CHROMIUM");

const openLight = async (file) => (await open(browser, file, { colorScheme: "light", viewport: { width: WIDTH, height: 900 } })).page;
const panel = (page, title) => page.locator("figure.panel", { has: page.getByRole("heading", { name: title, exact: true }) });
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Everything from the top to the end of the last figure. In a window that holds all, all figures are drawn.
async function wholeReport() {
  const page = await openLight(lossy);
  const box = await page.locator("figure.panel").last().boundingBox();
  const height = Math.ceil(box.y + box.height);
  await page.setViewportSize({ width: WIDTH, height });
  await page.waitForFunction(() => report.recordings.every((it) => it.exchange));
  await drawn(page);
  await page.screenshot({ path: join(folder, "qlog-report.png"), clip: { x: 0, y: 0, width: WIDTH, height } });
}

// Frames around one that filled the hole of a lost packet, and what is said of it.
async function closeUp() {
  const page = await openLight(lossy);
  const figure = panel(page, "Multiplexing");
  const x = await page.evaluate(([from, around]) => {
    const [recording] = report.recordings;
    const isRepair = (place) => recording.mark[place] === MARKS.RETRANSMITTED && recording.released[place] > 2 * recording.bytes[place];
    const at = recording.time[recording.time.findIndex((at, place) => isRepair(place) && at > from)];
    report.viewport.show(at - around / 2, at + 1.5 * around);
    const { element } = recording.firstPanel;
    element.scrollIntoView({ block: "center" });
    // The tooltip reaches into it.
    element.nextElementSibling.style.visibility = "hidden";
    return new Scale(report.viewport, report.panels[0].canvas.clientWidth, recording).x(at);
  }, [FROM, AROUND]);
  const box = await figure.locator("canvas").boundingBox();
  await page.mouse.move(box.x + x - 5, box.y + 30);
  await drawn(page);
  const around = await figure.boundingBox();
  const { x: left, y: top, width } = around;
  const tip = await page.locator("#tip").boundingBox();
  const height = Math.max(around.height, tip.y + tip.height - top) + 8;
  await page.screenshot({ path: join(folder, "qlog-close.png"), clip: { x: left, y: top, width, height } });
}

async function example() {
  const page = await openLight(firstCome);
  await panel(page, "Waterfall").screenshot({ path: join(folder, "qlog-example.png") });
}

await wholeReport();
await closeUp();
await example();
await browser.close();
