// One figure on the page: its canvas, its pointer and keys, its table, its exports.

class Panel {
  constructor(figure, recording, viewport, parent) {
    Object.assign(this, { figure, recording, viewport });
    this.element = build("figure", { className: "panel" }, parent);
    build("h3", { textContent: figure.title }, this.element);
    build("p", { className: "about", textContent: figure.about }, this.element);
    const missing = figure.missing && figure.missing();
    if (missing) {
      build("p", { className: "missing", textContent: `Not shown: ${missing}` }, this.element);
      return;
    }
    this.box = build("div", { className: figure.scrolls ? "drawing scrolls" : "drawing" }, this.element);
    const label = `${figure.title} of ${recording.name}. Arrow keys move, plus and minus zoom, 0 shows all, [ and ] go from frame to frame.`;
    this.canvas = build("canvas", { tabIndex: 0 }, this.box);
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    if (figure.scrolls) {
      this.spacer = build("div", { className: "spacer" }, this.box);
      this.box.addEventListener("scroll", () => this.draw());
    }
    this.addPointer();
    this.canvas.addEventListener("keydown", (event) => onKey(event, this.viewport, this.recording));
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
    const details = build("details", {}, this.element);
    build("summary", { textContent: `Table: ${this.figure.title.toLowerCase()}` }, details);
    this.tableBox = build("div", { className: "table-box", tabIndex: 0 }, details);
    this.tableBox.setAttribute("role", "region");
    this.tableBox.setAttribute("aria-label", `Table: ${this.figure.title} of ${this.recording.name}`);
    this.details = details;
    details.addEventListener("toggle", () => this.fillTable());
  }

  fillTable() {
    if (this.details && this.details.open) fillTable(this.tableBox, this.figure.table(this.viewport));
  }

  width() {
    return Math.max(320, this.box.clientWidth);
  }

  draw() {
    if (!this.canvas || !this.isVisible) return;
    const width = this.width();
    const height = this.figure.height();
    const style = `width:${width}px;height:${height}px`;
    if (this.canvas.style.cssText !== style) this.canvas.style.cssText = style;
    if (this.spacer) {
      this.box.style.height = `${height}px`;
      this.spacer.style.height = `${Math.max(0, this.figure.fullHeight() - height)}px`;
    }
    const surface = new CanvasSurface(this.canvas, width, height, devicePixelRatio || 1);
    this.drawOn(surface, width, height);
  }

  drawOn(surface, width, height, scrollTop = this.spacer ? this.box.scrollTop : 0) {
    const theme = currentTheme();
    this.figure.draw(surface, width, this.viewport, theme, scrollTop, height);
    const scale = new Scale(this.viewport, width, this.recording);
    drawAnnotations(surface, this.recording, scale, height, theme);
    if (this.viewport.cursor !== null && scale.inView(this.viewport.cursor)) {
      const x = Math.round(scale.x(this.viewport.cursor)) + 0.5;
      surface.line([x, 0, x, height - 18], theme.accent, 1);
    }
  }

  // Drag pans; the wheel zooms with Ctrl or Shift, so that the page can be scrolled; hovering shows values.
  addPointer() {
    const { canvas, viewport } = this;
    let dragged = null;
    canvas.addEventListener("pointerdown", (event) => {
      dragged = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => (dragged = null));
    canvas.addEventListener("pointermove", (event) => {
      if (dragged !== null) {
        viewport.pan((dragged - event.offsetX) / new Scale(viewport, this.width()).width);
        dragged = event.offsetX;
      } else this.hover(event);
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", () => viewport.showAll());
    canvas.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !event.shiftKey && !sideways) return;
      event.preventDefault();
      const scale = new Scale(viewport, this.width());
      if (sideways && !event.ctrlKey && !event.shiftKey) viewport.pan(event.deltaX / scale.width);
      else viewport.zoom(2 ** ((event.deltaY || event.deltaX) / 300), (event.offsetX - scale.left) / scale.width);
    }, { passive: false });
  }

  hover(event) {
    const scale = new Scale(this.viewport, this.width(), this.recording);
    if (event.offsetX < scale.left) return hideTip();
    const lines = this.figure.at(event.offsetX, event.offsetY, scale, this.spacer ? this.box.scrollTop : 0);
    showTip(lines, event.clientX, event.clientY);
  }
}

// The keys of a figure that has the focus.
function onKey(event, viewport, recording) {
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
  };
  if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  actions[event.key]();
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
