// Starts the browsers and the workbench; opens a report or a room, and watches it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium, firefox } from "playwright-core";

const CHROMIUM = [process.env.UTMOST_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FIREFOX = [process.env.UTMOST_FIREFOX, "/usr/bin/firefox", "/usr/bin/firefox-esr"];

const installed = (programs) => programs.find((it) => it && existsSync(it));

// A Chromium, or null when none is installed.
export async function launch() {
  const executablePath = installed(CHROMIUM);
  return executablePath ? chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] }) : null;
}

// A Firefox, or null when none is installed. This channel drives the distributions' own program, by WebDriver BiDi: later versions of
// playwright-core ask it for a command (`emulation.setMediaFeaturesOverride`) that Firefox 153 lacks, so colours are a preference.
export async function launchFirefox(colorScheme = "light", downloadsPath = undefined) {
  const executablePath = installed(FIREFOX);
  const firefoxUserPrefs = { "layout.css.prefers-color-scheme.content-override": colorScheme === "dark" ? 0 : 1 };
  return executablePath ? firefox.launch({ channel: "moz-firefox", executablePath, firefoxUserPrefs, downloadsPath }) : null;
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

// Visits the address that the program prints, and ends the program.
export async function withProgram(program, words, visit) {
  const server = spawn(program, words);
  try {
    await visit(await new Promise((done) => server.stdout.on("data", (data) => done(String(data).match(/http:\S+/)[0]))));
  } finally {
    server.kill();
  }
}

// A room of the workbench, ready for hands, with what went wrong on it.
export async function openRoom(browser, address, options, ready = "#picture svg") {
  const page = await (await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options })).newPage();
  const problems = [];
  // The program refuses some questions of these tests.
  const isRefusal = (text) => /status of 422/.test(text);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !isRefusal(message.text()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => new RegExp(`^(${new URL(address).origin}|blob:|data:)`).test(request.url()) || problems.push(request.url()));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(address);
  await page.waitForSelector(ready);
  return { page, problems };
}
