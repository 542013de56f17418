"""Can the harness see a verdict that is not what is known of a server?"""

import unittest

from . import pairs, verdicts
from .verdicts import Known

PRIORITIZES, DOES_NOT = Known("prioritizes"), Known("does-not", 0.2, 1.0)


def found(violations, packets, cannot_judge=None):
    return {"violations": [{}] * violations, "packets_checked": packets, "cannot_judge": cannot_judge}


class Verdicts(unittest.TestCase):
    def test_another_verdict_of_the_probe_is_seen(self):
        self.assertIsNone(verdicts.probe_fault({"verdict": "prioritizes"}, PRIORITIZES))
        self.assertIn("says weakly, not prioritizes", verdicts.probe_fault({"verdict": "weakly"}, PRIORITIZES))

    def test_too_many_broken_packets_and_too_few_are_seen(self):
        self.assertIsNone(verdicts.lint_fault(found(0, 900), PRIORITIZES))
        self.assertIn("30% of the packets", verdicts.lint_fault(found(270, 900), PRIORITIZES))
        self.assertIsNone(verdicts.lint_fault(found(270, 900), DOES_NOT))
        self.assertIn("0% of the packets", verdicts.lint_fault(found(0, 900), DOES_NOT))

    def test_a_log_that_cannot_be_judged_is_no_pass(self):
        self.assertIn("no priorities", verdicts.lint_fault(found(0, 900, "no priorities"), PRIORITIZES))
        self.assertIn("cannot judge", verdicts.lint_fault(found(0, 0), PRIORITIZES))

    def test_a_check_that_failed_still_shows_its_figures(self):
        server = verdicts.SERVERS[0]
        result = verdicts.run_check(server, verdicts.JUDGED, lambda: ("270 of 900", "too many"))
        self.assertEqual((result.outcome, result.detail, result.order), (pairs.FAIL, "too many", "270 of 900"))

    def test_the_table_has_a_row_for_each_server(self):
        server = verdicts.SERVERS[0]
        probed = verdicts.run_check(server, verdicts.PROBED, lambda: ("7.41 0.00 7.42 prioritizes", None))
        judged = verdicts.run_check(server, verdicts.JUDGED, lambda: ("0 of 900", None))
        row = ["utmost", "7.41", "0.00", "7.42", "prioritizes", "0 of 900"]
        self.assertEqual(verdicts.table([probed, judged])[1:], [[*row, "-", "pass"]])
        paired = verdicts.run_check(server, verdicts.PAIRED, lambda: ("90 of 900", "too many"))
        self.assertEqual(verdicts.table([probed, judged, paired])[1:], [[*row, "90 of 900", "FAIL"]])


if __name__ == "__main__":
    unittest.main()
