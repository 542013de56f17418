"""Do the tables say what the figures say, and what is missing?"""

import json
import unittest
from types import SimpleNamespace

from . import goals, report
from .figures import Figures

FACTS = {"rounds": 3, "machine": "2 x Test", "precedence": "", "versions": {"utmost": "1"}}


def figures(work="W1", **by_server):
    made = Figures()
    for server, values in by_server.items():
        for value in values:
            made.add(work, server.replace("_", "-"), value and {"cpu_ms": value, "rate": 1, "peak_mb": value})
    return made


def document(figures, missing=None):
    return report.document(figures, SimpleNamespace(only=None), missing or {}, FACTS)


class Ratios(unittest.TestCase):
    def test_a_slow_round_moves_both_sides_and_not_their_ratio(self):
        made = figures(utmost=[100, 300, 120], gtlsserver=[200, 600, 240])
        self.assertEqual(made.ratio(("W1", "utmost", "cpu_ms"), ("W1", "gtlsserver", "cpu_ms")), 0.5)

    def test_a_round_in_which_one_side_failed_has_no_ratio(self):
        made = figures(utmost=[100, 300], gtlsserver=[None, 600])
        self.assertEqual(made.ratio(("W1", "utmost", "cpu_ms"), ("W1", "gtlsserver", "cpu_ms")), 0.5)
        self.assertIsNone(made.ratio(("W1", "utmost", "cpu_ms"), ("W1", "h2o", "cpu_ms")))

    def test_the_best_has_the_least_median(self):
        made = figures(gtlsserver=[1, 9, 9], quic_go=[5, 5, 5])
        self.assertEqual(made.best("W1", "cpu_ms", ["gtlsserver", "quic-go", "h2o"]), "quic-go")


class Tables(unittest.TestCase):
    def test_a_cell_has_the_median_the_least_and_the_most(self):
        text = document(figures(utmost=[100, 300, 120], gtlsserver=[200, 600, 240]))
        self.assertIn("| utmost | 120 (100 to 300) | 1.00 | 0.50 |", text)
        self.assertIn("| gtlsserver | 240 (200 to 600) | 2.00 | 1.00 |", text)

    def test_a_server_that_is_missing_is_named_with_the_reason(self):
        text = document(figures(utmost=[100]), {"h2o": "no package"})
        self.assertIn("| h2o | missing |", text)
        self.assertIn("- h2o: no package", text)

    def test_a_server_that_failed_is_named_with_the_reason(self):
        made = figures(utmost=[100])
        made.failed("W1", "quic-go", "status 404")
        text = document(made)
        self.assertIn("| quic-go | failed | - | - | failed | failed |", text)
        self.assertIn("- quic-go, W1: status 404", text)

    def test_growth_is_of_one_server_from_the_first_work_to_the_last(self):
        made = Figures()
        for work, value in (("S10", 40.0), ("S10000", 50.0)):
            made.add(work, "utmost", {"cpu_us": value, "rate": 1})
        self.assertIn("| utmost | 40.0 (40.0 to 40.0) | 50.0 (50.0 to 50.0) | 1.25 |", document(made))

    def test_json_has_every_round(self):
        made = figures(utmost=[100, 300])
        rounds = json.loads(report.as_json(made, {}, FACTS))["figures"][0]["rounds"]
        self.assertEqual([it["cpu_ms"] for it in rounds], [100, 300])


class Goals(unittest.TestCase):
    def rows(self, made):
        return {text: rest for text, *rest in goals.rows(made)}

    def test_a_goal_that_is_missed_fails_with_its_figure(self):
        rows = self.rows(figures(utmost=[100], gtlsserver=[80], tokio_quiche=[200]))
        self.assertEqual(rows["W1: CPU time, ours to the best other's"], ["1.250", "1.2", "**fails**"])
        self.assertEqual(rows["W1: CPU time, ours to tokio-quiche's"], ["0.500", "0.8", "holds"])

    def test_a_goal_without_its_figures_is_not_measured(self):
        rows = self.rows(figures(utmost=[100]))
        self.assertEqual(rows["W1: CPU time, ours to tokio-quiche's"], ["-", "0.8", "not measured"])

    def test_our_own_variant_is_not_the_best_other(self):
        made = figures(utmost=[100], gtlsserver=[100])
        made.add("W1", "utmost, bulk", {"cpu_ms": 50, "rate": 1, "peak_mb": 1})
        self.assertEqual(self.rows(made)["W1: the first place"], ["1.000", "1", "holds"])


if __name__ == "__main__":
    unittest.main()
