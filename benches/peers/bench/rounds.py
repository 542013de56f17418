"""Rounds: each work by each server in turn, so that what moves the machine moves all of them."""

import sys

from harness import processes

from .figures import Figures


def interleaved(rig, works, servers, rounds):
    figures = Figures()
    for number in range(rounds):
        for work in works:
            for server in servers:
                if number < work.rounds and work.version in server.versions and work.name in (server.works or [work.name]):
                    measured(figures, rig, work, server)
        tell(f"round {number + 1} of {rounds}")
    return figures


def measured(figures, rig, work, server):
    """A server that fails at a work fails at that work, and the others go on."""
    try:
        figures.add(work.name, server.name, work.measure(rig, server))
    except processes.Failure as failure:
        tell(f"{work.name}, {server.name}: {failure}")
        figures.failed(work.name, server.name, str(failure))


def tell(line):
    print(line, file=sys.stderr, flush=True)
