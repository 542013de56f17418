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

    def test_a_byte_above_the_fold_counts_once_its_resource_is_there(self):
        resources = [
            {"url": "/", "bytes": 100, "above_fold": True},
            {"url": "/a.png", "bytes": 300, "above_fold": True},
            {"url": "/b.png", "bytes": 900},
        ]
        self.assertEqual(judged.byte_index(resources, {"/": 40, "/a.png": 80, "/b.png": 1000}), 70)
        self.assertIsNone(judged.byte_index(resources, {"/": 40}))

    def test_first_is_below_all_others_and_near_is_within_2_percent_of_the_best(self):
        others = [[200, 300], [100, 120], [None]]
        self.assertEqual([judged.is_first([it], others) for it in (109, 110)], [True, False])
        self.assertEqual([judged.is_near_the_best([it], others) for it in (112, 113)], [True, False])
        self.assertIsNone(judged.is_first([None], others))

    def test_later_is_surely_later(self):
        self.assertTrue(judged.is_later([110, 120], [100, 100]))
        self.assertFalse(judged.is_later([110, 90, 95, 99], [100, 100, 100, 100]))

    def test_the_mean_of_ratios_is_geometric(self):
        self.assertAlmostEqual(judged.mean_ratio([([200], [100]), ([50], [100]), ([], [100])]), 1)

    def test_without_the_baseline_there_are_times_alone(self):
        self.assertEqual(judged.cell([100, 200, 300], None), "200")


if __name__ == "__main__":
    unittest.main()
