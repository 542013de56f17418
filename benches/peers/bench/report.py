"""The figures as tables: for a terminal and for docs/speed.md, and as JSON."""

import json
from statistics import median

from harness import report

from . import goals, servers, works

HEAD = """# Speed beside other servers

`make bench-peers` measures our server beside others and writes this page.
[speed.json](../benches/peers/speed.json) has the figures of every round.

Each server runs on core 0. The client, a load generator on quic-go (over HTTP/2: h2load), runs on core 1 and talks to it over
loopback. There are {rounds} rounds. In each round every server starts anew for each work and answers one request first (over
HTTP/2: 2,000); then the work begins.

- **CPU time** is the time for which the server's threads ran (`schedstat`). It includes sending and receiving in the kernel.
- A cell shows the median of the rounds, with the minimum and the maximum in brackets.
- A ratio is the median of the ratios of single rounds, because what slows the machine slows both servers of a round.
- *To the best* compares with the best of the other servers.
- Requests/s and MB/s say less than CPU time, because the client needs more CPU time than most of these servers.

The machine: {machine}. Other programs may have used it at the same time{precedence}.
"""
NOTES = """## Notes

- `utmost` is `utmost-serve --root DIR`: the scheme `rfc9218` and no send buffer, which means late binding. On
  one core it has one shard. *utmost, bulk* has `--send-buffer 16Mi`: it writes as much as the transport takes, as other
  servers do.
- *floor* is [the least](../benches/examples/floor.rs) that a server over our transport can do: a loop that answers requests from
  memory and does nothing else. It sends one response after another; *in turns*, a part of each. Nobody could use it.
- `gtlsserver` maps files into memory; h3+quinn and tokio-quiche keep them there. The peak memory of these three therefore
  contains the 200 MB file. utmost and quic-go read it piece by piece.
- h3+quinn and tokio-quiche ignore priorities, as their examples do. quic-go's server hardly heeds them.
- In the two tables of growth, every server allows 10,000 requests at a time on a connection. In the other tables each server
  keeps its own limit: 256 for utmost, 100 for the others. `MAX_STREAMS` then holds the client back.
- Requests *at a time* are those that the client has sent or wants to send. A fast server has answered many of them before the
  last one arrives.
- Each connection of the client has its own socket. One client on one core cannot open many more than 10,000.
- [How near the server is to what its transport allows](speed-limits.md): where the time and the memory go.
"""
SINGLE = ("W1", "W2", "W2L", "W3", "W4", "W5", "ACK", "H7B", "H40kB", "H100kB")


def document(figures, asked, missing, facts):
    """docs/speed.md. `missing`: servers by name that were not measured, with the reason."""
    parts = [HEAD.format(**facts)]
    measured = [it for it in goals.rows(figures) if not asked.only or it[-1] != goals.NOT_MEASURED]
    if measured:
        parts += ["## What holds\n", report.markdown([["goal", "figure", "at most", ""], *measured]) + "\n"]
    for title, about, table in tables(figures, missing):
        parts += [f"## {title}\n", about + "\n", report.markdown(table) + "\n"]
    if figures.failures:
        lines = [f"- {server}, {work}: {reason}" for (work, server), reason in figures.failures.items()]
        parts += ["## What failed\n", "\n".join(lines) + "\n"]
    parts += [NOTES, "## Versions\n", report.markdown([["server", "version"], *facts["versions"].items()]) + "\n"]
    if missing:
        lines = [f"- {name}: {reason}" for name, reason in missing.items()]
        parts += ["## Missing\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def tables(figures, missing):
    """A title, a sentence and a table for each work, and for each series of works that grow."""
    found = [it for it in works.WORKS if figures.servers(it.name)]
    for work in found:
        if work.name in SINGLE or not series(found, work.name[0]):
            yield heading(work), work.about[0].upper() + work.about[1:] + ".", single(figures, work, missing)
    for letter, title, about in GROWTH:
        if grown := series(found, letter):
            yield title, about, growth(figures, grown, missing)


GROWTH = [
    ("S", "More requests at a time", "CPU us a request: 10,000 files of 10 KB on one connection, N at a time."),
    (
        "C",
        "More connections at a time",
        "CPU us a request: 10,000 files of 10 KB, 100 at a time, over N connections that are already\nopen. "
        "The more connections, the fewer requests each of them has. Fewer responses then share a datagram or a system call.",
    ),
]


def series(found, letter):
    """The works of a series, if there are some to compare."""
    grown = [it for it in found if it.name[0] == letter and it.name[1:].isdigit()]
    return grown if len(grown) > 1 else []


def heading(work):
    return "Behind a slow link" if work.name == "ACK" else work.name


def single(figures, work, missing):
    main = work.figures[0]
    table = [["server", main.heading, "to the first", "to the best", *(it.heading for it in work.figures[1:])]]
    names = figures.servers(work.name)
    best = figures.best(work.name, main.key, goals.peers(figures, work.name))
    for name in names:
        ratios = [ratio(figures, work.name, name, other, main.key) for other in (names[0], best)]
        others = [cell(figures, work.name, name, it) for it in work.figures[1:]]
        table.append([name, cell(figures, work.name, name, main), *ratios, *others])
    return table + (absent_rows(table, missing) if work.version == servers.HTTP3 else [])


def growth(figures, grown, missing):
    table = [["server", *(f"{int(it.name[1:]):,}" for it in grown), "last to first"]]
    for name in figures.servers(grown[0].name):
        cells = [cell(figures, it.name, name, works.EACH) for it in grown]
        key = works.EACH.key
        grew = figures.ratio((grown[-1].name, name, key), (grown[0].name, name, key))
        table.append([name, *cells, "-" if grew is None else f"{grew:.2f}"])
    return table + absent_rows(table, missing)


def absent_rows(table, missing):
    there = {row[0] for row in table}
    return [[name, "missing", *[""] * (len(table[0]) - 2)] for name in missing if name not in there]


def ratio(figures, work, name, other, key):
    value = figures.ratio((work, name, key), (work, other, key)) if other else None
    return "-" if value is None else f"{value:.2f}"


def cell(figures, work, name, figure):
    values = figures.values(work, name, figure.key)
    if not values:
        return "failed"
    least, middle, most = (f"{it:.{figure.decimals}f}" for it in (min(values), median(values), max(values)))
    return f"{middle} ({least} to {most})"


def as_json(figures, missing, facts):
    rounds = [{"work": work, "server": server, "rounds": it} for (work, server), it in figures.rounds.items()]
    whole = {**facts, "missing": missing, "figures": rounded(rounds)}
    return json.dumps(whole, indent=1) + "\n"


def rounded(value):
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {key: rounded(it) for key, it in value.items()}
    if isinstance(value, list):
        return [rounded(it) for it in value]
    return value
