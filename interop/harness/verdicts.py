"""Do `utmost probe` and `utmost qlog lint` say of each server what is known of it?

The probe asks each server itself. The linter reads the log of our client, which plays a page with the priorities of
RFC 9218 through the lab's link, against a server of files of the page's sizes; and, of a server that writes one, the
server's log as well.
"""

import json
from dataclasses import dataclass, replace

from . import pairs, stacks
from .processes import Failure, run_client, running

PAGE, NETWORK = "davies-meenan", "cable"
PROBED, JUDGED, PAIRED = "probe", "lint", "lint of both logs"
# Exit codes of both: 1 is "it does not", a result like any other.
ANSWERED = (0, 1)


@dataclass(frozen=True)
class Known:
    """What is known of a server: the probe's verdict, and the share of a page's packets that break RFC 9218."""

    verdict: str
    broken_from: float = 0.0
    # Not none: a machine that stops a server in the middle makes it look idle with bytes at hand.
    broken_to: float = 0.02


# quic-go sorts what it has at hand; the last three send first come, first served, or in turn.
KNOWN = {
    "utmost": Known("prioritizes"),
    "ngtcp2": Known("prioritizes"),
    "quic-go": Known("weakly"),
    "aioquic": Known("does-not", 0.2, 1.0),
    "h3-quinn": Known("does-not", 0.2, 1.0),
    "tquic": Known("does-not", 0.2, 1.0),
}
SERVERS = [it for it in [stacks.OBEYING_SERVER, *stacks.SERVERS] if it.name in KNOWN]


def run(server, site, work):
    """The results of one server. The `order` of each holds its figures."""
    folder = work / f"{server.name}-verdicts"
    folder.mkdir()
    checks = [(PROBED, lambda: probe(server, site, folder)), (JUDGED, lambda: lint_of_load(server, site, folder))]
    if server.log_option:
        checks.append((PAIRED, lambda: lint(server, folder, [only(folder / "server"), "--client", only(folder / "client")])))
    return [run_check(server, case, check) for case, check in checks]


def run_check(server, case, check):
    figures = []

    def judged():
        said, fault = check()
        figures.append(said)
        if fault:
            raise Failure(fault)

    result = pairs.judge(stacks.OUR_CLIENT, server, case, judged)
    return replace(result, order=figures[0] if figures else "")


def probe(server, site, folder):
    """What the probe measured of 1 MB responses, and what is wrong with its verdict."""
    with running(server, site, folder / "probed.log") as it:
        options = ["--server", f"127.0.0.1:{it.port}", "--insecure", "--path", "/1m.bin", "--json"]
        command = [stacks.UTMOST, "probe", f"https://localhost:{it.port}/", *options]
        finding = json.loads(answer(command, folder / "probe"))["finding"]
    return probe_figures(finding), probe_fault(finding, KNOWN[server.name])


def probe_figures(finding):
    return " ".join(f"{finding[kind]['mean']:.2f}" for kind in ("control", "urgent", "inverse")) + " " + finding["verdict"]


def probe_fault(finding, known):
    verdict = finding["verdict"]
    return None if verdict == known.verdict else f"the probe says {verdict}, not {known.verdict}"


def lint_of_load(server, site, folder):
    """Loads the page, and what the linter says of our client's log."""
    (folder / "server").mkdir()
    with running(logging(server, folder / "server"), page_site(site, folder), folder / "linted.log") as it:
        with running(stacks.link(NETWORK, ("127.0.0.1", it.port)), site, folder / "link.log") as between:
            options = ["--server", f"127.0.0.1:{between.port}", "--insecure", "--scheme", "rfc9218"]
            answer([stacks.UTMOST, "play", PAGE, *options, "--qlog", folder / "client"], folder / "play")
    return lint(server, folder, [only(folder / "client")])


def lint(server, folder, logs):
    """What the linter found in the logs, and what is wrong with it."""
    found = json.loads(answer([stacks.UTMOST, "qlog", "lint", *logs, "--json"], folder / f"lint-{len(logs)}"))
    return lint_figures(found), lint_fault(found, KNOWN[server.name])


def logging(server, logs):
    """The server with its qlogs in the folder, if it writes any."""
    options = [server.log_option, logs] if server.log_option else []
    return replace(server, command=lambda site, port: [*server.command(site, port), *options])


def only(logs):
    found = list(logs.iterdir())
    if len(found) != 1:
        raise Failure(f"{len(found)} logs in {logs}, not one")
    return found[0]


def lint_figures(found):
    return f"{len(found['violations'])} of {found['packets_checked']}"


def lint_fault(found, known):
    if found["cannot_judge"] or not found["packets_checked"]:
        return f"the linter cannot judge: {found['cannot_judge']}"
    share = len(found["violations"]) / found["packets_checked"]
    if known.broken_from <= share <= known.broken_to:
        return None
    return f"{share:.0%} of the packets break the rules, not {known.broken_from:.0%} to {known.broken_to:.0%}"


def page_site(site, folder):
    """A site with a file of each of the page's sizes under its name."""
    root = folder / "page"
    for resource in json.loads((stacks.REPOSITORY / "corpus/pages" / f"{PAGE}.json").read_text())["resources"]:
        file = root / resource["url"].lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(resource["bytes"]))
    return replace(site, root=root)


def answer(command, place):
    """What the program says on its standard output."""
    place.mkdir()
    run_client(command, place / "stdout", place / "stderr", ANSWERED)
    return (place / "stdout").read_text()


def table(results):
    """A row for each server: the probe's three figures and verdict, and the packets that the linter flags."""
    rows = []
    for name in dict.fromkeys(it.server for it in results):
        by_case = {it.case: it for it in results if it.server == name}
        figures = {case: it.order for case, it in by_case.items()}
        control, urgent, inverse, verdict = (figures[PROBED] or "- - - -").split(" ")
        outcome = pairs.PASS if all(it.outcome == pairs.PASS for it in by_case.values()) else pairs.FAIL
        flagged = (figures.get(case) or "-" for case in (JUDGED, PAIRED))
        rows.append([name, control, urgent, inverse, verdict, *flagged, outcome])
    return [["server", "control", "urgent", "inverse", "verdict", "flagged", "by both logs", "as known"], *rows]
