"""Starts and stops the programs. Each server has a port of its own, and only what was started here is stopped."""

import os
import random
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

READY_SECONDS = 20
CLIENT_SECONDS = 60
STOP_SECONDS = 10
POLL_SECONDS = 0.02
# States in /proc/net: connected; of UDP, not connected; of TCP, listening.
BOUND = ("01", "07", "0A")
# gtlsserver lives where only root's PATH leads.
ENVIRONMENT = {**os.environ, "PATH": os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"}


class Failure(Exception):
    """What went wrong, in one line."""


class Running:
    """A server that runs."""

    def __init__(self, process, port, log):
        self.process, self.port, self.log = process, port, log
        self.exit_code = None

    def said(self, text):
        return text in self.log.read_text(errors="replace")


@contextmanager
def running(server, site, log):
    """Runs the server while the block runs; afterwards it has exited and its port is free."""
    port = free_port()
    with log.open("wb") as sink:
        server_process = start(server.command(site, port), sink, subprocess.STDOUT)
    it = Running(server_process, port, log)
    try:
        wait_until_ready(it, server)
        yield it
    finally:
        stop(it)


def start(command, out, err):
    """Starts a program in a process group of its own."""
    try:
        return subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=ENVIRONMENT,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise Failure(f"{error.filename} is not installed: run interop/setup") from error


def wait_until_ready(it, server):
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if it.process.poll() is not None:
            raise Failure(f"the server exited with {it.process.returncode}: {last_line(it.log)}")
        ready = it.said(f"listening on {at(server.host, it.port)}") if server.says_listening else is_bound(it.port)
        if ready:
            return
        time.sleep(POLL_SECONDS)
    raise Failure(f"the server was not ready within {READY_SECONDS} s: {last_line(it.log)}")


def stop(it):
    """SIGTERM, and SIGKILL for a server that does not heed it; a lingering one would answer for the next."""
    it.process.terminate()
    try:
        it.exit_code = it.process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    kill_group(it.process)
    deadline = time.monotonic() + STOP_SECONDS
    while is_bound(it.port):
        if time.monotonic() > deadline:
            raise Failure(f"port {it.port} is still bound after the server's end")
        time.sleep(POLL_SECONDS)


def kill_group(process):
    """Ends the program and whatever it has started; its group is its own, so nobody else is hit."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_client(command, out, err, exit_codes=(0,)):
    """Runs a client to its end, with one of these exit codes. Its output goes to the file `out`, its errors to `err`."""
    with out.open("wb") as out_sink, err.open("wb") as err_sink:
        process = start(command, out_sink, err_sink)
    try:
        exit_code = process.wait(CLIENT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"the client did not end within {CLIENT_SECONDS} s: {last_line(err)}") from error
    finally:
        kill_group(process)
    if exit_code not in exit_codes:
        raise Failure(f"the client exited with {exit_code}: {last_line(err)}")


def free_port():
    """A UDP port that nobody has, below those that the system gives to clients."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                continue
            return port


def at(host, port):
    """`127.0.0.1:4433`, `[::1]:4433`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_bound(port):
    """Whether somebody has the port for UDP, or listens at it for TCP."""
    tables = [it for it in map(Path("/proc/net").joinpath, ("udp", "udp6", "tcp", "tcp6")) if it.exists()]
    rows = [row.split() for table in tables for row in table.read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] in BOUND for row in rows)


def last_line(log):
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"
