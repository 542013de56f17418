"""Studies: their tables, and how they are read from a folder or a file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from utmost.errors import MalformedFile, UnfinishedLoads
from utmost.files import write_csv, write_parquet
from utmost.tables import check, flatten, frame
from utmost.version import check_format

FORMAT = "utmost-study/1"

_LISTS = {
    "summary": "summary",
    "pages": "page_summary",
    "comparisons": "comparisons",
    "pairs": "pairs",
    "interactions": "interactions",
    "rank_correlations": "rank_correlations",
}
"""By table: the key of its list in `study.json`."""


class Tables:
    """DataFrames of one origin, and its conditions: version, engine, networks, seeds and all else that made it."""

    def __init__(self, conditions: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> None:
        """Hold `tables` by name; each also has the conditions in its `attrs`."""
        self.conditions = dict(conditions)
        self.tables = dict(tables)

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Write each table as Parquet into `folder`, with a `.schema.json`; return the paths."""
        return write_parquet(self.tables.values(), folder)

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write each table as CSV into `folder`, with a `.schema.json`; return the paths."""
        return write_csv(self.tables.values(), folder)

    def __repr__(self) -> str:
        """Say which tables there are, and how many rows each has."""
        sizes = ", ".join(f"{name}: {len(it)}" for name, it in self.tables.items())
        return f"<{type(self).__name__} of utmost {self.conditions.get('utmost')}; rows of {sizes}>"


class Loads(Tables):
    """Page loads and their resources, of a study or of a journal."""

    @property
    def loads(self) -> pd.DataFrame:
        """One row a page load, in the order of the plan."""
        return self.tables["loads"]

    @property
    def resources(self) -> pd.DataFrame:
        """One row a resource of a page load."""
        return self.tables["resources"]


class Study(Loads):
    """A finished study. The program computed its statistics; this class only holds them."""

    @property
    def pages(self) -> pd.DataFrame:
        """One row a page, scheme and setting, with the facts of the page."""
        return self.tables["pages"]

    @property
    def summary(self) -> pd.DataFrame:
        """One row a scheme and setting, over all pages."""
        return self.tables["summary"]

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row a scheme and setting: paired tests against the baseline, over sites or over loads of one page."""
        return self.tables["comparisons"]

    @property
    def pairs(self) -> pd.DataFrame:
        """One row a setting and two schemes: the same tests of `scheme` against `baseline`, here any other scheme."""
        return self.tables["pairs"]

    @property
    def interactions(self) -> pd.DataFrame:
        """One row a scheme and two settings that differ in one dimension: whether its ratio differs between them."""
        return self.tables["interactions"]

    @property
    def rank_correlations(self) -> pd.DataFrame:
        """One row a setting and published column."""
        return self.tables["rank_correlations"]


def read_study(path: str | Path) -> Study:
    """Read a study: the folder that `utmost compare --json --out` wrote, its `study.json`, or a file of `--json`.

    Warns with `UnfinishedLoads` if a load did not finish.
    """
    path = Path(path)
    if not path.exists():
        raise MalformedFile(
            f"{path}: is missing; name the folder that `utmost compare --out` wrote, which holds study.json, manifest.json and "
            "runs.jsonl, or its study.json"
        )
    if path.is_dir():
        path = path / "study.json"
        if not path.exists():
            raise MalformedFile(
                f"{path}: is missing: the study is not finished, or was made without `--json`; run the same "
                "`utmost compare` again with `--json`, which loads nothing twice, or read the loads that are done with "
                "`read_journal`"
            )
    study = study_of(read_json(path), str(path))
    unfinished = int((~study.loads.completed).sum())
    if unfinished:
        said = f"{path}: {unfinished} of {len(study.loads)} loads did not finish, and no mean counts them"
        warnings.warn(said, UnfinishedLoads, stacklevel=2)
    return study


def study_of(document: Any, place: str) -> Study:  # noqa: ANN401 # a document of JSON
    """Make a study of a parsed `study.json`, which came from `place`."""
    try:
        check_format(document["format"], FORMAT, place)
        conditions: dict[str, Any] = document["provenance"]
        tables = run_tables(document["runs"], conditions, place)
        # One scheme has no pairs, one setting has no interactions, and earlier builds wrote none of the three.
        document = {"comparisons": [], "pairs": [], "interactions": [], **document}
        facts = {it["page"]: it for it in document.get("pages", [])}
        for name, key in _LISTS.items():
            rows = [flatten(it) for it in document[key]]
            if name == "pages":
                rows = [{**it, **facts.get(it["page"], {})} for it in rows]
            rows = [_checked(name, it, f"{place}: {key}[{at}]") for at, it in enumerate(rows)]
            tables[name] = frame(name, rows, conditions)
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedFile(f"{place}: is not a study: {type(error).__name__}: {error}") from error
    return Study(conditions, tables)


def run_tables(runs: list[Mapping[str, Any]], conditions: Mapping[str, Any], place: str) -> dict[str, pd.DataFrame]:
    """Make the tables `loads` and `resources` of the runs of a study."""
    loads: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    for at, run in enumerate(runs):
        load, of_load = run_rows(run, f"{place}: runs[{at}]")
        loads.append(load)
        resources += of_load
    return {"loads": frame("loads", loads, conditions), "resources": frame("resources", resources, conditions)}


def run_rows(run: Mapping[str, Any], place: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the row of one run in `loads`, and its rows in `resources`."""
    load = _checked("loads", flatten({key: value for key, value in run.items() if key != "resources"}), place)
    return load, list(_resources(run, place))


def _resources(run: Mapping[str, Any], place: str) -> Iterator[dict[str, Any]]:
    inner = {"completed", "unfinished", "duration_ms", "resources", "reused"}
    shared = {key: value for key, value in run.items() if key not in inner and not isinstance(value, Mapping)}
    for at, resource in enumerate(run["resources"]):
        yield _checked("resources", {**shared, **resource}, f"{place}: resources[{at}]")


def _checked(name: str, row: dict[str, Any], place: str) -> dict[str, Any]:
    try:
        check(name, row)
    except ValueError as error:
        raise MalformedFile(f"{place}: {error}") from error
    return row


def read_json(path: Path) -> Any:  # noqa: ANN401 # a document of JSON
    """Read a file of JSON. Raises `MalformedFile` with the line of the first error."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise MalformedFile(f"{path}:{error.lineno}: is not JSON: {error.msg}; the file may be incomplete") from error
    except UnicodeDecodeError as error:
        raise MalformedFile(f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}") from error
