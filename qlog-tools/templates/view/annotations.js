// Events of the log as lines through its figures: the reader chooses which.

function drawAnnotations(surface, recording, scale, height, theme) {
  recording.events.forEach((events, place) => {
    if (!events.isShown) return;
    const dash = [[2, 2], [6, 3], [1, 4], [8, 2, 2, 2]][place % 4];
    const colour = theme.series[place % 3];
    let before = -10;
    for (let at = 0; at < events.count; at++) {
      const x = Math.round(scale.x(recording.positionOfTime(scale.axis, events.time[at]))) + 0.5;
      if (x < scale.left || x > scale.left + scale.width || x - before < 2) continue;
      surface.line([x, 0, x, height - 20], colour, 1, dash);
      if (x - before > 90) surface.text(x + 3, 10, events.name, colour, "start", 120);
      before = x;
    }
  });
}

function addAnnotationChoice(recording, parent, changed) {
  if (!recording.events.length) return;
  const group = build("fieldset", { className: "choices" }, parent);
  build("legend", { textContent: "Mark events" }, group);
  for (const events of recording.events) {
    const label = build("label", {}, group);
    const box = build("input", { type: "checkbox" }, label);
    label.append(` ${events.name} (${countText(events.count)})`);
    box.addEventListener("change", () => {
      events.isShown = box.checked;
      changed();
    });
  }
}
