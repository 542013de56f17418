// The list of logs: says of each what `qlog summary --csv` does, sorts and filters it, and sends dropped files to the program that
// serves it.

// As many files are summarized at once; the program takes no more than 20.
const BATCH = 10;

const number = (text) => (text === "" ? null : Number(text));
const share = (part, all) => (part === "" || !Number(all) ? null : (100 * part) / all);

// Headings, values, and the decimals of numbers.
const COLUMNS = [
  ["stack", (it) => it.stack],
  ["side", (it) => it.side],
  ["other end", (it) => (it.pair ?? "").replace(/.*\//, "")],
  ["duration, ms", (it) => number(it.duration_ms), 0],
  ["response bytes", (it) => number(it.response_bytes), 0],
  ["goodput, Mbit/s", (it) => (it.goodput_bits_per_s === "" ? null : it.goodput_bits_per_s / 1e6), 2],
  ["loss, %", (it) => share(it.never_came_share, 1) ?? share(it.packets_lost, it.packets_sent), 2],
  ["least RTT, ms", (it) => number(it.least_rtt_ms), 1],
  ["95 % of RTTs, ms", (it) => number(it.p95_rtt_ms), 1],
  ["held back by", (it) => it.cause.replaceAll("_", " ")],
  ["probe timeouts", (it) => number(it.probe_timeouts), 0],
];

const body = document.getElementById("files");

// What is shown of each connection, by the file.
const shown = new Map();

async function summarize(rows) {
  const waiting = [...rows];
  while (waiting.length) {
    const rows = waiting.splice(0, BATCH);
    status.textContent = `Reading ${waiting.length + rows.length} logs…`;
    const query = rows.map((row) => `file=${encodeURIComponent(nameOf(row))}`).join("&");
    const answer = await fetch(`rows?${query}`);
    if (!answer.ok) throw new Error(await answer.text());
    (await answer.json()).forEach((file, place) => shown.set(file.file, fill(rows[place], file)));
  }
  pairUp([...shown.values()].flat());
  status.textContent = "";
}

function nameOf(row) {
  return row.querySelector("input").value;
}

// A file with several connections has a row for each.
function fill(row, { rows, refused }) {
  while (row.cells.length > 3) row.deleteCell(-1);
  if (refused) row.insertCell().textContent = refused;
  return rows.map((connection, place) => {
    const element = place ? row.cloneNode(true) : row;
    if (place) {
      while (element.cells.length > 3) element.deleteCell(-1);
      body.insertBefore(element, row.nextSibling);
    }
    const known = { element, connection, file: nameOf(row) };
    show(known);
    return known;
  });
}

function show({ element, connection }) {
  while (element.cells.length > 3) element.deleteCell(-1);
  element.values = COLUMNS.map(([, value]) => value(connection));
  element.values.forEach((value, place) => {
    const decimals = COLUMNS[place][2];
    element.insertCell().textContent = value === null ? "–" : decimals === undefined ? value : value.toFixed(decimals);
  });
}

// The log of the other end: of the same connection and the other side, best in the same folder.
function pairUp(known) {
  const folder = (name) => name.slice(0, name.lastIndexOf("/") + 1);
  const byConnection = Map.groupBy(known, (it) => it.connection.connection);
  for (const one of known) {
    const named = one.connection.connection ? byConnection.get(one.connection.connection) : [];
    const others = named.filter((it) => it.connection.side !== one.connection.side && it.file !== one.file);
    const other = others.find((it) => folder(it.file) === folder(one.file)) ?? others[0];
    one.connection.pair = other && other.file;
    if (other) show(one);
  }
}

// Rises at the first click on a heading, and falls at the second. What is not known comes last.
function sortBy(heading, value) {
  const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const compare = (one, other) => (typeof one === "number" ? one - other : String(one).localeCompare(other));
  const rows = [...body.rows].map((row) => [value(row), row]);
  const isKnown = (it) => it !== null && it !== undefined && it !== "";
  rows.sort(([one], [other]) => {
    if (!isKnown(one) || !isKnown(other)) return isKnown(other) - isKnown(one);
    return sign * compare(one, other);
  });
  body.append(...rows.map(([, row]) => row));
}

function addHeadings() {
  const headings = document.getElementById("headings");
  const values = [null, nameOf, (row) => Number(row.dataset.size)];
  for (const [place, [name]] of COLUMNS.entries()) {
    const heading = document.createElement("th");
    heading.scope = "col";
    heading.textContent = name;
    headings.append(heading);
    values.push((row) => row.values && row.values[place]);
  }
  values.forEach((value, place) => {
    if (!value) return;
    const heading = headings.cells[place];
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sortBy(heading, value));
    heading.replaceChildren(button);
  });
}

const status = document.getElementById("status");

async function send(files) {
  for (const file of files) {
    status.textContent = `Reading ${file.name}…`;
    const address = `upload?name=${encodeURIComponent(file.name)}`;
    const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/x-qlog" }, body: file });
    const text = await answer.text();
    if (!answer.ok) {
      status.textContent = text.trim();
      return;
    }
  }
  location.reload();
}

function fail(error) {
  status.textContent = `The program does not answer: ${error.message}`;
}

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  send(event.dataTransfer.files).catch(fail);
});
document.getElementById("add").addEventListener("change", (event) => send(event.target.files).catch(fail));
document.getElementById("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll("#files tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});

const FOLLOW_MS = 1000;

// Reads logs again that have grown. A new one needs a row.
async function follow(rows) {
  for (;;) {
    await new Promise((done) => setTimeout(done, FOLLOW_MS));
    const sizes = Object.entries(await (await fetch("sizes")).json());
    if (sizes.some(([name]) => !rows.has(name))) return location.reload();
    const grown = sizes.filter(([name, [bytes]]) => Number(rows.get(name)?.dataset.size) !== bytes);
    for (const [name, [bytes, words]] of grown) {
      const row = rows.get(name);
      row.dataset.size = bytes;
      row.cells[2].textContent = words;
      shown.get(name).slice(1).forEach((it) => it.element.remove());
    }
    await summarize(grown.map(([name]) => rows.get(name)));
  }
}

addHeadings();
const firstRows = new Map([...body.rows].map((row) => [nameOf(row), row]));
summarize(body.rows).then(() => "follow" in body.dataset && follow(firstRows)).catch(fail);
