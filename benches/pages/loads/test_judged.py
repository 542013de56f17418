"""How rounds of visits are judged."""

import unittest

from . import judged


class Judged(unittest.TestCase):
    def test_a_round_that_was_slow_for_all_changes_no_ratio(self):
        self.assertEqual(judged.beside([50, 500, 100], [100, 1000, 200]), (0.5, 0.5, 0.5))

    def test_a_round_without_both_visits_is_left_out(self):
        self.assertEqual(judged.beside([50, None, 100], [100, 1000, None]), (0.5, 0.5, 0.5))
        self.assertIsNone(judged.beside([None], [100]))

    def test_the_interval_holds_the_median(self):
        ratio, least, most = judged.beside([90, 100, 130, 80, 110], [100, 100, 100, 100, 100])
        self.assertEqual((ratio, least, most), (1.0, 0.8, 1.3))

    def test_the_baseline_has_no_ratio_to_itself(self):
        times = [100, 200, 300]
        self.assertEqual(judged.cell(times, times), "200")
        self.assertEqual(judged.cell([50, 100, 150], times), "100, x0.50 (0.50 to 0.50)")
        self.assertEqual(judged.cell([None, None, None], times), "-")

    def test_without_the_baseline_there_are_times_alone(self):
        self.assertEqual(judged.cell([100, 200, 300], None), "200")


if __name__ == "__main__":
    unittest.main()
