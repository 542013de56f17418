"""The works: what the servers do, and which figures come of it."""

from dataclasses import dataclass
from statistics import median
from typing import Callable

from .measure import cpu_ms, memory_kb, settled_kb
from .servers import HTTP2, HTTP3

STREAMS = CONNECTIONS = (10, 100, 1_000, 10_000)
REQUESTS = 10_000
IDLE = 200
WARMING = 2_000


@dataclass(frozen=True)
class Work:
    """`measure(bench, server)` gives figures by name; the first of them is the one that ratios are of."""

    name: str
    about: str
    measure: Callable
    figures: tuple
    # No more rounds than this: it takes long.
    rounds: int = 1_000
    version: str = HTTP3


@dataclass(frozen=True)
class Figure:
    """A number of a work: its key, its heading, and how many decimals say something."""

    key: str
    heading: str
    decimals: int = 0


CPU = Figure("cpu_ms", "CPU ms")
EACH = Figure("cpu_us", "CPU us a request", 1)


def fetched(name, *flags, count=1, rate=1.0, many=False):
    """The client fetches a file `count` times in all, as `flags` tell; `rate` is the work that the speed counts."""

    def measure(bench, server):
        with bench.serving(server, many) as it:
            before = cpu_ms(it.process)
            said = bench.load(it, name, *map(str, flags))
            used = cpu_ms(it.process) - before
            return {
                "cpu_ms": used,
                "cpu_us": used * 1000 / count,
                "rate": rate / said["seconds"],
                "peak_mb": memory_kb(it.process, "VmHWM") / 1000,
            }

    return measure


def on_one_connection(requests, streams, many=False):
    flags = ("-requests", requests, "-streams", streams)
    return fetched("small", *flags, count=requests, rate=requests, many=many)


def over_connections(connections):
    """All connections are open before the requests begin, which they take in turn."""

    def measure(bench, server):
        flags = ["-connections", connections, "-beside", 50, "-requests", REQUESTS, "-streams", 100]
        with bench.serving(server, many=True) as it:
            with bench.opened(it, "small", *map(str, flags)) as finish:
                before = cpu_ms(it.process)
                said = finish()
                used = cpu_ms(it.process) - before
            return {"cpu_us": used * 1000 / REQUESTS, "rate": REQUESTS / said["seconds"]}

    return measure


def idle(bench, server):
    with bench.serving(server) as it:
        before = settled_kb(it.process)
        with bench.opened(it, "small", "-connections", str(IDLE), "-beside", "50", "-requests", "0"):
            return {"kb": (settled_kb(it.process) - before) / IDLE}


def urgent(bench, server):
    with bench.serving(server) as it:
        return {key: median(values) for key, values in bench.load(it, "urgent", "-urgent", "7").items()}


def behind_link(bench, server):
    with bench.behind_link(server) as (it, port):
        before = cpu_ms(it.process)
        said = bench.load(it, "medium", port=port)
        megabits = bench.sizes["medium"] * 8 / 1e6
        return {"cpu_ms": cpu_ms(it.process) - before, "rate": megabits / said["seconds"]}


def conns(count, beside, requests):
    flags = ("-connections", count, "-beside", beside, "-requests", requests, "-streams", requests)
    return fetched("small", *flags, count=count * requests, rate=count)


def over_http2(name, requests):
    """20 connections with 10 requests each at a time, as h2load makes them."""

    def measure(bench, server):
        with bench.running(server, server.command) as it:
            bench.h2load(it, name, WARMING)
            before = cpu_ms(it.process)
            rate = bench.h2load(it, name, requests)
            return {"cpu_us": (cpu_ms(it.process) - before) * 1000 / requests, "rate": rate}

    return measure


REQUEST_RATE = Figure("rate", "requests/s")
WORKS = [
    Work(
        "W1",
        "one file of 200 MB",
        fetched("large", rate=200),
        (CPU, Figure("rate", "MB/s"), Figure("peak_mb", "peak memory, MB", 1)),
    ),
    Work(
        "W2",
        "1,000 files of 10 KB on one connection, 100 at a time",
        on_one_connection(1_000, 100),
        (CPU, REQUEST_RATE),
    ),
    Work(
        "W2L",
        "10,000 files of 10 KB on one connection, 100 at a time",
        on_one_connection(10_000, 100),
        (CPU, REQUEST_RATE),
    ),
    Work(
        "W3",
        "100 connections with 10 files of 10 KB each, 10 connections at a time",
        conns(100, 10, 10),
        (CPU, Figure("rate", "connections/s")),
    ),
    Work(
        "W4",
        f"{IDLE} connections that are idle after a file of 10 KB: resident memory of each",
        idle,
        (Figure("kb", "KB a connection", 1),),
    ),
    Work(
        "W5",
        "one file of 1 MB: alone; with u=0, 20 ms after 20 others with u=7 (loaded); the same, all with u=3 (equal)",
        urgent,
        (Figure("loaded", "loaded, ms", 2), Figure("alone", "alone, ms", 2), Figure("equal", "equal, ms", 1)),
    ),
    Work(
        "ACK",
        "one file of 20 MB over a link of 100 Mbit/s with a round trip of 50 ms (`utmost link`)",
        behind_link,
        (CPU, Figure("rate", "Mbit/s", 1)),
    ),
    *(
        Work(f"S{count}", f"10,000 files of 10 KB on one connection, {count:,} at a time", measure, (EACH, REQUEST_RATE))
        for count in STREAMS
        for measure in [on_one_connection(REQUESTS, count, many=True)]
    ),
    *(
        Work(
            f"C{count}",
            f"10,000 files of 10 KB over {count:,} open connections, 100 at a time",
            over_connections(count),
            (EACH, REQUEST_RATE),
            # Opening 10,000 connections takes half a minute.
            rounds=3,
        )
        for count in CONNECTIONS
    ),
    *(
        Work(
            f"H{name}",
            f"{requests:,} files of {name} over HTTP/2, 20 connections with 10 requests each at a time",
            over_http2(name, requests),
            (EACH, REQUEST_RATE),
            version=HTTP2,
        )
        for name, requests in (("7B", 200_000), ("40kB", 40_000), ("100kB", 20_000))
    ),
]
