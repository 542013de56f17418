// Draws on a canvas. SvgSurface has the same methods, so that a figure is drawn by one code on both.

const FONT = '12px system-ui, "Liberation Sans", "DejaVu Sans", sans-serif';

class CanvasSurface {
  constructor(canvas, width, height, scale) {
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    this.context = canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.patterns = new Map();
  }

  rect(left, top, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(left, top, width, height);
  }

  // A rectangle in the look of a stream; the pattern only where there is room to see it.
  block(left, top, width, height, look) {
    this.rect(left, top, width, height, look.colour);
    if (look.pattern === "solid" || width < PATTERN_FROM) return;
    this.context.fillStyle = this.pattern(look);
    this.context.fillRect(left, top, width, height);
  }

  frame(left, top, width, height, colour) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = 1;
    this.context.strokeRect(left + 0.5, top + 0.5, Math.max(0, width - 1), Math.max(0, height - 1));
  }

  // Points as x, y, x, y; `dash` is a list of lengths.
  line(points, colour, width, dash) {
    const context = this.context;
    context.strokeStyle = colour;
    context.lineWidth = width;
    if (dash) context.setLineDash(dash);
    context.beginPath();
    context.moveTo(points[0], points[1]);
    for (let place = 2; place < points.length; place += 2) context.lineTo(points[place], points[place + 1]);
    context.stroke();
    if (dash) context.setLineDash([]);
  }

  dot(x, y, radius, colour) {
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 7);
    this.context.fill();
  }

  text(x, y, text, colour, anchor, limit) {
    const context = this.context;
    context.font = FONT;
    context.fillStyle = colour;
    context.textAlign = anchor || "start";
    context.textBaseline = "alphabetic";
    context.fillText(limit ? fitted(text, limit) : text, x, y);
  }

  clip(left, top, width, height) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top, width, height);
    this.context.clip();
  }

  unclip() {
    this.context.restore();
  }

  pattern(look) {
    const name = patternId(look);
    if (!this.patterns.has(name)) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const context = tile.getContext("2d");
      context.strokeStyle = look.ink;
      context.globalAlpha = 0.75;
      context.lineWidth = PATTERNS[look.pattern].width;
      context.lineCap = "round";
      context.stroke(new Path2D(PATTERNS[look.pattern].path));
      this.patterns.set(name, this.context.createPattern(tile, "repeat"));
    }
    return this.patterns.get(name);
  }
}

// What lies over a colour, in a cell of six by six; lines go over its corners, so that cells join.
const PATTERNS = {
  hatched: { path: "M-1 7 L7 -1 M-1 1 L1 -1 M5 7 L7 5", width: 1 },
  backhatched: { path: "M-1 -1 L7 7 M5 -1 L7 1 M-1 5 L1 7", width: 1 },
  barred: { path: "M-1 3 L7 3", width: 1.3 },
  dotted: { path: "M3 3 L3 3.01", width: 2.6 },
};
// Narrower blocks have no room for a pattern.
const PATTERN_FROM = 4;

function patternId(look) {
  return `${look.pattern}-${look.ink.slice(1)}`;
}
