// The workbench: a page, the link, the orders, and what a visitor sees. One state, and everything is shown anew when it changes.

import { Asker, Refused, ask, drop, nameIn, question } from "./ask.js";
import { showAnswers } from "./answers.js";
import { makeControls, makeSchemes } from "./controls.js";
import { byId, copy, element, say } from "./elements.js";
import { longTask } from "./long_task.js";
import { agreement, numberRows, showFilm, showNumbers, showPicture } from "./picture.js";
import { Resources } from "./resources.js";
import { State, isReadable } from "./state.js";

/** @import { Answers, Metric } from "./types" */

// A dropped file may have this many bytes; the program refuses larger ones, too.
const FILE_BYTES_MOST = 64 * 2 ** 20;

const STACK_AFTER_MS = 150;

const EXAMPLE = `[scheme]
name = "fonts-first"
about = "Fonts, then the head, then the rest"

[[place]]
when = { kind = "font" }
share = "sequential"
rank = 0

[[place]]
when = { kind = ["css", "js"], in_head = true }
rank = 1

[[place]]
rank = 2
`;

/** @type {{pages: string[], dropped: string[], metrics: Metric[], networks: {name: string, rate: number, rtt_ms: number, is_lossy: boolean}[], schemes: {name: string, about: string}[], push: string[], cc: string[], records: boolean}} */
const choices = await ask("choices");
const state = new State(render);
const resources = new Resources(byId("resources"), state);
const showControls = makeControls(byId("controls"), choices, state);
const showSchemes = makeSchemes(byId("schemes"), choices, state);
/** @type {("ideal" | "stack")[]} */
const engines = ["ideal", "stack"];
const askers = Object.fromEntries(engines.map((engine) => [engine, new Asker("load", (answer, asked) => arrived(engine, answer, asked), (error) => failed(engine, error))]));
const taker = new Asker("answers", (answer, asked) => showAnswers(answer, asked, state.now.schemeFile, () => numberRows(answers, choices.metrics)), () => byId("answers").replaceChildren());
/** @type {Answers} */
let answers = {};
let known = null;
/** @type {string | null} */
let shown = null;
let lastAsked = "";
let unreadable = isReadable(location.hash) ? "" : "The link could not be read: this is the default page.";
let listing;
let stacking;
let stackAsked;
let takenOf;

// Shows the state, and asks for what follows from it.
function render() {
  const { now } = state;
  showControls(now);
  showSchemes(now);
  if (document.activeElement !== byId("page")) byId("page").value = now.page;
  if (document.activeElement !== byId("scheme-file")) byId("scheme-file").value = now.schemeFile;
  byId("undo").disabled = !state.past.length;
  byId("redo").disabled = !state.future.length;
  byId("reset").disabled = !now.byHand;
  byId("lock").disabled = !now.byHand;
  say("now", now.now.byHand ? "“now” is an order by hand." : `“now” is ${now.now.scheme}.`);
  byId("engine-choice").querySelectorAll("input").forEach((it) => (it.checked = it.value === now.picture));
  if (known !== now.page) return void openPage(now.page);
  const asked = JSON.stringify(question(now, ""));
  if (asked === lastAsked) {
    rest();
    return show();
  }
  lastAsked = asked;
  answers = { ideal: answers.ideal, stack: null };
  clearTimeout(stacking);
  askers.stack.end();
  askers.ideal.ask(question(now, "ideal"));
  resources.arrange();
}

async function openPage(name) {
  try {
    const page = await ask(`page?name=${encodeURIComponent(name)}`);
    if (state.now.page !== name) return;
    known = name;
    answers = {};
    resources.set(page.resources);
    say("problem", "");
    say("status", unreadable);
    unreadable = "";
    say("assumptions", `${page.assumptions.join("; ")}.`);
    byId("assumed").hidden = !page.assumptions.length;
    document.title = `${name}: utmost`;
    render();
  } catch (error) {
    say("problem", error.message);
  }
}

function arrived(engine, answer, asked) {
  const isLate = JSON.stringify({ ...asked, engine: "" }) !== lastAsked;
  // What a slider passes through is shown; the numbers behind it follow when it rests.
  if (isLate && engine === "stack") return;
  answers[engine] = answer;
  say("problem", "");
  say("scheme-problem", "");
  if (!isLate) rest();
  show();
}

// Asks what takes longer, once the hand rests: engine stack, and what to take away. Each is asked once.
function rest() {
  if (state.isPassing()) return;
  if (stackAsked !== lastAsked) {
    stackAsked = lastAsked;
    clearTimeout(stacking);
    stacking = setTimeout(() => askers.stack.ask(question(state.now, "stack")), STACK_AFTER_MS);
  }
  const { picture } = state.now;
  if (answers[picture] && takenOf !== picture + lastAsked) {
    takenOf = picture + lastAsked;
    taker.ask(question(state.now, picture));
  }
}

function failed(engine, error) {
  answers[engine] = null;
  const line = /^scheme\.toml: line (\d+): /.exec(error.message);
  if (line) {
    say("scheme-problem", error.message);
    say("engines", "The answers are those of the scheme file before this mistake.");
    markLine(Number(line[1]));
    return;
  }
  const isOfIdeal = error instanceof Refused && engine === "ideal" && error.message.includes("engine ideal");
  say("problem", error instanceof Refused ? error.message : `The program does not answer: ${error.message}`);
  if (isOfIdeal) rest();
  show();
}

// Shows what has been answered: of the engine that was chosen, or of the other one.
function show() {
  const { now } = state;
  const answer = answers[now.picture] ?? answers.ideal ?? answers.stack;
  if (!answer) return;
  showPicture(answer);
  const { ideal, stack } = answers;
  // Both engines speak, the one with a transport first: a ratio of one alone would be taken for both.
  const spoken = [...(stack?.sentences ?? []).map((it) => `On stack, with a transport: ${it}`), ...(ideal?.sentences ?? []).map((it) => `On ideal, without one: ${it}`)];
  const sentences = spoken.length ? spoken : ["Choose a scheme, or move a resource: the difference stands here."];
  byId("answer").replaceChildren(...sentences.map((it) => element("li", {}, it)));
  say("engines", agreement(answers));
  showNumbers(answers, now.metric, choices.metrics, shownLabel(), (label) => {
    shown = label;
    show();
  }, (scheme) => state.change({ now: { scheme, byHand: null } }));
  say("hero", rowOf(shownLabel())?.hero ?? "");
  // The picture is not to wait for a list of hundreds.
  clearTimeout(listing);
  listing = setTimeout(() => {
    showFilm(answer, resources.marked());
    resources.show(runOf(shownLabel()), runOf(null), answer.across.end_ms);
  });
}

// The order whose loads the list shows: the one that was chosen, or the last.
function shownLabel() {
  const rows = question(state.now, "").rows.map((it) => (it.by_hand ? it.label : it.scheme));
  return rows.includes(shown) ? shown : rows.includes("by hand") ? "by hand" : rows[0];
}

// The row with this label; null stands for what runs now.
function rowOf(label) {
  const rows = (answers[state.now.picture] ?? answers.ideal ?? answers.stack)?.rows ?? [];
  return label === null ? rows[0] : rows.find((it) => it.label === label);
}

const runOf = (label) => rowOf(label)?.run ?? null;

// Selects the line that is wrong, unless somebody is typing there.
function markLine(line) {
  const area = byId("scheme-file");
  const lines = area.value.split("\n");
  const from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.scrollTop = (area.scrollHeight * (line - 1)) / lines.length - area.clientHeight / 2;
  if (document.activeElement !== area) area.setSelectionRange(from, from + (lines[line - 1] ?? "").length);
}

async function take(file) {
  if (!file) return;
  if (file.size > FILE_BYTES_MOST) return say("problem", `${file.name}: over 64 MiB; give a smaller one, or name it on the command line.`);
  say("status", `Reading ${file.name}…`);
  try {
    openDropped((await drop(file)).name);
  } catch (error) {
    say("problem", `${error.message}. The answer is still that of ${state.now.page}.`);
    say("status", "");
  }
}

// The program has another page, by the name of an earlier one or by a new one.
function openDropped(name) {
  known = null;
  addPage(name);
  choosePage(name);
}

const choosePage = (name) => state.change({ page: name, byHand: null, heroes: {}, now: { scheme: state.now.now.scheme, byHand: null } });

// The order by hand becomes what a search on engine ideal finds.
const search = () =>
  longTask("search", "Searching on engine ideal", "0 orders", async (signal) => {
    const { priorities, preloads } = await ask("search", question({ ...state.now, byHand: null }, "ideal"), signal);
    const lines = Object.keys(priorities).length;
    if (!lines) return `No single priority gains 1 %.${betterScheme()}`;
    state.change({ byHand: { priorities, preloads } });
    return `Found ${lines} ${lines === 1 ? "priority" : "priorities"} on engine ideal.`;
  });

// The scheme of these that gains although no priority does.
function betterScheme() {
  const { best, rows } = answers.ideal ?? { best: null, rows: [] };
  return !best || best === rows[0].label || best === "by hand" ? "" : ` The scheme ${best} gains more: only utmost serve runs it.`;
}

// The program loads the page of a URL in Chromium.
function record() {
  const url = byId("url").value.trim();
  longTask("record", `Recording ${url}`, "starting Chromium", async (signal) => {
    const { name } = await ask("record", { url }, signal);
    openDropped(name);
    return `Recorded ${name}.`;
  });
}

const addPage = (name) => byId("pages").append(new Option(name, name));

function begin() {
  [...choices.dropped, ...choices.pages].forEach(addPage);
  byId("page").addEventListener("change", (event) => choosePage(event.target.value.trim()));
  byId("file").addEventListener("change", (event) => {
    take(event.target.files[0]);
    // The same file can be chosen again.
    event.target.value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  byId("undo").addEventListener("click", () => {
    say("status", "");
    state.undo();
  });
  byId("redo").addEventListener("click", () => state.redo());
  byId("link").addEventListener("click", () => copy(location.href));
  byId("search").addEventListener("click", search);
  byId("recorder").hidden = !choices.records;
  byId("record").addEventListener("click", record);
  byId("url").addEventListener("keydown", (event) => event.key === "Enter" && record());
  byId("reset").addEventListener("click", () => state.change({ byHand: null }));
  byId("lock").addEventListener("click", () => state.change({ now: { scheme: "rfc9218", byHand: state.now.byHand } }));
  byId("scheme-file").addEventListener("input", (event) => typed(event.target.value));
  byId("example").addEventListener("click", () => {
    byId("scheme-file").value = EXAMPLE;
    typed(EXAMPLE);
  });
  document.addEventListener("keydown", (event) => {
    const isText = /** @type {Element} */ (event.target).matches("textarea, input:not([type=range]):not([type=checkbox]):not([type=radio])");
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isText) return;
    event.preventDefault();
    if (event.shiftKey) state.redo();
    else state.undo();
  });
  for (const engine of engines) {
    const radio = element("input", { type: "radio", name: "engine", value: engine, onchange: () => state.change({ picture: engine }) });
    byId("engine-choice").append(element("label", {}, radio, ` ${engine}`));
  }
  render();
}

function typed(text) {
  say("scheme-problem", text.trim() && !nameIn(text) ? "scheme.toml: [scheme] needs a `name`." : "");
  state.change({ schemeFile: text });
}

globalThis.workbench = { state, answers: () => answers };
begin();
