// Draws into an SVG document.

class SvgSurface {
  constructor(width, height, title, paper) {
    this.width = width;
    this.height = height;
    this.parts = [];
    this.title = title;
    this.clips = 0;
    this.patterns = new Map();
    this.rect(0, 0, width, height, paper);
  }

  rect(left, top, width, height, colour) {
    const place = `x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} fill="${colour}"/>`);
  }

  block(left, top, width, height, look) {
    this.rect(left, top, width, height, look.colour);
    if (look.pattern === "solid" || width < PATTERN_FROM) return;
    this.patterns.set(patternId(look), look);
    this.rect(left, top, width, height, `url(#${patternId(look)})`);
  }

  frame(left, top, width, height, colour) {
    const place = `x="${short(left + 0.5)}" y="${short(top + 0.5)}"`;
    const size = `width="${short(Math.max(0, width - 1))}" height="${short(Math.max(0, height - 1))}"`;
    this.parts.push(`<rect ${place} ${size} fill="none" stroke="${colour}"/>`);
  }

  line(points, colour, width, dash) {
    const dashes = dash ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const list = Array.from(points, short).join(" ");
    this.parts.push(`<polyline points="${list}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
  }

  dot(x, y, radius, colour) {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${radius}" fill="${colour}"/>`);
  }

  text(x, y, text, colour, anchor, limit) {
    const anchors = { center: "middle", end: "end", right: "end" };
    const content = escapeMarkup(limit ? fitted(text, limit) : text);
    const where = `x="${short(x)}" y="${short(y)}" text-anchor="${anchors[anchor] || "start"}"`;
    this.parts.push(`<text ${where} fill="${colour}">${content}</text>`);
  }

  clip(left, top, width, height) {
    const id = `clip${this.clips++}`;
    const place = `x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<clipPath id="${id}"><rect ${place}/></clipPath><g clip-path="url(#${id})">`);
  }

  unclip() {
    this.parts.push("</g>");
  }

  toString() {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    const cells = [...this.patterns].map(([id, look]) => {
      const { path, width } = PATTERNS[look.pattern];
      const stroke = `stroke="${look.ink}" stroke-opacity=".75" stroke-width="${width}" stroke-linecap="round"`;
      return `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse"><path d="${path}" ${stroke}/></pattern>`;
    });
    const patterns = `<defs>${cells.join("")}</defs>`;
    const fonts = "system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif";
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" font-family="${fonts}" font-size="12">` +
      `<title>${escapeMarkup(this.title)}</title>${patterns}\n${this.parts.join("\n")}\n</svg>\n`
    );
  }
}

function short(number) {
  return String(Math.round(number * 100) / 100);
}

function escapeMarkup(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  // Control characters are not allowed in XML, whatever a log says.
  const printable = Array.from(String(text), (it) => (it < " " || it === "\ufffe" || it === "\uffff" ? " " : it));
  return printable.join("").replace(/[&<>"']/g, (it) => entities[it]);
}
