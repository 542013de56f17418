// What stretches of frames look like from far away, so that a picture costs what its pixels cost, however
// many frames it shows. A cell of level n stands for 2^n frames: the stream that has most of their bytes
// (found by weighted majority vote, which can be merged), all their marks, their tallest stacks.

class Pyramid {
  constructor(recording) {
    const { stream, bytes, mark, released, releasedTcp, count, end } = recording;
    this.levels = [{ stream, weight: bytes, mark, released, releasedTcp, count }];
    // A cell weighs at most as much as all frames.
    const Weights = end.constructor;
    while (this.top().count > 1) this.levels.push(merged(this.top(), Weights));
  }

  top() {
    return this.levels[this.levels.length - 1];
  }

  // The level, and its cells, that cover frames `first` to `last - 1` with about `most` cells.
  cover(first, last, most) {
    const level = Math.max(0, Math.ceil(Math.log2((last - first) / most)));
    const chosen = Math.min(level, this.levels.length - 1);
    const step = 2 ** chosen;
    return { level: this.levels[chosen], first: Math.floor(first / step), last: Math.ceil(last / step) };
  }

  // The highest value of `column` among frames `first` to `last - 1`, and any one frame's place of it.
  highest(column, first, last) {
    let best = 0;
    this.each(first, last, (level, cell) => (best = Math.max(best, level[column][cell])));
    return best;
  }

  // The first of the frames `first` to `last - 1` at which `column`, whose highest there it is, has this value.
  placeOf(column, value, first, last) {
    let place = first;
    for (;;) {
      let level = 0;
      // The largest cell that begins here and lies within.
      while (place % 2 ** (level + 1) === 0 && place + 2 ** (level + 1) <= last) level++;
      if (this.levels[level][column][place / 2 ** level] < value && place + 2 ** level < last) {
        place += 2 ** level;
        continue;
      }
      let cell = place / 2 ** level;
      for (; level > 0; level--) {
        cell *= 2;
        if (this.levels[level - 1][column][cell] < value) cell++;
      }
      return Math.min(cell, last - 1);
    }
  }

  // All marks of frames `first` to `last - 1`.
  marks(first, last) {
    let all = 0;
    this.each(first, last, (level, cell) => (all |= level.mark[cell]));
    return all;
  }

  // Exactly frames `first` to `last - 1`, as the fewest cells: at most two a level.
  each(first, last, visit) {
    for (let level = 0; first < last; level++) {
      const cells = this.levels[level];
      if (first % 2) visit(cells, first++);
      if (last % 2 && first < last) visit(cells, --last);
      first = Math.floor(first / 2);
      last = Math.floor(last / 2);
    }
  }
}

function merged(below, Weights) {
  const count = Math.ceil(below.count / 2);
  const level = {
    count,
    stream: new below.stream.constructor(count),
    weight: new Weights(count),
    mark: new Uint8Array(count),
    released: new below.released.constructor(count),
    releasedTcp: new below.releasedTcp.constructor(count),
  };
  for (let cell = 0; cell < count; cell++) {
    const one = 2 * cell;
    const other = one + 1 < below.count ? one + 1 : one;
    const same = below.stream[one] === below.stream[other];
    const winner = below.weight[one] >= below.weight[other] ? one : other;
    const loser = winner === one ? other : one;
    level.stream[cell] = below.stream[winner];
    level.weight[cell] = same ? below.weight[one] + below.weight[other] : below.weight[winner] - below.weight[loser];
    level.mark[cell] = below.mark[one] | below.mark[other];
    level.released[cell] = Math.max(below.released[one], below.released[other]);
    level.releasedTcp[cell] = Math.max(below.releasedTcp[one], below.releasedTcp[other]);
  }
  return level;
}
