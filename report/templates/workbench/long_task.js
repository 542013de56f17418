// Tasks that take long, one at a time: the button that began it stops it, and the page says how far it is.

import { ask } from "./ask.js";
import { byId, say } from "./elements.js";

// How often a task says how far it is.
const PROGRESS_MS = 200;

const BUTTONS = ["search", "record"];

/** @type {AbortController | null} */
let going = null;

// Carries out `task`, which ends with what to say. `far`: how far it is at first.
/** @param {string} id @param {string} doing @param {string} far @param {(signal: AbortSignal) => Promise<string>} task */
export async function longTask(id, doing, far, task) {
  if (going) return going.abort();
  going = new AbortController();
  const button = byId(id);
  const words = button.textContent;
  button.textContent = "Stop";
  const others = BUTTONS.filter((it) => it !== id).map(byId);
  others.forEach((it) => (it.disabled = true));
  say("status", `${doing}…`);
  const progress = setInterval(async () => {
    far = await ask("progress").catch(() => far);
    if (going) say("status", `${doing}: ${far}.`);
  }, PROGRESS_MS);
  let end;
  try {
    end = await task(going.signal);
  } catch (error) {
    end = error.name === "AbortError" ? `Stopped after ${far}. Nothing is changed.` : error.message;
  }
  clearInterval(progress);
  going = null;
  button.textContent = words;
  others.forEach((it) => (it.disabled = false));
  say("status", end);
}
