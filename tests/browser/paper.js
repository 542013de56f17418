// What goes to paper, and into a PDF.

import { open } from "./pages.js";

// A4 with Chromium's margins, in CSS pixels.
const PAPER = { width: 718, height: 1047 };

// Every figure is on the paper, in light colours, within its width, and with the range in view: whatever the screen shows.
export async function paperIsComplete(browser, file, check) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, problems } = await open(browser, file, { colorScheme });
    await page.evaluate(() => report.whole);
    // Figures out of sight are not drawn on the screen.
    await page.evaluate(() => report.viewport.zoom(0.1, 0.4));
    await page.locator("summary").filter({ hasText: "Table: waterfall" }).first().click();
    await page.emulateMedia({ media: "print", colorScheme });
    await page.setViewportSize(PAPER);
    const { figures, printed, columns, right, overflow } = await page.evaluate(onPaper);
    const name = `paper, ${colorScheme}`;
    check(`${name}: every figure is there`, figures > 5 && printed.length >= figures, `${printed.length} pictures of ${figures} figures`);
    const pale = printed.filter((it) => it.paper !== "#ffffff").map((it) => it.title);
    check(`${name}: its colours are light`, !pale.length, pale.join() || undefined);
    const other = printed.filter((it) => it.ticks !== printed[0].ticks).map((it) => it.title);
    check(`${name}: all figures have the range in view`, printed[0].ticks.includes("ms") && !other.length, other.join() || printed[0].ticks);
    check(`${name}: nothing is wider than the page`, right <= PAPER.width && overflow <= 0, `${right}, ${overflow}`);
    check(`${name}: a table that is open is there whole`, columns > 3 && columns === (await page.locator(".table-box table:visible").first().locator("thead th").count()), columns);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    const pdf = await page.pdf({ format: "A4" });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
    check(`${name}: a PDF has several pages`, pages > 2, pages);
    check(`${name}: no errors`, !problems.length, problems[0]);
    await page.context().close();
  }
}

// In the page.
function onPaper() {
  dispatchEvent(new Event("beforeprint"));
  const pictures = [...document.querySelectorAll(".printed svg")];
  const printed = pictures.map((svg) => ({
    title: svg.querySelector("title")?.textContent ?? svg.getAttribute("aria-label"),
    paper: svg.querySelector("rect").getAttribute("fill"),
    ticks: [...svg.querySelectorAll('text[text-anchor="middle"]')].map((it) => it.textContent).filter((it) => /^[\d.,]+ m?s$/.test(it)).sort().join(" "),
  }));
  const edges = [...document.querySelectorAll("main :not(svg *)")].map((it) => it.getBoundingClientRect()).filter((it) => it.width > 0);
  return {
    figures: report.panels.filter((it) => it.canvas).length,
    printed,
    columns: document.querySelectorAll(".panel details[open] thead th").length,
    right: Math.max(...edges.map((it) => it.right)),
    overflow: document.documentElement.scrollWidth - innerWidth,
  };
}
