// What the pointer is over, beside it; and the same words for screen readers when keys move the cursor. A click pins it: it then stays,
// with buttons that lead on.

function showTip(lines, x, y) {
  if (isPinned()) return;
  if (!lines.length) return hideTip();
  const tip = document.getElementById("tip");
  tip.replaceChildren(...lines.map((line) => build("div", { textContent: line })));
  placeTip(tip, x, y);
}

// `actions` are pairs of a button's words and what it does.
function pinTip(lines, actions, x, y) {
  const tip = document.getElementById("tip");
  hideTip();
  if (!lines.length) return;
  tip.replaceChildren(...lines.map((line) => build("div", { textContent: line })));
  const buttons = build("div", { className: "actions" }, tip);
  for (const [words, act] of [...actions, ["Close", hideTip]]) {
    build("button", { type: "button", textContent: words }, buttons).addEventListener("click", act);
  }
  tip.classList.add("pinned");
  placeTip(tip, x, y);
  announce(lines.join("; "));
}

function placeTip(tip, x, y) {
  tip.hidden = false;
  const left = x + 16 + tip.offsetWidth > innerWidth ? x - 16 - tip.offsetWidth : x + 16;
  const top = y + 16 + tip.offsetHeight > innerHeight ? y - 16 - tip.offsetHeight : y + 16;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${Math.max(0, top)}px`;
}

function isPinned() {
  return document.getElementById("tip").classList.contains("pinned");
}

function hideTip() {
  const tip = document.getElementById("tip");
  tip.hidden = true;
  tip.classList.remove("pinned");
}

function announce(text) {
  document.getElementById("announcement").textContent = text;
}
