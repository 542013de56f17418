"""How what came over TCP is judged beside the sources."""

import unittest

from . import over_tcp


def last_cells(text):
    return [line.split(" | ")[-1].rstrip(" |") for line in text.splitlines() if line.startswith("| ")][1:]


class OverTcp(unittest.TestCase):
    def test_a_tail_holds_within_a_tenth_to_both_sides(self):
        ends = {("1.1", "cancel"): 164_000, ("2", "cancel"): 2_760_000, ("2", "close"): 134_000}
        rows = [{"server": "a", "http": http, "end": end, "tail_bytes": bytes_} for (http, end), bytes_ in ends.items()]
        self.assertEqual(last_cells(over_tcp.cancel_words(rows)), ["yes", "no", "no"])

    def test_a_server_blocks_if_an_object_takes_twice_as_long_as_on_a_connection_of_its_own(self):
        row = {"alone_ms": [50], "own_ms": [100]}
        rows = [row | {"server": "a", "shared_ms": [200]}, row | {"server": "b", "shared_ms": [199]}]
        self.assertEqual(last_cells(over_tcp.blocking_words(rows)), ["yes", "no"])

    def test_a_connection_holds_within_15_hundredths_of_a_round_trip(self):
        rows = [
            {"over": over, "path": path, "setup_rtts": rtts, "get_rtts": 1.1}
            for over, rtts in {"HTTP": 1.1, "HTTPS": 2.1, "HTTP/2": 3.0}.items()
            for path in ("/index.html", "/style.css")
        ]
        words = [line.split(" | ")[3] for line in over_tcp.setup_words(rows).splitlines() if line.startswith("| H")]
        self.assertEqual(words, ["yes", "yes", "no"])
