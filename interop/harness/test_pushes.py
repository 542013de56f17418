"""Can the harness see a push that is missing, too many, or wrong?"""

import tempfile
import unittest
from pathlib import Path

from . import pushes
from . import site as sites
from .processes import Failure

SAID = "".join(f"push {number} /{name}\n" for number, name in enumerate(pushes.NAMES[: pushes.AIOQUIC_ALLOWS]))


class Pushes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        self.site = sites.build(self.work)
        self.pushed = self.work / "pushed"
        self.pushed.mkdir()
        for name in pushes.NAMES[: pushes.AIOQUIC_ALLOWS]:
            (self.pushed / name).write_bytes((self.site.root / name).read_bytes())

    def fault(self, said=SAID):
        try:
            pushes.compare_pushed(self.site, self.pushed, said)
        except Failure as failure:
            return str(failure)
        return None

    def test_nine_whole_pushes_pass(self):
        self.assertIsNone(self.fault())

    def test_an_id_too_many_or_missing_is_seen(self):
        self.assertIn("not 0 to 8", self.fault(SAID + "push 9 /small-09.bin\n"))
        self.assertIn("not 0 to 8", self.fault(SAID.replace("push 0 ", "push 1 ")))

    def test_a_body_that_is_missing_or_differs_is_seen(self):
        first = self.pushed / pushes.NAMES[0]
        first.write_bytes(first.read_bytes() + b"x")
        self.assertIn("differs", self.fault())
        first.unlink()
        self.assertIn("not the first 9", self.fault())

    def test_a_push_that_was_not_taken_or_asked_for_again_is_seen(self):
        resources = [{"url": f"https://localhost/{name}", "pushed": True} for name in pushes.NAMES]
        report = {"runs": [{"resources": resources}]}
        pushes.check_taken(report, ["/index.html", "/small-19.bin"])
        with self.assertRaisesRegex(Failure, "asked for what it was promised"):
            pushes.check_taken(report, [f"/{pushes.NAMES[3]}"])
        resources[3]["pushed"] = False
        with self.assertRaisesRegex(Failure, "says that it was pushed"):
            pushes.check_taken(report, [])


if __name__ == "__main__":
    unittest.main()
