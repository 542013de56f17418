"""A router that translates addresses, between the lab's link and a server. In a transfer, it forgets its mapping.

`utmost link` delays, loses and changes datagrams, but keeps its port. What comes to a mapping that was forgotten is lost, as it
is behind a real router.
"""

import selectors
import socket
import threading

POLL_SECONDS = 0.05
DATAGRAM_BYTES = 65_536


class Nat:
    """Translates for one client of the server at (host, port), on a port of its own.

    Each time that `every` bytes have come from the server through a mapping, the next of `sources` replaces it: a host, from
    which the port is new if the host is the same, and otherwise stays.
    """

    def __init__(self, server, every=None, sources=()):
        self.server, self.every, self.sources = server, every, list(sources)
        # The bytes that came from the server, through one mapping after the other; and its Retry packets.
        self.mappings = []
        self.retries = 0
        self.client = None
        self.forgotten = []
        self.selector = selectors.DefaultSelector()
        self.inside = bound(("127.0.0.1", 0))
        self.selector.register(self.inside, selectors.EVENT_READ, self.from_client)
        self.outside = None
        self.map(("127.0.0.1", 0))
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    @property
    def address(self):
        """Where the client's datagrams are expected."""
        return self.inside.getsockname()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        for it in [self.inside, self.outside, *self.forgotten]:
            it.close()
        self.selector.close()

    def run(self):
        while not self.stopping.is_set():
            for key, _ in self.selector.select(POLL_SECONDS):
                key.data()

    def from_client(self):
        for datagram, self.client in waiting(self.inside):
            send(self.outside, datagram, self.server)

    def from_server(self):
        for datagram, source in waiting(self.outside):
            if source != self.server:
                continue
            self.mappings[-1] += len(datagram)
            self.retries += is_retry(datagram)
            send(self.inside, datagram, self.client)
        if self.sources and self.mappings[-1] >= self.every:
            host, port = self.outside.getsockname()
            source = self.sources.pop(0)
            self.map((source, 0 if source == host else port))

    def map(self, source):
        """A new mapping. The old one stays bound, so that nobody else gets its port, and is not read any more."""
        if self.outside:
            self.selector.unregister(self.outside)
            self.forgotten.append(self.outside)
        self.outside = bound(source)
        self.selector.register(self.outside, selectors.EVENT_READ, self.from_server)
        self.mappings.append(0)


def bound(address):
    it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    it.bind(address)
    it.setblocking(False)
    return it


def waiting(it):
    while True:
        try:
            yield it.recvfrom(DATAGRAM_BYTES)
        except BlockingIOError:
            return


def send(it, datagram, to):
    """A full socket loses the datagram, as a full router does."""
    try:
        it.sendto(datagram, to)
    except BlockingIOError:
        pass


def is_retry(datagram):
    """A long header of version 1 whose type is Retry (RFC 9000, section 17.2.5)."""
    return datagram[0] & 0xF0 == 0xF0 and datagram[1:5] == b"\x00\x00\x00\x01"
