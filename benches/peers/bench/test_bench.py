"""Do the figures show what servers use, and failures? Small programs stand in for servers and the client.

Run from this folder's parent: python3 -m unittest
"""

import contextlib
import io
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from harness import processes

from . import measure, rounds, servers, works

SIZES = {"small": 10, "large": 10}
# Answers each datagram, after `work`.
SERVER = """
import socket, sys, time
kept = []
def burn(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        pass
socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket.bind(("127.0.0.1", int(sys.argv[1])))
print("listening on 127.0.0.1:" + sys.argv[1], flush=True)
while True:
    datagram, client = socket.recvfrom(100)
    {work}
    socket.sendto(datagram, client)
"""
# Sends a datagram for each connection, and waits for each answer.
CLIENT = """#!{python}
import re, socket, sys, time
port, name = re.fullmatch("https://localhost:([0-9]+)/(.*)", sys.argv[2]).groups()
flags = sys.argv[5:]
count = int(flags[flags.index("-connections") + 1]) if "-connections" in flags else 1
socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(count):
    socket.sendto(name.encode(), ("127.0.0.1", int(port)))
    socket.recv(100)
if name == "large":
    {fault}
if "-held" in flags:
    print("open", flush=True)
    sys.stdin.readline()
print('{{"seconds": 0.5}}')
"""


def server(work="pass", name="server"):
    def command(_site, port):
        return [sys.executable, "-c", SERVER.format(work=work), port]

    return servers.Server(name, command, command, lambda: "1")


class Measuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        self.enterContext(mock.patch.multiple(measure, CLIENT_CORE="0", SETTLE_SECONDS=0))

    def rig(self, fault="pass"):
        client = self.work / "client"
        client.write_text(CLIENT.format(python=sys.executable, fault=fault))
        client.chmod(client.stat().st_mode | stat.S_IXUSR)
        return measure.Bench(self.work, client, sizes=SIZES)

    def figures(self, server, fault="pass"):
        return works.fetched("large", rate=200)(self.rig(fault), server)

    def test_cpu_time_of_the_server_is_measured(self):
        self.assertGreaterEqual(self.figures(server("burn(50)"))["cpu_ms"], 50)

    def test_cpu_time_of_the_client_and_of_the_first_request_is_not(self):
        burn = "end = time.process_time() + 0.2\n    while time.process_time() < end: pass"
        figures = self.figures(server("burn(200 if datagram == b'small' else 0)"), burn)
        self.assertLess(figures["cpu_ms"], 100)

    def test_speed_is_the_work_by_the_time_that_the_client_took(self):
        self.assertEqual(self.figures(server())["rate"], 400)

    def test_memory_of_idle_connections_is_what_they_add(self):
        with mock.patch.object(works, "IDLE", 4):
            kept = works.idle(self.rig(), server("kept.append(bytearray(4_000_000))"))["kb"]
        # 4,000,000 bytes are 3906 KB; the first allocations of all take a page or two.
        self.assertAlmostEqual(kept, 3906, delta=40)

    def test_a_client_that_fails_is_a_failure_with_its_last_words(self):
        with self.assertRaisesRegex(processes.Failure, "the client exited with 1: status 404"):
            self.figures(server(), "sys.exit('status 404')")

    def test_a_client_that_hangs_is_a_failure(self):
        with mock.patch.object(measure, "CLIENT_SECONDS", 0.5):
            with self.assertRaisesRegex(processes.Failure, "the client did not end within 0.5 s"):
                self.figures(server(), "time.sleep(60)")

    def test_a_server_that_does_not_start_is_a_failure(self):
        broken = servers.Server("broken", lambda *_: [sys.executable, "-c", "exit('no port')"], None, None)
        with self.assertRaisesRegex(processes.Failure, "the server exited with 1: no port"):
            self.figures(broken)

    def test_a_server_that_fails_does_not_keep_others_from_the_work(self):
        broken = servers.Server("broken", lambda *_: [sys.executable, "-c", "exit('no port')"], None, None)
        work = works.Work("W1", "", works.fetched("large"), (works.CPU,))
        with contextlib.redirect_stderr(io.StringIO()):
            figures = rounds.interleaved(self.rig(), [work], [broken, server()], 2)
        self.assertEqual(figures.failures, {("W1", "broken"): "the server exited with 1: no port"})
        self.assertEqual(len(figures.values("W1", "server", "cpu_ms")), 2)

    def test_over_http2_the_rate_is_what_h2load_says_and_another_status_is_a_failure(self):
        rig, h2load = self.rig(), self.work / "h2load"

        def rate(well):
            h2load.write_text(f"#!/bin/sh\necho 'finished in 1.00s, 1234.50 req/s'\necho 'status codes: {well} 2xx'\n")
            h2load.chmod(0o755)
            with mock.patch.object(measure, "H2LOAD", h2load):
                return rig.h2load(SimpleNamespace(port=1), "small", 2)

        self.assertEqual(rate(2), 1234.5)
        with self.assertRaisesRegex(processes.Failure, "h2load: .*status codes: 1 2xx"):
            rate(1)

    def test_a_program_that_is_not_there_is_missing(self):
        absent = servers.Server("absent", lambda *_: ["/nowhere/absent"], None, None)
        self.assertIn("absent is not there", servers.missing(absent, self.rig().site))
        self.assertIsNone(servers.missing(server(), None))


class Rounds(unittest.TestCase):
    def test_servers_take_turns_and_long_works_have_fewer_rounds(self):
        calls = []

        def measured(name):
            return lambda _bench, server: calls.append(f"{name} {server.name}") or {"cpu_ms": 1}

        short = works.Work("W1", "", measured("W1"), (works.CPU,))
        long = works.Work("W2", "", measured("W2"), (works.CPU,), rounds=1)
        only = servers.Server("c", None, None, None, works=("W2",))
        with contextlib.redirect_stderr(io.StringIO()):
            rounds.interleaved(None, [short, long], [server(name="a"), server(name="b"), only], 2)
        self.assertEqual(calls, ["W1 a", "W1 b", "W2 a", "W2 b", "W2 c", "W1 a", "W1 b"])


if __name__ == "__main__":
    unittest.main()
