// The workbench in Firefox: what hands do, numbers, links, files.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchFirefox, openRoom, withProgram } from "./pages.js";
import { choicesAnswer, madeStudy } from "./studies.js";
import { bothAnswered, filesAreSaved, handsWork, linkRestores, numbersAreThoseOfCompare, schemeFileRuns, slidersAnswer } from "./workbench.js";

const PAGES_COMPARED = 3;

// Starts the program and opens its page; `check` takes a name, whether it holds, and what was found.
export async function workbenchWorksInFirefox(program, accessibility, check) {
  const downloads = mkdtempSync(join(tmpdir(), "utmost-"));
  const browser = await launchFirefox("light", downloads);
  if (!browser) return console.log("skipped: no Firefox; name one in UTMOST_FIREFOX");
  const checkIn = (name, ...found) => check(`Firefox: ${name}`, ...found);
  try {
    await withProgram(program, ["view"], (address) => pagesAndOrders(browser, program, address, downloads, accessibility, checkIn));
    await studies(browser, program, accessibility, checkIn);
  } finally {
    await browser.close();
  }
}

async function pagesAndOrders(browser, program, address, downloads, accessibility, check) {
  const { page, problems } = await openRoom(browser, address, {});
  const blocks = await page.locator("#picture svg path").count();
  check("ribbons are drawn", blocks > 10, blocks);
  await accessibility(page, "workbench, Firefox");
  await handsWork(page, check);
  await linkRestores(browser, page, check);
  await schemeFileRuns(page, check);
  await slidersAnswer(page);
  await filesAreSaved(page, check, (_, button) => savedIn(downloads, button));
  await numbersAreThoseOfCompare(page, program, check, PAGES_COMPARED);
  check("no errors, no requests elsewhere, no dialogs", !problems.length, problems[0]);
  await darkAndNarrow(address, accessibility, check);
}

// WebDriver BiDi can neither choose a folder nor drop one.
async function studies(browser, program, accessibility, check) {
  const folder = madeStudy(program);
  await withProgram(program, ["view", folder], async (address) => {
    const { page, problems } = await openRoom(browser, address, {}, "#pages tbody tr");
    await accessibility(page, "study, Firefox");
    await choicesAnswer(page, program, folder, check);
    check("study: no errors, no requests elsewhere, no dialogs", !problems.length, problems[0]);
  });
}

// What a button saves: WebDriver BiDi tells nothing of files that a page makes, so the folder is looked at until one is whole.
async function savedIn(folder, button) {
  await button.click();
  for (let wait = 0; wait < 100; wait++) {
    const [name, more] = readdirSync(folder);
    const bytes = name && !more ? readFileSync(join(folder, name)) : "";
    if (bytes.length) {
      rmSync(join(folder, name));
      return bytes;
    }
    await button.page().waitForTimeout(50);
  }
  throw new Error("nothing was saved");
}

async function darkAndNarrow(address, accessibility, check) {
  const browser = await launchFirefox("dark");
  try {
    const { page } = await openRoom(browser, address, { viewport: { width: 390, height: 844 } });
    await bothAnswered(page);
    await accessibility(page, "workbench, Firefox, dark, on a telephone");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check("keeps within a window of 390", overflow <= 0, overflow);
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check("has dark colours", paper === "rgb(22, 24, 27)", paper);
    await page.evaluate(() => scrollTo(0, 0));
    if (process.env.UTMOST_PICTURES) await page.screenshot({ path: `${process.env.UTMOST_PICTURES}/firefox-dark.png` });
  } finally {
    await browser.close();
  }
}
