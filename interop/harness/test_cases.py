"""Can a case fail? Small programs stand in for the link, the server and the client; none of them does what the case is about."""

import json
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from . import cases, pairs, stacks
from . import site as sites
from .processes import Failure

# Says that it listens, and stops when it is told to. With a log, it is a server that had connections, or a link.
PROGRAM = """
import pathlib, signal, socket, sys
port, log, text, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket.bind(("127.0.0.1", port))
for number in range(count):
    pathlib.Path(log.format(number)).write_text(text)
print("listening on 127.0.0.1:" + sys.argv[1], flush=True)
while True:
    socket.recv(2048)
"""
CLIENT = """
import pathlib, sys
root, out, fault, *names = sys.argv[1:]
for name in names:
    body = bytearray(pathlib.Path(root, name).read_bytes())
    exec(fault)
    pathlib.Path(out, name).write_bytes(body)
"""
LOSS = json.dumps({"verdict": "dropped", "cause": "loss"})


def named(name):
    return next(it for it in cases.CASES if it.name == name)


def log(*events):
    return [{"name": f"quic:{name}", "data": data} for name, data in events]


def packet(name, packet_type, *frames):
    return name, {"header": {"packet_type": packet_type}, "frames": list(frames)}


def crypto(count):
    return packet("packet_sent", "handshake", {"frame_type": "crypto", "offset": 0, "raw": {"payload_length": count}})


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = sites.build(Path(folder.name))


class Runs(Site):
    """A whole case, with programs that stand in for the stacks."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)

    def outcome(self, case, fault="pass", lost=LOSS, connections=1):
        def serve(_case, _place, logs):
            return lambda _site, port: program(port, logs / "{}.sqlog", "", connections)

        def link(_network, _server, *options):
            return stacks.Server("link", lambda _site, port: program(port, options[-1], lost, 1))

        def commands(site, case, _server, out):
            return [[sys.executable, "-c", CLIENT, site.root, out, fault, *case.files]]

        client = stacks.Client("client", None, by_feature=commands)
        with mock.patch.object(stacks, "link", link):
            result = cases.run_case(client, case, self.site, self.work, serve)
        return f"{result.outcome} {result.detail}".strip()

    def test_whole_bodies_through_a_lossy_link_pass(self):
        self.assertEqual(self.outcome(small(times=3), connections=3), "pass")

    def test_a_flipped_bit_fails(self):
        outcome = self.outcome(small(), fault="body[7] ^= 1")
        self.assertEqual(outcome, "FAIL 20k.bin differs: 20000 bytes came, 20000 were served")

    def test_one_wrong_body_of_many_runs_fails(self):
        outcome = self.outcome(small(times=3), fault="body = body[: -(out.split('/')[-2] == '2') or None]", connections=3)
        self.assertEqual(outcome, "FAIL 1 of 3: 20k.bin differs: 19999 bytes came, 20000 were served")

    def test_a_link_that_loses_nothing_fails(self):
        outcome = self.outcome(small(), lost=json.dumps({"verdict": "delivered"}))
        self.assertEqual(outcome, "FAIL the case did not take place: the link lost nothing")

    def test_a_connection_too_many_or_too_few_fails(self):
        self.assertEqual(self.outcome(small(), connections=2), "FAIL 2 connections, not 1")

    def test_a_router_that_keeps_its_mapping_fails(self):
        case = replace(named("rebinding of the port"), files=("byte.bin",))
        outcome = self.outcome(case)
        self.assertEqual(outcome, "FAIL the case did not take place: through the router's mappings came [0] bytes")

    def test_a_client_that_says_nothing_cannot_knock(self):
        case = replace(named("retry"), files=("byte.bin",))
        with mock.patch.object(cases, "KNOCK_SECONDS", 0.2):
            self.assertEqual(self.outcome(case), "FAIL the client sent nothing within 0.2 s")


def small(**changes):
    return replace(named("transfer loss"), files=("20k.bin",), **changes)


def program(port, log_file, text, count):
    return [sys.executable, "-c", PROGRAM, port, log_file, text, count]


class Evidence(Site):
    """What each case must have left behind."""

    def setUp(self):
        self.certificate = cases.certificate_bytes(self.site)

    def fault(self, name, verdicts=(), logs=(), nat=None):
        try:
            named(name).happened(cases.Seen(list(verdicts), list(logs), nat), self.site)
        except Failure as failure:
            return str(failure)
        return None

    def test_no_case_passes_when_nothing_happened(self):
        idle = SimpleNamespace(mappings=[0], retries=0)
        for case in cases.CASES:
            logs = [log(crypto(600))] * case.connections
            with self.subTest(case.name):
                self.assertIn("did not take place", self.fault(case.name, logs=logs, nat=idle))

    def test_the_links_verdicts_are_told_apart(self):
        loss, dark = ({"verdict": "dropped", "cause": it} for it in ("loss", "blackhole"))
        changed = {"verdict": "delivered", "corrupted": True, "offered_ns": 0, "at_ns": 750_000_000}
        soon = {**changed, "corrupted": False, "at_ns": 15_000_000}
        self.assertIsNone(self.fault("transfer loss", [loss]))
        self.assertIsNone(self.fault("blackhole", [dark]))
        self.assertIsNone(self.fault("transfer corruption", [changed]))
        self.assertIsNone(self.fault("long RTT", [loss, changed]))
        self.assertIn("lost nothing", self.fault("transfer loss", [dark, changed]))
        self.assertIn("blackhole", self.fault("blackhole", [loss]))
        self.assertIn("changed nothing", self.fault("transfer corruption", [soon, loss]))
        self.assertIn("not slow", self.fault("long RTT", [changed, soon]))

    def test_a_handshake_with_a_certificate_is_not_resumed(self):
        whole, short = log(crypto(self.certificate + 400)), log(crypto(400))
        self.assertIsNone(self.fault("resumption", logs=[short, whole]))
        self.assertIn("one has no certificate less", self.fault("resumption", logs=[whole, whole]))

    def test_early_data_that_the_server_did_not_read_fails(self):
        stream = {"frame_type": "stream"}
        short = log(crypto(400), packet("packet_received", "1RTT", stream))
        early = log(crypto(400), packet("packet_received", "0RTT", stream))
        whole = log(crypto(self.certificate + 400))
        self.assertIsNone(self.fault("0-RTT", logs=[whole, early]))
        self.assertIn("read no early data", self.fault("0-RTT", logs=[whole, short]))

    def test_a_key_update_is_seen_in_any_log(self):
        self.assertIsNone(self.fault("key update", logs=[log(("key_updated", {}))]))

    def test_every_mapping_must_have_carried_bytes(self):
        for mappings, passes in ([5] * 6, True), ([5] * 5, False), ([5] * 5 + [0], False):
            fault = self.fault("rebinding of the address", nat=SimpleNamespace(mappings=mappings))
            self.assertEqual(fault is None, passes, mappings)


class Tables(unittest.TestCase):
    def test_what_a_client_cannot_do_is_not_passed(self):
        client = stacks.Client("quic-go", None, by_feature=None)
        with mock.patch.object(cases, "run_case", lambda client, case, *_: done(client, case)):
            with mock.patch.object(Path, "mkdir"):
                results = cases.run(client, None, Path("nowhere"))
        table = {row[0]: row[1] for row in cases.table(results)[1:]}
        self.assertEqual(table["resumption"], cases.UNSUPPORTED)
        self.assertEqual(table["0-RTT"], cases.UNSUPPORTED)
        self.assertEqual(table["key update"], cases.UNSUPPORTED)
        self.assertEqual(table["long RTT"], pairs.PASS)

    def test_every_case_is_explained(self):
        self.assertEqual(len(cases.legend()), len(cases.CASES))


def done(client, case):
    return pairs.Result(client.name, "utmost", case.name, pairs.PASS)


if __name__ == "__main__":
    unittest.main()
