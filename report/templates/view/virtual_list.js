// A list of any length: only the rows in view are in the document.

const LIST_ROW = 24;
// Browsers draw no taller boxes; of a longer list, the scroll bar shows the share.
const TALLEST = 8e6;

class VirtualList {
  // `fill(element, place)` writes a row; `chosen(place)` is called for a click.
  constructor(parent, label, fill, chosen) {
    this.fill = fill;
    this.count = 0;
    this.selected = -1;
    this.box = build("div", { className: "list", tabIndex: 0 }, parent);
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-label", label);
    this.spacer = build("div", {}, this.box);
    this.spacer.setAttribute("role", "presentation");
    this.window = build("div", { className: "window" }, this.spacer);
    this.window.setAttribute("role", "presentation");
    this.rows = [];
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) chosen(Number(row.dataset.place));
    });
    this.box.addEventListener("keydown", (event) => {
      const page = this.visible() - 1;
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (steps[event.key] === undefined || !this.count) return;
      event.preventDefault();
      chosen(Math.min(this.count - 1, Math.max(0, this.selected + steps[event.key])));
    });
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  setCount(count) {
    this.count = count;
    this.spacer.style.height = `${Math.min(TALLEST, count * LIST_ROW)}px`;
    this.draw();
  }

  visible() {
    return Math.max(1, Math.floor(this.box.clientHeight / LIST_ROW));
  }

  isScaled() {
    return this.count * LIST_ROW > TALLEST;
  }

  // The first row in view, and parts of it.
  top() {
    if (!this.isScaled()) return this.box.scrollTop / LIST_ROW;
    return (this.box.scrollTop / (TALLEST - this.box.clientHeight)) * (this.count - this.visible());
  }

  // Brings a row into view, if it is not there.
  show(place) {
    const top = this.top();
    if (place >= top && place <= top + this.visible() - 1) return this.draw();
    const wanted = Math.max(0, Math.min(this.count - this.visible(), place - Math.floor(this.visible() / 2)));
    const share = this.isScaled() ? wanted / Math.max(1, this.count - this.visible()) : 0;
    this.box.scrollTop = this.isScaled() ? share * (TALLEST - this.box.clientHeight) : wanted * LIST_ROW;
    this.draw();
  }

  draw() {
    const top = this.isScaled() ? Math.floor(this.top()) : this.top();
    const first = Math.max(0, Math.floor(top));
    const shown = Math.min(this.count - first, this.visible() + 2);
    while (this.rows.length < shown) this.rows.push(this.newRow());
    this.rows.forEach((row, at) => {
      const place = first + at;
      row.hidden = at >= shown;
      if (row.hidden) return;
      row.dataset.place = place;
      row.setAttribute("aria-selected", String(place === this.selected));
      row.setAttribute("aria-setsize", this.count);
      row.setAttribute("aria-posinset", place + 1);
      this.fill(row, place);
    });
    this.window.style.transform = `translateY(${this.isScaled() ? this.box.scrollTop : first * LIST_ROW}px)`;
    const active = this.rows.find((row) => !row.hidden && row.getAttribute("aria-selected") === "true");
    if (active) this.box.setAttribute("aria-activedescendant", active.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  newRow() {
    VirtualList.made = (VirtualList.made || 0) + 1;
    const row = build("div", { className: "row", id: `row-${VirtualList.made}` }, this.window);
    row.setAttribute("role", "option");
    return row;
  }
}
