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
    if (look.pattern === "solid" || width < 5) return;
    this.context.fillStyle = this.pattern(look.pattern);
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
    context.setLineDash(dash || []);
    context.beginPath();
    context.moveTo(points[0], points[1]);
    for (let place = 2; place < points.length; place += 2) context.lineTo(points[place], points[place + 1]);
    context.stroke();
    context.setLineDash([]);
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
    context.fillText(limit ? shortened(text, limit) : text, x, y);
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

  pattern(name) {
    if (!this.patterns.has(name)) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const context = tile.getContext("2d");
      context.fillStyle = context.strokeStyle = "rgba(0, 0, 0, 0.6)";
      if (name === "dotted") context.fillRect(1, 1, 2, 2);
      else for (const from of [-6, 0, 6]) context.stroke(new Path2D(`M${from} 6 L${from + 6} 0`));
      this.patterns.set(name, this.context.createPattern(tile, "repeat"));
    }
    return this.patterns.get(name);
  }
}

// About as many characters as fit into `limit` pixels; the end of a URL says more than its start.
function shortened(text, limit) {
  const most = Math.max(3, Math.floor(limit / 6.2));
  return text.length <= most ? text : "…" + text.slice(text.length - most + 1);
}
