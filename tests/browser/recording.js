// The workbench records the page of a URL, says why it cannot, and stops when it shall.

import { createServer } from "node:http";

const PAGE = "<!doctype html><title>Shop</title><img src=/hero.svg width=900 height=500>";
const HERO = "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='500'/>";

export async function urlsAreRecorded(page, check) {
  const site = createServer((request, response) => {
    const isHero = request.url.startsWith("/hero.svg");
    response.writeHead(200, { "content-type": isHero ? "image/svg+xml" : "text/html" }).end(isHero ? HERO : PAGE);
  });
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${site.address().port}/shop`;
  const status = page.locator("#status");
  const record = page.locator("#record");
  try {
    await page.fill("#url", "file:///etc/passwd");
    await record.click();
    await status.filter({ hasText: "name an http or https URL" }).waitFor();
    check("only addresses of the web are recorded", true);
    await page.fill("#url", address);
    await record.click();
    await status.filter({ hasText: /: (starting|mirroring)/ }).waitFor();
    const isAlone = await page.locator("#search").isDisabled();
    await record.click();
    await status.filter({ hasText: /^Stopped after .*Nothing is changed\.$/ }).waitFor();
    check("a recording can be stopped", isAlone && (await page.inputValue("#page")) === "case-study-1");
    // The program is done with the first one when it takes the next.
    for (let wait = 0; wait < 60; wait++) {
      await page.locator("#url").press("Enter");
      await record.filter({ hasText: "Record" }).waitFor({ timeout: 120000 });
      if (!(await status.textContent()).includes("another page")) break;
      await page.waitForTimeout(500);
    }
    await page.waitForFunction(() => workbench.answers().ideal?.rows[0].run.page === "127.0.0.1-shop", null, { timeout: 120000 });
    const names = await page.locator("#resources .name").allTextContents();
    check("the page of a URL is recorded", names.sort().join() === "/hero.svg,/shop", names.join());
  } finally {
    site.close();
  }
}
