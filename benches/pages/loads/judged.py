"""What rounds of visits say: medians, and each server beside the baseline in pairs."""

import math
import random
from statistics import median

RESAMPLES = 2000


def beside(times, baseline):
    """The median of the ratios of single rounds, and its 95 % interval; the two lists are paired by round."""
    ratios = [time / base for time, base in zip(times, baseline, strict=True) if time and base]
    if not ratios:
        return None
    chance = random.Random(1)
    medians = sorted(median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return median(ratios), medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)]


def byte_index(resources, ends):
    """The ByteIndex above the fold in ms, as docs/metrics.md defines it: when the average byte of these resources of a page file was
    there with its whole resource. None if one never was."""
    above = [it for it in resources if it.get("above_fold")]
    if not above or any(it["url"] not in ends for it in above):
        return None
    return sum(it["bytes"] * ends[it["url"]] for it in above) / sum(it["bytes"] for it in above)


def is_first(times, others):
    """Whether the median is below that of each of the others. None if it is not known."""
    known = [it for it in times if it]
    rest = [median(found) for other in others if (found := [it for it in other if it])]
    return median(known) < min(rest) if known and rest else None


def is_near_the_best(times, others, share=0.02):
    """Whether the median is at most 2 % above the least of the others'. None if it is not known."""
    known = [it for it in times if it]
    rest = [median(found) for other in others if (found := [it for it in other if it])]
    return median(known) <= (1 + share) * min(rest) if known and rest else None


def is_later(times, baseline):
    """Whether each round within the interval of the ratio to the baseline was later. None if it is not known."""
    ratio = beside(times, baseline)
    return ratio and ratio[1] > 1


def mean_ratio(pairs):
    """The geometric mean of the medians' ratios, of the pairs for which both are known."""
    ratios = [median(mine) / median(best) for mine, best in pairs if mine and best]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def cell(times, baseline):
    """A table's cell: the median in ms, and how it is beside the baseline, if that was visited."""
    known = [it for it in times if it]
    if not known:
        return "-"
    ratio = beside(times, baseline) if baseline else None
    if ratio is None or times is baseline:
        return f"{median(known):.0f}"
    return f"{median(known):.0f}, x{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f})"
