"""Can the harness see an order that is wrong? A small program stands in for our server and writes the log it is told."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from . import pairs, priorities, report
from . import site as sites
from .test_harness import SERVER, client
from .test_order import packet, parsed

PLAN = priorities.Plan("plan", {"low": "u=6", "high": "u=0"}, "high,low")


def request(stream, name, priority):
    headers = [{"name": ":path", "value": f"/{name}"}, {"name": "priority", "value": f"u={priority}"}]
    signal = {"urgency": priority, "incremental": False}
    return [
        parsed(stream, {"frame_type": "headers", "headers": headers}),
        {"name": "utmost:scheduler", "data": {"op": "signalled", "stream": stream, "signal": signal}},
    ]


def sent(stream):
    return [packet((stream, 1400 * number, 1400)) for number in range(3)]


LOW, HIGH = request(0, "low", 6), request(4, "high", 0)


class Priorities(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        self.site = sites.build(self.work)

    def result(self, *logs, fault="pass"):
        texts = ["".join(f"\x1e{json.dumps(it)}\n" for it in records) for records in logs]

        def serve(_site, port, folder):
            for number, text in enumerate(texts):
                (folder / f"{number}.sqlog").write_text(text)
            return [sys.executable, "-c", SERVER.format(before=""), port]

        it = priorities.run_plan(client(fault=fault), PLAN, self.site, self.work, serve)
        return f"{it.outcome} {it.detail}".strip(), it.order

    def test_the_right_order_passes_and_is_shown(self):
        self.assertEqual(self.result(LOW + HIGH + sent(4) + sent(0)), ("pass", "high*3 low*3"))

    def test_the_wrong_order_fails_and_is_shown(self):
        words = "FAIL after 1 packets low (u=6) went before high (u=0)"
        self.assertEqual(self.result(LOW + HIGH + sent(0) + sent(4)), (words, "low*3 high*3"))

    def test_requests_that_came_too_late_to_be_ordered_fail(self):
        words = "FAIL complete in the order low,high, not high,low"
        self.assertEqual(self.result(LOW + sent(0) + HIGH + sent(4)), (words, "low*3 high*3"))

    def test_a_header_that_did_not_arrive_fails(self):
        log = LOW + request(4, "high", 3) + sent(4) + sent(0)
        words = "FAIL the server was asked {'low': 'u=6', 'high': 'u=3'}, not {'low': 'u=6', 'high': 'u=0'}"
        self.assertEqual(self.result(log)[0], words)

    def test_a_header_that_was_not_understood_fails(self):
        words = "FAIL the server understood {'low': (6, False)}, not {'low': (6, False), 'high': (0, False)}"
        self.assertEqual(self.result(LOW + HIGH[:1] + sent(4) + sent(0))[0], words)

    def test_a_second_connection_fails(self):
        words = "FAIL the client made 2 connections, not one"
        self.assertEqual(self.result(LOW + sent(0), HIGH + sent(4)), (words, ""))

    def test_a_flipped_bit_fails(self):
        words = "FAIL low differs: 100000 bytes came, 100000 were served"
        self.assertEqual(self.result(LOW + HIGH + sent(4) + sent(0), fault="body[0] ^= 1")[0], words)

    def test_a_plan_that_a_client_cannot_do_is_left_out(self):
        doable = [it.name for it in priorities.PLANS if it.needs <= client().signals]
        self.assertEqual(doable, ["unsignalled"])

    def test_those_that_share_may_be_complete_in_either_order(self):
        expected = "before,left+right,after"
        for finished in ("before,left,right,after", "before,right,left,after"):
            self.assertTrue(priorities.is_as_expected(finished, expected))
        for finished in ("left,before,right,after", "before,left,right", "before,left,right,after,more"):
            self.assertFalse(priorities.is_as_expected(finished, expected))

    def test_a_plan_says_what_is_asked_for(self):
        plan = priorities.Plan("", {"a": None, "b": "u=6"}, "", late={"c": "u=0"}, updates={"b": "u=1"})
        self.assertEqual(
            plan.asked, "`a`, `b u=6`, `c u=0` when one is complete, PRIORITY_UPDATE `b u=1` before all"
        )

    def test_the_report_shows_each_plan_and_the_orders(self):
        found = [
            pairs.Result("x", "utmost", "unsignalled", pairs.PASS, order="a*2 b"),
            pairs.Result("x", "utmost", "urgencies", pairs.FAIL, "wrong", order="b a*2"),
        ]
        head, row = report.by_plan(found)
        self.assertEqual(head[:4], ["client", "unsignalled", "urgencies", "incremental"])
        self.assertEqual(row[:4], ["x", "pass", "FAIL", "-"])
        document = report.document([("Priorities", [head, row])], {}, found)
        for line in ("## Priorities", "- x, unsignalled: `a*2 b`", "- x to utmost, urgencies: FAIL: wrong"):
            self.assertIn(line, document.splitlines())


if __name__ == "__main__":
    unittest.main()
