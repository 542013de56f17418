// The workbench in Chromium: hands, numbers, links, hostile names.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PAGES_COMPARED = 20;

// Starts the program and opens its page; `check` takes a name, whether it holds, and what was found.
export async function workbenchWorks(browser, program, accessibility, check) {
  const started = performance.now();
  const server = spawn(program, ["view"]);
  try {
    const address = await new Promise((done) => server.stdout.on("data", (data) => done(String(data).match(/http:\S+/)[0])));
    const { page, problems } = await openRoom(browser, address, { colorScheme: "light" });
    console.log(`     from \`utmost view\` to the first ribbon: ${Math.round(performance.now() - started)} ms`);
    await accessibility(page, "workbench, light");
    await handsWork(page, check);
    await linkRestores(browser, page, check);
    await schemeFileRuns(page, check);
    await slidersAnswer(page);
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
  } finally {
    server.kill();
  }
}

async function openRoom(browser, address, options) {
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
  await page.waitForSelector("#picture svg");
  return { page, problems };
}

// The values that the table has, with all digits: by order, then by engine in the order of columns.
const numbers = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#numbers tbody tr")].map((row) => [row.querySelector("button").textContent, [...row.querySelectorAll("td")].map((it) => it.dataset.exact)])));
const order = (page) => page.evaluate(() => [...document.querySelectorAll("#resources .name")].map((it) => it.textContent));
const bothAnswered = (page) => page.waitForFunction(() => workbench.answers().ideal && workbench.answers().stack);

async function handsWork(page, check) {
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

async function linkRestores(browser, page, check) {
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

async function schemeFileRuns(page, check) {
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

async function slidersAnswer(page) {
  const slider = page.getByLabel("Round trip", { exact: true });
  await slider.focus();
  const tookMs = await page.evaluate(async () => {
    const place = document.getElementById("picture");
    const started = performance.now();
    const changed = new Promise((done) => new MutationObserver((_, observer) => (observer.disconnect(), done())).observe(place, { childList: true }));
    document.activeElement.stepUp(4);
    document.activeElement.dispatchEvent(new Event("input", { bubbles: true }));
    await changed;
    return performance.now() - started;
  });
  console.log(`     from a slider to the new picture: ${Math.round(tookMs)} ms`);
}

async function numbersAreThoseOfCompare(page, program, check) {
  const pages = await page.evaluate(async () => (await (await fetch("choices")).json()).pages);
  const step = Math.floor(pages.length / PAGES_COMPARED);
  const chosen = pages.filter((_, place) => place % step === 0).slice(0, PAGES_COMPARED);
  const differ = [];
  for (const name of chosen) {
    await page.fill("#page", name);
    await page.locator("#page").press("Enter");
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
