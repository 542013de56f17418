"""Studies are read as the program writes them, and its means can be computed again from the loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import utmost
from utmost.files import EXACT, schema_of
from utmost.schema import UNDESCRIBED


@pytest.fixture(scope="module")
def study(stack_folder: Path) -> utmost.Study:
    return utmost.read_study(stack_folder)


def plain(values: pd.Series[Any]) -> list[object]:
    return [None if pd.isna(it) else it for it in values]


# `regret_atf` is a quotient of two columns, which only the program's CSV file has.
@pytest.mark.parametrize(
    ("table", "file", "only_there"),
    [
        ("loads", "runs", {"regret_atf"}),
        *((it, it, set()) for it in ("pages", "summary", "comparisons", "pairs", "interactions")),
    ],
)
def test_tables_are_those_of_the_programs_csv_files(
    study: utmost.Study, stack_folder: Path, table: str, file: str, only_there: set[str]
) -> None:
    ours = study.tables[table]
    path = stack_folder / f"{file}.csv"
    theirs = pd.read_csv(path, comment="#", keep_default_na=False, na_values=[""], **EXACT)
    assert set(theirs.columns) - only_there == set(ours.columns) - {"unfinished_log"}
    for column in ours.columns.drop("unfinished_log", errors="ignore"):
        assert plain(ours[column]) == plain(theirs[column]), column


def test_a_study_has_a_row_of_resources_for_each_of_its_page(study: utmost.Study) -> None:
    assert len(study.loads) == 2 * 2 * 2 * 2 * 2, "pages, schemes, networks, push policies, seeds"
    counts = study.resources.groupby("page").size() / (len(study.loads) / 2)
    assert counts.to_dict() == {"agency-index": 31, "davies-meenan": 9}
    last = study.resources.groupby(["page", "scheme", "network", "push", "seed"]).complete_ms.max()
    loads = study.loads.set_index(["page", "scheme", "network", "push", "seed"])
    assert (last == loads.critical_all_ms.reindex(last.index)).all()


def test_the_schema_describes_every_column(study: utmost.Study) -> None:
    for name, table in study.tables.items():
        unknown = [it.name for it in schema_of(table) if it.meaning == UNDESCRIBED]
        assert unknown == [], f"{name}: add them to python/src/utmost/schema.toml"


def test_every_table_carries_the_conditions(study: utmost.Study, stack_folder: Path) -> None:
    manifest = json.loads((stack_folder / "manifest.json").read_text())
    assert manifest.pop("format") == "utmost-manifest/1"
    for table in study.tables.values():
        assert table.attrs["conditions"] == manifest
    named = {key: study.conditions[key] for key in ("utmost", "engine", "congestion_controls", "metadata", "seeds")}
    assert named == {
        "utmost": "1.0.0",
        "engine": "stack",
        "congestion_controls": ["bbr2"],
        "metadata": "browser",
        "seeds": [0, 1],
    }
    assert [it["name"] for it in study.conditions["networks"]] == ["cable", "3g"]
    filtered = study.loads[study.loads.scheme == "fifo"]
    assert filtered.attrs["conditions"] == manifest, "pandas keeps them through a selection"


def test_the_programs_means_are_means_of_the_loads(study: utmost.Study) -> None:
    setting = ["network", "push"]
    loads = study.loads
    by_page = loads.groupby([*setting, "scheme", "page"]).byte_index_atf_ms.mean()
    means = by_page.groupby([*setting, "scheme"]).mean()
    rr = loads[loads.scheme == "rr"].set_index([*setting, "page", "seed"]).byte_index_atf_ms
    fifo = loads[loads.scheme == "fifo"].set_index([*setting, "page", "seed"]).byte_index_atf_ms
    speedups = (rr / fifo).groupby([*setting, "page"]).mean().groupby(setting).mean()
    summary = study.summary.set_index([*setting, "scheme"])
    assert len(means) == 8
    assert means.to_dict() == pytest.approx(summary.mean_byte_index_atf_ms.to_dict())
    expected = summary.xs("fifo", level="scheme").mean_speedup_atf
    assert speedups.to_dict() == pytest.approx(expected.to_dict())


def test_comparisons_have_the_programs_tests_over_sites(program: str) -> None:
    pages = ["davies-meenan", "case-study-1", "case-study-2", "agency-index", "gentelella-index", "web-cnn-small"]
    study = utmost.compare(pages, paper=True, schemes=["rr", "dfifo"], baseline="fifo", program=program)
    assert study.conditions["baseline"] == "fifo"
    table = study.comparisons.set_index("scheme")
    assert list(table.index) == ["rr", "dfifo"]
    assert set(table.baseline) == {"fifo"}
    assert set(table.pairs_of) == {"sites"}
    counts = table[["wins_atf", "ties_atf", "losses_atf"]].sum(axis=1)
    assert counts.tolist() == table.pairs_atf.tolist()
    # Each page has a site of its own.
    loads = study.loads.pivot_table(index="page", columns="scheme", values="byte_index_atf_ms")
    mean = np.exp(np.log(loads.fifo / loads.dfifo).mean())
    assert table.geometric_mean_ratio_atf["dfifo"] == pytest.approx(mean)
    assert table.winner_atf.isna().all() or (table.holm_p_atf < 0.05).any()


def test_pairs_are_each_two_schemes_and_interactions_each_two_settings(program: str) -> None:
    pages = ["davies-meenan", "case-study-1", "case-study-2", "agency-index", "gentelella-index", "web-cnn-small"]
    buffers = [0, 1_000_000]
    schemes = ["rr", "dfifo"]
    study = utmost.compare(pages, paper=True, schemes=schemes, baseline="fifo", send_buffer=buffers, program=program)
    names = list(zip(study.pairs.baseline, study.pairs.scheme, study.pairs.send_buffer_bytes, strict=True))
    assert names == [
        ("fifo", "rr", 0),
        ("fifo", "dfifo", 0),
        ("fifo", "rr", 1_000_000),
        ("fifo", "dfifo", 1_000_000),
        ("rr", "dfifo", 0),
        ("rr", "dfifo", 1_000_000),
    ]
    # Each page has a site of its own.
    loads = study.loads.pivot_table(index="page", columns=["scheme", "send_buffer_bytes"], values="byte_index_atf_ms")
    ratios = {it: np.log(loads["fifo"][it] / loads["dfifo"][it]) for it in buffers}
    pair = study.pairs.query("baseline == 'rr' and send_buffer_bytes == 0").iloc[0]
    mean = np.exp(np.log(loads["rr"][0] / loads["dfifo"][0]).mean())
    assert pair.geometric_mean_ratio_atf == pytest.approx(mean)

    table = study.interactions.set_index("scheme")
    assert list(table.index) == ["rr", "dfifo"]
    settings = table[["dimension", "send_buffer_bytes", "other_send_buffer_bytes", "sites_atf"]]
    assert settings.values.tolist() == [["send_buffer_bytes", 0, 1_000_000, 6]] * 2
    assert table.ratio_of_ratios_atf["dfifo"] == pytest.approx(np.exp((ratios[0] - ratios[1_000_000]).mean()))
    low, high = table.loc["dfifo", ["ratio_of_ratios_atf_low", "ratio_of_ratios_atf_high"]]
    assert low < table.ratio_of_ratios_atf["dfifo"] < high
    assert table.holm_p_atf.min() >= 2 * 2 / 2**6, "two tests of six sites"
    assert table.differs_atf.tolist() == [False, False]


def test_one_setting_has_no_interactions_but_their_columns(ideal_folder: Path) -> None:
    study = utmost.read_study(ideal_folder)
    assert len(study.interactions) == 0
    assert {"dimension", "network", "other_network", "differs_atf"} <= set(study.interactions.columns)
    assert list(study.pairs.scheme) == ["fifo"]


def test_a_study_of_an_earlier_build_has_no_comparisons(ideal_folder: Path, tmp_path: Path) -> None:
    document = json.loads((ideal_folder / "study.json").read_text())
    del document["comparisons"]
    (tmp_path / "study.json").write_text(json.dumps(document))
    study = utmost.read_study(tmp_path)
    assert len(study.comparisons) == 0
    assert "holm_p_atf" in study.comparisons.columns


def test_without_a_folder_a_study_is_the_same(program: str, ideal_folder: Path) -> None:
    kept = utmost.read_study(ideal_folder)
    fresh = utmost.compare("davies-meenan", paper=True, schemes="fifo", program=program)
    assert list(kept.tables) == list(fresh.tables) == [
        "loads",
        "resources",
        "summary",
        "pages",
        "comparisons",
        "pairs",
        "interactions",
        "rank_correlations",
    ]
    for name, table in kept.tables.items():
        pd.testing.assert_frame_equal(table, fresh.tables[name])


def test_a_sweep_has_rows_for_each_of_its_values(program: str) -> None:
    sweep = {"rtt_ms": [10, 50], "rate": "5M"}
    study = utmost.compare("davies-meenan", paper=True, schemes="fifo", set=sweep, program=program)
    rows = list(zip(study.summary.scheme, study.summary.rtt_ms, strict=True))
    assert rows == [("rr", 10), ("fifo", 10), ("rr", 50), ("fifo", 50)]
    assert study.loads.rate.tolist() == [5e6] * 4


def test_a_study_that_the_program_rejects_raises_its_message(program: str) -> None:
    with pytest.raises(utmost.ProgramFailed, match="^no scheme is named `nosuch`") as raised:
        utmost.compare("davies-meenan", paper=True, schemes=["rr", "nosuch"], program=program)
    assert raised.value.exit_code == 2
    assert raised.value.command[1:] == ["compare", "davies-meenan", "--json", "--paper", "--schemes=rr,nosuch"]


def test_loads_that_do_not_finish_are_rows_and_a_warning(program: str, tmp_path: Path) -> None:
    network = tmp_path / "dead.toml"
    network.write_text('rate = 1000000\ndelay_ms = 10\nqueue = "unlimited"\nloss = 1.0\n')
    with pytest.warns(utmost.UnfinishedLoads, match="under rfc9218 on .*dead.toml with seed 0 did not finish"):
        study = utmost.compare(
            "davies-meenan",
            schemes="fifo",
            engine="stack",
            network=network,
            seeds=1,
            out=tmp_path / "out",
            program=program,
        )
    assert list(study.loads.completed) == [False, False]
    assert study.loads.unfinished.str.startswith("connection lost: ").all()
    assert (tmp_path / "out" / study.loads.unfinished_log[0]).exists()
    assert study.summary.unfinished.tolist() == [1, 1]


def test_a_study_that_is_read_warns_of_loads_that_did_not_finish(ideal_folder: Path, tmp_path: Path) -> None:
    document = json.loads((ideal_folder / "study.json").read_text())
    document["runs"][0]["completed"] = False
    (tmp_path / "study.json").write_text(json.dumps(document))
    with pytest.warns(utmost.UnfinishedLoads, match=r"1 of \d+ loads did not finish, and no mean counts them"):
        utmost.read_study(tmp_path)


def test_a_study_of_another_format_is_rejected(ideal_folder: Path, tmp_path: Path) -> None:
    text = (ideal_folder / "study.json").read_text()
    assert '"utmost-study/1"' in text
    (tmp_path / "study.json").write_text(text.replace('"utmost-study/1"', '"utmost-study/2"'))
    with pytest.raises(utmost.UnknownVersion, match="study.json: .* install the Python package from the same"):
        utmost.read_study(tmp_path)


def test_a_file_of_another_release_is_read_if_its_format_is_known(ideal_folder: Path, tmp_path: Path) -> None:
    text = (ideal_folder / "study.json").read_text()
    assert '"utmost": "1.0.0"' in text
    (tmp_path / "study.json").write_text(text.replace('"utmost": "1.0.0"', '"utmost": "0.1.0"'))
    assert utmost.read_study(tmp_path).conditions["utmost"] == "0.1.0"


def test_a_study_that_is_not_there_is_told_what_its_folder_holds(tmp_path: Path) -> None:
    holds = "which holds study.json, manifest.json and runs.jsonl"
    with pytest.raises(utmost.MalformedFile, match=f"nodir: is missing; name the folder that `utmost compare --out` wrote, {holds}"):
        utmost.read_study(tmp_path / "nodir")


def test_a_study_that_is_not_finished_or_not_whole_is_rejected(ideal_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(utmost.MalformedFile, match="study.json: is missing: the study is not finished, or was made"):
        utmost.read_study(tmp_path)
    lines = (ideal_folder / "study.json").read_text().splitlines()
    (tmp_path / "study.json").write_text("\n".join(lines[:100]))
    with pytest.raises(utmost.MalformedFile, match=r"study.json:\d+: is not JSON: .*; the file may be incomplete"):
        utmost.read_study(tmp_path)
    (tmp_path / "study.json").write_text("\n".join(lines).replace('"seed": 0', '"seed": "0"', 1))
    with pytest.raises(utmost.MalformedFile, match=r"study.json: runs\[0\]: `seed` is '0', not of type integer"):
        utmost.read_study(tmp_path)


def test_a_setting_or_metric_of_a_newer_program_is_kept_and_marked(ideal_folder: Path, tmp_path: Path) -> None:
    document = json.loads((ideal_folder / "study.json").read_text())
    for run in document["runs"]:
        run |= {"jitter_ms": 50, "new_metric": {"all": 1.5, "atf": None}}
    (tmp_path / "study.json").write_text(json.dumps(document))
    loads = utmost.read_study(tmp_path).loads
    assert loads[["jitter_ms", "new_metric_all"]].values.tolist() == [[50, 1.5], [50, 1.5]]
    unknown = {it.name for it in schema_of(loads) if it.meaning == UNDESCRIBED}
    assert unknown == {"jitter_ms", "new_metric_all", "new_metric_atf"}
