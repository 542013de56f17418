"""The article's page, and what is said of its times."""

import tempfile
import unittest
from pathlib import Path

from . import article, article_words

RATE_BYTES_PER_S = 5e6 / 8


class Page(unittest.TestCase):
    def test_its_sizes_are_those_that_the_articles_times_imply(self):
        with tempfile.TemporaryDirectory() as folder:
            article.write(Path(folder))
            sizes = {it.name: it.stat().st_size for it in Path(folder).iterdir()}
        self.assertEqual(sum(sizes.values()), article.ALL_BYTES)
        # The article: 1.8 s and 4.5 s. The first render has 0.3 s of round trips besides.
        seconds = [round(it / RATE_BYTES_PER_S, 1) for it in (article.FIRST_BYTES, article.VISIBLE_BYTES)]
        self.assertEqual(seconds, [1.5, 4.2])
        self.assertEqual(sum(sizes[it] for it in article.TEXT_BYTES), article.FIRST_BYTES)
        self.assertEqual({size for name, size in sizes.items() if name.endswith(".png")}, {article.IMAGE_BYTES})


class Words(unittest.TestCase):
    SETTINGS = [("bbr", "shallow", it) for it in (16 << 10, 10_000_000)]

    def rows(self, times):
        return [
            {"control": "bbr", "queue": "shallow", "lowat_bytes": size, "round": turn, "fcp": fcp, "complete": 2 * fcp}
            for turn, both in enumerate(times)
            for (_, _, size), fcp in zip(self.SETTINGS, both, strict=True)
        ]

    def test_a_gain_is_the_median_of_the_rounds_ratios(self):
        text = article_words.document(self.rows([(1000, 5000), (2000, 8000), (1000, 9000)]), [], self.SETTINGS, 3)
        self.assertIn("renders first 5.0 times earlier and is visually complete 5.0 times earlier on the shallow queue", text)
        self.assertIn("| bbr | shallow | 16 KiB | 1000 (1000 to 2000) |", text)

    def test_a_round_without_both_visits_gives_no_gain(self):
        rows = [it for it in self.rows([(1000, 5000), (1000, 3000)]) if not (it["round"] == 1 and it["lowat_bytes"] < 100_000)]
        self.assertEqual(article_words.gain(rows, "bbr", "shallow", [16 << 10, 10_000_000])[2]["fcp"], (5.0, 5.0, 5.0))


if __name__ == "__main__":
    unittest.main()
