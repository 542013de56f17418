// Elements of the page, and numbers as a reader wants them. Texts from pages become text, never markup.

/** Whoever asks knows the type of the element. @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id);

// An element with properties, `aria-` and `data-` attributes, handlers of events (`onclick`), and children.
/** @param {string} name @param {Record<string, any>} properties @param {(Node | string | null)[]} children @returns {any} */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (/^(aria-|data-|role$|for$|list$)/.test(key)) made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((it) => it !== null && it !== undefined));
  return made;
}

export function say(id, text) {
  const place = byId(id);
  place.textContent = text;
  if (place.hasAttribute("hidden") || place.classList.contains("problem")) place.hidden = !text;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** @param {number | null} [value] */
export const milliseconds = (value) => (value === null || value === undefined ? "–" : value < 10 ? value.toFixed(1) : whole.format(Math.round(value)));

/** @param {number} count */
export function bytes(count) {
  if (count >= 1e6) return `${(count / 1e6).toFixed(2)} MB`;
  return count >= 1e3 ? `${(count / 1e3).toFixed(1)} kB` : `${count} B`;
}

/** @param {number} bits */
export function rate(bits) {
  /** @type {[number, string][]} */
  const units = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"]];
  const [size, unit] = units.find(([it]) => bits >= it) ?? [1, "bit/s"];
  return `${Number((bits / size).toPrecision(3))} ${unit}`;
}

/** @param {string} name @param {BlobPart} text */
export function save(name, text, type = "text/plain") {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("status", "Copied.");
  } catch {
    say("status", "The browser does not let the page copy; select the text instead.");
  }
}
