// A reader of the report: does by its visible labels what a person does, and counts the steps. A step is a click, a drag, a hover, a
// text typed into a field, a choice in a list, or a scroll to another place.

const TOOLBAR_PX = 45;
// A machine that builds something else meanwhile is slow.
export const PATIENCE_MS = 30000;
// How the list of events says how many it shows.
export const COUNTED = /^[\d,]+ of [\d,]+ events$/;

export class Reader {
  constructor(page) {
    this.page = page;
    this.steps = [];
  }

  // The drawing of a figure.
  figure(title) {
    return this.page.getByRole("application", { name: new RegExp(`^${title} of `) });
  }

  async scrollTo(heading) {
    await this.bringUp(this.page.getByRole("heading", { name: heading, exact: true }), heading);
  }

  // Waits until the list shows something else.
  async type(label, text) {
    const field = this.page.getByLabel(label, { exact: true });
    await this.reach(field, label);
    this.steps.push(`type ${text} into ${label}`);
    const status = this.page.getByRole("status").filter({ hasText: COUNTED });
    const before = await status.innerText();
    await field.fill(text);
    await status.filter({ hasNotText: before }).waitFor({ timeout: PATIENCE_MS });
  }

  async choose(label, value) {
    const list = this.page.getByLabel(label, { exact: true });
    await this.reach(list, label);
    this.steps.push(`choose ${value}`);
    await list.selectOption({ label: value });
  }

  async click(locator, words) {
    await this.reach(locator, words);
    this.steps.push(`click ${words}`);
    await locator.click();
  }

  async hover(locator, words, position) {
    await this.reach(locator, words);
    this.steps.push(`hover over ${words}`);
    await locator.hover({ position });
  }

  // Between two shares of a figure's width, with a key held down.
  async drag(locator, words, [from, to], key) {
    await this.reach(locator, words);
    this.steps.push(`drag over ${words} with ${key}`);
    const { x, y, width } = await locator.boundingBox();
    await this.page.keyboard.down(key);
    await this.page.mouse.move(x + from * width, y + 30);
    await this.page.mouse.down();
    await this.page.mouse.move(x + to * width, y + 30, { steps: 4 });
    await this.page.mouse.up();
    await this.page.keyboard.up(key);
  }

  // What a pattern finds in a place of the page, once it is there.
  async read(locator, pattern) {
    const found = locator.filter({ hasText: pattern }).first();
    await found.waitFor({ timeout: PATIENCE_MS });
    await this.reach(found, "the answer");
    const isCut = await found.evaluate((it) => it.scrollHeight > it.clientHeight + 1 && getComputedStyle(it).overflowY !== "visible");
    if (isCut) this.steps.push("scroll in the answer");
    return (await found.innerText()).match(pattern);
  }

  // What is not in view costs a scroll.
  async reach(locator, words) {
    const box = await locator.boundingBox();
    // It was drawn anew meanwhile.
    if (!box) return this.reach(locator, words);
    const isInView = box.y >= TOOLBAR_PX && box.y + box.height <= this.page.viewportSize().height;
    if (!isInView) await this.bringUp(locator, words);
  }

  async bringUp(locator, words) {
    this.steps.push(`scroll to ${words}`);
    const { x, y } = await locator.boundingBox();
    // Beside the figures, where the wheel scrolls the page.
    await this.page.mouse.move(Math.max(1, x - 10), 300);
    await this.page.mouse.wheel(0, y - TOOLBAR_PX - 15);
    await this.settle(locator, y);
  }

  // Waits until the page has moved, and does not move any more. Where it cannot, it waits for a second.
  async settle(locator, start) {
    let before = start;
    for (let rests = 0; rests < (before === start ? 10 : 2); ) {
      await this.page.waitForTimeout(100);
      const { y } = (await locator.boundingBox()) || { y: NaN };
      rests = y === before ? rests + 1 : 0;
      before = y;
    }
  }
}
