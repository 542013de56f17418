// The network, by its name and by sliders, and what the server does.

import { bytes, element, rate } from "./elements.js";

// Sliders: where in the state their value is, its ends, and how it is shown. The rate's is logarithmic.
const SLIDERS = [
  { key: "rate", of: "set", name: "Rate", most: 100, to: (at) => Number((1e5 * 1e4 ** (at / 100)).toPrecision(2)), from: (value) => (100 * Math.log(value / 1e5)) / Math.log(1e4), text: rate, own: (it) => it.rate },
  { key: "rtt_ms", of: "set", name: "Round trip", most: 1000, step: 5, text: (it) => `${it} ms`, own: (it) => it.rtt_ms },
  { key: "loss", of: "set", name: "Loss", most: 0.1, step: 0.005, text: (it) => `${Number((100 * it).toFixed(2))} %`, own: (it) => (it.is_lossy ? null : 0) },
  { key: "send_buffer_bytes", of: "listed", name: "Send buffer", most: 1000000, step: 14000, text: bytes, own: () => 0 },
  { key: "queue", of: "listed", name: "Queue", most: 8, least: 0.25, step: 0.25, text: (it) => `${it} × BDP`, unit: "bdp", own: () => null },
];

const HINTS = ["preload", "early-hints"];

// Makes the controls once; `show` then sets them to a state.
export function makeControls(place, choices, state) {
  const shows = [];
  const add = (name, control, note) => place.append(element("label", {}, element("span", {}, name), control, note));
  const network = element("select", { onchange: () => state.change({ network: network.value, set: {} }) }, ...choices.networks.map((it) => new Option(it.name, it.name)));
  add("Network", network);
  shows.push((now) => (network.value = now.network));
  for (const slider of SLIDERS) shows.push(makeSlider(place, slider, choices, state));
  const lists = [["push", "Push", choices.push], ["hints", "Hints", HINTS], ["cc", "Congestion control", choices.cc]];
  for (const [key, name, values] of lists) {
    const control = element("select", { onchange: () => state.change({ listed: without(state.now.listed, key, control.value) }) }, new Option("as usual", ""), ...values.map((it) => new Option(it, it)));
    add(name, control);
    shows.push((now) => (control.value = now.listed[key] ?? ""));
  }
  const seed = element("input", { type: "number", min: 0, max: 999999, onchange: () => state.change({ seed: Math.max(0, Math.trunc(Number(seed.value)) || 0) }) });
  add("Seed of chance", seed);
  shows.push((now) => (seed.value = now.seed));
  const metric = element("select", { onchange: () => state.change({ metric: metric.value }) }, ...choices.metrics.map((it) => new Option(it.heading, it.name)));
  add("Metric", metric);
  shows.push((now) => (metric.value = now.metric));
  return (now) => shows.forEach((show) => show(now));
}

function makeSlider(place, slider, choices, state) {
  const { key, of, name, most, least = 0, step = 1, text, unit = "", own, to = (it) => it, from = (it) => it } = slider;
  const set = (isPassing) => state.change({ [of]: { ...state.now[of], [key]: `${to(Number(range.value))}${unit}` } }, isPassing);
  const range = element("input", { type: "range", min: least, max: most, step, oninput: () => set(true), onchange: () => set(false) });
  const output = element("output");
  const reset = element("button", { type: "button", textContent: "×", title: `${name}: as the network has it`, onclick: () => state.change({ [of]: without(state.now[of], key, "") }) });
  reset.setAttribute("aria-label", reset.title);
  place.append(element("div", { className: "slider" }, element("label", {}, element("span", {}, name), range), output, reset));
  return (now) => {
    const said = now[of][key];
    const network = choices.networks.find((it) => it.name === now.network);
    const value = said === undefined ? own(network ?? {}) : parseFloat(said);
    range.value = from(value ?? least);
    output.textContent = value === null || value === undefined ? "its own" : text(value);
    range.setAttribute("aria-valuetext", output.textContent);
    reset.hidden = said === undefined;
  };
}

// A copy with this value, or without the key if the value is empty.
function without(values, key, value) {
  const { [key]: _, ...others } = values;
  return value === "" ? others : { ...others, [key]: value };
}

// A box for each scheme.
export function makeSchemes(place, choices, state) {
  const boxes = choices.schemes.map(({ name, about }) => {
    const toggle = () => state.change({ schemes: box.checked ? [...state.now.schemes, name] : state.now.schemes.filter((it) => it !== name) });
    const box = element("input", { type: "checkbox", value: name, onchange: toggle });
    const lead = element("button", { type: "button", textContent: "now", title: `${name} is what runs now`, onclick: () => state.change({ now: { scheme: name, byHand: null } }) });
    place.append(element("div", {}, element("label", {}, box, ` ${name} `, element("span", { className: "muted" }, about)), lead));
    return [box, lead];
  });
  return (now) => {
    for (const [box, lead] of boxes) {
      box.checked = now.schemes.includes(box.value);
      lead.setAttribute("aria-pressed", String(!now.now.byHand && now.now.scheme === box.value));
    }
  };
}
