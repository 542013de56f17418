// Everything that the page shows follows from one object. It is in the address, so that a link restores it, and earlier ones can
// be taken back.

/** @import { Now } from "./types" */

/** @type {Now} */
const DEFAULTS = {
  page: "case-study-1",
  network: "3g",
  set: {},
  listed: {},
  seed: 0,
  metric: "byte_index",
  picture: "ideal",
  schemes: ["dfifo", "rr"],
  // What runs now: a scheme, or an order by hand that was locked.
  now: { scheme: "rfc9218", byHand: null },
  byHand: null,
  heroes: {},
  schemeFile: "",
};

const HISTORY_MOST = 200;

export class State {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Now[]} */
    this.past = [];
    /** @type {Now[]} */
    this.future = [];
    /** @type {Now} */
    this.now = { ...DEFAULTS, ...fromHash(location.hash) };
    addEventListener("hashchange", () => this.replace({ ...DEFAULTS, ...fromHash(location.hash) }));
  }

  // Changes some of it. What a slider passes through on its way is not kept for `undo`: `isPassing`.
  /** @param {Partial<Now>} part */
  change(part, isPassing = false) {
    const before = this.before ?? this.now;
    this.now = { ...this.now, ...part };
    if (isPassing) this.before = before;
    else this.keep(before);
    this.tell();
  }

  // Whether a slider is being moved.
  isPassing() {
    return Boolean(this.before);
  }

  keep(before) {
    this.before = null;
    if (JSON.stringify(before) === JSON.stringify(this.now)) return;
    this.past.push(before);
    if (this.past.length > HISTORY_MOST) this.past.shift();
    this.future = [];
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.now);
    this.now = from.pop();
    this.tell();
  }

  replace(state) {
    const before = this.now;
    this.now = state;
    this.keep(before);
    this.changed();
  }

  tell() {
    // Browsers take milliseconds for it: while a slider moves, the address waits.
    if (!this.isPassing()) history.replaceState(null, "", toHash(this.now));
    this.changed();
  }
}

// Only what differs from the beginning.
/** @param {Now} state */
export function toHash(state) {
  const differs = Object.entries(state).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[key]));
  return `#${encodeURIComponent(JSON.stringify(Object.fromEntries(differs)))}`;
}

// The object in a link; null if the link cannot be read.
/** @param {string} hash @returns {object | null} */
function objectIn(hash) {
  try {
    const said = JSON.parse(decodeURIComponent(hash.slice(1)) || "{}");
    return typeof said === "object" ? said : null;
  } catch {
    return null;
  }
}

/** @param {string} hash */
export const isReadable = (hash) => objectIn(hash) !== null;

// A link can come from anywhere: only keys that are known and values of their types count.
/** @param {string} hash @returns {Partial<Now>} */
export function fromHash(hash) {
  const said = objectIn(hash) ?? {};
  const isLike = (value, model) => (model === null ? typeof value === "object" : typeof value === typeof model && Array.isArray(value) === Array.isArray(model) && value !== null);
  const known = Object.entries(said).filter(([key, value]) => Object.hasOwn(DEFAULTS, key) && isLike(value, DEFAULTS[key]));
  const state = Object.fromEntries(known);
  if (state.schemes) state.schemes = state.schemes.filter((it) => typeof it === "string");
  if (state.now && (typeof state.now.scheme !== "string" || !isByHand(state.now.byHand ?? null))) delete state.now;
  if (!isByHand(state.byHand ?? null)) delete state.byHand;
  return state;
}

const isByHand = (said) => said === null || (typeof said.priorities === "object" && said.priorities !== null && [said.preloads, said.early_hints, said.pushes].every((it) => it === undefined || Array.isArray(it)));
