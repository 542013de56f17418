// The order in which a server sends by RFC 9218, and the smallest change that moves one resource in it.

/** @import { Ahead, ByHand, Priority, Resource } from "./types" */

const URGENCY_MOST = 7;

// The priority of a resource: by hand, or as browsers signal it.
/** @param {Resource} resource @param {ByHand} byHand @returns {Priority} */
export const priorityOf = (resource, byHand) => byHand?.priorities[resource.id] ?? { urgency: resource.urgency, incremental: resource.incremental };

// By urgency; within one, whole responses by their requests, then those that share.
/** @param {Resource[]} resources @param {ByHand} byHand @param {Map<number, number>} requestedMs */
export function inOrder(resources, byHand, requestedMs) {
  const key = new Map(resources.map((it) => [it.id, keyOf(it, priorityOf(it, byHand), requestedMs)]));
  return [...resources].sort((one, other) => compare(key.get(one.id), key.get(other.id)));
}

function keyOf(resource, { urgency, incremental }, requestedMs) {
  return [urgency, Number(incremental), requestedMs.get(resource.id) ?? Infinity, resource.id];
}

function compare(one, other) {
  const place = one.findIndex((it, at) => it !== other[at]);
  return place < 0 ? 0 : one[place] < other[place] ? -1 : 1;
}

// The priority nearest to the present one with which `moved` goes before `other` (or after it: `isAfter`). Null: there is none.
/** @param {Resource} resource @param {Resource} other @param {boolean} isAfter @param {ByHand} byHand @param {Map<number, number>} requestedMs */
export function moved(resource, other, isAfter, byHand, requestedMs) {
  const { urgency, incremental } = priorityOf(resource, byHand);
  const beside = keyOf(other, priorityOf(other, byHand), requestedMs);
  const step = isAfter ? 1 : -1;
  for (let next = urgency; next >= 0 && next <= URGENCY_MOST; next += step) {
    const priority = { urgency: next, incremental };
    if (compare(keyOf(resource, priority, requestedMs), beside) === step) return priority;
  }
  return null;
}

// The changes by hand with another priority for a resource; null where nothing is changed any more.
/** @param {ByHand} byHand @param {Resource} resource @param {Priority} priority @returns {ByHand} */
export function withPriority(byHand, resource, priority) {
  const priorities = { ...byHand?.priorities, [resource.id]: priority };
  if (priority.urgency === resource.urgency && priority.incremental === resource.incremental) delete priorities[resource.id];
  return orNothing({ ...byHand, priorities });
}

/** @type {Ahead[]} */
const AHEAD = ["preloads", "early_hints", "pushes"];

// How a resource goes ahead by hand; empty: it does not.
/** @param {ByHand} byHand @param {Resource} resource @returns {Ahead | ""} */
export const aheadOf = (byHand, resource) => AHEAD.find((it) => byHand?.[it]?.includes(resource.id)) ?? "";

/** @param {ByHand} byHand @param {Resource} resource @param {Ahead | ""} ahead @returns {ByHand} */
export function withAhead(byHand, resource, ahead) {
  const changed = { priorities: {}, ...byHand };
  for (const way of AHEAD) {
    const others = (byHand?.[way] ?? []).filter((it) => it !== resource.id);
    changed[way] = way === ahead ? [...others, resource.id].sort((one, other) => one - other) : others;
  }
  return orNothing(changed);
}

/** @param {ByHand} byHand @returns {ByHand} */
const orNothing = (byHand) => (Object.keys(byHand.priorities).length || AHEAD.some((it) => byHand[it]?.length) ? byHand : null);
