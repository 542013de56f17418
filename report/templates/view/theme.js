// Colours of the page for what is drawn on canvases and in exported figures.

const MARK_COLOURS = { 1: "--retransmitted", 2: "--duplicate", 4: "--reordered" };

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    paper: of("--paper"),
    ink: of("--ink"),
    muted: of("--muted"),
    grid: of("--grid"),
    track: of("--track"),
    accent: of("--accent"),
    marks: { 1: of("--retransmitted"), 2: of("--duplicate"), 4: of("--reordered") },
    series: [of("--series-1"), of("--series-2"), of("--series-3")],
  };
}

function toggleTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const root = document.documentElement;
  const now = root.dataset.theme || (dark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
}
