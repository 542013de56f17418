// Files of what is on the screen: pictures as SVG, PNG and PDF, numbers as CSV.

import { pdfOf } from "./ask.js";
import { save } from "./elements.js";

// Pixels of a PNG for each unit of its picture.
const SCALE = 2;

/** @param {SVGSVGElement} svg */
export const svgText = (svg) => new XMLSerializer().serializeToString(svg);

/** @param {string} name @param {SVGSVGElement} svg */
export const saveSvg = (name, svg) => save(`${name}.svg`, svgText(svg), "image/svg+xml");

// The browser draws the picture on white, whatever the colours of the page.
/** @param {string} name @param {SVGSVGElement} svg */
export async function savePng(name, svg) {
  const { width, height } = svg.viewBox.baseVal;
  const picture = new Image(width * SCALE, height * SCALE);
  const sized = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  sized.setAttribute("width", String(width * SCALE));
  sized.setAttribute("height", String(height * SCALE));
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(sized))}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * SCALE, height * SCALE];
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  save(`${name}.png`, await new Promise((done) => canvas.toBlob(done, "image/png")), "image/png");
}

// The program writes the file, because browsers cannot.
/** @param {string} name @param {SVGSVGElement} svg */
export const savePdf = async (name, svg) => save(`${name}.pdf`, await pdfOf(svgText(svg)), "application/pdf");

// Rows as text. A cell that begins like a formula gets a `'` in front, so that no spreadsheet computes it.
/** @typedef {string | number | null | undefined} Cell */
/** @param {Cell[][]} rows */
export const csv = (rows) => `${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;

/** @param {string} name @param {Cell[][]} rows */
export const saveCsv = (name, rows) => save(`${name}.csv`, csv(rows), "text/csv");

/** @param {Cell} value */
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+@\t\r]|^-./.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
