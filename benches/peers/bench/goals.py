"""What our server is to reach, each with its figure and whether it holds."""

from dataclasses import dataclass
from typing import Callable

from .servers import BULK, FLOOR, FLOOR_IN_TURNS, GTLS, NGINX, OURS, TOKIO_QUICHE

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Goal:
    """Holds if `figure(figures)` is `most` at most; None means that it was not measured."""

    text: str
    most: float
    figure: Callable
    decimals: int = 3


def peers(figures, work):
    """The servers that somebody could use in place of ours."""
    return [it for it in figures.servers(work) if it not in (OURS, BULK, FLOOR, FLOOR_IN_TURNS)]


def beside(work, other, key="cpu_ms"):
    return lambda figures: figures.ratio((work, OURS, key), (work, other, key))


def beside_best(work, key="cpu_ms"):
    def figure(figures):
        best = figures.best(work, key, peers(figures, work))
        return best and figures.ratio((work, OURS, key), (work, best, key))

    return figure


def plain(work, key):
    return lambda figures: figures.median(work, OURS, key)


def of_ours(one, other):
    return lambda figures: figures.ratio((one[0], OURS, one[1]), (other[0], OURS, other[1]))


def of_nginx(work, key):
    return lambda figures: figures.ratio((work, NGINX, key), (work, OURS, key))


GOALS = [
    Goal("W1: CPU time, ours to tokio-quiche's", 0.8, beside("W1", TOKIO_QUICHE)),
    Goal("W1: CPU time, ours to the best other's", 1.2, beside_best("W1")),
    Goal("W1: CPU time, ours to gtlsserver's", 1.08, beside("W1", GTLS)),
    Goal("W1: CPU time, ours to the floor's", 1.2, beside("W1", FLOOR)),
    Goal("W1: the first place", 1.0, beside_best("W1")),
    Goal("W1: peak memory, MB", 30, plain("W1", "peak_mb"), 1),
    Goal("W2L: CPU time, ours to tokio-quiche's", 0.8, beside("W2L", TOKIO_QUICHE)),
    Goal("W2L: CPU time, ours to the best other's", 1.3, beside_best("W2L")),
    Goal("W2L: CPU time, ours to gtlsserver's", 1.35, beside("W2L", GTLS)),
    Goal("W2L: CPU time, ours to the floor's", 1.8, beside("W2L", FLOOR)),
    Goal("W2L: the first place", 1.0, beside_best("W2L")),
    Goal("W3: CPU time, ours to the best other's", 1.0, beside_best("W3")),
    Goal("W4: KB an idle connection", 30, plain("W4", "kb"), 1),
    Goal("W5: urgent beside 20 others, to alone", 1.05, of_ours(("W5", "loaded"), ("W5", "alone"))),
    Goal("W5: the first place (loaded)", 1.0, beside_best("W5", "loaded")),
    Goal("CPU time a request, 10,000 at a time to 10", 1.2, of_ours(("S10000", "cpu_us"), ("S10", "cpu_us"))),
    Goal("20 MB at 100 Mbit/s: CPU time, ours to gtlsserver's", 1.2, beside("ACK", GTLS)),
    Goal("H7B: CPU time, ours to nginx's", 0.65, beside("H7B", NGINX, "cpu_us")),
    Goal("H40kB: CPU time, ours to nginx's", 0.75, beside("H40kB", NGINX, "cpu_us")),
    Goal("H100kB: CPU time, ours to nginx's", 1.0, beside("H100kB", NGINX, "cpu_us")),
    *(Goal(f"{it}: requests/s, nginx's to ours", 1.0, of_nginx(it, "rate")) for it in ("H7B", "H40kB", "H100kB")),
    Goal("late binding to bulk writing, W1: CPU time", 1.03, beside("W1", BULK)),
    Goal("late binding to bulk writing, W2L: CPU time", 1.03, beside("W2L", BULK)),
]


def rows(figures):
    """A row for each goal: the text, the figure, the limit, and whether it holds."""
    return [row(goal, goal.figure(figures)) for goal in GOALS]


def row(goal, value):
    limit = f"{goal.most:g}"
    if value is None:
        return [goal.text, "-", limit, NOT_MEASURED]
    return [goal.text, f"{value:.{goal.decimals}f}", limit, "holds" if value <= goal.most else "**fails**"]
