"""Does the router forget its mapping when it should, and lose what comes to the old one? Over real sockets."""

import unittest

from .nat import Nat, bound, is_retry

WAIT_SECONDS = 10
RETRY = b"\xff\x00\x00\x00\x01" + bytes(40)


class Routers(unittest.TestCase):
    def setUp(self):
        self.server, self.client = self.end(), self.end()

    def end(self):
        it = bound(("127.0.0.1", 0))
        it.settimeout(WAIT_SECONDS)
        self.addCleanup(it.close)
        return it

    def nat(self, **options):
        return self.enterContext(Nat(self.server.getsockname(), **options))

    def ask(self, nat):
        """Where the server hears the client from."""
        self.client.sendto(b"ask", nat.address)
        datagram, source = self.server.recvfrom(2048)
        self.assertEqual(datagram, b"ask")
        return source

    def answer(self, source, datagram):
        self.server.sendto(datagram, source)
        self.assertEqual(self.client.recv(2048), datagram)

    def test_a_router_keeps_its_mapping_until_enough_has_come(self):
        nat = self.nat(every=1000, sources=["127.0.0.1"])
        first = self.ask(nat)
        self.answer(first, bytes(900))
        self.assertEqual(self.ask(nat), first)
        self.answer(first, bytes(100))
        second = self.ask(nat)
        self.assertEqual(second[0], first[0])
        self.assertNotEqual(second[1], first[1])
        self.answer(second, bytes(700))
        self.assertEqual(nat.mappings, [1000, 700])

    def test_a_new_address_keeps_the_port(self):
        nat = self.nat(every=1, sources=["127.0.0.2"])
        host, port = self.ask(nat)
        self.answer((host, port), b"one")
        self.assertEqual(self.ask(nat), ("127.0.0.2", port))

    def test_what_comes_to_a_forgotten_mapping_is_lost(self):
        nat = self.nat(every=1, sources=["127.0.0.1"])
        first = self.ask(nat)
        self.answer(first, b"one")
        second = self.ask(nat)
        self.server.sendto(b"lost", first)
        self.answer(second, b"two")
        self.assertEqual(nat.mappings, [3, 3])

    def test_only_the_server_is_let_in(self):
        nat = self.nat()
        source = self.ask(nat)
        self.end().sendto(b"stranger", source)
        self.answer(source, b"one")
        self.assertEqual(nat.mappings, [3])

    def test_retry_packets_are_counted_and_told_from_others(self):
        nat = self.nat()
        source = self.ask(nat)
        self.answer(source, RETRY)
        self.answer(source, b"\xc3\x00\x00\x00\x01" + bytes(40))
        self.assertEqual(nat.retries, 1)
        self.assertFalse(is_retry(b"\x7f\x00\x00\x00\x01"))
        self.assertFalse(is_retry(b"\xff\x00\x00\x00\x00"))


if __name__ == "__main__":
    unittest.main()
