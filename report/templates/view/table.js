// The numbers of a figure as a table, for readers who cannot see it or want to copy them.

function fillTable(box, { caption, headings, rows }) {
  const table = build("table", {});
  build("caption", { textContent: caption }, table);
  const head = build("tr", {}, build("thead", {}, table));
  for (const heading of headings) {
    const cell = build("th", { textContent: heading }, head);
    cell.setAttribute("scope", "col");
  }
  const body = build("tbody", {}, table);
  for (const row of rows) {
    const line = build("tr", {}, body);
    for (const value of row) build("td", { textContent: value }, line);
  }
  box.replaceChildren(table);
}
