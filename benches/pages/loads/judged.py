"""What rounds of visits say: medians, and each server beside the baseline in pairs."""

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


def cell(times, baseline):
    """A table's cell: the median in ms, and how it is beside the baseline, if that was visited."""
    known = [it for it in times if it]
    if not known:
        return "-"
    ratio = beside(times, baseline) if baseline else None
    if ratio is None or times is baseline:
        return f"{median(known):.0f}"
    return f"{median(known):.0f}, x{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f})"
