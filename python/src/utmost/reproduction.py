"""Published tables and figures, ours beside theirs: `utmost-workshop reproduce`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd

from utmost.errors import MalformedFile
from utmost.program import NO, find_workshop, run_program
from utmost.study import Tables, read_json
from utmost.tables import check, frame
from utmost.version import check_format

FORMAT = "utmost-reproduction/2"


class Reproduction(Tables):
    """A published table or figure, made again."""

    def __init__(self, document: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> None:
        """Hold a parsed NAME.json and the tables made of it."""
        super().__init__(document["provenance"], tables)
        self.name: str = document["name"]
        self.source: str = document["source"]
        self.method: str = document["method"]
        self.all_hold: bool | None = document["all_hold"]

    @property
    def rows(self) -> pd.DataFrame:
        """One row a value, ours beside the published one, with the verdicts on it."""
        return self.tables["rows"]

    @property
    def values(self) -> pd.DataFrame:
        """One row a value of the tables of results beyond those published."""
        return self.tables["values"]


def reproduce(
    name: str,
    *,
    runs: int | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    program: str | Path | None = None,
) -> Reproduction:
    """Reproduce a published table or figure, such as `marx-table2`; `experiments()` lists the names.

    A condition that does not hold is not an error: `all_hold` and the columns `*_holds` say it. With `out`, the program
    also writes NAME.json, .md, .svg and .manifest.json there.
    """
    command = ["reproduce", name, "--json"]
    command += [
        f"--{key}={value}" for key, value in (("runs", runs), ("jobs", jobs), ("out", out)) if value is not None
    ]
    workshop = find_workshop(program)
    output = run_program(command, program=workshop, accepted=(0, NO))
    return _reproduction(json.loads(output.stdout), str(workshop))


def experiments(*, program: str | Path | None = None) -> list[str]:
    """Return the names that `reproduce` takes."""
    # The first line is the table's heading, and an empty one ends it.
    lines = run_program(["reproduce"], program=find_workshop(program)).stdout.splitlines()[1:]
    return [line.split()[0] for line in takewhile(str.strip, lines)]


def read_reproduction(path: str | Path) -> Reproduction:
    """Read NAME.json of `utmost-workshop reproduce --out`, such as those in `results/`."""
    return _reproduction(read_json(Path(path)), str(path))


def _reproduction(document: Any, place: str) -> Reproduction:  # noqa: ANN401 # a document of JSON
    try:
        check_format(document["format"], FORMAT, place)
        conditions = {**document["provenance"], "experiment": document["name"], "method": document["method"]}
        rows = [_row(it, f"{place}: rows[{at}]") for at, it in enumerate(document["rows"])]
        values = list(_values(document.get("tables", [])))
        tables = {"rows": frame("rows", rows, conditions), "values": frame("values", values, conditions)}
        return Reproduction({**document, "provenance": conditions}, tables)
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedFile(f"{place}: is not a reproduction: {type(error).__name__}: {error}") from error


def _row(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    flat = {key: row.get(key) for key in ("id", "metric", "ours", "published", "model", "table", "note")}
    flat["low"], flat["high"] = row.get("interval") or (None, None)
    flat["difference"] = row["verdicts"]["difference"]
    for judge in ("source", "model", "requirement"):
        verdict = row["verdicts"][judge] or {}
        flat[f"{judge}_condition"] = verdict.get("condition")
        flat[f"{judge}_holds"] = verdict.get("holds")
        flat[f"{judge}_open"] = verdict.get("open", False) if verdict else None
    try:
        check("rows", flat)
    except ValueError as error:
        raise MalformedFile(f"{place}: {error}") from error
    return flat


def _values(tables: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for table in tables:
        for line in table["lines"]:
            labels = ", ".join(f"{name}={it}" for name, it in zip(table["labels"], line["labels"], strict=True))
            for column, cell in zip(table["columns"], line["values"], strict=True):
                low, high = cell.get("interval") or (None, None)
                yield {
                    "heading": table["heading"],
                    "labels": labels,
                    "column": column,
                    "value": cell["value"],
                    "low": low,
                    "high": high,
                }
