// The filters of the list of events.

class EventForm {
  constructor(parent, recording, changed) {
    this.recording = recording;
    this.changed = changed;
    this.form = build("form", { className: "filters" }, parent);
    this.form.addEventListener("submit", (event) => event.preventDefault());
    const names = [...new Set(recording.logs.flatMap((it) => (it.columns ? it.columns.names : [])))].sort();
    this.text = this.field("Text", "search", 18);
    this.name = this.choice("Event", [["", "all"], ...names.map((it) => [it, it])]);
    const ends = recording.logs.map((it, place) => [String(place), it.whose]);
    this.log = ends.length > 1 ? this.choice("Logged by", [["", "both ends"], ...ends]) : { value: "" };
    this.packet = this.field("Packet", "text", 7, "numeric");
    this.stream = this.field("Stream", "text", 6, "numeric");
    this.byte = this.field("with byte", "text", 9, "numeric");
    this.from = this.field("From ms", "text", 9, "decimal");
    this.to = this.field("to ms", "text", 9, "decimal");
    const label = build("label", {}, this.form);
    this.inView = build("input", { type: "checkbox" }, label);
    label.append(" only what is in view");
    this.inView.addEventListener("change", changed);
    const clear = build("button", { type: "button", textContent: "Clear" }, this.form);
    clear.addEventListener("click", () => {
      this.clear();
      changed();
    });
  }

  field(label, type, size, inputMode = "text") {
    const box = build("label", { textContent: `${label} ` }, this.form);
    const input = build("input", { type, size, inputMode, autocomplete: "off" }, box);
    let waiting = 0;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(this.changed, 200);
    });
    return input;
  }

  choice(label, options) {
    const box = build("label", { textContent: `${label} ` }, this.form);
    const select = build("select", { ariaLabel: label }, box);
    for (const [value, textContent] of options) build("option", { value, textContent }, select);
    select.addEventListener("change", this.changed);
    return select;
  }

  fields() {
    const { text, name, log, packet, stream, byte, from, to } = this;
    return { text, name, log, packet, stream, byte, from, to };
  }

  clear() {
    for (const field of Object.values(this.fields())) field.value = "";
    this.inView.checked = false;
  }

  isBoundToView() {
    return this.inView.checked;
  }

  // What is wanted, times in the figure's microseconds.
  read(viewport) {
    const number = (input) => wholeIn(input.value);
    const filter = { text: this.text.value.trim(), packet: number(this.packet), stream: number(this.stream), byte: number(this.byte) };
    if (this.name.value) filter.name = this.name.value;
    if (this.log.value) filter.log = Number(this.log.value);
    const time = (input) => (input.value.trim() && Number.isFinite(Number(input.value)) ? Number(input.value) * 1000 - this.recording.start : undefined);
    [filter.from, filter.to] = [time(this.from), time(this.to)];
    if (this.inView.checked) {
      [filter.from, filter.to] = [viewport.from, viewport.to].map((it) => this.recording.timeAt(viewport.axis, it));
    }
    return filter;
  }

  // What is filled in, by name, for the page's address.
  state() {
    const filled = Object.entries(this.fields()).filter(([, field]) => field.value);
    return { ...Object.fromEntries(filled.map(([name, field]) => [name, field.value])), ...(this.inView.checked ? { view: "1" } : {}) };
  }

  setState(state) {
    for (const [name, field] of Object.entries(this.fields())) field.value = state[name] ?? "";
    this.inView.checked = state.view === "1";
  }
}

// A whole number that was typed, with or without separators; undefined for anything else.
function wholeIn(text) {
  const digits = text.replace(/[\s,.']/g, "");
  return /^\d+$/.test(digits) ? Number(digits) : undefined;
}
