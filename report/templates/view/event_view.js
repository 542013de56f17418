// The list of all events of a connection, with its filters, and what one of them says.

const FRAMES_IN_DETAIL = 200;

class EventView {
  constructor(recording, viewport, parent) {
    Object.assign(this, { recording, viewport });
    this.shown = new Uint32Array(0);
    this.searches = 0;
    this.element = build("div", { className: "panel events" }, parent);
    build("h3", { textContent: "Events" }, this.element);
    const ends = recording.logs.map((it) => `${countText(it.count)} of ${it.whose}`).join(", ");
    this.about = build("p", { className: "about", textContent: `All events of the logs in the order of time: ${ends}. A click shows what an event says. ` }, this.element);
    if (!recording.logs.some((it) => it.count)) {
      this.about.textContent = "";
      build("p", { className: "missing", textContent: "Not shown: the events were not read" }, this.element);
      return;
    }
    this.form = new EventForm(this.element, recording, () => this.search());
    this.status = build("p", { className: "about", textContent: "Unpacking events…" }, this.element);
    this.status.setAttribute("role", "status");
    this.list = new VirtualList(this.element, `Events of ${recording.name}`, (row, place) => this.fillRow(row, place), (place) => this.choose(place));
    this.detail = build("div", { className: "event-detail", hidden: true }, this.element);
  }

  // Called once the events are there.
  async ready() {
    if (!this.list) return;
    const { logs } = this.recording.exchange;
    this.order = inOrder(logs);
    this.about.append(textsText(logs));
    // A link may have filled in the form.
    await this.search();
  }

  // What the reader asks for. Describes the likeliest event of those found, unless one of them is described already.
  async search() {
    const isWhole = await this.filter();
    const isNarrowed = isWhole && this.shown.length < this.order.length;
    if (isNarrowed && this.shown.length && this.list.selected < 0) this.choose(this.likeliest());
  }

  // The first. Both ends number their packets from 0, so of those with one number the first with data.
  likeliest() {
    if (this.form.read(this.viewport).packet === undefined) return 0;
    const { logs } = this.recording.exchange;
    const hasData = (id) => {
      const log = logs[id & 1];
      return log.someFrame(log.packetAt(id >>> 1), (frame) => log.isStream(frame));
    };
    return Math.max(0, this.shown.findIndex(hasData));
  }

  // Shows what the form asks for. Returns whether it did: a later search takes its place, and before all events are there none can.
  async filter() {
    if (!this.order) return false;
    const search = ++this.searches;
    const { exchange } = this.recording;
    const filter = this.form.read(this.viewport);
    let hits = null;
    if (filter.text) {
      this.status.textContent = "Searching…";
      hits = [];
      for (const log of exchange.logs) hits.push(await rowsWith(log, filter.text, () => search !== this.searches));
      if (search !== this.searches) return false;
    }
    this.shown = filtered(exchange, this.order, filter, hits);
    this.list.selected = this.placeOf(this.viewport.selected);
    this.status.textContent = `${countText(this.shown.length)} of ${countText(this.order.length)} events`;
    this.list.setCount(this.shown.length);
    if (this.list.selected >= 0) this.list.show(this.list.selected);
    return true;
  }

  viewChanged() {
    if (this.form && this.form.isBoundToView()) this.filter();
  }

  fillRow(element, place) {
    const { exchange } = this.recording;
    const [log, row] = [this.shown[place] & 1, this.shown[place] >>> 1];
    const events = exchange.logs[log];
    const packet = events.packetAt(row);
    const cells = [
      clockText(this.recording, events.time[row]),
      exchange.logs.length > 1 ? events.whose.replace("the ", "") : "",
      events.names[events.name[row]],
      packet < 0 ? "" : `${SPACES[events.space[packet]] === "1-RTT" ? "" : `${SPACES[events.space[packet]]} `}${events.number[packet] < 0 ? "" : countText(events.number[packet])}`,
      eventText(events, row),
    ];
    while (element.children.length < cells.length) build("span", {}, element);
    cells.forEach((text, at) => (element.children[at].textContent = text));
  }

  placeOf(event) {
    if (!event || event.recording !== this.recording) return -1;
    const id = 2 * event.row + event.log;
    const events = this.recording.exchange.logs;
    const timeAt = (place) => events[this.shown[place] & 1].time[this.shown[place] >>> 1];
    let place = firstOfStream(timeAt, events[event.log].time[event.row], 0, this.shown.length);
    while (place < this.shown.length && this.shown[place] !== id && timeAt(place) <= events[event.log].time[event.row]) place++;
    return this.shown[place] === id ? place : -1;
  }

  choose(place) {
    const id = this.shown[place];
    this.select({ log: id & 1, row: id >>> 1 });
  }

  // Selects an event here and in the figures.
  select({ log, row }) {
    const { recording, viewport } = this;
    viewport.select({ recording, log, row });
    const time = recording.exchange.logs[log].time[row];
    viewport.cursor = recording.positionOfTime(viewport.axis, time);
    viewport.changed();
    this.list.selected = this.placeOf(viewport.selected);
    if (this.list.selected >= 0) this.list.show(this.list.selected);
    else this.list.draw();
    return this.showDetail(log, row);
  }

  // Leads here from a figure: takes filters back that hide the event.
  async show({ log, row }) {
    const { exchange } = this.recording;
    if (!exchange || !this.list) return;
    if (this.placeOf({ recording: this.recording, log, row }) < 0) {
      this.form.clear();
      await this.filter();
    }
    await this.select({ log, row });
    this.list.box.scrollIntoView({ block: "center" });
    this.list.box.focus({ preventScroll: true });
  }

  async showDetail(log, row) {
    const { exchange } = this.recording;
    const events = exchange.logs[log];
    const text = events.hasText(row) ? await events.text(row) : "";
    const box = this.detail;
    box.hidden = false;
    box.replaceChildren();
    build("h4", { textContent: `${events.names[events.name[row]]} at ${clockText(this.recording, events.time[row])}` }, box);
    const own = (events.time[row] + events.shift) / 1000;
    const lines = [`logged by ${events.whose} (${events.file}), at ${own.toFixed(3)} ms of its clock`];
    const packet = events.packetAt(row);
    if (packet >= 0) {
      const bytes = events.bytes[packet] ? `, ${countText(events.bytes[packet])} bytes` : "";
      lines.push(`${packetName(events, packet)}${bytes}`, ...framesText(events, packet, FRAMES_IN_DETAIL), ...fateLines(exchange, log, packet));
    }
    const values = this.recording.valuesAt(events.time[row]).map(([name, value]) => `${name} ${value}`);
    if (values.length) lines.push(`${this.recording.series_of} then had: ${values.join(", ")}`);
    for (const line of lines) build("div", { textContent: line }, box);
    this.addWays(build("div", { className: "actions" }, box), log, packet);
    if (text) build("pre", { textContent: prettyJson(text), tabIndex: 0 }, box);
    else build("p", { className: "about", textContent: NO_TEXT }, box);
  }

  // Buttons that lead on from an event.
  addWays(box, log, packet) {
    const add = (words, act) => build("button", { type: "button", textContent: words }, box).addEventListener("click", act);
    add("Show in the figures", () => {
      const { viewport } = this;
      const width = Math.min(viewport.to - viewport.from, viewport.length() / 20);
      viewport.show(viewport.cursor - width / 2, viewport.cursor + width / 2);
      this.recording.firstPanel.element.scrollIntoView({ block: "start" });
    });
    if (packet < 0) return;
    const { exchange } = this.recording;
    const fate = exchange.fate(log, packet);
    for (const [words, place, other] of [
      ["Where it was sent", fate.sender, fate.sent],
      ["Where it was received", fate.receiver, fate.received],
      ["Where it was declared lost", fate.sender, fate.lost],
      ["What acknowledged it", fate.sender, fate.acknowledgedBy],
      ["Where its bytes went again", fate.sender, repairOf(exchange, fate)],
    ]) {
      if (other >= 0 && !(place === log && other === packet)) add(words, () => this.show({ log: place, row: exchange.logs[place].row[other] }));
    }
  }
}

const NO_TEXT =
  "What this event said beyond that is not in this page, which keeps 16 MiB of text of each log, half of it for events other than " +
  "of packets and metrics. A part of the log has it: utmost qlog convert --time.";

// Of how many events the page has the text.
function textsText(logs) {
  let [all, kept] = [0, 0];
  for (const log of logs) {
    all += log.count;
    for (let row = 0; row < log.count; row++) kept += log.hasText(row) ? 1 : 0;
  }
  return kept === all ? "" : `The page has the text of ${countText(kept)} of ${countText(all)} events, and the packets and frames of all.`;
}

// JSON with line breaks, if it is whole; an event that was cut is shown as it is.
function prettyJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
