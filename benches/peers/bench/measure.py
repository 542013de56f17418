"""One server does one work, and what it used is read: each on a core of its own, the server on 0, the client on 1."""

import json
import re
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness import processes, stacks
from harness import site as sites

from . import servers

SERVER_CORE, CLIENT_CORE = "0", "1"
CLIENT_SECONDS = 180
H2LOAD = servers.CLIENTS[servers.HTTP2]
# Memory that a server gives back after a handshake, it gives back soon.
SETTLE_SECONDS = 0.5
SIZES = {"small": 10_000, "urgent": 1_000_000, "medium": 20_000_000, "large": 200_000_000}
SIZES |= {"7B": 7, "40kB": 40_000, "100kB": 100_000}
LINK = 'about = "100 Mbit/s, round trip 50 ms; queue: one bandwidth-delay product"\n'
LINK += "rate = 100_000_000\ndelay_ms = 25\nqueue = { bytes = 625_000 }\n"


@dataclass(frozen=True)
class Site:
    """The files on disk, and the certificate that protects them."""

    root: Path
    ca: Path
    cert: Path
    key: Path


def build(work, sizes=SIZES):
    site = Site(work / "root", work / "ca.pem", work / "cert.pem", work / "key.pem")
    site.root.mkdir()
    for name, size in sizes.items():
        (site.root / name).write_bytes((bytes(range(250)) * (size // 250 + 1))[:size])
    sites.certify(work, site)
    return site


class Bench:
    """What all measurements share: the site, the client, and how programs are pinned."""

    def __init__(self, work, client, real_time=False, sizes=SIZES):
        self.work, self.client, self.sizes = work, client, sizes
        self.site = build(work, sizes)
        self.first = ["chrt", "-r", "5"] if real_time else []

    def pinned(self, core, command):
        return [*self.first, "taskset", "-c", core, *map(str, command)]

    @contextmanager
    def serving(self, server, many=False):
        """The server runs, and has answered a first request."""
        with self.running(server, server.many if many else server.command) as it:
            self.load(it, "small")
            yield it

    def running(self, server, command):
        """The server runs on its core."""
        pinned = stacks.Server(
            server.name,
            lambda site, port: self.pinned(SERVER_CORE, command(site, port)),
            says_listening=server.says_listening,
        )
        return processes.running(pinned, self.site, self.work / "server.log")

    @contextmanager
    def behind_link(self, server):
        """The server runs, and `port` is that of a slow link before it."""
        network, log = self.work / "link.toml", self.work / "link.log"
        network.write_text(LINK)
        with self.serving(server) as it:

            def command(_site, port):
                link = ["link", "--network", network, "--listen", f"127.0.0.1:{port}", "--to", f"127.0.0.1:{it.port}"]
                return self.pinned(CLIENT_CORE, [servers.RELEASE / "utmost", *link])

            with processes.running(stacks.Server("link", command), self.site, log) as link:
                yield it, link.port

    def load(self, it, name, *flags, port=None):
        """What the client says at its end, after it has fetched a file as `flags` tell."""
        client = self.start_client(port or it.port, name, flags)
        return self.finish(client)

    def h2load(self, it, name, requests):
        """Requests a second of h2load, which fetches a file so many times."""
        words = [H2LOAD, "-c", 20, "-m", 10, "-n", requests, f"https://127.0.0.1:{it.port}/{name}"]
        command = ["timeout", CLIENT_SECONDS, *words]
        ran = subprocess.run(self.pinned(CLIENT_CORE, command), capture_output=True, text=True, check=False)
        rate = re.search(r"([0-9.]+) req/s", ran.stdout)
        if not rate or f"status codes: {requests} 2xx" not in ran.stdout:
            last = " ".join((ran.stdout + ran.stderr).split())[-200:]
            raise processes.Failure(f"h2load: {last}")
        return float(rate.group(1))

    @contextmanager
    def opened(self, it, name, *flags):
        """The client has opened its connections; what it says at its end comes from calling what is yielded."""
        with self.start_client(it.port, name, ["-held", *flags]) as client:
            try:
                if client.stdout.readline() != "open\n":
                    self.finish(client)
                    raise processes.Failure("the client did not open its connections")
                yield lambda: self.finish(client)
            finally:
                client.kill()

    def start_client(self, port, name, flags):
        words = [self.client, "-url", f"https://localhost:{port}/{name}", "-bytes", self.sizes[name], *flags]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.pinned(CLIENT_CORE, words), text=True, **pipes)

    def finish(self, client):
        try:
            said, errors = client.communicate("\n", CLIENT_SECONDS)
        except subprocess.TimeoutExpired as error:
            client.kill()
            client.communicate()
            raise processes.Failure(f"the client did not end within {CLIENT_SECONDS} s") from error
        if client.returncode != 0:
            last = (errors.strip().splitlines() or ["it said nothing"])[-1]
            raise processes.Failure(f"the client exited with {client.returncode}: {last[:200]}")
        return json.loads(said.splitlines()[-1])


def cpu_ms(process):
    """The time for which the threads of a process have run, those that have ended apart."""
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((it / "schedstat").read_text().split()[0]) for it in tasks) / 1e6


def memory_kb(process, key):
    """VmRSS: what is resident now; VmHWM: the most that ever was."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(it.split()[1]) for it in lines if it.startswith(key + ":"))


def settled_kb(process):
    time.sleep(SETTLE_SECONDS)
    return memory_kb(process, "VmRSS")
