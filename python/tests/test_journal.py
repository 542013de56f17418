"""Journals: what is read of a whole one, and what is said of a damaged one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import utmost


@pytest.fixture
def folder(ideal_folder: Path, tmp_path: Path) -> Path:
    """A journal of two lines and its manifest."""
    shutil.copy(ideal_folder / "manifest.json", tmp_path)
    lines = (ideal_folder / "runs.jsonl").read_text().splitlines(keepends=True)
    # Loads are written in the order in which they end.
    (tmp_path / "runs.jsonl").write_text("".join(sorted(lines)))
    return tmp_path


def fault(folder: Path) -> str:
    with pytest.raises(utmost.MalformedFile) as raised:
        utmost.read_journal(folder)
    return str(raised.value).removeprefix(f"{folder}/")


def lines_of(folder: Path) -> list[str]:
    return (folder / "runs.jsonl").read_text().splitlines(keepends=True)


def test_a_journal_has_the_loads_of_its_study(stack_folder: Path) -> None:
    study, journal = utmost.read_study(stack_folder), utmost.read_journal(stack_folder / "runs.jsonl")
    assert journal.conditions == study.conditions
    assert list(journal.loads.place) == list(range(32))
    pd.testing.assert_frame_equal(journal.loads.drop(columns="place"), study.loads)
    pd.testing.assert_frame_equal(journal.resources.drop(columns="place"), study.resources)


def test_an_incomplete_last_line_is_named(folder: Path) -> None:
    path = folder / "runs.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert fault(folder).startswith("runs.jsonl:2: the line is incomplete, because the study was interrupted")


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda line: line[:100] + "\n", "runs.jsonl:2: is not JSON: "),
        (lambda _: "\n", "runs.jsonl:2: is not JSON: "),
        (lambda _: "[1]\n", "runs.jsonl:2: is not a load: it needs a `place` and a `run`"),
        (lambda line: line.replace('"seed":0,', ""), "runs.jsonl:2: `seed` is missing"),
        (lambda line: line.replace('"seed":0,', '"seed":true,'), "runs.jsonl:2: `seed` is True, not of type integer"),
        (lambda line: line.replace('"bytes":', '"b":'), "runs.jsonl:2: resources[0]: `bytes` is missing"),
        (lambda line: line.replace('"resources":', '"r":'), "runs.jsonl:2: is not a load: KeyError: 'resources'"),
        (lambda line: line.replace('"run":{', '"run":["').replace("}}", "]}"), "runs.jsonl:2: is not JSON: "),
    ],
)
def test_a_damaged_line_is_named_with_the_reason(folder: Path, damage: object, expected: str) -> None:
    first, second = lines_of(folder)
    assert callable(damage)
    (folder / "runs.jsonl").write_text(first + damage(second))
    assert fault(folder).startswith(expected)


def test_bytes_that_are_not_text_are_named(folder: Path) -> None:
    (folder / "runs.jsonl").write_bytes(lines_of(folder)[0].encode() + b"\xff\xfe\n")
    assert fault(folder).startswith("runs.jsonl:2: is not JSON: ")


def test_two_lines_for_one_load_are_rejected(folder: Path) -> None:
    (folder / "runs.jsonl").write_text(lines_of(folder)[0] * 2)
    assert fault(folder) == "runs.jsonl: has two lines for place 0; keep one of them"


def test_without_its_conditions_a_journal_is_rejected(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    assert fault(folder).startswith("manifest.json: is missing; it says under which conditions the loads were made")


def test_a_journal_of_another_release_is_read_if_its_format_is_known(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "utmost": "0.1.0"}))
    assert utmost.read_journal(folder).conditions["utmost"] == "0.1.0"


def test_a_journal_of_old_names_no_format_and_one_of_another_is_rejected(folder: Path) -> None:
    journal, manifest = folder / "runs.jsonl", folder / "manifest.json"
    assert "format" not in utmost.read_journal(folder).conditions
    of_old = journal.read_text().replace('"format":"utmost-run/1",', "")
    assert of_old != journal.read_text()
    journal.write_text(of_old)
    kept = manifest.read_text()
    manifest.write_text(kept.replace('"format": "utmost-manifest/1",', ""))
    assert len(utmost.read_journal(folder).loads) > 0
    manifest.write_text(kept.replace("utmost-manifest/1", "utmost-manifest/2"))
    with pytest.raises(utmost.UnknownVersion, match="has the format 'utmost-manifest/2', but this package reads"):
        utmost.read_journal(folder)


def test_a_folder_without_a_journal_is_named(tmp_path: Path) -> None:
    assert fault(tmp_path).startswith("runs.jsonl: is missing; name the folder that `utmost compare --out` wrote")
