// The ribbons, and the numbers below them.

import { byId, element, milliseconds, say } from "./elements.js";
import { film } from "./film.js";

/** @import { Answer, Answers, Metric, Resource, Run } from "./types" */
/** @import { StudyIndices } from "../../../schemas/utmost" */

const COLUMNS = ["first_render", "hero_render", "speed_index", "byte_index", "load"];

// The program draws the ribbons, as in the reports of `compare`. As an XML document, markup in names stays text.
/** @param {Answer} answer */
export function showPicture(answer) {
  const drawn = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
  byId("picture").replaceChildren(document.adoptNode(drawn));
  say("caption", answer.caption);
}

// The film below the ribbons, as wide as they are.
/** @param {Answer} answer @param {Resource[]} resources */
export function showFilm(answer, resources) {
  const width = byId("picture").querySelector("svg")?.viewBox.baseVal.width;
  const drawn = width ? film(answer, resources, width) : null;
  byId("film").replaceChildren(...(drawn ? [drawn] : []));
  byId("film-room").hidden = !drawn;
}

export const pictures = () => Object.entries({ ribbons: "picture", film: "film" }).map(([name, place]) => [name, byId(place).querySelector("svg")]).filter(([, svg]) => svg);

// The numbers of the table with all digits, for a CSV file.
/** @param {Answers} answers @param {Metric[]} metrics */
export function numberRows(answers, metrics) {
  const known = Object.entries(answers).filter(([, answer]) => answer);
  const headings = metrics.map((it) => `${it.name}_${it.unit}`.replace("_ms_ms", "_ms"));
  const rows = known.flatMap(([engine, answer]) => answer.rows.map(({ label, run }) => [label, run.page, run.scheme, engine, run.network, run.seed, String(run.completed), ...metrics.map((it) => valueOf(run, it.name))]));
  return [["order", "page", "scheme", "engine", "network", "seed", "completed", ...headings], ...rows];
}

// Above the fold, or of all resources where a page has nothing there.
/** @param {Run} run @param {string} column */
function valueOf(run, column) {
  const { atf, all } = /** @type {StudyIndices} */ (run[column]);
  return atf ?? all;
}

// A row for each order, with the values of both engines.
/** @param {Answers} answers @param {string} metric @param {Metric[]} metrics @param {string} shown @param {(label: string) => void} choose @param {(scheme: string) => void} lead */
export function showNumbers(answers, metric, metrics, shown, choose, lead) {
  const known = Object.entries(answers).filter(([, answer]) => answer);
  const columns = [metric, ...COLUMNS.filter((it) => it !== metric)].map((name) => metrics.find((it) => it.name === name));
  const headings = columns.flatMap((column) => known.map(([engine]) => element("th", { scope: "col", title: column.meaning }, `${column.heading} ms`, element("br"), engine)));
  const labels = known[0]?.[1].rows.map((it) => it.label) ?? [];
  const rows = labels.map((label, place) => {
    const cells = columns.flatMap((column) => known.map(([, answer]) => cell(answer, label, column.name)));
    const button = element("button", { type: "button", textContent: label, title: "Show it in the list below", onclick: () => choose(label), "aria-pressed": String(label === shown) });
    const run = known[0][1].rows[place].run;
    const isScheme = place > 0 && label === run.scheme;
    const now = isScheme ? element("button", { type: "button", textContent: "now", title: `Compare the others with ${label}`, "aria-label": `now: compare the others with ${label}`, onclick: () => lead(label) }) : null;
    return element("tr", { className: place === 0 ? "baseline" : "" }, element("th", { scope: "row" }, button, now), ...cells);
  });
  byId("numbers").replaceChildren(
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "order"), ...headings)),
    element("tbody", {}, ...rows),
  );
}

/** @param {Answer} answer @param {string} label @param {string} column */
function cell(answer, label, column) {
  const run = answer.rows.find((it) => it.label === label)?.run;
  const value = run && valueOf(run, column);
  const values = answer.rows.map((it) => valueOf(it.run, column)).filter((it) => it !== null);
  const isBest = value !== null && value === Math.min(...values) && new Set(values).size > 1;
  return element("td", { className: isBest ? "best" : "", "data-exact": value ?? "", title: value === null ? "" : `${value} ms` }, milliseconds(value));
}

// Whether both engines say that the same order is best.
/** @param {Answers} answers */
export function agreement({ ideal, stack }) {
  if (!ideal || !stack) return ideal ? "ideal has answered, without a transport; stack, with the real server and client, is under way." : "";
  const [one, other] = [ideal, stack].map(({ best }) => (best === "by hand" ? "the order by hand" : best));
  const left = ideal.left_out.length ? ` ideal leaves out: ${ideal.left_out.join(", ")}.` : "";
  if (ideal.best === stack.best) return `Both engines say that ${one} is the best of these.${left}`;
  return `The engines disagree: on ideal ${one} is the best, on stack, with congestion control and acknowledgements, ${other}.${left}`;
}
