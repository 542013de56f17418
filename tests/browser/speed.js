// How fast a report opens and pans, and the memory of its process: `node speed.js REPORT.html`. The best of several, since the
// machine is shared.

import { readFileSync } from "node:fs";
import { launch, open } from "./pages.js";

const RUNS = 3;
const FRAMES = 60;

// Frames a second while everything in view moves, drawn as fast as the page can.
export async function pan(page, zoom) {
  return page.evaluate(async ([zoom, frames]) => {
    const { viewport } = globalThis.report;
    viewport.showAll();
    viewport.zoom(zoom, 0.4);
    const next = () => new Promise((done) => requestAnimationFrame(done));
    await next();
    await next();
    const started = performance.now();
    for (let frame = 0; frame < frames; frame++) {
      viewport.pan(frame % 40 < 20 ? 0.01 : -0.01);
      await next();
    }
    return (1000 * frames) / (performance.now() - started);
  }, [zoom, FRAMES]);
}

// The resident memory of the process that shows a page, in MB of 1,000,000 bytes; its programs' code counts, too. The largest, if
// there are several.
export async function rendererMb(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const resident = ({ id }) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1]);
  const kb = processInfo.filter((it) => it.type === "renderer").map(resident);
  await session.detach();
  return (Math.max(...kb) * 1024) / 1e6;
}

export async function measure(browser, file) {
  const best = { openedMs: Infinity, wholeMs: Infinity, panAll: 0, panHalf: 0, panClose: 0, memoryMb: Infinity };
  for (let run = 0; run < RUNS; run++) {
    const { page, openedMs } = await open(browser, file);
    best.openedMs = Math.min(best.openedMs, openedMs);
    // From then on until the events are there, too.
    const eventsMs = await page.evaluate(async () => {
      const started = performance.now();
      await globalThis.report.whole;
      return performance.now() - started;
    });
    best.wholeMs = Math.min(best.wholeMs, openedMs + eventsMs);
    best.panAll = Math.max(best.panAll, await pan(page, 0.9));
    best.panHalf = Math.max(best.panHalf, await pan(page, 0.1));
    best.panClose = Math.max(best.panClose, await pan(page, 0.0005));
    best.memoryMb = Math.min(best.memoryMb, await rendererMb(browser));
    await page.context().close();
  }
  return best;
}

if (process.argv[1].endsWith("speed.js")) {
  const browser = await launch();
  if (!browser) console.log("skipped: no Chromium");
  else {
    const best = await measure(browser, process.argv[2]);
    console.log(`opened in ${best.openedMs.toFixed(0)} ms, with all events in ${best.wholeMs.toFixed(0)} ms; frames a second while panning: whole ${best.panAll.toFixed(0)}, tenth ${best.panHalf.toFixed(0)}, close ${best.panClose.toFixed(0)}; ${best.memoryMb.toFixed(0)} MB (best of ${RUNS})`);
    await browser.close();
  }
}
