// Questions to the program that serves the page.

/** @import { Now } from "./types" */

// The question of the state, for an engine: what runs now, then the schemes, then the order by hand.
/** @param {Now} state @param {string} engine */
export function question(state, engine) {
  const { page, network, set, listed, seed, metric, schemes, now, byHand, heroes, schemeFile } = state;
  /** @type {{scheme: string, label?: string, by_hand?: unknown}[]} */
  const rows = [now.byHand ? { scheme: now.scheme, label: "now", by_hand: now.byHand } : { scheme: now.scheme }];
  const own = nameIn(schemeFile);
  for (const scheme of own ? [...schemes, own] : schemes) {
    if (!rows.some((it) => it.scheme === scheme && !it.by_hand)) rows.push({ scheme });
  }
  if (byHand && JSON.stringify(byHand) !== JSON.stringify(now.byHand)) rows.push({ scheme: "rfc9218", label: "by hand", by_hand: byHand });
  return { page, facts: { heroes }, rows, network, set, listed, engine, seed, metric, scheme_file: own ? schemeFile : "" };
}

// The name of the scheme in a scheme file.
export const nameIn = (text) => /^\s*name\s*=\s*"([^"]+)"/m.exec(text)?.[1];

export class Refused extends Error {}

/** @param {string} place @param {unknown} [body] @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function ask(place, body, signal) {
  const answer = body === undefined ? fetch(place) : send(place, "application/json", JSON.stringify(body), signal);
  return (await accepted(await answer)).json();
}

export async function drop(file) {
  return (await accepted(await send(`drop?name=${encodeURIComponent(file.name)}`, "application/octet-stream", file))).json();
}

// A picture as a PDF file.
/** @param {string} svg */
export async function pdfOf(svg) {
  return (await accepted(await send("pdf", "image/svg+xml", svg))).blob();
}

/** @param {string} place @param {string} type @param {BodyInit} body @param {AbortSignal} [signal] */
const send = (place, type, body, signal) => fetch(place, { method: "POST", headers: { "content-type": type }, body, signal });

/** @param {Response} answer */
async function accepted(answer) {
  if (!answer.ok) throw new Refused((await answer.text()).trim());
  return answer;
}

// Asks one question at a time. Of those that come meanwhile, only the last is asked.
export class Asker {
  /** @param {string} place @param {(answer: any, asked: any) => void} show @param {(error: Error, asked: any) => void} fail */
  constructor(place, show, fail) {
    this.place = place;
    this.show = show;
    this.fail = fail;
    this.waiting = null;
    /** @type {AbortController | null} */
    this.going = null;
  }

  // Gives up what is being asked: the program stops to compute it.
  end() {
    this.waiting = null;
    this.going?.abort();
  }

  async ask(body) {
    this.waiting = body;
    if (this.going) return;
    while (this.waiting) {
      const asked = this.waiting;
      this.waiting = null;
      this.going = new AbortController();
      try {
        this.show(await ask(this.place, asked, this.going.signal), asked);
      } catch (error) {
        if (error.name !== "AbortError") this.fail(error, asked);
      }
    }
    this.going = null;
  }
}
