// The workbench's room for a study, in Chromium and Firefox.

import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRoom, withProgram } from "./pages.js";

const STUDIED = ["case-study-1", "case-study-2", "davies-meenan", "agency-index", "gentelella-index", "chrome-har-bing", "perfcascade-github"];

// A folder of `compare --out`, of seven pages. dfifo is the best of its schemes.
export function madeStudy(program) {
  const folder = join(mkdtempSync(join(tmpdir(), "utmost-")), "study");
  execFileSync(program, ["compare", ...STUDIED, "--schemes", "rfc9218,rr,dfifo", "--engine", "ideal", "--network", "3g,cable", "--out", folder]);
  return folder;
}

export async function studyWorks(browser, program, accessibility, check) {
  const folder = madeStudy(program);
  await withProgram(program, ["view", folder], async (address) => {
    const { page, problems } = await openRoom(browser, address, { colorScheme: "light" }, "#pages tbody tr");
    await accessibility(page, "study, light");
    await choicesAnswer(page, program, folder, check);
    check("study: no errors, no requests elsewhere, no dialogs", !problems.length, problems[0]);
    const dark = await openRoom(browser, address, { colorScheme: "dark", viewport: { width: 390, height: 844 } }, "#pages tbody tr");
    await accessibility(dark.page, "study, dark, on a telephone");
    const overflow = await dark.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check("study: keeps within a window of 390", overflow <= 0, overflow);
  });
  await studyIsChosen(browser, program, folder, check);
  await studyIsDropped(browser, program, folder, check);
}

// Its tests follow the choice, a dot leads to its page, a page to its loads, and these to its orders.
export async function choicesAnswer(page, program, folder, check) {
  const first = await page.evaluate(() => study.answer().scheme);
  check("a study opens with its best scheme", first === "dfifo", first);
  await page.selectOption("#baseline", "dfifo");
  await page.selectOption("#metric", "load");
  await page.waitForFunction(() => study.answer().baseline === "dfifo" && study.answer().metric === "load");
  const compared = JSON.parse(execFileSync(program, ["compare", "--from", join(folder, "manifest.json"), "--baseline", "dfifo", "--metric", "load", "--json"], { maxBuffer: 1 << 28 }));
  const rows = await page.evaluate(() => study.answer().comparisons.map((it) => it.row));
  check("the tests of a study follow the choice, to the digit", JSON.stringify(rows) === JSON.stringify(compared.comparisons));
  await page.fill("#filter", "case");
  check("a study's pages can be filtered", (await page.locator("#pages tbody tr").count()) === 2);
  await page.fill("#filter", "");
  await page.locator("#pages thead button").first().click();
  const names = await page.locator("#pages tbody th").allTextContents();
  check("and sorted", names.join() === [...names].sort().join() && names.length === STUDIED.length, names.join());
  await page.locator("#dots .dot").first().click();
  await page.locator("#loads tbody tr").first().waitFor();
  check("a dot leads to its page, and a page to its loads", (await page.locator("#loads tbody tr").count()) === 4, await page.locator("#loads-title").textContent());
  await page.getByText("Try orders on this page").click();
  await page.waitForSelector("#picture svg");
  check("and to its orders", STUDIED.includes(await page.inputValue("#page")));
}

// A program without a study shows one whose folder somebody chooses.
async function studyIsChosen(browser, program, folder, check) {
  await withEmptyStudyRoom(browser, program, async (page) => {
    await page.setInputFiles("#folder", folder);
    await hasOpened(page, "a study's folder is opened in the page", check);
  });
}

// Or drops. Only the protocol of Chromium can drop files.
async function studyIsDropped(browser, program, folder, check) {
  await withEmptyStudyRoom(browser, program, async (page) => {
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, x: 200, y: 200, data });
    await hasOpened(page, "a study's folder is dropped on the page", check);
  });
}

async function hasOpened(page, name, check) {
  await page.waitForSelector("#pages tbody tr");
  check(name, (await page.locator("#pages tbody tr").count()) === STUDIED.length && (await page.locator("#problem").isHidden()));
}

async function withEmptyStudyRoom(browser, program, visit) {
  await withProgram(program, ["view"], async (address) => {
    const { page } = await openRoom(browser, `${address}study`, {}, "#problem:not([hidden])");
    await visit(page);
  });
}
