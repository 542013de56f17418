// A figure as a file.

function svgOf(panel) {
  const width = panel.width();
  const { figure, recording } = panel;
  const height = savedHeight(panel);
  const surface = new SvgSurface(width, height, `${figure.title}: ${recording.name}`, currentTheme().paper);
  panel.drawOn(surface, width, height, 0);
  return surface.toString();
}

// What is scrolled on the page is saved whole, up to some 300 rows.
const SAVED_HEIGHT_MOST = 6000;

function savedHeight(panel) {
  const { figure } = panel;
  return figure.scrolls ? Math.min(figure.fullHeight(), SAVED_HEIGHT_MOST) : figure.height(panel.width(), panel.viewport);
}

function saveSvg(panel) {
  save(new Blob([svgOf(panel)], { type: "image/svg+xml" }), panel, "svg");
}

// Twice the size on the screen, for print.
function savePng(panel) {
  const canvas = document.createElement("canvas");
  const [width, height] = [panel.width(), savedHeight(panel)];
  const surface = new CanvasSurface(canvas, width, height, 2);
  surface.rect(0, 0, width, height, currentTheme().paper);
  panel.drawOn(surface, width, height, 0);
  canvas.toBlob((blob) => save(blob, panel, "png"), "image/png");
}

function save(blob, panel, extension) {
  const stem = panel.recording.name.replace(/[^\w.-]+/g, "_").slice(0, 80);
  const link = build("a", { href: URL.createObjectURL(blob), download: `${stem}-${panel.figure.name}.${extension}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
