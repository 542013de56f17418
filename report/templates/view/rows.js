// Side by side, the same figure of each log stands on one row, however tall what is above it: the sections share the rows of one grid.

// What a figure consists of: heading, words, drawing, footer, table.
const ROWS_OF_FIGURE = 5;

function alignRows(sections) {
  const lists = [...sections].map((section) => [...section.children].map((child) => [rowKey(child), child]));
  const keys = mergedKeys(lists);
  const rows = keys.map((key) => (key.startsWith("figure") ? ROWS_OF_FIGURE : 1));
  const firsts = rows.map((_, place) => 1 + rows.slice(0, place).reduce((sum, it) => sum + it, 0));
  const all = rows.reduce((sum, it) => sum + it, 0);
  [...sections].forEach((section, place) => {
    section.classList.add("aligned");
    section.style.gridRow = `span ${all}`;
    for (const [key, child] of lists[place]) {
      const row = keys.indexOf(key);
      child.style.gridRow = `${firsts[row]} / span ${rows[row]}`;
    }
  });
}

// What makes two children of sections the same thing.
function rowKey(child) {
  if (child.tagName === "FIGURE") return `figure ${child.querySelector("h3").textContent}`;
  return `${child.tagName.toLowerCase()} ${child.className}`;
}

// All keys in an order that has those of each list in the list's order.
function mergedKeys(lists) {
  const keys = [];
  for (const list of lists) {
    let next = 0;
    for (const [key] of list) {
      const known = keys.indexOf(key);
      if (known >= 0) next = known + 1;
      else keys.splice(next++, 0, key);
    }
  }
  return keys;
}
