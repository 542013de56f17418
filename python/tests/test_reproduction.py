"""Reproductions: kept ones, fresh ones, and studies of the same loads agree."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT

import utmost

RESULTS = ROOT / "results"


@pytest.fixture(scope="module")
def table2() -> utmost.Reproduction:
    return utmost.read_reproduction(RESULTS / "marx-table2.json")


@pytest.fixture(scope="module")
def study(program: str) -> utmost.Study:
    """The loads of Table 2 and Figure 12, as a study."""
    return utmost.compare(
        paper=True,
        metadata="full",
        send_buffer=[0, "1000k"],
        metric="byte_index_sampled",
        program=program,
    )


def test_every_kept_result_can_be_read(program: str) -> None:
    kept = {it.stem for it in RESULTS.glob("*.json")} - {"definitions"}
    names = {it for it in kept if not it.endswith(".manifest")}
    assert names == set(utmost.experiments(program=program))
    for name in sorted(names):
        document = json.loads((RESULTS / f"{name}.json").read_text())
        read = utmost.read_reproduction(RESULTS / f"{name}.json")
        assert list(read.rows["id"]) == [it["id"] for it in document["rows"]], name
        cells = [cell for it in document.get("tables", []) for line in it["lines"] for cell in line["values"]]
        assert read.values["value"].notna().sum() == sum(it["value"] is not None for it in cells), name
        assert read.conditions["git_commit"] == document["provenance"]["git_commit"], name


def test_a_row_has_its_verdict_and_interval(table2: utmost.Reproduction) -> None:
    shown = ["ours", "low", "high", "published", "source_condition", "source_holds"]
    row = table2.rows.set_index("id")[shown].loc["all-wrr"]
    assert list(row) == [
        *(1.0163, 1.0072, 1.0281, 1.05),
        "within 0.07",
        True,
    ]
    assert int(table2.rows.source_holds.sum()) == 54
    assert int(table2.rows.source_holds.notna().sum()) == 109
    assert table2.all_hold is False
    assert (
        "54 of 109 conditions by the source hold. It exits with 1 and names the 55" in (ROOT / "ARTIFACT.md").read_text()
    )


def test_reproducing_gives_the_kept_rows(program: str, table2: utmost.Reproduction, tmp_path: Path) -> None:
    fresh = utmost.reproduce("marx-table2", out=tmp_path, program=program)
    pd.testing.assert_frame_equal(fresh.rows, table2.rows)
    pd.testing.assert_frame_equal(fresh.values, table2.values)
    written = utmost.read_reproduction(tmp_path / "marx-table2.json")
    pd.testing.assert_frame_equal(written.rows, table2.rows)


def test_a_study_of_the_same_loads_gives_table_2(study: utmost.Study, table2: utmost.Reproduction) -> None:
    rows = table2.rows.set_index("id")[["ours", "low", "high"]].T
    cells_of = {("all", 0): "all", ("atf", 0): "atf", ("1000k", 1_000_000): "atf"}
    compared = 0
    for (column, buffer), resources in cells_of.items():
        cells = study.summary[(study.summary.send_buffer_bytes == buffer) & (study.summary.scheme != "rr")]
        for cell in cells.to_dict("records"):
            kept = rows[f"{column}-{cell['scheme']}"]
            stem = f"mean_speedup_{resources}"
            ours = [cell[stem], cell[f"{stem}_low"], cell[f"{stem}_high"]]
            assert [round(it, 4) for it in ours] == list(kept), kept.name
            compared += 1
    assert compared == 30


def test_a_study_of_the_same_loads_gives_figure_12(study: utmost.Study) -> None:
    kept = utmost.read_reproduction(RESULTS / "marx-figure12.json").rows.set_index("id")["ours"]
    pages = study.pages[study.pages.scheme != "rr"]
    plain, buffered = (pages[pages.send_buffer_bytes == it] for it in (0, 1_000_000))
    dots = pd.concat([plain.speedup_all, plain.speedup_atf, buffered.speedup_atf]).dropna()
    assert len(dots) == 1800
    assert round(float((dots > 1).mean()), 4) == kept["almost-all-faster"]
    assert round(float((dots >= 0.995).mean()), 4) == kept["almost-all-as-fast"]
    davies = plain[plain.page == "davies-meenan"].set_index("scheme").speedup_atf
    assert round(float(davies.max()), 4) == kept["davies"]
    lost = study.summary.pivot(index="scheme", columns="send_buffer_bytes", values="mean_speedup_atf")
    good = ["fifo", "dfifo", "p+", "spdyrr", "bucket", "bucket-html", "zeroweight"]
    assert round(float((lost[1_000_000] / lost[0])[good].min()), 4) == kept["buffer-less-than-half"]


def test_an_experiment_that_is_not_known_raises_the_programs_message(program: str) -> None:
    with pytest.raises(utmost.ProgramFailed, match="^no experiment `marx-table3`: use one of marx-table2,"):
        utmost.reproduce("marx-table3", program=program)


def test_a_result_of_another_format_is_rejected(tmp_path: Path) -> None:
    text = (RESULTS / "marx-cases.json").read_text()
    path = tmp_path / "marx-cases.json"
    path.write_text(text.replace("utmost-reproduction/2", "utmost-reproduction/3"))
    with pytest.raises(utmost.UnknownVersion, match="has the format 'utmost-reproduction/3', but this package reads"):
        utmost.read_reproduction(path)
    path.write_text(text.replace('"verdicts"', '"v"'))
    with pytest.raises(utmost.MalformedFile, match="marx-cases.json: is not a reproduction: KeyError: 'verdicts'"):
        utmost.read_reproduction(path)
