// Events of the log as lines through its figures: the reader chooses which.

function drawAnnotations(surface, recording, scale, height, theme) {
  recording.events.filter((it) => it.isShown).forEach((events, place) => {
    const dash = [[2, 2], [6, 3], [1, 4], [8, 2, 2, 2]][place % 4];
    const colour = theme.series[place % 3];
    let before = -10;
    // Marks of several kinds have their names below each other.
    const line = 10 + 13 * (place % 4);
    for (let at = 0; at < events.count; at++) {
      const x = Math.round(scale.x(recording.positionOfTime(scale.axis, events.time[at]))) + 0.5;
      if (x < scale.left || x > scale.left + scale.width || x - before < 2) continue;
      surface.line([x, 0, x, height - 20], colour, 1, dash);
      if (x - before > 90) surface.text(x + 3, line, events.name, colour, "start", 160);
      before = x;
    }
  });
}

function addAnnotationChoice(recording, parent, changed) {
  if (!recording.events.length) return;
  const group = build("fieldset", { className: "choices" }, parent);
  build("legend", { textContent: "Mark events" }, group);
  // What most readers want; then every event by its name in the log.
  const isNamed = (events) => events.name.includes(":");
  for (const events of recording.events.filter((it) => !isNamed(it))) addChoice(events, group);
  const named = recording.events.filter(isNamed);
  if (!named.length) return;
  const details = build("details", {}, group);
  build("summary", { textContent: `Any event of the log (${named.length} names)` }, details);
  const box = build("div", {}, details);
  for (const events of named) addChoice(events, box);

  function addChoice(events, parent) {
    const label = build("label", {}, parent);
    const box = build("input", { type: "checkbox" }, label);
    label.append(` ${events.name} (${countText(events.count)})`);
    events.setShown = (isShown) => {
      box.checked = events.isShown = isShown;
      changed();
    };
    box.addEventListener("change", () => events.setShown(box.checked));
  }
}
