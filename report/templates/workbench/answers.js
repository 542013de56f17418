// What one takes away: the command, lines for servers, the policy, files.

import { ask } from "./ask.js";
import { byId, copy, element, save, say } from "./elements.js";
import { pictures } from "./picture.js";
import { saveCsv, savePdf, savePng, saveSvg } from "./take_away.js";

let server = "nginx";

// `rows`: what the table of numbers has, for a CSV file.
export function showAnswers(answer, question, schemeFile, rows) {
  const { command, files, policy, exports } = answer;
  const tell = (error) => say("status", error.message);
  const save_files = () => saveFiles(files, question, schemeFile).catch(tell);
  const parts = [
    block("The same numbers on the command line", command, files.length && element("button", { type: "button", onclick: save_files }, `Save ${files.join(", ")} first`)),
  ];
  if (exports.length) {
    const choice = element("select", { "aria-label": "Server", onchange: () => { server = choice.value; showAnswers(answer, question, schemeFile, rows); } }, ...exports.map((it) => new Option(it.name, it.name)));
    choice.value = server;
    parts.push(block("Lines to paste", exports.find((it) => it.name === server)?.text ?? "", choice));
  } else {
    parts.push(element("p", { className: "muted" }, "Other servers neither run a scheme nor push. Move a resource, or preload one: the lines for nginx, Caddy, h2o, Apache, Cloudflare and Fastly then stand here."));
  }
  parts.push(block("A policy for utmost serve --config", policy));
  const button = (text, onclick) => element("button", { type: "button", onclick }, text);
  /** @type {[string, (name: string, svg: SVGSVGElement) => any][]} */
  const kinds = [["SVG", saveSvg], ["PNG", savePng], ["PDF", savePdf]];
  const ofPicture = pictures().flatMap(([name]) => kinds.map(([kind, save]) => button(`Save the ${name} (${kind})`, () => Promise.resolve(save(name, svgOf(name))).catch(tell))));
  parts.push(element("h3", {}, "Files of what is on the screen"), element("div", { className: "bar" }, ...ofPicture, button("Save the numbers (CSV)", () => saveCsv("numbers", rows()))));
  byId("answers").replaceChildren(...parts);
}

// The picture that stands there now.
const svgOf = (wanted) => pictures().find(([name]) => name === wanted)[1];

function block(title, text, more) {
  const button = element("button", { type: "button", onclick: () => copy(text) }, "Copy");
  button.setAttribute("aria-label", `Copy: ${title}`);
  return element("div", { className: "block" }, element("h3", {}, title), element("div", { className: "bar" }, button, more || null), element("pre", { tabIndex: 0 }, text));
}

async function saveFiles(files, question, schemeFile) {
  const pages = await ask("file", question);
  for (const name of files) save(name, pages[name] ?? schemeFile);
}
