// A figure as a file.

function svgOf(panel) {
  const width = panel.width();
  const { figure, recording } = panel;
  const height = figure.height();
  const surface = new SvgSurface(width, height, `${figure.title}: ${recording.name}`, currentTheme().paper);
  panel.drawOn(surface, width, height);
  return surface.toString();
}

function saveSvg(panel) {
  save(new Blob([svgOf(panel)], { type: "image/svg+xml" }), panel, "svg");
}

// Twice the size on the screen, for print.
function savePng(panel) {
  const canvas = document.createElement("canvas");
  const [width, height] = [panel.width(), panel.figure.height()];
  const surface = new CanvasSurface(canvas, width, height, 2);
  surface.rect(0, 0, width, height, currentTheme().paper);
  panel.drawOn(surface, width, height);
  canvas.toBlob((blob) => save(blob, panel, "png"), "image/png");
}

function save(blob, panel, extension) {
  const stem = panel.recording.name.replace(/^.*[\\/]/, "").replace(/[^\w.-]+/g, "_").slice(0, 80);
  const link = build("a", { href: URL.createObjectURL(blob), download: `${stem}-${panel.figure.name}.${extension}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
