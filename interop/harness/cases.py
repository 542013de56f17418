"""The cases of the QUIC interop runner that an application can break, with other clients against `utmost-serve`.

Each client goes through the lab's link, which loses, changes and delays datagrams. A case passes if every body came byte for
byte, and if what the case is about has happened: the link's log shows the losses, the server's qlogs the resumed session. A case
that did not take place fails.
"""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Callable

from . import pairs, stacks
from . import site as sites
from .nat import Nat, bound
from .processes import Failure, kill_group, run_client, running, start
from .stacks import EARLY_DATA, KEY_UPDATE, RESUMPTION

NETWORKS = stacks.INTEROP / "networks"
# As many as the runner's. Each has links with a seed of its own.
HANDSHAKES = 50
AT_ONCE = 8
CHANGES = 5
UNSUPPORTED = "not supported"
KNOCK_SECONDS = 20


@dataclass(frozen=True)
class Case:
    """The files that a client fetches over a network, and what must have happened meanwhile.

    `happened(seen, site)` raises a Failure if it did not. Each of `times` runs of the client makes `connections` connections.
    """

    name: str
    files: tuple
    network: object
    happened: Callable
    about: str
    # What a client must be able to do.
    needs: str | None = None
    times: int = 1
    connections: int = 1
    # Options of the server, or a configuration instead of its root.
    options: tuple = ()
    config: str = ""
    host: str = "127.0.0.1"
    # A router between the link and the server at this address.
    nat: Callable | None = None
    # Somebody else's handshake is under way at the server.
    knocks: bool = False


@dataclass(frozen=True)
class Seen:
    """What a case left behind: the link's verdicts, the server's logs of connections, the router."""

    verdicts: list
    logs: list
    nat: Nat | None = None


def need(happened, words):
    if not happened:
        raise Failure(f"the case did not take place: {words}")


def lost(seen, _site):
    need(any(it.get("cause") == "loss" for it in seen.verdicts), "the link lost nothing")


def corrupted(seen, _site):
    need(any(it.get("corrupted") for it in seen.verdicts), "the link changed nothing")


def went_dark(seen, _site):
    need(any(it.get("cause") == "blackhole" for it in seen.verdicts), "nothing was lost in a blackhole")


def crossed(seen, _site):
    need(seen.verdicts, "nothing went through the link")


def took_long(seen, _site):
    took = [it["at_ns"] - it["offered_ns"] for it in seen.verdicts if it["verdict"] == "delivered"]
    need(took and min(took) >= 750_000_000, "the link was not slow")


def asked_for_proof(seen, _site):
    need(seen.nat.retries, "the server sent no Retry packet")


def rebound(seen, _site):
    came = seen.nat.mappings
    need(len(came) == 1 + CHANGES and all(came), f"through the router's mappings came {came} bytes")


def updated_keys(seen, _site):
    need(any(it["name"].endswith(":key_updated") for log in seen.logs for it in log), "no keys were updated")


def resumed(seen, site):
    """A resumed handshake has no certificate: the server's part of it is shorter by at least that."""
    took = sorted(map(handshake_bytes, seen.logs))
    need(took[1] - took[0] >= certificate_bytes(site), f"handshakes of {took} bytes: one has no certificate less")


def came_early(seen, site):
    """The server has read requests from 0-RTT packets, so it has accepted them."""
    resumed(seen, site)
    early = [it for log in seen.logs for it in frames(log, "packet_received", "0RTT") if it["frame_type"] == "stream"]
    need(early, "the server read no early data")


def frames(log, event, packet_type):
    packets = [it["data"] for it in log if it["name"].endswith(f":{event}")]
    found = [it.get("frames", []) for it in packets if it["header"]["packet_type"] == packet_type]
    return [frame for some in found for frame in some]


def handshake_bytes(log):
    """How far the server's handshake goes, after its first message."""
    sent = [it for it in frames(log, "packet_sent", "handshake") if it["frame_type"] == "crypto"]
    return max((it["offset"] + it["raw"]["payload_length"] for it in sent), default=0)


def certificate_bytes(site):
    body = site.cert.read_text().split("-----")[2]
    return len(base64.b64decode(body))


RETRY = '[site]\nroot = "{root}"\n\n[limits]\nhandshakes = 1\n'
# More than the server's 10 s: a client that doubles its patience after each loss is silent for as long.
PATIENT = '[site]\nroot = "{root}"\n\n[limits]\nhandshake_s = 60\n'
SMALL = tuple(sites.SMALL_FILES)

CASES = [
    Case(
        "handshake loss",
        ("20k.bin",),
        NETWORKS / "handshake-loss.toml",
        lost,
        f"{HANDSHAKES} connections, each with 30 % of the datagrams lost both ways; the server waits 60 s for a handshake",
        config=PATIENT,
        times=HANDSHAKES,
    ),
    Case(
        "handshake corruption",
        ("20k.bin",),
        NETWORKS / "handshake-corruption.toml",
        corrupted,
        f"{HANDSHAKES} connections, each with a byte changed in 30 % of the datagrams both ways; 60 s, too",
        config=PATIENT,
        times=HANDSHAKES,
    ),
    Case("transfer loss", ("5m.bin", *SMALL), "interop-droprate", lost, "5 MB and 20 small files, 2 % lost"),
    Case("transfer corruption", ("5m.bin", *SMALL), "interop-corruptrate", corrupted, "the same, 2 % with a changed byte"),
    Case("1,999 files", tuple(sites.MANY_FILES), "interop", crossed, "1,999 files of 32 bytes on one connection"),
    Case("long RTT", ("1m.bin",), "interop-longrtt", took_long, "1 MB with a round trip of 1.5 s"),
    Case(
        "retry",
        ("1m.bin",),
        "interop",
        asked_for_proof,
        "the server has no room for another incomplete handshake, and must send a Retry packet",
        config=RETRY,
        nat=Nat,
        knocks=True,
    ),
    Case(
        "resumption",
        ("byte.bin", *SMALL),
        "interop",
        resumed,
        "a second connection resumes the session of the first: its handshake is shorter by the certificate",
        needs=RESUMPTION,
        connections=2,
    ),
    Case(
        "0-RTT",
        ("byte.bin", *SMALL),
        "interop",
        came_early,
        "the requests on the second connection are early data, and the server's qlog shows that it read them",
        needs=EARLY_DATA,
        connections=2,
        options=("--early-data",),
    ),
    Case("blackhole", ("10m.bin",), "interop-blackhole", went_dark, "10 MB; for 2 s of each 7 s nothing arrives"),
    Case(
        "key update",
        ("byte.bin", "5m.bin"),
        "interop",
        updated_keys,
        "the client updates the keys in a transfer of 5 MB",
        needs=KEY_UPDATE,
    ),
    Case("IPv6", ("1m.bin", *SMALL), "interop", crossed, "1 MB and 20 small files over ::1", host="::1"),
    Case(
        "rebinding of the port",
        ("12m.bin",),
        "interop",
        rebound,
        f"12 MB, the port of the client changes {CHANGES} times, each after 2 MB",
        nat=lambda server: Nat(server, every=2_000_000, sources=["127.0.0.1"] * CHANGES),
    ),
    Case(
        "rebinding of the address",
        ("12m.bin",),
        "interop",
        rebound,
        "the same, and its address instead of the port",
        nat=lambda server: Nat(server, every=2_000_000, sources=[f"127.0.0.{2 + it}" for it in range(CHANGES)]),
    ),
]
CLIENTS = [it for it in stacks.CLIENTS if it.by_feature]


def run(client, site, work):
    """The results of one client: what it cannot do is left out."""
    folder = work / f"{client.name}-cases"
    folder.mkdir()
    return [run_case(client, case, site, folder) for case in CASES if not case.needs or case.needs in client.features]


def run_case(client, case, site, folder, serve=stacks.utmost_serve_logged):
    place = folder / case.name.replace(" ", "-")
    logs = place / "qlog"
    logs.mkdir(parents=True)

    def check():
        server = stacks.Server("utmost", serve(case, place, logs), drains=True, host=case.host)
        with running(server, site, place / "server.log") as it:
            nat = fetch(client, case, site, (case.host, it.port), place)
        pairs.check_stop(it, server)
        seen = Seen(verdicts(place), [read(log) for log in sorted(logs.iterdir())], nat)
        if len(seen.logs) != case.times * case.connections:
            raise Failure(f"{len(seen.logs)} connections, not {case.times * case.connections}")
        case.happened(seen, site)

    return pairs.judge(client, stacks.OUR_SERVER, case.name, check)


def fetch(client, case, site, server, place):
    """Runs the client as often as the case says. Returns the router, if there was one."""
    with ExitStack() as around:
        nat = around.enter_context(case.nat(server)) if case.nat else None
        if case.knocks:
            around.enter_context(knocking(client, case, site, server, place))
        beyond = nat.address if nat else server
        with ThreadPoolExecutor(AT_ONCE) as pool:
            runs = [pool.submit(fetch_once, client, case, site, beyond, place, seed) for seed in range(case.times)]
        failures = [it.exception() for it in runs if it.exception()]
        if failures:
            several = f"{len(failures)} of {case.times}: " if case.times > 1 else ""
            raise Failure(f"{several}{failures[0]}")
    return nat


def fetch_once(client, case, site, server, place, seed):
    """One run of the client through a link of its own, and whether every byte came."""
    own = place / f"{seed}"
    bodies = own / "bodies"
    bodies.mkdir(parents=True)
    link = stacks.link(case.network, server, "--seed", seed, "--log", own / "link.jsonl")
    with running(link, site, own / "link.log") as between:
        commands = client.by_feature(site, case, (server[0], between.port), bodies)
        for number, command in enumerate(commands):
            run_client(command, own / f"stdout-{number}", own / f"stderr-{number}")
    for name in case.files:
        pairs.compare(bodies / name, site.root / name)


@contextmanager
def knocking(client, case, site, server, place):
    """Sends the first datagram of such a client to the server from elsewhere, and never answers: a handshake stays incomplete."""
    bodies = place / "knock"
    bodies.mkdir()
    with bound(("127.0.0.1", 0)) as door, (place / "knock.log").open("wb") as sink:
        door.settimeout(KNOCK_SECONDS)
        command = client.by_feature(site, case, door.getsockname(), bodies)[0]
        process = start(command, sink, sink)
        try:
            first = door.recv(2048)
        except TimeoutError as error:
            raise Failure(f"the client sent nothing within {KNOCK_SECONDS} s") from error
        finally:
            kill_group(process)
        door.sendto(first, server)
        yield


def verdicts(place):
    """What the links of a case did, datagram by datagram."""
    logs = place.glob("*/link.jsonl")
    return [json.loads(line) for log in logs for line in log.read_text().splitlines()]


def read(log):
    """The events of a qlog (JSON text sequence)."""
    records = [json.loads(it) for it in log.read_text().split("\x1e") if it.strip()]
    return [it for it in records if "name" in it and "data" in it]


def table(results):
    """A row for each case, a column for each client."""
    clients = [it for it in CLIENTS if any(result.client == it.name for result in results)]
    outcomes = {(it.client, it.case): it.outcome for it in results}
    rows = [[case.name, *(outcomes.get((it.name, case.name), UNSUPPORTED) for it in clients)] for case in CASES]
    return [["case", *(it.name for it in clients)], *rows]


def legend():
    """What each case is, a line each."""
    return [f"- *{it.name}*: {it.about}." for it in CASES]
