// What the render model shows when: a strip for each order, on the time axis of the ribbons. The page format knows no places and no
// areas, so a screen has the document's text on top, the hero as a large box, and other visible images as equal small ones.

import { milliseconds } from "./elements.js";

/** @import { Answer, Resource, Row } from "./types" */

const SVG = "http://www.w3.org/2000/svg";
const FRAMES = 8;
const HEIGHT = 62;
const PITCH = HEIGHT + 22;
const TOP = 6;
const BOXES_MOST = 24;

// The strips of an answer's orders, as SVG; null where nothing is above the fold.
/** @param {Answer} answer @param {Resource[]} resources @param {number} width */
export function film(answer, resources, width) {
  const regions = regionsOf(resources);
  if (!regions.length) return null;
  const { left, right, end_ms } = answer.across;
  const step = (right - left) / FRAMES;
  const height = TOP + answer.rows.length * PITCH;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", xmlns: SVG, "font-family": "Liberation Sans, DejaVu Sans, sans-serif" });
  svg.append(drawn("title", {}, `What the render model shows when: ${answer.rows.map((it) => it.label).join(", ")}`));
  answer.rows.forEach((row, place) => {
    const top = TOP + place * PITCH;
    const shown = shownMs(row, regions);
    svg.append(drawn("text", { x: left - 8, y: top + HEIGHT / 2 + 4, "text-anchor": "end", "font-size": 12.5, "font-weight": 700, class: "ink", fill: "#1a1a1a" }, shortLabel(row.label)));
    for (let frame = 1; frame <= FRAMES; frame++) {
      const atMs = (end_ms * frame) / FRAMES;
      // A screen ends at its moment.
      const screen = { left: left + step * frame - Math.min(step - 6, HEIGHT * 1.6), top, width: Math.min(step - 6, HEIGHT * 1.6), height: HEIGHT };
      svg.append(frameOf(row, regions, shown, atMs, screen));
    }
  });
  return svg;
}

// What has a place on the screen: the document, images and fonts above the fold.
/** @param {Resource[]} resources */
export const regionsOf = (resources) => resources.filter((it) => it.above_fold && it.kind !== "css" && it.kind !== "js");

// When each region is shown, as the client says, who names a region by its bytes. Infinity: never.
/** @param {Row} row @param {Resource[]} regions @returns {Map<number, number>} */
export function shownMs({ run, regions_shown }, regions) {
  const complete = new Map(run.resources.map((it) => [it.id, it.complete_ms ?? Infinity]));
  const left = [...regions].sort((one, other) => complete.get(one.id) - complete.get(other.id));
  const shown = new Map(regions.map((it) => [it.id, Infinity]));
  for (const [atMs, bytes] of regions_shown) {
    const place = left.findIndex((it) => it.bytes === bytes);
    if (place >= 0) shown.set(left.splice(place, 1)[0].id, atMs);
  }
  return shown;
}

// How much is shown at a moment, by bytes, as SpeedIndex counts it.
/** @param {Resource[]} regions @param {Map<number, number>} shown @param {number} atMs */
export function shareShown(regions, shown, atMs) {
  /** @param {Resource[]} those */
  const sum = (those) => those.reduce((bytes, it) => bytes + it.bytes, 0);
  return sum(regions.filter((it) => shown.get(it.id) <= atMs)) / Math.max(1, sum(regions));
}

/** @param {Row} row @param {Resource[]} regions @param {Map<number, number>} shown @param {number} atMs */
function frameOf(row, regions, shown, atMs, { left, top, width, height }) {
  const percent = Math.round(100 * shareShown(regions, shown, atMs));
  const isBlank = !(row.run.first_render.all <= atMs);
  const is = (it) => shown.get(it.id) <= atMs;
  const group = drawn("g", {});
  const missing = regions.filter((it) => !is(it)).map((it) => it.url);
  const still = missing.length ? `; still missing: ${missing.slice(0, 4).join(", ")}${missing.length > 4 ? " and more" : ""}` : "";
  group.append(drawn("title", {}, `${row.label} at ${milliseconds(atMs)} ms: ${isBlank ? "nothing is shown yet" : `${percent} % of what is above the fold is shown${still}`}`));
  group.append(drawn("rect", { x: left, y: top, width, height, rx: 2, class: "paper outline", fill: "#ffffff", stroke: "#8c8c8c" }));
  if (!isBlank) group.append(...boxes(regions, is, { left: left + 4, top: top + 4, width: width - 8, height: height - 8 }));
  group.append(drawn("text", { x: left + width, y: top + height + 12, "text-anchor": "end", "font-size": 10, class: "muted", fill: "#5a5a5a" }, isBlank ? "–" : `${percent} %`));
  return group;
}

// Text above, then the hero, then other images. What is not there yet is hollow.
/** @param {Resource[]} regions @param {(region: Resource) => boolean} is */
function boxes(regions, is, { left, top, width, height }) {
  const text = regions.filter((it) => it.kind === "html" || it.kind === "font");
  const heroes = regions.filter((it) => it.hero);
  const images = regions.filter((it) => !it.hero && !text.includes(it)).slice(0, BOXES_MOST);
  const box = (it, area, kind) => drawn("rect", { ...area, ...look(is(it), kind) });
  const line = height * 0.13;
  const made = [0, 1].map((place) => drawn("rect", { x: left, y: top + place * line * 1.6, width: width * (place ? 0.6 : 0.9), height: line, ...look(text.every(is), "text") }));
  const below = top + line * 3.4;
  const room = height - line * 3.4;
  const heroWidth = heroes.length ? (images.length ? width * 0.5 : width) : 0;
  heroes.forEach((it, place) => made.push(box(it, { x: left, y: below + (place * room) / heroes.length, width: heroWidth - 2, height: room / heroes.length - 1 }, "hero")));
  const columns = Math.ceil(Math.sqrt((images.length * (width - heroWidth)) / room)) || 1;
  const lines = Math.ceil(images.length / columns) || 1;
  const [across, down] = [(width - heroWidth) / columns, room / lines];
  images.forEach((it, place) => made.push(box(it, { x: left + heroWidth + (place % columns) * across, y: below + Math.floor(place / columns) * down, width: across - 1.5, height: down - 1.5 }, "image")));
  return made;
}

const FILLS = { text: "#5a5a5a", hero: "#d55e00", image: "#0072b2" };

const look = (isShown, kind) => (isShown ? { class: `${kind}-box`, fill: FILLS[kind] } : { class: "missing-box", fill: "none", stroke: "#8c8c8c", "stroke-dasharray": "2 2" });

const shortLabel = (label) => (label.length > 16 ? `${label.slice(0, 15)}…` : label);

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === "number" ? String(Number(value.toFixed(2))) : value);
  if (text !== undefined) made.textContent = text;
  return made;
}
