// What one takes away: the command, lines for servers, the policy, files.

import { ask } from "./ask.js";
import { byId, copy, element, save } from "./elements.js";
import { svgOf } from "./picture.js";

let server = "nginx";

export function showAnswers(answer, question, schemeFile) {
  const { command, files, policy, exports } = answer;
  const save_files = () => saveFiles(files, question, schemeFile).catch((error) => (byId("status").textContent = error.message));
  const parts = [
    block("The same numbers on the command line", command, files.length && element("button", { type: "button", onclick: save_files }, `Save ${files.join(", ")} first`)),
  ];
  if (exports.length) {
    const choice = element("select", { "aria-label": "Server", onchange: () => { server = choice.value; showAnswers(answer, question, schemeFile); } }, ...exports.map((it) => new Option(it.name, it.name)));
    choice.value = server;
    parts.push(block("Lines to paste", exports.find((it) => it.name === server)?.text ?? "", choice));
  } else {
    parts.push(element("p", { className: "muted" }, "Another server cannot run a scheme. Move a resource, or preload one: the lines for nginx, Caddy, h2o, Apache, Cloudflare and Fastly then stand here."));
  }
  parts.push(block("A policy for utmost serve --config", policy));
  parts.push(element("div", { className: "bar" }, element("button", { type: "button", onclick: () => save("ribbons.svg", svgOf(), "image/svg+xml") }, "Save the picture (SVG)")));
  byId("answers").replaceChildren(...parts);
}

function block(title, text, more) {
  const button = element("button", { type: "button", onclick: () => copy(text) }, "Copy");
  button.setAttribute("aria-label", `Copy: ${title}`);
  return element("div", { className: "block" }, element("h3", {}, title), element("div", { className: "bar" }, button, more || null), element("pre", { tabIndex: 0 }, text));
}

async function saveFiles(files, question, schemeFile) {
  const pages = await ask("file", question);
  for (const name of files) save(name, pages[name] ?? schemeFile);
}
