// What the pointer is over, beside it; and the same words for screen readers when keys move the cursor.

function showTip(lines, x, y) {
  const tip = document.getElementById("tip");
  if (!lines.length) return hideTip();
  tip.replaceChildren(...lines.map((line) => build("div", { textContent: line })));
  tip.hidden = false;
  const left = x + 16 + tip.offsetWidth > innerWidth ? x - 16 - tip.offsetWidth : x + 16;
  const top = y + 16 + tip.offsetHeight > innerHeight ? y - 16 - tip.offsetHeight : y + 16;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${Math.max(0, top)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

function announce(text) {
  document.getElementById("announcement").textContent = text;
}
