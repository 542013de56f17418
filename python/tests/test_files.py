"""Parquet and CSV files have the schema's types, units and meanings, and the conditions."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from conftest import ROOT

import utmost
from utmost.files import schema_of
from utmost.schema import METRICS, TABLES

ARROW_TYPES = {"string": "string", "integer": "int64", "number": "double", "boolean": "bool"}


@pytest.fixture(scope="module", params=["study", "journal", "reproduction"])
def origin(request: pytest.FixtureRequest, stack_folder: Path) -> utmost.Study | utmost.Journal | utmost.Reproduction:
    if request.param == "study":
        return utmost.read_study(stack_folder)
    if request.param == "journal":
        return utmost.read_journal(stack_folder)
    return utmost.read_reproduction(ROOT / "results" / "marx-table2.json")


def test_parquet_keeps_values_types_and_conditions(origin: utmost.Study, tmp_path: Path) -> None:
    paths = origin.to_parquet(tmp_path)
    assert [it.name for it in paths] == [f"{it}.parquet" for it in origin.tables]
    for path, table in zip(paths, origin.tables.values(), strict=True):
        read = pd.read_parquet(path)
        pd.testing.assert_frame_equal(read, table)
        assert read.attrs == table.attrs
        pd.testing.assert_frame_equal(utmost.read_table(path), table)


def test_parquet_has_the_schema_in_its_fields(origin: utmost.Study, tmp_path: Path) -> None:
    for path, table in zip(origin.to_parquet(tmp_path), origin.tables.values(), strict=True):
        written = pq.read_schema(path)
        expected = schema_of(table)
        assert [(it.name, str(it.type), it.nullable) for it in written] == [
            (it.name, ARROW_TYPES[it.type], it.nullable) for it in expected
        ]
        assert [it.metadata for it in written] == [
            {b"unit": it.unit.encode(), b"meaning": it.meaning.encode()} for it in expected
        ]
        about = json.loads(written.metadata[b"utmost"])
        assert about == {"format": "utmost-table/1", "table": path.stem, "conditions": origin.conditions}


def test_csv_keeps_values_types_and_conditions(origin: utmost.Study, tmp_path: Path) -> None:
    for path, table in zip(origin.to_csv(tmp_path), origin.tables.values(), strict=True):
        read = utmost.read_table(path)
        # An empty text and a missing one are the same in CSV.
        pd.testing.assert_frame_equal(read, table.mask(table == ""), check_dtype=False, check_exact=True)
        assert read.dtypes.astype(str).to_dict() == table.dtypes.astype(str).to_dict()
        assert read.attrs == table.attrs


def test_the_schema_beside_a_table_names_its_columns(origin: utmost.Study, tmp_path: Path) -> None:
    origin.to_csv(tmp_path)
    for name, table in origin.tables.items():
        schema = json.loads((tmp_path / f"{name}.schema.json").read_text())
        assert (schema["format"], schema["table"]) == ("utmost-table/1", name)
        assert [it["name"] for it in schema["fields"]] == list(table.columns)
        assert all(it["description"] for it in schema["fields"])


def test_a_csv_file_without_its_first_line_is_rejected(ideal_folder: Path, tmp_path: Path) -> None:
    path = utmost.read_study(ideal_folder).to_csv(tmp_path)[0]
    path.write_text(path.read_text().partition("\n")[2])
    with pytest.raises(utmost.MalformedFile, match=r"loads.csv:1: is not the first line of a table"):
        utmost.read_table(path)


def test_the_schema_has_the_metrics_of_the_guide() -> None:
    rows = [it.split("|") for it in (ROOT / "docs" / "metrics.md").read_text().splitlines() if it.startswith("| `")]
    documented = {row[1].strip(" `"): row[3].strip() for row in rows if len(row) == 7}
    assert {it.name: it.unit for it in METRICS.values()} == documented


def test_columns_are_described_once_with_a_known_type() -> None:
    for table in TABLES.values():
        names = [it.name for it in table.columns]
        assert len(names) == len(set(names)), table.name
        for column in table.columns:
            assert column.type in ARROW_TYPES, column
            assert column.meaning, column
            assert not column.name.endswith("_ms") or column.unit == "ms", column
            assert not column.name.endswith("bytes") or column.unit == "bytes", column
