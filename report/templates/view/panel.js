// One figure on the page: its canvas, its pointer and keys, its table, its exports.

const ENLARGED = 1.8;

class Panel {
  constructor(figure, recording, viewport, parent) {
    // How many times as large as the others it is drawn.
    Object.assign(this, { figure, recording, viewport, zoom: 1 });
    this.element = build("figure", { className: "panel" }, parent);
    build("h3", { textContent: figure.title }, this.element);
    build("p", { className: "about", textContent: figure.about }, this.element);
    const missing = figure.missing && figure.missing();
    if (missing) {
      build("p", { className: "missing", textContent: `Not shown: ${missing}` }, this.element);
      return;
    }
    this.box = build("div", { className: figure.scrolls ? "drawing scrolls" : "drawing" }, this.element);
    const label = `${figure.title} of ${recording.name}. Arrow keys move, plus and minus zoom, 0 shows all, [ and ] go from frame to frame, Enter pins the frame at the cursor.`;
    this.canvas = build("canvas", { tabIndex: 0 }, this.box);
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    if (figure.scrolls) {
      this.spacer = build("div", { className: "spacer" }, this.box);
      this.box.addEventListener("scroll", () => this.draw());
    }
    addPointer(this);
    this.canvas.addEventListener("keydown", (event) => onKey(event, this));
    this.addFooter();
    this.isVisible = true;
    new IntersectionObserver(([entry]) => {
      this.isVisible = entry.isIntersecting;
      if (this.isVisible) this.draw();
    }, { rootMargin: "200px" }).observe(this.element);
  }

  addFooter() {
    const footer = build("div", { className: "footer" }, this.element);
    for (const [name, save] of [["SVG", saveSvg], ["PNG", savePng]]) {
      const button = build("button", { type: "button", textContent: `Save ${name}` }, footer);
      button.setAttribute("aria-label", `Save ${name}: ${this.figure.title} of ${this.recording.name}`);
      button.addEventListener("click", () => save(this));
    }
    const enlarge = build("button", { type: "button", textContent: "Enlarge", ariaLabel: `Enlarge ${this.figure.title}` }, footer);
    enlarge.addEventListener("click", () => {
      this.zoom = this.zoom === 1 ? ENLARGED : 1;
      enlarge.textContent = this.zoom === 1 ? "Enlarge" : "As before";
      this.draw();
    });
    if (this.figure.choices) this.addChoices(footer, this.figure.choices());
    const details = build("details", {}, this.element);
    build("summary", { textContent: `Table: ${this.figure.title.toLowerCase()}` }, details);
    this.tableBox = build("div", { className: "table-box", tabIndex: 0 }, details);
    this.tableBox.setAttribute("role", "region");
    this.tableBox.setAttribute("aria-label", `Table: ${this.figure.title} of ${this.recording.name}`);
    this.details = details;
    details.addEventListener("toggle", () => this.fillTable());
  }

  addChoices(footer, { label, values, choose }) {
    const box = build("label", { textContent: `${label} ` }, footer);
    const select = build("select", { ariaLabel: `${label} in ${this.figure.title.toLowerCase()}` }, box);
    for (const value of values) build("option", { value, textContent: value }, select);
    select.addEventListener("change", () => {
      choose(select.value);
      // A part of what there is can be read one by one.
      if (select.selectedIndex > 0) this.details.open = true;
      this.viewport.changed();
    });
  }

  fillTable() {
    if (this.details && this.details.open) fillTable(this.tableBox, this.figure.table(this.viewport));
  }

  width() {
    return Math.max(320 / this.zoom, this.box.clientWidth / this.zoom);
  }

  draw() {
    if (!this.canvas || !this.isVisible) return;
    const width = this.width();
    const height = this.figure.height(width, this.viewport);
    const { zoom } = this;
    // A pointer's place on a transformed canvas is in its own pixels.
    const larger = zoom === 1 ? "" : `;transform:scale(${zoom});transform-origin:0 0;margin-bottom:${height * (zoom - 1)}px`;
    const style = `width:${width}px;height:${height}px${larger}`;
    if (this.canvas.style.cssText !== style) this.canvas.style.cssText = style;
    if (this.spacer) {
      this.box.style.height = `${height * zoom}px`;
      this.spacer.style.height = `${Math.max(0, this.figure.fullHeight() - height) * zoom}px`;
    }
    const surface = new CanvasSurface(this.canvas, width, height, (devicePixelRatio || 1) * zoom);
    this.drawOn(surface, width, height);
  }

  drawOn(surface, width, height, scrollTop = this.scrolled()) {
    const theme = currentTheme();
    this.figure.draw(surface, width, this.viewport, theme, scrollTop, height);
    const scale = new Scale(this.viewport, width, this.recording);
    drawAnnotations(surface, this.recording, scale, height, theme);
    drawBand(surface, this.viewport, scale, height, theme);
    if (this.viewport.cursor !== null && scale.inView(this.viewport.cursor)) {
      const x = Math.round(scale.x(this.viewport.cursor)) + 0.5;
      surface.line([x, 0, x, height - 18], theme.accent, 1);
    }
  }

  hover(event) {
    const scale = new Scale(this.viewport, this.width(), this.recording);
    if (event.offsetX < scale.left) return isPinned() || hideTip();
    showTip(this.hitAt(event.offsetX, event.offsetY, scale).lines, event.clientX, event.clientY);
  }

  scrolled() {
    return this.spacer ? this.box.scrollTop / this.zoom : 0;
  }

  hitAt(x, y, scale) {
    return this.figure.at(x, y, scale, this.scrolled());
  }

  // Pins what is at a place of the canvas, with the ways on from there.
  pin(x, y, clientX, clientY) {
    const scale = new Scale(this.viewport, this.width(), this.recording);
    if (x < scale.left) return hideTip();
    this.pinHit(this.hitAt(x, y, scale), scale.position(x), clientX, clientY);
  }

  pinHit(hit, position, clientX, clientY) {
    const { recording, viewport } = this;
    this.viewport.select(hit.event ? { recording, ...hit.event } : null);
    const actions = [];
    if (hit.event) actions.push(["Show the event", () => viewport.showEvent(recording, hit.event)]);
    if (hit.stream !== undefined) actions.push([`Only stream ${recording.streams[hit.stream].id}`, () => recording.showOnly([hit.stream])]);
    const width = (viewport.to - viewport.from) / 20;
    actions.push(["Zoom here", () => viewport.show(position - width, position + width)]);
    pinTip(hit.lines, actions, clientX, clientY);
  }
}

// The keys of a figure that has the focus.
function onKey(event, panel) {
  const { viewport, recording } = panel;
  const actions = {
    ArrowLeft: () => viewport.pan(-0.1),
    ArrowRight: () => viewport.pan(0.1),
    PageUp: () => viewport.pan(-0.9),
    PageDown: () => viewport.pan(0.9),
    Home: () => viewport.pan(-Infinity),
    End: () => viewport.pan(Infinity),
    "+": () => viewport.zoom(1 / 1.5, 0.5),
    "=": () => viewport.zoom(1 / 1.5, 0.5),
    "-": () => viewport.zoom(1.5, 0.5),
    0: () => viewport.showAll(),
    "[": () => stepFrame(viewport, recording, -1),
    "]": () => stepFrame(viewport, recording, 1),
    Enter: () => pinCursor(panel),
    Escape: () => viewport.clear(),
  };
  if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  actions[event.key]();
}

// Pins the frame at the cursor.
function pinCursor(panel) {
  const { viewport, recording } = panel;
  if (viewport.cursor === null || !recording.count) return;
  const frame = Math.min(recording.count - 1, recording.firstAt(viewport.axis, viewport.cursor));
  const scale = new Scale(viewport, panel.width(), recording);
  const box = panel.canvas.getBoundingClientRect();
  const hit = { lines: frameLines(recording, frame, scale), event: recording.rowOfFrame(frame), stream: recording.stream[frame] };
  panel.pinHit(hit, viewport.cursor, box.left + scale.x(viewport.cursor), box.top + 20);
  document.querySelector("#tip button").focus();
}

// Moves the cursor to the next or previous frame, brings it into view and describes it.
function stepFrame(viewport, recording, by) {
  if (!recording.count) return;
  const now = viewport.cursor ?? viewport.from;
  let frame = recording.firstAt(viewport.axis, now + (by > 0 ? 1e-6 : 0)) + (by > 0 && viewport.cursor !== null ? 0 : by > 0 ? 0 : -1);
  frame = Math.min(recording.count - 1, Math.max(0, frame));
  const position = recording.position(viewport.axis, frame);
  const width = viewport.to - viewport.from;
  if (position < viewport.from || position > viewport.to) viewport.show(position - width / 2, position + width / 2);
  viewport.setCursor(position);
  announce(frameLines(recording, frame).join("; "));
}

function build(name, properties, parent) {
  const element = Object.assign(document.createElement(name), properties);
  if (parent) parent.append(element);
  return element;
}
