#!/usr/bin/env python3
"""A client of one connection, HTTP/1.1 or HTTP/2, that can leave a response or the connection: run behind `utmost link --tun`.

It prints one line of JSON. `tail`: the bytes that the link still brings after the end of a download. `beside`: the times of small
objects beside a download, over its connection and over another. `fill`: the bytes of a download, and the server's CPU time.
"""

import json
import os
import select
import socket
import ssl
import sys
import time
from pathlib import Path

HOST, ADDRESS = "www.page.test", ("10.0.0.1", 443)
DOWNLOAD, OBJECT = "/download", "/object"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
CANCEL = 8
WINDOW_BYTES = (1 << 31) - 1
FRAME_HEAD_BYTES = 9
# Longer than a round trip and the queue.
SILENCE_S = 1.0
WAIT_S = 0.02


def secured(protocol):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    line = context.wrap_socket(socket.create_connection(ADDRESS), server_hostname=HOST)
    line.setblocking(False)
    return line


def arrived(line):
    """What has come, which may be nothing."""
    try:
        return line.recv(1 << 16)
    except ssl.SSLWantReadError:
        return b""


class Http1:
    def __init__(self):
        self.line = secured("http/1.1")
        self.bytes = 0

    def ask(self, path):
        self.line.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())

    def read(self):
        self.bytes += len(arrived(self.line))

    def cancel(self):
        """Only the end of its connection ends a response."""
        self.line.close()


class Http2:
    def __init__(self):
        self.line = secured("h2")
        self.unread, self.bytes, self.next, self.ended_s = bytearray(), 0, 1, {}
        settings = b"\0\2\0\0\0\0" + b"\0\4" + WINDOW_BYTES.to_bytes(4, "big")
        self.line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.send(SETTINGS, 0, 0, settings)
        self.send(WINDOW_UPDATE, 0, 0, (WINDOW_BYTES - 65535).to_bytes(4, "big"))

    def send(self, kind, flags, stream, payload=b""):
        self.line.sendall(len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload)

    def ask(self, path):
        """Returns the stream. `:method` and `:scheme` are of HPACK's table, `:authority` and `:path` literals."""
        literal = lambda index, text: bytes([index, len(text)]) + text.encode()
        stream, self.next = self.next, self.next + 2
        self.send(HEADERS, END_STREAM | END_HEADERS, stream, b"\x82\x87" + literal(1, HOST) + literal(4, path))
        return stream

    def cancel(self, stream=1):
        self.send(RST_STREAM, 0, stream, CANCEL.to_bytes(4, "big"))

    def read(self):
        self.unread += arrived(self.line)
        while len(self.unread) >= FRAME_HEAD_BYTES:
            end = FRAME_HEAD_BYTES + int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < end:
                break
            kind, flags, stream = self.unread[3], self.unread[4], int.from_bytes(self.unread[5:9], "big")
            self.take(kind, flags, stream, bytes(self.unread[FRAME_HEAD_BYTES:end]))
            del self.unread[:end]

    def take(self, kind, flags, stream, payload):
        if kind == DATA:
            self.bytes += len(payload)
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self.ended_s[stream] = time.monotonic()
        if kind in (SETTINGS, PING) and not flags & ACK:
            self.send(kind, ACK, 0, payload if kind == PING else b"")


def read_for(seconds, *connections):
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        read(*connections)


def read(*connections):
    """What has come over each of them, as soon as something has."""
    lines = [it.line for it in connections]
    if not any(it.pending() for it in lines):
        select.select(lines, [], [], WAIT_S)
    for it in connections:
        it.read()


def tail(version, end, after_s):
    """The download alone, and `end` after `after_s`: `cancel` resets its stream, or closes HTTP/1.1; `close` closes the connection."""
    connection = Http1() if version == "1.1" else Http2()
    connection.ask(DOWNLOAD)
    read_for(float(after_s), connection)
    before_bytes, is_open = link_bytes(), version == "2" and end == "cancel"
    connection.cancel() if end == "cancel" else connection.line.close()
    last_bytes, changed_s = before_bytes, time.monotonic()
    while time.monotonic() - changed_s < SILENCE_S:
        read(connection) if is_open else time.sleep(WAIT_S)
        if (now_bytes := link_bytes()) != last_bytes:
            last_bytes, changed_s = now_bytes, time.monotonic()
    return {"tail_bytes": last_bytes - before_bytes}


def link_bytes():
    """All bytes of IP that have come over the link."""
    lines = Path("/proc/self/net/dev").read_text().splitlines()
    return next(int(it.split(":")[1].split()[0]) for it in lines if it.strip().startswith("utmost:"))


def beside(count):
    """In ms: objects on an empty connection; then beside a download, over its connection and over one of their own, in turn."""
    shared = Http2()
    alone_ms = [timed_ms(shared) for _ in range(5)]
    shared.ask(DOWNLOAD)
    read_for(5, shared)
    own = Http2()
    both_ms = [(timed_ms(shared, own), timed_ms(own, shared)) for _ in range(int(count))]
    return {"alone_ms": alone_ms, "shared_ms": [it[0] for it in both_ms], "own_ms": [it[1] for it in both_ms]}


def timed_ms(connection, *others):
    asked_s = time.monotonic()
    stream = connection.ask(OBJECT)
    while stream not in connection.ended_s:
        read(connection, *others)
    return (connection.ended_s[stream] - asked_s) * 1000


def fill(program, seconds):
    """After two seconds, so that the window has grown."""
    connection = Http2()
    connection.ask(DOWNLOAD)
    read_for(2, connection)
    before_bytes, before_ns, began_s = connection.bytes, cpu_ns(program), time.monotonic()
    read_for(float(seconds), connection)
    took_s = time.monotonic() - began_s
    return {"bytes": connection.bytes - before_bytes, "seconds": took_s, "cpu_ns": cpu_ns(program) - before_ns}


def cpu_ns(program):
    """The CPU time of all threads of the server, which listens where it is told to."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if os.path.basename(words[0]).decode().startswith(program) and b"10.0.0.1:443" in words:
                return sum(int((it / "schedstat").read_text().split()[0]) for it in (process / "task").iterdir())
        except OSError:
            continue
    raise ValueError(f"no {program} listens")


if __name__ == "__main__":
    print(json.dumps({"tail": tail, "beside": beside, "fill": fill}[sys.argv[1]](*sys.argv[2:])))
