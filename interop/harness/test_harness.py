"""Can the harness see a failure? Small programs stand in for stacks, each with one fault.

Run from this folder's parent: python3 -m unittest
"""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import pairs, processes, stacks
from . import site as sites

SERVER = """
import signal, socket, sys, time
{before}
socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket.bind(("127.0.0.1", int(sys.argv[1])))
print("listening on 127.0.0.1:" + sys.argv[1], flush=True)
time.sleep(60)
"""
CLIENT = """
import pathlib, sys, time
root, out, *names = sys.argv[1:]
for name in names:
    body = bytearray(pathlib.Path(root, name).read_bytes())
    {fault}
    pathlib.Path(out, name).write_bytes(body)
{after}
"""


def server(before="", **options):
    script = SERVER.format(before=before)
    return stacks.Server("server", lambda _site, port: [sys.executable, "-c", script, port], **options)


def client(fault="pass", after=""):
    script = CLIENT.format(fault=fault, after=after)
    return stacks.Client("client", lambda site, case, _port, out: [sys.executable, "-c", script, site.root, out, *case.files])


class Harness(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        self.site = sites.build(self.work)
        self.enterContext(mock.patch.object(sites, "CASES", [sites.Case("1 B", ("byte.bin",))]))

    def outcomes(self, client, server):
        results = pairs.run_pair(client, server, self.site, self.work)
        return {it.case: f"{it.outcome} {it.detail}".strip() for it in results}

    def test_a_faithful_copy_passes(self):
        self.assertEqual(self.outcomes(client(), server()), {"1 B": "pass", "stops": "pass"})

    def test_a_flipped_bit_fails(self):
        outcomes = self.outcomes(client(fault="body[0] ^= 1"), server())
        self.assertEqual(outcomes["1 B"], "FAIL byte.bin differs: 1 bytes came, 1 were served")

    def test_a_body_that_is_missing_fails(self):
        self.assertEqual(self.outcomes(client(fault="break"), server())["1 B"], "FAIL byte.bin was not fetched")

    def test_a_client_that_fails_after_a_good_body_fails(self):
        outcomes = self.outcomes(client(after="sys.exit('no luck')"), server())
        self.assertEqual(outcomes["1 B"], "FAIL the client exited with 1: no luck")

    def test_a_client_that_hangs_fails(self):
        with mock.patch.object(processes, "CLIENT_SECONDS", 0.5):
            outcomes = self.outcomes(client(after="time.sleep(60)"), server())
        self.assertEqual(outcomes["1 B"], "FAIL the client did not end within 0.5 s: it said nothing")

    def test_a_server_that_does_not_start_fails_every_case(self):
        outcomes = self.outcomes(client(), server(before="sys.exit('no port')"))
        self.assertEqual(outcomes, {"1 B": "FAIL the server exited with 1: no port"})

    def test_a_server_that_does_not_heed_sigterm_fails_and_is_ended(self):
        with mock.patch.object(processes, "STOP_SECONDS", 0.5):
            outcomes = self.outcomes(client(), server(before="signal.signal(signal.SIGTERM, signal.SIG_IGN)"))
        self.assertEqual(outcomes["stops"], "FAIL the server did not heed SIGTERM and was killed")

    def test_a_server_that_must_drain_fails_when_the_signal_kills_it(self):
        self.assertEqual(
            self.outcomes(client(), server(drains=True))["stops"], "FAIL the server exited with -15 after SIGTERM"
        )

    def test_a_second_connection_for_a_case_fails(self):
        outcomes = self.outcomes(client(), server(before="print('connections 2')"))
        self.assertEqual(outcomes["one connection"], "FAIL 2 connections for 1 cases")

    def test_a_known_failure_is_known_and_one_that_passes_is_out_of_date(self):
        with mock.patch.dict(stacks.KNOWN_FAILURES, {(stacks.ANY, "server", "1 B"): "cannot"}):
            self.assertEqual(self.outcomes(client(fault="break"), server())["1 B"], "known cannot")
        with mock.patch.dict(stacks.KNOWN_FAILURES, {(stacks.ANY, "server", "stops"): "cannot"}):
            (self.work / "client-to-server").rename(self.work / "first")
            self.assertEqual(self.outcomes(client(), server())["stops"], "UNEXPECTED PASS no longer fails: cannot")

    def test_a_stack_that_is_not_installed_is_named(self):
        absent = stacks.Client("client", lambda *_: ["/nowhere/absent"])
        self.assertEqual(
            self.outcomes(absent, server())["1 B"], "FAIL /nowhere/absent is not installed: run interop/setup"
        )


if __name__ == "__main__":
    unittest.main()
