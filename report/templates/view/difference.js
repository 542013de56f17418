// What moved between two runs of a page: a line a resource, from its moment in the first run to its moment in the other. Times of the
// other run are moved so that both begin with their first request.

const MARK_RADIUS = 3.5;
const FIRST_RADIUS = 2;

class Difference {
  constructor(difference, recordings) {
    this.difference = difference;
    this.recordings = [recordings[0], recordings[difference.with]];
    this.name = "moved";
    this.title = `From ${this.recordings[0].name} to ${this.recordings[1].name}`;
    this.about =
      "A line is a resource: from the ring, when its last byte was there in the first run, to the dot, when it was in the other; " +
      "the thin line above is its first byte. To the right is later. Both runs begin with their first request.";
    this.scrolls = true;
  }

  missing() {
    return this.difference.resources.length ? null : this.difference.note;
  }

  height() {
    return Math.min(this.fullHeight(), WATERFALL_HEIGHT_MAX);
  }

  fullHeight() {
    return Math.max(1, this.difference.resources.length) * ROW_HEIGHT + 26;
  }

  // Where a moment of a run is: on the time axis, both runs begin where the first one does.
  x(scale, run, ms) {
    const { began_us } = this.difference;
    const from = scale.axis === "time" ? began_us[0] : began_us[run];
    return scale.x(this.recordings[run].positionOfTime(scale.axis, from + ms * 1e3));
  }

  draw(surface, width, viewport, theme, scrollTop, height) {
    const scale = new Scale(viewport, width, this.recordings[0]);
    const bottom = height - 22;
    drawAxis(surface, scale, 2, bottom, theme);
    const { resources } = this.difference;
    const first = Math.floor(scrollTop / ROW_HEIGHT);
    const last = Math.min(resources.length, Math.ceil((scrollTop + bottom) / ROW_HEIGHT));
    surface.clip(0, 0, width, bottom);
    for (let row = first; row < last; row++) {
      this.drawRow(surface, scale, resources[row], row * ROW_HEIGHT - scrollTop + 2 + ROW_HEIGHT / 2, theme);
    }
    surface.unclip();
  }

  drawRow(surface, scale, resource, middle, theme) {
    surface.text(scale.left - 8, middle + 4, shortUrl(resource.url, scale.left - 14), theme.ink, "right");
    surface.clip(scale.left - MARK_RADIUS, middle - ROW_HEIGHT / 2, scale.width + RIGHT, ROW_HEIGHT);
    const places = (what) => resource.runs.map((run, place) => (run && run[what] !== null ? this.x(scale, place, run[what]) : null));
    const colour = changeColour(resource.moved.later_ms, theme);
    const [from, to] = places("complete_ms");
    const firsts = places("first_ms");
    this.drawChange(surface, firsts, middle - 5, theme.muted, 1);
    if (firsts[1] !== null) surface.dot(firsts[1], middle - 5, FIRST_RADIUS, theme.muted);
    this.drawChange(surface, [from, to], middle + 2, colour, 2.5);
    if (from !== null) {
      surface.dot(from, middle + 2, MARK_RADIUS, colour);
      surface.dot(from, middle + 2, MARK_RADIUS - 1.5, theme.paper);
    }
    if (to !== null) surface.dot(to, middle + 2, MARK_RADIUS, colour);
    if (from !== null || to !== null) this.drawWords(surface, scale, resource, [from ?? to, to ?? from], middle + 6, theme);
    surface.unclip();
  }

  drawChange(surface, [from, to], y, colour, width) {
    if (from === null || to === null) return;
    surface.line([from, y, to, y], colour, width);
  }

  // How much, beside the line: to the right, or where there is not enough room to the left.
  drawWords(surface, scale, resource, ends, baseline, theme) {
    const words = this.words(resource);
    const right = Math.max(...ends) + 8;
    const fits = right + textWidth(words) <= scale.left + scale.width + RIGHT - 4;
    if (fits) surface.text(right, baseline, words, theme.muted);
    else surface.text(Math.min(...ends) - 8, baseline, words, theme.muted, "right");
  }

  words(resource) {
    const place = resource.runs.findIndex((run) => run === null);
    if (place >= 0) return `only in ${this.recordings[1 - place].name}`;
    const complete = resource.runs.findIndex((run) => run.complete_ms === null);
    return complete >= 0 ? `not complete in ${this.recordings[complete].name}` : signedMs(resource.moved.later_ms);
  }

  // The resource of a row, with where it is in the first run.
  at(x, y, scale, scrollTop) {
    const resource = this.difference.resources[Math.floor((y + scrollTop - 2) / ROW_HEIGHT)];
    if (!resource) return { lines: [] };
    const [one] = resource.runs;
    const hit = { lines: [resource.url, ...this.lines(resource)] };
    if (!one) return hit;
    const [recording] = this.recordings;
    const stream = recording.streams.findIndex((it) => it.id === one.stream);
    const time = this.difference.began_us[0] + (one.complete_ms ?? one.requested_ms) * 1e3;
    return { ...hit, event: recording.rowOfTime(time), stream: stream < 0 ? undefined : stream };
  }

  lines(resource) {
    const { moved } = resource;
    return [
      ["first byte", "first_ms", msText, signedMs(moved.first_later_ms)],
      ["last byte", "complete_ms", msText, signedMs(moved.later_ms)],
      ["place", "place", countOrDash, signedCount(moved.places_later)],
      ["bytes of others before", "bytes_before", countOrDash, signedCount(moved.more_bytes_before)],
    ].map(([name, what, text, change]) => `${name}: ${resource.runs.map((run) => text(run && run[what])).join(" → ")} (${change})`);
  }

  table() {
    const { resources, in_common } = this.difference;
    return {
      caption: `In common: ${countText(in_common)}. What changed the ByteIndex most comes first; times count from the first request`,
      headings: ["resource", "bytes", "first byte", "change", "last byte", "change", "place", "change", "bytes of others before", "change", "adds to ByteIndex"],
      rows: resources.map(({ url, bytes, runs, moved }) => {
        const both = (what, text) => runs.map((run) => text(run && run[what])).join(" → ");
        return [
          withoutMiddle(url, 120), countOrDash(bytes), both("first_ms", msText), signedMs(moved.first_later_ms), both("complete_ms", msText),
          signedMs(moved.later_ms), both("place", countOrDash), signedCount(moved.places_later), both("bytes_before", countOrDash),
          signedCount(moved.more_bytes_before), signedMs(moved.index_later_ms),
        ];
      }),
    };
  }
}

// Later is the colour of warning, earlier the other one; both differ from each other to colour-blind readers, too.
function changeColour(laterMs, theme) {
  if (laterMs === null || Math.abs(laterMs) < 0.05) return theme.muted;
  return laterMs > 0 ? theme.series[1] : theme.series[0];
}

function msText(ms) {
  return ms === null || ms === undefined ? "–" : `${ms.toFixed(1)} ms`;
}

function signedMs(ms) {
  return ms === null ? "–" : `${ms > 0 ? "+" : ms < 0 ? "−" : "±"}${Math.abs(ms).toFixed(1)} ms`;
}

function countOrDash(count) {
  return count === null || count === undefined ? "–" : countText(count);
}

function signedCount(count) {
  return count === null ? "–" : `${count > 0 ? "+" : count < 0 ? "−" : "±"}${countText(Math.abs(count))}`;
}

// How many came later and earlier, in a sentence.
function differenceText({ resources, in_common, note }) {
  const later = resources.filter((it) => it.moved.later_ms > 0.05).length;
  const earlier = resources.filter((it) => it.moved.later_ms < -0.05).length;
  const alone = resources.filter((it) => it.runs.includes(null)).length;
  const only = alone ? `, ${countText(alone)} in one of them only` : "";
  const index = resources.reduce((sum, it) => sum + (it.moved.index_later_ms ?? 0), 0);
  return `${countText(in_common)} resource${in_common === 1 ? "" : "s"} in common${only}: ${countText(later)} later, ${countText(earlier)} earlier; together they change the ByteIndex by ${signedMs(index)}.${note ? ` Note: ${note}.` : ""}`;
}

// The figures of what moved, each with its table.
function addDifferences(differences, recordings, viewport) {
  const section = document.getElementById("differences");
  return differences.map((difference) => {
    const panel = new Panel(new Difference(difference, recordings), recordings[0], viewport, section);
    if (!panel.canvas) return panel;
    panel.element.insertBefore(build("p", { className: "change", textContent: differenceText(difference) }), panel.box);
    panel.details.open = true;
    return panel;
  });
}
