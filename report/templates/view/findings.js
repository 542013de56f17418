// What lint found, in place: marks through the figures, and a list that leads there.

const FINDINGS_LISTED = 200;

function addFindings(recording, viewport, parent) {
  const { verdict, list } = recording.findings;
  // That nothing was found is said by the sentences above.
  if (!list.length) return;
  const details = build("details", { className: "findings" }, parent);
  build("summary", { textContent: verdict }, details);
  const box = build("ol", { className: "finding-list" }, details);
  for (const finding of list.slice(0, FINDINGS_LISTED)) {
    const item = build("li", {}, box);
    const words = `${clockText(recording, finding.time_us)}: bytes of stream ${finding.stream} went while stream ${finding.expected_stream} waited`;
    const button = build("button", { type: "button", textContent: words }, item);
    item.append(` ${finding.rule}`);
    button.addEventListener("click", () => showFinding(recording, viewport, finding));
  }
  if (list.length > FINDINGS_LISTED) build("p", { className: "about", textContent: `and ${countText(list.length - FINDINGS_LISTED)} more; utmost qlog lint --json lists all` }, details);
}

function showFinding(recording, viewport, finding) {
  for (const events of recording.events) if (events.name === LINT) events.setShown(true);
  showMoment(recording, viewport, finding.time_us);
}

// The sentences about a log lead to their moments.
function linkAnswer(recording, viewport, parent) {
  for (const link of parent.querySelectorAll(".answer a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      showMoment(recording, viewport, Number(link.dataset.time));
    });
  }
}

function showMoment(recording, viewport, time) {
  const position = recording.positionOfTime(viewport.axis, time);
  const width = Math.min(viewport.to - viewport.from, viewport.length() / 10);
  viewport.show(position - width / 2, position + width / 2);
  viewport.setCursor(position);
  recording.firstPanel.element.scrollIntoView({ block: "start" });
}

const LINT = "out of order (lint)";

// The moments of the findings, to be marked as those of events.
function findingsAsEvents(recording) {
  const { list } = recording.findings;
  if (!list.length) return [];
  return [{ name: LINT, count: list.length, time: Float64Array.from(list, (it) => it.time_us) }];
}
