// Opens a report in Chromium and watches it.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const PROGRAMS = [process.env.UTMOST_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

// A browser, or null when none is installed.
export async function launch() {
  const executablePath = PROGRAMS.find((it) => it && existsSync(it));
  if (!executablePath) return null;
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

// A page of a file, with what went wrong on it: errors on the console, requests that leave the page.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const own = request.url().startsWith("file:") && request.isNavigationRequest();
    if (!own && !/^(blob|data):/.test(request.url())) problems.push(`request: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  const started = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => globalThis.report !== undefined, null, { timeout: 60000, polling: 10 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, problems, openedMs: performance.now() - started };
}
