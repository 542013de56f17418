// Paper is not a screen: its width is another one, nothing scrolls, and what was out of sight is there too. Before the page is
// printed each figure is drawn once more, as SVG that fits the width of the paper, in the light colours; a figure with many
// rows becomes several pieces, so that pages break between rows.

const PRINT_WIDTH = 1000;
const PRINT_HEIGHT = 1200;
const PRINT_PIECES_MOST = 60;

function preparePrint(panels) {
  const before = themeOnPaper();
  endPrint();
  let pictures = 0;
  for (const panel of panels) {
    if (!panel.canvas) continue;
    for (const svg of piecesOf(panel)) {
      const picture = build("div", { className: "printed" });
      panel.details.before(picture);
      // Patterns and clips of several pictures share one page: each picture's have names of their own.
      picture.innerHTML = svg.replace(/(\bid="|url\(#)/g, `$1print${pictures}-`);
      pictures++;
    }
  }
  before();
}

// The colours of paper, until the function that it returns is called.
function themeOnPaper() {
  const root = document.documentElement;
  const chosen = root.dataset.theme;
  root.dataset.theme = "light";
  themeNow = null;
  return () => {
    if (chosen === undefined) delete root.dataset.theme;
    else root.dataset.theme = chosen;
    themeNow = null;
  };
}

// The figure in the view's range, cut into pieces of whole rows.
function piecesOf(panel) {
  const { figure } = panel;
  if (!figure.scrolls) return [printed(panel, figure.height(PRINT_WIDTH, panel.viewport), 0)];
  const rows = Math.floor(PRINT_HEIGHT / ROW_HEIGHT) * ROW_HEIGHT;
  const all = figure.fullHeight() - 26;
  const pieces = [];
  for (let top = 0; top < all && pieces.length < PRINT_PIECES_MOST; top += rows) {
    pieces.push(printed(panel, Math.min(rows, all - top) + 26, top));
  }
  return pieces;
}

function printed(panel, height, scrollTop) {
  const { figure, recording } = panel;
  const surface = new SvgSurface(PRINT_WIDTH, height, `${figure.title}: ${recording.name}`, currentTheme().paper);
  panel.drawOn(surface, PRINT_WIDTH, height, scrollTop);
  return surface.toString();
}

function endPrint() {
  document.querySelectorAll(".printed").forEach((it) => it.remove());
}
