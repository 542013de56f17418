// The workbench in Chromium: hands, numbers, links, hostile names.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRoom, withProgram } from "./pages.js";
import { urlsAreRecorded } from "./recording.js";
import { studyWorks } from "./studies.js";

const PAGES_COMPARED = 20;

// Starts the program and opens its page; `check` takes a name, whether it holds, and what was found.
export async function workbenchWorks(browser, program, accessibility, check) {
  const started = performance.now();
  await withProgram(program, ["view"], (address) => pagesAndOrders(browser, program, address, started, accessibility, check));
  await studyWorks(browser, program, accessibility, check);
}

async function pagesAndOrders(browser, program, address, started, accessibility, check) {
  const { page, problems } = await openRoom(browser, address, { colorScheme: "light" });
  console.log(`     from \`utmost view\` to the first ribbon: ${Math.round(performance.now() - started)} ms`);
  await accessibility(page, "workbench, light");
  await handsWork(page, check);
  await linkRestores(browser, page, check);
  await schemeFileRuns(page, check);
  await slidersAnswer(page);
  await dragsAreSmooth(page);
  await filmIsTheModel(page, check);
  await pushesAreByHand(page, check);
  await keysReachAll(page, check);
  await filesAreSaved(page, check);
  await searchStops(page, check);
  await urlsAreRecorded(page, check);
  await numbersAreThoseOfCompare(page, program, check);
  await hostileNamesAreText(page, check);
  check("workbench: no errors, no requests elsewhere, no dialogs", !problems.length, problems[0]);
  const dark = await openRoom(browser, address, { colorScheme: "dark", viewport: { width: 390, height: 844 } });
  await accessibility(dark.page, "workbench, dark, on a telephone");
  const overflow = await dark.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check("workbench: keeps within a window of 390", overflow <= 0, overflow);
  const elsewhere = await (await browser.newContext()).newPage();
  const answer = await elsewhere.goto(new URL("/00/", address).href);
  check("workbench: without the token nothing is shown", answer.status() === 403, answer.status());
}

// The values that the table has, with all digits: by order, then by engine in the order of columns.
export const numbers = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#numbers tbody tr")].map((row) => [row.querySelector("button").textContent, [...row.querySelectorAll("td")].map((it) => it.dataset.exact)])));
export const order = (page) => page.evaluate(() => [...document.querySelectorAll("#resources .name")].map((it) => it.textContent));
export const bothAnswered = (page) => page.waitForFunction(() => workbench.answers().ideal && workbench.answers().stack);

export async function handsWork(page, check) {
  await bothAnswered(page);
  const before = await order(page);
  await page.locator("#resources li").last().locator(".handle").focus();
  await page.keyboard.press("ArrowUp");
  await page.getByRole("button", { name: "by hand", exact: true }).waitFor();
  await bothAnswered(page);
  const after = await order(page);
  check("an arrow key moves a resource up", after.indexOf(before.at(-1)) < before.length - 1, after.join(" "));
  const focused = await page.evaluate(() => document.activeElement.closest("li")?.querySelector(".name").textContent);
  check("and keeps the focus", focused === before.at(-1), focused);
  const values = await numbers(page);
  check("and the numbers change", values["by hand"][0] !== values.rfc9218[0], [values["by hand"][0], values.rfc9218[0]].join(" "));
  await page.getByText(/^map \$host\$uri/m).first().waitFor({ state: "attached" }).catch(() => null);
  check("lines for nginx are there", (await page.locator("#answers pre").nth(1).textContent()).includes("utmost_priority"));
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  check("undo takes it back", (await order(page)).join() === before.join());
  await page.getByRole("button", { name: "Redo", exact: true }).click();
  await page.locator("#resources").evaluate((it) => it.scrollIntoView({ block: "center" }));
  const [from, to] = await Promise.all([page.locator("#resources li").last().locator(".handle"), page.locator("#resources li").nth(3)].map((it) => it.boundingBox()));
  await page.mouse.move(from.x + 5, from.y + 5);
  await page.mouse.down();
  await page.mouse.move(from.x + 5, to.y + to.height / 2, { steps: 5 });
  await page.mouse.up();
  const last = await page.evaluate(() => workbench.state.now.byHand.priorities);
  check("a drag gives a resource a smaller urgency", Object.keys(last).length === 2, JSON.stringify(last));
}

export async function linkRestores(browser, page, check) {
  await bothAnswered(page);
  const [link, values, list] = [page.url(), await numbers(page), await order(page)];
  const again = await openRoom(browser, link, {});
  await bothAnswered(again.page);
  await again.page.waitForFunction((list) => [...document.querySelectorAll("#resources .name")].map((it) => it.textContent).join() === list, list.join());
  check("a link restores the order and the numbers", JSON.stringify(await numbers(again.page)) === JSON.stringify(values));
  const hostile = await openRoom(browser, link.replace(/#.*/, "#%7B%22page%22%3A%7B%7D%2C%22schemes%22%3A5%2C%22__proto__%22%3A1%7D"), {});
  check("a link that says nonsense opens the beginning", (await hostile.page.inputValue("#page")) === "case-study-1" && !hostile.problems.length, hostile.problems[0]);
  await Promise.all([again, hostile].map((it) => it.page.context().close()));
}

export async function schemeFileRuns(page, check) {
  await page.getByRole("button", { name: "Begin with an example" }).click();
  await page.getByRole("button", { name: "fonts-first", exact: true }).waitFor();
  check("a scheme file runs as it is typed", true);
  const area = page.locator("#scheme-file");
  await area.fill((await area.inputValue()).replace("rank = 1", "rank = -1"));
  await page.getByText(/scheme\.toml: line 12: rank -1/).waitFor();
  check("its mistake is told with its line", true);
  await area.fill("");
  await page.waitForFunction(() => document.getElementById("scheme-problem").hidden);
}

// The page with most resources.
const LARGE = "lighthouse-cnn";

// With real keys: what a script fills in is no change for Firefox.
async function choosePage(page, name) {
  await page.locator("#page").selectText();
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
}

async function openPage(page, name) {
  await choosePage(page, name);
  await page.waitForFunction((name) => workbench.answers().ideal?.rows[0].run.page === name, name);
}

export async function slidersAnswer(page) {
  for (const name of ["case-study-1", LARGE]) {
    await openPage(page, name);
    await bothAnswered(page);
    const slider = page.getByLabel("Round trip", { exact: true });
    await slider.focus();
    const took = [];
    for (let step = 0; step < 5; step++) {
      took.push(await page.evaluate(async () => {
        const place = document.getElementById("picture");
        const started = performance.now();
        const changed = new Promise((done) => new MutationObserver((_, observer) => (observer.disconnect(), done())).observe(place, { childList: true }));
        document.activeElement.stepUp(2);
        document.activeElement.dispatchEvent(new Event("input", { bubbles: true }));
        await changed;
        return Math.round(performance.now() - started);
      }));
      await page.waitForTimeout(100);
    }
    const resources = await page.locator("#resources li").count();
    console.log(`     from a slider to the new picture, ${resources} resources: ${took.join(", ")} ms`);
  }
}

// Prints how often the browser draws while a resource is dragged.
async function dragsAreSmooth(page) {
  await page.locator("#resources").evaluate((it) => it.scrollIntoView({ block: "start" }));
  const handle = await page.locator("#resources li").nth(2).locator(".handle").boundingBox();
  await page.mouse.move(handle.x + 5, handle.y + 5);
  await page.mouse.down();
  await page.evaluate(() => {
    globalThis.frames_ms = [];
    const tick = (at) => (frames_ms.push(at), (globalThis.ticking = requestAnimationFrame(tick)));
    globalThis.ticking = requestAnimationFrame(tick);
  });
  for (let step = 0; step < 60; step++) await page.mouse.move(handle.x + 5, handle.y + 5 + 6 * step);
  const frames = await page.evaluate(() => (cancelAnimationFrame(ticking), frames_ms.slice(1).map((it, place) => it - frames_ms[place])));
  await page.mouse.up();
  const mean = frames.reduce((sum, it) => sum + it, 0) / frames.length;
  console.log(`     while dragging: ${Math.round(1000 / mean)} frames a second, the longest frame ${Math.round(Math.max(...frames))} ms`);
}

// The mean of the times at which the film shows its regions, by bytes, is SpeedIndex.
async function filmIsTheModel(page, check) {
  const differ = [];
  for (const name of ["case-study-1", "davies-meenan", "chrome-har-bing", "gentelella-index"]) {
    await openPage(page, name);
    differ.push(...(await page.evaluate(async (name) => {
      const { regionsOf, shownMs } = await import("./film.js");
      const regions = regionsOf((await (await fetch(`page?name=${name}`)).json()).resources);
      const bytes = regions.reduce((sum, it) => sum + it.bytes, 0);
      return workbench.answers().ideal.rows.filter((row) => {
        const { run } = row;
        const shown = shownMs(row, regions);
        const mean = regions.reduce((sum, it) => sum + it.bytes * shown.get(it.id), 0) / bytes;
        return run.speed_index.all !== null && Math.abs(mean - run.speed_index.all) > 0.01;
      }).map(({ label, run }) => `${name} ${label} ${run.speed_index.all}`);
    }, name)));
  }
  check("the film shows what SpeedIndex counts", !differ.length, differ.join("; ") || undefined);
  await page.locator("#film svg").waitFor();
  const [ribbons, film] = await Promise.all(["#picture svg", "#film svg"].map((it) => page.locator(it).boundingBox()));
  check("the film is as wide as the ribbons", ribbons.x === film.x && ribbons.width === film.width, JSON.stringify([ribbons, film]));
}

// The Tab key reaches every control; of radio buttons with one name, one is enough.
async function keysReachAll(page, check) {
  await page.waitForFunction(() => document.querySelector("#answers pre") && !document.getElementById("answers").textContent.includes("by-hand"));
  await page.evaluate(() => {
    const name = (it) => (it.type === "radio" ? it.name : it.id || it.ariaLabel || it.textContent);
    const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
    globalThis.unreached = new Set(controls.filter((it) => !it.disabled && it.checkVisibility()).map(name));
    document.addEventListener("focusin", (event) => unreached.delete(name(event.target)));
    document.activeElement.blur();
  });
  for (let step = 0; step < 300 && (await page.evaluate(() => unreached.size)); step++) await page.keyboard.press("Tab");
  const left = await page.evaluate(() => [...unreached]);
  check("the Tab key reaches every control", !left.length, left.slice(0, 5).join("; ") || undefined);
}

// Engine stack pushes what is to be pushed, and ideal says that it cannot.
async function pushesAreByHand(page, check) {
  await openPage(page, "case-study-1");
  await bothAnswered(page);
  await page.getByLabel("ahead of the document's text: /hero.jpg", { exact: true }).selectOption("push");
  await page.getByRole("button", { name: "by hand", exact: true }).waitFor();
  await bothAnswered(page);
  const pushed = await page.evaluate(() => workbench.answers().stack.rows.at(-1).run.resources.filter((it) => it.pushed).map((it) => it.url));
  check("a resource is pushed by hand", pushed.join() === "https://case-study-1.test/hero.jpg", pushed.join());
  const words = await page.locator("#engines").textContent();
  check("engine ideal says that it leaves pushes out", words.includes("push"), words);
  await page.waitForFunction(() => document.querySelector("#answers")?.textContent.includes('push = ["/hero.jpg"]'));
  await page.getByRole("button", { name: "As browsers ask", exact: true }).click();
}

// What a button saves.
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await download.path());
}

export async function filesAreSaved(page, check, savedBy = saved) {
  await openPage(page, "case-study-1");
  await page.waitForFunction(() => document.querySelector("#answers pre")?.textContent.includes(" case-study-1 "));
  const save = (name) => savedBy(page, page.getByRole("button", { name, exact: true }));
  const svg = String(await save("Save the ribbons (SVG)"));
  check("the ribbons are saved as SVG", svg.startsWith("<svg") && svg.includes("rfc9218"), svg.slice(0, 60));
  for (const name of ["ribbons", "film"]) {
    const png = await save(`Save the ${name} (PNG)`);
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    check(`the ${name} are saved as PNG`, png.subarray(1, 4).toString() === "PNG" && width > 2000 && height > 100, `${width} x ${height}`);
  }
  for (const name of ["ribbons", "film"]) {
    const pdf = await save(`Save the ${name} (PDF)`);
    check(`the ${name} are saved as PDF`, pdf.subarray(0, 5).toString() === "%PDF-" && pdf.length > 2000, pdf.length);
  }
  await bothAnswered(page);
  const csv = String(await save("Save the numbers (CSV)")).trim().split("\n");
  const expected = await page.evaluate(() => Object.values(workbench.answers()).flatMap((it) => it.rows.map(({ run }) => run.byte_index.atf ?? run.byte_index.all)));
  const column = csv[0].split(",").indexOf("byte_index_ms");
  const found = csv.slice(1).map((it) => Number(it.split(",")[column]));
  check("the numbers are saved with all digits", found.join() === expected.join() && found.length >= 6, csv.slice(0, 2).join(" "));
}

async function searchStops(page, check) {
  await openPage(page, "chrome-har-bing");
  await page.getByRole("button", { name: "Find the best priorities", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.locator("#status").filter({ hasText: /^Stopped after/ }).waitFor();
  check("a search can be stopped", (await page.evaluate(() => workbench.state.now.byHand)) === null);
  await openPage(page, "case-study-1");
  await page.getByRole("button", { name: "Find the best priorities", exact: true }).click();
  await page.locator("#status").filter({ hasText: /^Found 1 priority/ }).waitFor();
  check("a search finds the late hero", Object.keys(await page.evaluate(() => workbench.state.now.byHand.priorities)).length === 1);
  await page.getByRole("button", { name: "As browsers ask", exact: true }).click();
}

export async function numbersAreThoseOfCompare(page, program, check, count = PAGES_COMPARED) {
  const pages = await page.evaluate(async () => (await (await fetch("choices")).json()).pages);
  const step = Math.floor(pages.length / count);
  const chosen = pages.filter((_, place) => place % step === 0).slice(0, count);
  const differ = [];
  for (const name of chosen) {
    await choosePage(page, name);
    await page.waitForFunction((name) => workbench.answers().ideal?.rows[0].run.page === name && document.querySelector("#answers pre")?.textContent.includes(` ${name} `), name);
    const command = await page.locator("#answers pre").first().textContent();
    const study = JSON.parse(execFileSync(program, [...command.split(" ").slice(1), "--json"], { maxBuffer: 1 << 28 }));
    const values = await numbers(page);
    for (const run of study.runs) {
      if (values[run.scheme][0] !== String(run.byte_index.atf ?? run.byte_index.all)) differ.push(`${name} ${run.scheme}`);
    }
  }
  check(`numbers of ${chosen.length} pages are those of compare, to the digit`, !differ.length, differ.join("; ") || undefined);
}

async function hostileNamesAreText(page, check) {
  const attack = "/<img src=x onerror=alert(1)></script><script>alert(2)</script>";
  const entry = (path) => ({
    startedDateTime: "2026-01-01T00:00:00Z", time: 100, request: { method: "GET", url: `https://shop.example${path}`, headers: [] },
    response: { status: 200, headers: [], content: { size: 5000, mimeType: "text/html" }, bodySize: 5000 }, timings: { send: 0, wait: 10, receive: 90 },
  });
  const file = join(mkdtempSync(join(tmpdir(), "utmost-")), "shop.har");
  writeFileSync(file, JSON.stringify({ log: { entries: [entry("/"), entry(attack)] } }));
  await page.setInputFiles("#file", file);
  await page.waitForFunction(() => workbench.answers().ideal?.rows[0].run.page === "shop");
  const found = await page.evaluate(() => [document.querySelectorAll("img, #picture script, main script").length, document.querySelectorAll("#resources li").length]);
  check("names of a dropped file stay text", found[0] === 0 && found[1] === 2, found.join(" "));
  writeFileSync(file, "{".repeat(100000));
  await page.setInputFiles("#file", file);
  await page.locator("#problem").filter({ hasText: "shop.har" }).waitFor();
  check("a file that is not a page is refused with its name", true);
}
