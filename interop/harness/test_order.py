"""Can the checker of the order see a wrong order?

An order is written as on one line of time: `?low:u=6` is the request for low, `low` a packet of it, `!low:u=0` a
PRIORITY_UPDATE. Streams are numbered in the order of the requests.
"""

import json
import unittest

from . import order


def events(line):
    streams, found = {}, []
    for word in line.split():
        name, _, priority = word.lstrip("?!").partition(":")
        if word.startswith("?"):
            streams[name] = 4 * len(streams)
            found.append(order.Asked(streams[name], name, priority or None))
        elif word.startswith("!"):
            found.append(order.Signalled(streams[name], *order.parse(priority)))
        else:
            found.append(order.Sent(streams[name], 1400))
    return found


class Fault(unittest.TestCase):
    def assert_in_order(self, line):
        self.assertIsNone(order.fault(events(line)))

    def assert_fault(self, line, words):
        self.assertEqual(order.fault(events(line)), words)

    def test_the_lowest_urgency_number_goes_first(self):
        self.assert_in_order("?low:u=6 ?high:u=0 ?normal high high normal normal low low")

    def test_a_less_urgent_response_that_goes_first_is_seen(self):
        # The first packet may have been under way when the request for high came; the second was not.
        self.assert_in_order("?low:u=6 low ?high:u=0 low high high low")
        self.assert_fault(
            "?low:u=6 low ?high:u=0 low low high high", "after 2 packets low (u=6) went before high (u=0)"
        )

    def test_first_come_first_served_is_seen(self):
        self.assert_fault(
            "?low:u=6 ?high:u=0 low low low high high high", "after 1 packets low (u=6) went before high (u=0)"
        )

    def test_a_request_without_the_header_is_u_3_and_not_incremental(self):
        self.assert_fault("?a:u=4 ?b a a b b", "after 1 packets a (u=4) went before b (u=3)")
        self.assert_in_order("?a:u=2 ?b a a b b")
        self.assert_fault("?a ?b a b b a", "after 1 packets b (u=3) went before a (u=3), which has the lower stream ID")

    def test_sharing_without_incremental_is_seen(self):
        self.assert_fault(
            "?a:u=3 ?b:u=3 a b a b", "after 1 packets b (u=3) went before a (u=3), which has the lower stream ID"
        )

    def test_one_after_another_in_spite_of_incremental_is_seen(self):
        self.assert_in_order("?a:u=2,i ?b:u=2,i a b a b a b")
        self.assert_in_order("?a:u=2,i ?b:u=2,i a a b b a a b b")
        self.assert_fault(
            "?a:u=2,i ?b:u=2,i a a a a a a b b b b b b",
            "after 4 packets a (u=2, i) had 5 packets in a row and did not share with b (u=2, i)",
        )

    def test_the_last_incremental_response_need_not_share(self):
        self.assert_in_order("?a:u=2,i ?b:u=2,i a b a b a a a a a a a")

    def test_incremental_and_other_responses_of_one_urgency_may_mix(self):
        self.assert_in_order("?a:u=2,i ?b:u=2 a b b a")
        self.assert_in_order("?a:u=2,i ?b:u=2 b b a a")

    def test_urgency_goes_before_sharing(self):
        self.assert_in_order("?a:u=2,i ?b:u=1,i b b b b b b a a")

    def test_a_late_urgent_response_that_has_to_wait_is_seen(self):
        self.assert_in_order("?a:u=4 a a ?late:u=0 late late a a")
        self.assert_fault(
            "?a:u=4 a a ?late:u=0 a a late late", "after 3 packets a (u=4) went before late (u=0)"
        )

    def test_an_update_overrides_the_header(self):
        self.assert_in_order("?a:u=4 ?b:u=7 !b:u=0 b b a a")
        self.assert_in_order("?a:u=4 ?b:u=7 a !b:u=0 b b a")
        self.assert_fault("?a:u=4 ?b:u=7 !b:u=0 a a b b", "after 1 packets a (u=4) went before b (u=0)")

    def test_a_response_that_was_not_asked_for_is_seen(self):
        stray = [order.Sent(4, 1400)]
        self.assertEqual(order.fault(events("?a a") + stray), "stream 4 has an event before it was asked for")


class Shown(unittest.TestCase):
    def test_packets_are_counted_and_groups_found(self):
        self.assertEqual(order.shown(events("?a ?b a")), "a")
        self.assertEqual(order.shown(events("?a ?b a a a b")), "a*3 b")
        self.assertEqual(order.shown(events("?a ?b ?c c c a b a b a b c")), "c*2 (a b)*3 c")
        self.assertEqual(order.shown(events("?a ?b ?c a b c a b c")), "(a b c)*2")
        self.assertEqual(order.shown([]), "")

    def test_responses_are_named_in_the_order_of_their_last_packets(self):
        self.assertEqual(order.finished(events("?a ?b ?c c a b c b a")), "c,b,a")


class Read(unittest.TestCase):
    def test_a_log_gives_requests_signals_and_first_transmissions(self):
        headers = [{"name": ":path", "value": "/high"}, {"name": "priority", "value": "u=0"}]
        signal = {"op": "signalled", "stream": 4, "signal": {"urgency": 0, "incremental": False}}
        records = [
            {"file_schema": "urn:ietf:params:qlog:file:sequential"},
            parsed(4, {"frame_type": "headers", "headers": headers}),
            parsed(2, {"frame_type": "settings", "settings": []}),
            {"time": 1, "name": "utmost:scheduler", "data": signal},
            {"time": 1, "name": "utmost:scheduler", "data": {"op": "picked", "stream": 4}},
            packet((3, 0, 43), (4, 0, 1000)),
            # Half of it again, and 600 bytes that are new.
            packet((4, 500, 1100)),
            # A retransmission, and an empty frame with the end.
            packet((4, 0, 1000), (4, 1600, 0)),
        ]
        text = "".join(f"\x1e{json.dumps(it)}\n" for it in records)
        self.assertEqual(
            order.read(text),
            [order.Asked(4, "high", "u=0"), order.Signalled(4, 0, False), order.Sent(4, 1000), order.Sent(4, 600)],
        )


def parsed(stream, frame):
    return {"time": 1, "name": "http3:frame_parsed", "data": {"stream_id": stream, "frame": frame}}


def packet(*frames):
    rows = [
        {"frame_type": "stream", "stream_id": stream, "offset": offset, "raw": {"payload_length": length}}
        for stream, offset, length in frames
    ]
    return {"time": 1, "name": "quic:packet_sent", "data": {"frames": [{"frame_type": "ack"}, *rows]}}


if __name__ == "__main__":
    unittest.main()
