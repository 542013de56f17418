// The room for a study: two schemes and a metric are chosen, and the program computes its tests again.

import { Refused, ask } from "./ask.js";
import { byId, copy, element, milliseconds, say } from "./elements.js";
import { chosen, dropped } from "./study_folder.js";
import { saveCsv } from "./take_away.js";

/** @import { Load, Run, Studied } from "./types" */
/** @import { StudyIndices } from "../../../schemas/utmost" */

const LOAD_COLUMNS = ["first_render", "hero_render", "speed_index", "load"];

const DEFAULTS = { scheme: "", baseline: "", metric: "", setting: "", filter: "", page: "", sort: "ratio", isUp: false };

let now = { ...DEFAULTS, ...fromHash() };
/** @type {Studied} */
let answer = null;

// The choice is in the address, so that a link restores it.
function fromHash() {
  try {
    const said = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}");
    return Object.fromEntries(Object.entries(said).filter(([key, value]) => Object.hasOwn(DEFAULTS, key) && typeof value === typeof DEFAULTS[key]));
  } catch {
    return {};
  }
}

function change(part) {
  now = { ...now, ...part };
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(now))}`);
}

async function load() {
  const { scheme, baseline, metric } = now;
  try {
    answer = await ask(`studied?${new URLSearchParams({ scheme, baseline, metric })}`);
  } catch (error) {
    say("problem", error instanceof Refused ? error.message : `The program does not answer: ${error.message}`);
    byId("answer").replaceChildren();
    return;
  }
  say("problem", "");
  byId("room").hidden = false;
  const settings = settingsOf(answer);
  change({ scheme: answer.scheme, baseline: answer.baseline, metric: answer.metric, setting: settings.includes(now.setting) ? now.setting : settings[0] });
  byId("title").textContent = answer.title;
  document.title = `${answer.title}: utmost`;
  byId("answer").replaceChildren(...answer.answers.map((it) => element("li", {}, it)));
  byId("conditions").textContent = answer.conditions.join(" ");
  options("scheme", answer.schemes.filter((it) => it !== answer.baseline));
  options("baseline", answer.schemes);
  options("metric", answer.metrics.map((it) => it.name), answer.metrics.map((it) => it.heading));
  options("setting", settings);
  byId("setting-choice").hidden = settings.length < 2;
  showDots();
  showPages();
  if (now.page) showLoads(now.page);
}

/** @param {Studied} answer */
const settingsOf = ({ pages }) => [...new Set(pages.map((it) => it.setting))];

function options(name, values, texts = values) {
  byId(name).replaceChildren(...values.map((value, place) => new Option(texts[place], value)));
  byId(name).value = now[name];
}

// The test of the two schemes, as `compare` has it.
function showVerdict() {
  const { scheme, baseline, set } = answer;
  const found = answer.comparisons.find((it) => it.row.scheme === scheme && it.setting === now.setting);
  if (!found) return say("verdict", scheme === baseline ? "There is nothing to compare: the study has one scheme." : `${scheme} is not compared with ${baseline}: it failed, or nothing finished.`);
  const { row, verdict } = found;
  const [low, high] = row.geometric_mean_ratio_interval[set] ?? [];
  const interval = low === undefined ? "" : `, 95 % interval ${ratio(low)} to ${ratio(high)}`;
  const p = row.holm_p[set] === null ? "" : `; adjusted p ${Number(row.holm_p[set].toPrecision(2))}`;
  const unit = row.pairs_of;
  say("verdict", `${scheme} against ${baseline}: ${verdict[set]}. Ratio ${ratio(row.geometric_mean_ratio[set])}${interval}${p}. Better on ${row.wins[set] ?? 0} ${unit}, equal on ${row.ties[set] ?? 0}, worse on ${row.losses[set] ?? 0}.`);
}

const ratio = (value) => (value === null || value === undefined ? "–" : value.toFixed(value < 0.1 ? 3 : 2));

// The program draws the dots, as in the report. The title of a dot begins with its page.
function showDots() {
  const names = [...new Set(answer.pages.map((it) => it.row.page))].sort((one, other) => other.length - one.length);
  const drawn = answer.figures.flatMap(({ svg, caption }) => {
    const figure = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
    for (const title of figure.querySelectorAll("path > title")) {
      const page = names.find((it) => title.textContent.startsWith(`${it} (`));
      if (!page) continue;
      title.parentElement.classList.add("dot");
      title.parentElement.addEventListener("click", () => showLoads(page, true));
    }
    return [element("div", { className: "picture", tabIndex: 0, role: "region", "aria-label": "Dots" }, figure), element("p", { className: "muted" }, caption)];
  });
  byId("dots").replaceChildren(...drawn);
  byId("dots").parentElement.hidden = !drawn.length;
}

// A row for each page: the ratio of the two schemes, and the median under each.
function pageRows() {
  const { metric, set, scheme } = answer;
  const pages = new Map();
  for (const { setting, row } of answer.pages) {
    if (setting !== now.setting) continue;
    const found = pages.get(row.page) ?? { page: row.page, values: {} };
    const median = /** @type {StudyIndices} */ (row[`median_${metric}`]);
    found.values[row.scheme] = median[set] ?? median.all;
    if (row.scheme === scheme) Object.assign(found, { ratio: row.speedup[set] ?? row.speedup.all, interval: row.speedup_interval[set] });
    pages.set(row.page, found);
  }
  const words = now.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...pages.values()].filter((it) => words.every((word) => it.page.toLowerCase().includes(word)));
  const key = (it) => (now.sort === "page" ? it.page : now.sort === "ratio" ? it.ratio : it.values[now.sort]);
  const side = now.isUp ? 1 : -1;
  return rows.sort((one, other) => {
    const [first, second] = [key(one), key(other)];
    if (first === second) return one.page < other.page ? -1 : 1;
    if (first === null || first === undefined) return 1;
    if (second === null || second === undefined) return -1;
    return first < second ? -side : side;
  });
}

// The chosen two come first.
const schemeColumns = () => [...new Set([answer.scheme, answer.baseline, ...answer.schemes])];

function showPages() {
  showVerdict();
  const rows = pageRows();
  const columns = [["page", "page"], ["ratio", `${answer.scheme} : ${answer.baseline}`], ...schemeColumns().map((it) => [it, it])];
  const heading = ([key, text]) => {
    const isSorted = now.sort === key;
    const sort = () => (change({ sort: key, isUp: isSorted ? !now.isUp : key === "page" }), showPages(), byId("pages").querySelector("[aria-sort] button").focus());
    return element("th", { scope: "col", ...(isSorted ? { "aria-sort": now.isUp ? "ascending" : "descending" } : {}) }, element("button", { type: "button", onclick: sort }, text, isSorted ? (now.isUp ? " ▲" : " ▼") : ""));
  };
  const cell = (value, text = milliseconds(value)) => element("td", { "data-exact": value ?? "" }, text);
  const body = rows.map((it) => {
    const open = element("button", { type: "button", onclick: () => showLoads(it.page, true), "aria-pressed": String(it.page === now.page) }, it.page);
    const ratios = cell(it.ratio, it.interval ? `${ratio(it.ratio)} (${it.interval.map(ratio).join(" to ")})` : ratio(it.ratio));
    return element("tr", {}, element("th", { scope: "row" }, open), ratios, ...schemeColumns().map((scheme) => cell(it.values[scheme])));
  });
  byId("pages").replaceChildren(element("thead", {}, element("tr", {}, ...columns.map(heading))), element("tbody", {}, ...body));
  const all = new Set(answer.pages.map((it) => it.row.page)).size;
  say("count", `${rows.length} of ${all} pages`);
}

async function showLoads(page, scrolls = false) {
  change({ page });
  /** @type {Load[]} */
  const loads = await ask(`loads?${new URLSearchParams({ page })}`);
  const names = [...new Set([now.metric, ...LOAD_COLUMNS])];
  const headings = ["scheme", "setting", "seed", "completed", ...names.map((name) => answer.metrics.find((it) => it.name === name).heading)];
  /** @param {Run} run @param {string} name */
  const value = (run, name) => {
    const { atf, all } = /** @type {StudyIndices} */ (run[name]);
    return atf ?? all;
  };
  const rows = loads.filter((it) => [now.scheme, now.baseline].includes(it.run.scheme)).map(({ setting, run }) =>
    element("tr", {}, element("th", { scope: "row" }, run.scheme), element("td", {}, setting), element("td", {}, String(run.seed)), element("td", {}, run.completed ? "yes" : run.unfinished?.problem ?? "no"), ...names.map((name) => element("td", { "data-exact": value(run, name) ?? "" }, milliseconds(value(run, name))))));
  byId("loads-title").textContent = `Loads of ${page}`;
  byId("loads").replaceChildren(element("thead", {}, element("tr", {}, ...headings.map((it) => element("th", { scope: "col" }, it)))), element("tbody", {}, ...rows));
  const state = { page, schemes: [now.scheme], now: { scheme: now.baseline, byHand: null }, metric: now.metric, network: loads[0]?.run.network };
  const link = element("a", { href: `./#${encodeURIComponent(JSON.stringify(state))}` }, "Try orders on this page");
  byId("loads-link").replaceChildren(...(answer.bundled.includes(page) ? [link] : ["The program does not have this page itself: drop its file in the room for pages and orders."]));
  byId("loads-room").hidden = false;
  byId("pages").querySelectorAll("th button[aria-pressed]").forEach((it) => it.setAttribute("aria-pressed", String(it.textContent === page)));
  if (scrolls) byId("loads-title").scrollIntoView({ block: "nearest" });
}

function saveTable() {
  const rows = pageRows().map((it) => [it.page, it.ratio, ...schemeColumns().map((scheme) => it.values[scheme])]);
  saveCsv("study", [["page", `ratio_${answer.scheme}_over_${answer.baseline}`, ...schemeColumns().map((it) => `${it}_${answer.metric}_ms`)], ...rows]);
}

// Opens a study in place of the one before. `files`: the texts of its files by name.
/** @param {Promise<Record<string, string>>} files */
async function take(files) {
  try {
    await ask("study", await files);
  } catch (error) {
    return say("problem", error.message);
  }
  change({ ...DEFAULTS });
  byId("filter").value = "";
  byId("loads-room").hidden = true;
  load();
}

byId("folder").addEventListener("change", (event) => {
  take(chosen(event.target.files));
  // The same folder can be chosen again.
  event.target.value = "";
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  take(dropped(event.dataTransfer));
});
for (const name of ["scheme", "baseline", "metric"]) {
  byId(name).addEventListener("change", (event) => {
    const before = now;
    change({ [name]: event.target.value });
    // Two of the same would have nothing to compare.
    if (now.scheme === now.baseline) change(name === "scheme" ? { baseline: before.scheme } : { scheme: before.baseline });
    load();
  });
}
byId("setting").addEventListener("change", (event) => (change({ setting: event.target.value }), showPages()));
byId("filter").addEventListener("input", (event) => (change({ filter: event.target.value }), showPages()));
byId("link").addEventListener("click", () => copy(location.href));
byId("csv").addEventListener("click", saveTable);
byId("filter").value = now.filter;
globalThis.study = { answer: () => answer };
load();
