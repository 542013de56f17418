"""The visits as a page of the documentation."""

import itertools
import json
import textwrap

from bench.servers import machine
from harness import report

from . import judged, servers

TITLE = "# Page loads beside other servers\n"
HEAD = """## Conditions

`make bench-pages` visits bundled pages in Chromium from each server, behind the same link, and writes this page.
[loads.json](../benches/pages/loads.json) has every visit.

Server and browser are in two network namespaces. All packets between them, of TCP and of QUIC, cross the link of
[`utmost link --tun`](engines.md#tcp-behind-a-network). Every visit begins with an empty cache and without a connection:

- *first*: the browser does not know the host, and uses HTTP/2. It may switch to HTTP/3 during the load, as it does on the Internet.
- *later*: a new browser that remembers by Alt-Svc that the host speaks HTTP/3. Nothing forces it onto HTTP/3, because it would then
  send six requests at a time. Servers without HTTP/3 answer over HTTP/2.

Rounds: {rounds}. Each visits every server once, in random order, with the same seed of the link. A cell has the median in
milliseconds and the median of the ratios to {baseline} in the same rounds; in brackets is its 95 % interval (bootstrap), which for few rounds
cannot be wider than the measured range.

- *utmost* is `utmost serve --root`; *utmost, policy* has the policy that `utmost find` chose for the networks together, before any browser came.
- All servers compress text as their documentation shows; gtlsserver, which cannot, has nginx for the first visit.
- The machine: {machine}. Other programs may have used it at the same time.
"""
METRICS = [
    ("fcp", "First contentful paint"),
    ("lcp", "Largest contentful paint"),
    ("atf", "ByteIndex above the fold"),
    ("load", "Load event"),
]
# Characters of a line of prose in the documentation.
WIDTH = 140
# On these, a policy is expected to show the largest content first.
SLOW = ["3g", "lte"]
VISITS = ["first", "later"]


def in_short(visits):
    return "; ".join(
        f"{' and '.join(sorted(set(visit['protocols']) - {''}))} " + ", ".join(f"{name} {visit.get(name) or 0:.0f}" for name, _ in METRICS)
        for visit in visits
        if visit
    )


def document(rows, present, absent, failures, asked):
    """docs/page-loads.md."""
    parts = [TITLE, *answer(rows, present, asked), "## Means of all pages\n"]
    baseline = servers.BASELINE
    parts.append(f"Geometric means of the ratios to {baseline}'s medians; below 1 is earlier.\n")
    parts.append(report.markdown(means(rows, present, asked)) + "\n")
    parts.append(HEAD.format(rounds=1 + max(it["round"] for it in rows), baseline=baseline, machine=machine()))
    for metric, title in METRICS:
        parts.append(f"## {title}\n")
        parts.append(report.markdown(table(rows, present, metric, asked)) + "\n")
    parts.append("## Versions of HTTP\n\nResponses over HTTP/3, of all that came over the network.\n")
    parts.append(report.markdown(versions(rows, present)) + "\n")
    if failures:
        lines = [f"- {it['server']}, {it['page']} on {it['network']}: {it['cause']}" for it in failures]
        parts.append("## What failed\n\n" + "\n".join(lines) + "\n")
    if absent:
        parts.append("Not installed: " + ", ".join(absent) + ".\n")
    return "\n".join(parts)


def answer(rows, present, asked):
    """What a site owner asks first, in sentences; none where a server that they name was not visited."""
    names = [it.name for it in present]
    if not {servers.OURS, servers.POLICY, servers.BASELINE} <= set(names):
        return []
    rivals = [it for it in names if it not in (servers.OURS, servers.POLICY)]
    cases = list(itertools.product(asked.pages, asked.networks, range(len(VISITS))))

    def judge(case, metric, mine, others, verdict):
        page, network, visit = case
        times = [series(rows, page, network, it, visit, metric) for it in (mine, *others)]
        return verdict(times[0], times[1:])

    first = {it: judge(it, "lcp", servers.POLICY, rivals, judged.is_first) for it in cases}
    near = {it: judge(it, "fcp", servers.POLICY, rivals, judged.is_near_the_best) for it in cases}
    later = {
        (metric, case): judge(case, metric, servers.OURS, [servers.BASELINE], lambda mine, its: judged.is_later(mine, its[0]))
        for metric, _ in METRICS[:2]
        for case in cases
    }
    lines = [f"With a policy of `utmost find`, the largest content came before that of all other servers in {share(first.values())} of pages,"
             " networks and visits."]
    for network in [it for it in SLOW if it in asked.networks]:
        pages = [page for page in asked.pages if all(first[page, network, it] for it in range(len(VISITS)))]
        lines.append(f"On {network}, it did so on both visits for {len(pages)} of {len(asked.pages)} pages.")
    lines.append(f"The first paint was at most 2 % later than the best server's in {share(near.values())}.")
    lines.append(f"Without a policy, the first paint or the largest content was surely later than {servers.BASELINE}'s in {share(later.values())}.")
    return [textwrap.fill(" ".join(lines), WIDTH) + "\n"]


def share(verdicts):
    known = [it for it in verdicts if it is not None]
    return f"{sum(known)} of {len(known)} cases"


def means(rows, present, asked):
    lines = [["metric", "network", "visit", *(it.name for it in present)]]
    for metric, title in METRICS:
        for network in asked.networks:
            for number, visit in enumerate(VISITS):
                lines.append([title, network, visit, *(mean(rows, asked, (network, number, metric), it.name) for it in present)])
    return lines


def mean(rows, asked, case, name):
    network, visit, metric = case
    medians = [
        [[it for it in series(rows, page, network, server, visit, metric) if it] for server in (name, servers.BASELINE)]
        for page in asked.pages
    ]
    ratio = judged.mean_ratio(medians)
    return f"{ratio:.2f}" if ratio else "-"


def as_lines(rows, failures):
    """JSON with a visit a line, so that two runs can be compared."""
    lists = {"visits": rows, "failures": failures}
    parts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in lists.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def table(rows, present, metric, asked):
    head = ["page", "network", "visit", *(it.name for it in present)]
    lines = [head]
    for page in asked.pages:
        for network in asked.networks:
            for number, visit in enumerate(VISITS):
                times = {it.name: series(rows, page, network, it.name, number, metric) for it in present}
                baseline = times.get(servers.BASELINE)
                lines.append([page, network, visit, *(judged.cell(it, baseline) for it in times.values())])
    return lines


def series(rows, page, network, server, visit, metric):
    """The metric by round."""
    mine = [it for it in rows if (it["page"], it["network"], it["server"]) == (page, network, server)]
    return [it["visits"][visit].get(metric) for it in sorted(mine, key=lambda it: it["round"])]


def versions(rows, present):
    lines = [["server", *VISITS]]
    for server in present:
        shares = []
        for number in range(len(VISITS)):
            visits = [it["visits"][number] for it in rows if it["server"] == server.name]
            seen = [it for visit in visits for it in visit.get("protocols", []) if it]
            shares.append(f"{100 * seen.count(servers.H3) / len(seen):.0f} %" if seen else "-")
        lines.append([server.name, *shares])
    return lines
