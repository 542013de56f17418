"""Runs one client against one server through all cases, and judges each."""

import hashlib
import json
import re
from dataclasses import dataclass

from . import site as sites
from . import stacks
from .processes import Failure, run_client, running

PASS, FAIL, KNOWN, UNEXPECTED_PASS = "pass", "FAIL", "known", "UNEXPECTED PASS"


@dataclass(frozen=True)
class Result:
    """How one case, or one check of the whole pair, ended."""

    client: str
    server: str
    case: str
    outcome: str
    detail: str = ""
    # The order that the server's log shows, where that is what the case is about.
    order: str = ""

    @property
    def good(self):
        return self.outcome in (PASS, KNOWN)


def run_pair(client, server, site, work):
    """One server for all the cases of the pair; then the checks of how it ended."""
    folder = work / f"{client.name}-to-{server.name}"
    folder.mkdir()
    log = folder / "server.log"
    results = []
    try:
        with running(server, site, log) as it:
            for case in sites.CASES:
                results.append(judge(client, server, case.name, lambda: run_case(client, case, site, it, folder)))
    except Failure as failure:
        reached = len(results)
        return results + [
            Result(client.name, server.name, case.name, FAIL, str(failure)) for case in sites.CASES[reached:]
        ]
    results.append(judge(client, server, "stops", lambda: check_stop(it, server)))
    if it.said("connections "):
        results.append(judge(client, server, "one connection", lambda: check_connections(it)))
    return results


def judge(client, server, case, check):
    """A check passes when it raises no Failure; then a known failure is out of date."""
    reason = stacks.known_failure(client.name, server.name, case)
    try:
        check()
    except Failure as failure:
        outcome, detail = (KNOWN, reason) if reason else (FAIL, str(failure))
    else:
        outcome, detail = (UNEXPECTED_PASS, f"no longer fails: {reason}") if reason else (PASS, "")
    return Result(client.name, server.name, case, outcome, detail)


def run_case(client, case, site, server, folder):
    place = folder / case.name.replace(" ", "-")
    bodies = place / "bodies"
    bodies.mkdir(parents=True)
    out = place / "stdout"
    run_client(client.command(site, case, server.port, bodies), out, place / "stderr")
    wanted = case.files
    if client is stacks.OUR_CLIENT:
        check_report(out)
        wanted = (sites.DOCUMENT, *case.files)
    for name in wanted:
        compare(bodies / name, site.root / name)


def compare(body, original):
    if not body.is_file():
        raise Failure(f"{body.name} was not fetched")
    ours, theirs = original.read_bytes(), body.read_bytes()
    if hashlib.sha256(ours).digest() != hashlib.sha256(theirs).digest():
        raise Failure(f"{body.name} differs: {len(theirs)} bytes came, {len(ours)} were served")


def check_report(out):
    """Our client's own account of the run."""
    try:
        runs = json.loads(out.read_text())["runs"]
        completed = [run["completed"] for run in runs]
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"the client's JSON cannot be used: {error!r}") from error
    if completed != [True]:
        raise Failure(f"the client's JSON says completed: {completed}")


def check_stop(server, stack):
    if server.exit_code is None:
        raise Failure("the server did not heed SIGTERM and was killed")
    if stack.drains and server.exit_code != 0:
        raise Failure(f"the server exited with {server.exit_code} after SIGTERM")


def check_connections(server):
    """Some servers count: each case must have taken one connection."""
    count = int(re.search(r"^connections (\d+)", server.log.read_text(errors="replace"), re.M).group(1))
    if count != len(sites.CASES):
        raise Failure(f"{count} connections for {len(sites.CASES)} cases")
