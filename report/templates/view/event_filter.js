// Which events of a connection the reader wants to see.

// Rows whose text is made to be searched, before the page may draw again.
const ROWS_AT_ONCE = 20000;

// The events of both ends in the order of time, as twice the row, plus the place of the log.
function inOrder(logs) {
  const order = new Uint32Array(logs.reduce((sum, it) => sum + it.count, 0));
  const rows = logs.map(() => 0);
  for (let place = 0; place < order.length; place++) {
    let next = -1;
    logs.forEach((log, it) => {
      if (rows[it] < log.count && (next < 0 || log.time[rows[it]] < logs[next].time[rows[next]])) next = it;
    });
    order[place] = 2 * rows[next]++ + next;
  }
  return order;
}

// The events of `order` that satisfy a filter: `name`, `log`, `stream`, `byte`, `packet`, `from`, `to`, each absent or wanted;
// `hits` has for each log 1 for each row with the wanted text.
function filtered(exchange, order, filter, hits) {
  if (!hits && Object.values(filter).every((it) => it === undefined || it === "")) return order;
  const kept = new Uint32Array(order.length);
  let count = 0;
  for (const id of order) {
    const [log, row] = [id & 1, id >>> 1];
    if (hits && !hits[log][row]) continue;
    if (isWantedEvent(exchange, filter, log, row)) kept[count++] = id;
  }
  return kept.subarray(0, count);
}

function isWantedEvent(exchange, filter, log, row) {
  const events = exchange.logs[log];
  if (filter.log !== undefined && log !== filter.log) return false;
  if (filter.name !== undefined && events.names[events.name[row]] !== filter.name) return false;
  if (filter.from !== undefined && events.time[row] < filter.from) return false;
  if (filter.to !== undefined && events.time[row] > filter.to) return false;
  const packet = events.packetAt(row);
  if (filter.packet !== undefined && (packet < 0 || events.number[packet] !== filter.packet)) return false;
  if (filter.stream === undefined) return true;
  if (packet < 0) return filter.byte === undefined && events.streamAt(row) === filter.stream;
  return events.someFrame(packet, (frame) =>
    filter.byte === undefined ? events.streamOf(frame) === filter.stream : carries(events, frame, filter.stream, filter.byte),
  );
}

// For each row of a log whether its name, its text, or the words for it have `text`. Stops with null once `isStale()`.
async function rowsWith(events, text, isStale) {
  const wanted = text.toLowerCase();
  const hits = new Uint8Array(events.count);
  const named = events.names.map((name) => name.toLowerCase().includes(wanted));
  for (let row = 0; row < events.count; row++) hits[row] = named[events.name[row]] ? 1 : 0;
  await addHitsOfTexts(events, text, hits);
  for (let row = 0; row < events.count; row++) {
    if (!hits[row] && !events.hasText(row) && eventText(events, row).toLowerCase().includes(wanted)) hits[row] = 1;
    if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) {
      await new Promise((done) => setTimeout(done));
      if (isStale()) return null;
    }
  }
  return hits;
}

// Each byte as one character, so that places in the text are those of the bytes. The case of letters beyond ASCII counts.
async function addHitsOfTexts(events, text, hits) {
  const bytewise = new TextDecoder("latin1");
  const needle = bytewise.decode(new TextEncoder().encode(text)).toLowerCase();
  events.searched ??= bytewise.decode(await events.texts()).toLowerCase();
  let at = events.searched.indexOf(needle);
  while (at >= 0) {
    const row = lowerBound(events.textEnd, at + 1, 0, events.count);
    const end = events.textEnd[row];
    if (at + needle.length <= end) hits[row] = 1;
    // The rest of a text that has it says no more; a match over the end of a text may hide one that begins later.
    at = events.searched.indexOf(needle, at + needle.length <= end ? end : at + 1);
  }
}
