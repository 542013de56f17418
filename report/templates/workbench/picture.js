// The ribbons, and the numbers below them.

import { byId, element, milliseconds, say } from "./elements.js";

const COLUMNS = ["first_render", "hero_render", "speed_index", "byte_index", "load"];

// The program draws the ribbons, as in the reports of `compare`. As an XML document, markup in names stays text.
export function showPicture(answer) {
  const drawn = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
  byId("picture").replaceChildren(document.importNode(drawn, true));
  say("caption", answer.caption);
}

export const svgOf = () => byId("picture").querySelector("svg")?.outerHTML ?? "";

// A row for each order, with the values of both engines. Where no resource is above the fold, those of all count.
export function showNumbers(answers, metric, metrics, shown, choose) {
  const known = Object.entries(answers).filter(([, answer]) => answer);
  const columns = [metric, ...COLUMNS.filter((it) => it !== metric)].map((name) => metrics.find((it) => it.name === name));
  const headings = columns.flatMap((column) => known.map(([engine]) => element("th", { scope: "col", title: column.meaning }, `${column.heading} ms`, element("br"), engine)));
  const labels = known[0]?.[1].rows.map((it) => it.label) ?? [];
  const rows = labels.map((label, place) => {
    const cells = columns.flatMap((column) => known.map(([, answer]) => cell(answer, label, column.name)));
    const button = element("button", { type: "button", textContent: label, title: "Show it in the list below", onclick: () => choose(label), "aria-pressed": String(label === shown) });
    return element("tr", { className: place === 0 ? "baseline" : "" }, element("th", { scope: "row" }, button), ...cells);
  });
  byId("numbers").replaceChildren(
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "order"), ...headings)),
    element("tbody", {}, ...rows),
  );
}

function cell(answer, label, column) {
  const run = answer.rows.find((it) => it.label === label)?.run;
  const value = run && (run[column].atf ?? run[column].all);
  const values = answer.rows.map((it) => it.run[column].atf ?? it.run[column].all).filter((it) => it !== null);
  const isBest = value !== null && value === Math.min(...values) && new Set(values).size > 1;
  return element("td", { className: isBest ? "best" : "", "data-exact": value ?? "", title: value === null ? "" : `${value} ms` }, milliseconds(value));
}

// Whether both engines say that the same order is best.
export function agreement({ ideal, stack }) {
  if (!ideal || !stack) return ideal ? "ideal has answered, without a transport; stack, with the real server and client, is under way." : "";
  const left = ideal.left_out.length ? ` ideal leaves out: ${ideal.left_out.join(", ")}.` : "";
  if (ideal.best === stack.best) return `Both engines say that ${stack.best} is the best of these.${left}`;
  return `The engines disagree: on ideal ${ideal.best} is the best, on stack, with congestion control and acknowledgements, ${stack.best}.${left}`;
}
