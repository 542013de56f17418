// Makes the pictures of docs/workbench.md: node tests/browser/workbench_pictures.js PROGRAM FOLDER.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./pages.js";

const [program, folder] = process.argv.slice(2);
if (!folder) throw new Error("node tests/browser/workbench_pictures.js PROGRAM FOLDER");
const WIDTH = 1000;

const browser = await launch();
if (!browser) throw new Error("no Chromium; install it, or name it in UTMOST_CHROMIUM");

// Does something on the page that the program shows.
async function inRoom(args, ready, act) {
  const server = spawn(program, ["view", ...args]);
  try {
    const address = await new Promise((done) => server.stdout.on("data", (data) => done(String(data).match(/http:\S+/)[0])));
    const page = await (await browser.newContext({ viewport: { width: WIDTH, height: 3000 }, colorScheme: "light" })).newPage();
    await page.goto(address);
    await page.waitForSelector(ready);
    await act(page);
  } finally {
    server.kill();
  }
}

// From the top of one element to the end of another.
async function picture(page, name, first, last) {
  const [top, end] = await Promise.all([first, last].map((it) => page.locator(it).first().boundingBox()));
  await page.screenshot({ path: join(folder, `workbench-${name}.png`), clip: { x: 0, y: top.y - 4, width: WIDTH, height: end.y + end.height - top.y + 8 } });
}

await inRoom([], "#picture svg", async (page) => {
  await page.getByRole("button", { name: "Find the best priorities" }).click();
  await page.locator("#status").filter({ hasText: /^Found/ }).waitFor();
  await page.waitForFunction(() => workbench.answers().stack?.rows.some((it) => it.label === "by hand"));
  await page.evaluate(() => document.activeElement.blur());
  await page.locator("#film svg").waitFor();
  await picture(page, "answer", "#title", "#engines");
  await picture(page, "ribbons", "#picture", "#film");
  await picture(page, "order", "#order-title", "#resources");
});

const study = join(mkdtempSync(join(tmpdir(), "utmost-")), "study");
execFileSync(program, ["compare", "@first-60", "--schemes", "rfc9218,dfifo,rr", "--engine", "ideal", "--network", "3g", "--out", study]);
await inRoom([study], "#pages tbody tr", async (page) => {
  await page.locator("#pages tbody th button").first().click();
  await page.evaluate(() => (document.activeElement.blur(), scrollTo(0, 0)));
  await picture(page, "study", "#title", "#dots svg");
});
await browser.close();
