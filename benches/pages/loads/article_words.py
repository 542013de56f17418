"""The article's experiment in words: the gains beside the article's, then every setting."""

from statistics import median

from bench.servers import machine
from harness import report

from . import article, judged

# The measures, and how many times earlier the article has them after its change (Meenan 2018, "Putting it all together").
GAINS = {"fcp": ("renders first", 5.6), "complete": ("is visually complete", 2.3)}
MEASURES = {"fcp": "first render", "complete": "visually complete", "font": "slowest font", "load": "load event"}

HEAD = """# The article's page over the system's TCP

{answer}

`benches/pages/article --write` visits the page in Chromium and writes this one: from our server over HTTP/2, behind
[`utmost link --tun`](../../docs/engines.md#tcp-behind-a-network) with 5 Mbit/s, a round trip of 50 ms and a queue of 31 kB (shallow) or 1 MB
(bloated). The page has the sizes that the article's times imply, less its round trips: {first} that the first render needs, {visible} that
are visible, {all} in all. The order is the tree that the browser signals. *Lowat* is `--tcp-lowat`: the
system asks for more when less than half of these bytes are unsent, so 10 MB stand for a buffer of 5 MB.

![What a visitor sees, second by second, under bbr on the shallow queue](notsent-lowat-tcp.png)
"""
DEFINITIONS = """*First render* is first contentful paint. *Visually complete* is the first frame of a film of the window that shows what the
last one shows. The *slowest font* counts from its request. Times are medians of {rounds} rounds in ms, with least and most; a gain is the median of the rounds'
ratios, with its 95 % interval (bootstrap), which for few rounds cannot be wider than the measured range. {machine}; other programs may
have used it at the same time.
"""


def document(rows, failures, settings, rounds):
    """results/measured/notsent-lowat-tcp.md."""
    controls = list(dict.fromkeys(it[0] for it in settings))
    queues = list(dict.fromkeys(it[1] for it in settings))
    lowats = sorted({it[2] for it in settings})
    gains = [gain(rows, control, queue, lowats) for control in controls for queue in queues]
    parts = [
        HEAD.format(
            answer=answer(gains, lowats),
            first=megabytes(article.FIRST_BYTES),
            visible=megabytes(article.VISIBLE_BYTES),
            all=megabytes(article.ALL_BYTES),
        ),
        "## How many times earlier\n",
        report.markdown([["congestion control", "queue", *(words for words, _ in GAINS.values())], *(words(it) for it in gains)]) + "\n",
        f"The article has {' and '.join(str(it) for _, it in GAINS.values())}, with bbr.\n",
        "## Times\n",
        report.markdown([["congestion control", "queue", "lowat", *MEASURES.values()], *(times(rows, it) for it in settings)]) + "\n",
        DEFINITIONS.format(rounds=rounds, machine=machine()),
    ]
    if failures:
        lines = [f"- {it['control']}, {it['queue']}, {it['lowat_bytes']}: {it['cause']}" for it in failures]
        parts.append("## What failed\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def series(rows, setting, measure):
    """By round."""
    mine = [it for it in rows if (it["control"], it["queue"], it["lowat_bytes"]) == setting]
    return {it["round"]: it.get(measure) for it in mine}


def gain(rows, control, queue, lowats):
    """How many times earlier with the least unsent bytes than with the most, for each measure, with its interval."""
    found = {}
    for measure in GAINS:
        little, much = (series(rows, (control, queue, it), measure) for it in (lowats[0], lowats[-1]))
        both = sorted(little.keys() & much.keys())
        found[measure] = judged.beside([much[it] for it in both], [little[it] for it in both])
    return control, queue, found


def words(gained):
    control, queue, found = gained
    return [control, queue, *(f"{it[0]:.2f} ({it[1]:.2f} to {it[2]:.2f})" if it else "-" for it in found.values())]


def answer(gains, lowats):
    """One sentence about the article's own congestion control."""
    little, much = size(lowats[0]), size(lowats[-1])
    parts = []
    for control, queue, found in gains:
        if control == "bbr" and all(found.values()):
            said = " and ".join(f"{GAINS[measure][0]} {it[0]:.1f} times earlier" for measure, it in found.items())
            parts.append(f"{said} on the {queue} queue")
    if not parts:
        return "No round has both visits under bbr, so nothing can be said."
    published = " and ".join(str(it) for _, it in GAINS.values())
    return f"With a lowat of {little} in place of {much}, and bbr, the page {'; it '.join(parts)} (the article: {published})."


def times(rows, setting):
    control, queue, lowat_bytes = setting
    return [control, queue, size(lowat_bytes), *(cell(series(rows, setting, it)) for it in MEASURES)]


def cell(by_round):
    known = [it for it in by_round.values() if it]
    return f"{median(known):.0f} ({min(known):.0f} to {max(known):.0f})" if known else "-"


def size(count):
    return f"{count >> 10} KiB" if count % 1024 == 0 else f"{count / 1e6:g} MB"


def megabytes(count):
    return f"{count / 1e6:.1f} MB"
