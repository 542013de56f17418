// The list of resources in the order of their priorities: handles to move them, their priorities, and when each came.

import { bytes, element, milliseconds, say } from "./elements.js";
import { aheadOf, inOrder, moved, priorityOf, withAhead, withPriority } from "./order.js";

/** @import { Resource, Run } from "./types" */
/** @import { State } from "./state.js" */

export class Resources {
  /** @param {HTMLElement} place @param {State} state */
  constructor(place, state) {
    this.place = place;
    this.state = state;
    this.rows = new Map();
    /** @type {Resource[]} */
    this.resources = [];
    /** @type {Map<number, number>} */
    this.requestedMs = new Map();
    /** @type {Resource[]} */
    this.order = [];
  }

  // Another page.
  /** @param {Resource[]} resources */
  set(resources) {
    this.resources = resources;
    this.requestedMs = new Map();
    this.rows = new Map(resources.map((it) => [it.id, this.row(it)]));
    this.place.replaceChildren(...[...this.rows.values()].map((it) => it.item));
  }

  /** @param {Resource} resource */
  row(resource) {
    const handle = element("button", { type: "button", className: "handle", textContent: "⠿", onkeydown: (event) => this.key(event, resource), onpointerdown: (event) => this.grab(event, resource) });
    const name = element("span", { className: "name", title: `${resource.host}${resource.url}` }, shortName(resource.url));
    const facts = element("span", { className: "muted facts" }, `${resource.kind} ${bytes(resource.bytes)}`);
    const input = (type, label, onchange) => element("input", { type, onchange, "aria-label": `${label}: ${resource.url}` });
    const urgency = input("number", "urgency", () => this.prioritize(resource, { urgency: Math.min(7, Math.max(0, Math.trunc(Number(urgency.value)) || 0)) }));
    Object.assign(urgency, { min: 0, max: 7 });
    const incremental = input("checkbox", "incremental", () => this.prioritize(resource, { incremental: incremental.checked }));
    const choose = () => this.state.change({ byHand: withAhead(this.state.now.byHand, resource, ahead.value) });
    const ahead = element("select", { onchange: choose, "aria-label": `ahead of the document's text: ${resource.url}` }, ...waysAhead(resource, this.resources[0]));
    const hero = input("checkbox", "hero", () => this.mark(resource, hero.checked));
    const boxes = element("span", { className: "boxes" },
      element("label", {}, "u ", urgency), element("label", {}, incremental, "inc"), ahead, element("label", {}, hero, "hero"));
    const bars = ["ghost", "wait", "come"].map((it) => element("i", { className: it }));
    const track = element("div", { className: "track", role: "img" }, ...bars);
    const item = element("li", {}, handle, element("div", { className: "who" }, name, " ", facts), boxes, track);
    item.dataset.id = resource.id;
    return { resource, item, handle, urgency, incremental, ahead, hero, track, bars };
  }

  // The resources, with the heroes that were marked.
  marked() {
    const { heroes } = this.state.now;
    return this.resources.map((it) => ({ ...it, hero: heroes[it.id] ?? it.hero, above_fold: it.above_fold || heroes[it.id] === true }));
  }

  // The state and the loads that are known: those of the order that is shown, and of what runs now. The bars end where the picture ends.
  /** @param {Run | null} shown @param {Run | null} now @param {number} endMs */
  show(shown, now, endMs) {
    if (now) this.requestedMs = new Map(now.resources.map((it) => [it.id, it.requested_ms]));
    this.arrange();
    const { byHand, heroes } = this.state.now;
    const most = Math.max(1, endMs);
    const [ofShown, ofNow] = [shown, now].map((run) => new Map(run?.resources.map((it) => [it.id, it]) ?? []));
    for (const [place, resource] of this.order.entries()) {
      const row = this.rows.get(resource.id);
      const { urgency, incremental } = priorityOf(resource, byHand);
      row.urgency.value = urgency;
      row.incremental.checked = incremental;
      row.ahead.value = aheadOf(byHand, resource);
      row.ahead.disabled = resource.id === 0;
      row.hero.checked = heroes[resource.id] ?? resource.hero;
      row.hero.disabled = resource.kind !== "image";
      row.item.classList.toggle("changed", Boolean(byHand?.priorities[resource.id] || row.ahead.value));
      label(row.handle, `Move ${resource.url}: place ${place + 1} of ${this.order.length}, urgency ${urgency}. Arrow up and down move it.`);
      drawBars(row, ofShown.get(resource.id), ofNow.get(resource.id), most);
    }
  }

  // Puts the rows in their order; the focus stays where it is.
  arrange() {
    this.order = inOrder(this.resources, this.state.now.byHand, this.requestedMs);
    const focused = this.place.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
    const items = this.order.map((it) => this.rows.get(it.id).item);
    if (items.some((it, place) => this.place.children[place] !== it)) this.place.replaceChildren(...items);
    if (focused && focused !== document.activeElement) focused.focus({ preventScroll: false });
  }

  key(event, resource) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const place = this.order.findIndex((it) => it.id === resource.id);
    const other = this.order[place + step];
    if (other) this.move(resource, other, step > 0);
  }

  move(resource, other, isAfter) {
    const { byHand } = this.state.now;
    const priority = moved(resource, other, isAfter, byHand, this.requestedMs);
    if (!priority) return say("said", atTheEnd(resource, other, isAfter));
    say("said", `${shortName(resource.url)}: urgency ${priority.urgency}.`);
    this.state.change({ byHand: withPriority(byHand, resource, priority) });
  }

  prioritize(resource, part) {
    const { byHand } = this.state.now;
    this.state.change({ byHand: withPriority(byHand, resource, { ...priorityOf(resource, byHand), ...part }) });
  }

  mark(resource, isHero) {
    const { [resource.id]: _, ...others } = this.state.now.heroes;
    this.state.change({ heroes: isHero === resource.hero ? others : { ...others, [resource.id]: isHero } });
  }

  // Drags a row to another one's place.
  grab(event, resource) {
    event.preventDefault();
    const { handle, item } = this.rows.get(resource.id);
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
    let target = null;
    const from = this.order.findIndex((it) => it.id === resource.id);
    handle.onpointermove = (move) => {
      const under = document.elementFromPoint(item.getBoundingClientRect().left + 60, move.clientY)?.closest("#resources li");
      target?.classList.remove("before", "after");
      target = under && under !== item ? under : null;
      target?.classList.add(this.placeOf(target) > from ? "after" : "before");
    };
    handle.onpointerup = handle.onpointercancel = (end) => {
      handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
      item.classList.remove("dragged");
      target?.classList.remove("before", "after");
      if (target && end.type === "pointerup") this.move(resource, this.order[this.placeOf(target)], this.placeOf(target) > from);
    };
  }

  placeOf(item) {
    return this.order.findIndex((it) => it.id === Number(item.dataset.id));
  }
}

// Ways in which a resource can go ahead. A host pushes only what is its own.
/** @param {Resource} resource @param {Resource} document */
function waysAhead(resource, document) {
  const ways = [[resource.preload ? "preloaded" : "as named", ""], ["preload", "preloads"], ["early hint", "early_hints"], ["push", "pushes"]];
  const can = { preloads: !resource.preload, pushes: resource.host === document.host };
  return ways.filter(([, way]) => can[way] ?? true).map(([text, way]) => new Option(text, way));
}

function atTheEnd(resource, other, isAfter) {
  const [one, beside] = [resource, other].map((it) => shortName(it.url));
  if (isAfter) return `Even with the last urgency, 7, ${one} goes before ${beside}. Give ${beside} a smaller number.`;
  return `Even with the first urgency, 0, ${one} goes after ${beside}, which has it, too, or was requested before.`;
}

// When it is requested, waits and comes; behind it, when it comes now.
function drawBars({ track, bars: [ghost, wait, come], resource }, shown, now, most) {
  const put = (bar, from, to) => {
    bar.hidden = from === null || to === null || from === undefined || to === undefined;
    if (bar.hidden) return;
    bar.style.left = `${(100 * from) / most}%`;
    bar.style.width = `${(100 * Math.max(0, to - from)) / most}%`;
  };
  put(ghost, now?.first_byte_ms, now?.complete_ms);
  put(wait, shown?.requested_ms, shown?.first_byte_ms ?? shown?.complete_ms);
  put(come, shown?.first_byte_ms, shown?.complete_ms);
  const times = shown ? `requested ${milliseconds(shown.requested_ms)} ms, first byte ${milliseconds(shown.first_byte_ms)} ms, complete ${milliseconds(shown.complete_ms)} ms` : "not requested";
  label(track, `${resource.url}: ${times}`);
}

function label(element, text) {
  if (element.ariaLabel === text) return;
  element.ariaLabel = text;
  element.title = text;
}

export function shortName(url) {
  const path = url.split("?")[0];
  return path.length > 42 ? `…${path.slice(-41)}` : path;
}
