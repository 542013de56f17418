"""The columns of every table, as data: type, unit and meaning. `schema.toml` holds them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

UNDESCRIBED = "Not described by this version of the Python package"

_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    type: str
    """`string`, `integer`, `number` or `boolean`, as in JSON."""
    unit: str
    """Empty where there is none."""
    meaning: str
    optional: bool = False
    """Whether only some studies have it."""
    nullable: bool = False
    """Whether a value can be missing."""

    def problem(self, value: object) -> str | None:
        """Say why `value` cannot be in this column; `None` if it can."""
        if value is None:
            return None if self.nullable else f"`{self.name}` is missing"
        # To Python, a boolean is also an integer.
        if isinstance(value, bool) != (self.type == "boolean") or not isinstance(value, _PYTHON[self.type]):
            return f"`{self.name}` is {value!r}, not of type {self.type}"
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the column as a field of a `.schema.json` file."""
        return {
            "name": self.name,
            "type": self.type,
            "unit": self.unit,
            "description": self.meaning,
            "nullable": self.nullable,
        }


@dataclass(frozen=True)
class Table:
    """One table."""

    name: str
    about: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column | None:
        """Return the column with this name, if the table has it."""
        return next((it for it in self.columns if it.name == name), None)


def undescribed(name: str, values: list[Any]) -> Column:
    """Return a column for values that a newer program adds, so that they are kept and marked as unknown."""
    kinds = {type(it) for it in values if it is not None}
    for kind, kind_name in ((bool, "boolean"), (int, "integer"), (float, "number")):
        if kinds == {kind}:
            return Column(name, kind_name, "", UNDESCRIBED, optional=True, nullable=True)
    number = bool(kinds) and kinds <= {int, float}
    return Column(name, "number" if number else "string", "", UNDESCRIBED, optional=True, nullable=True)


@dataclass(frozen=True)
class Metric:
    """A metric of page loads."""

    name: str
    of_page: bool
    """Whether it is about the page as a whole, and not about a set of resources."""
    unit: str
    meaning: str

    def column(self, prefix: str, resources: str) -> str:
        """Return its column for a set of resources, `all` or `atf`, as the program's CSV files name it."""
        stem = prefix + self.name.removesuffix(f"_{self.unit}")
        return f"{stem}_{self.unit}" if self.of_page else f"{stem}_{resources}_{self.unit}"


def _metrics(rows: list[list[str]]) -> dict[str, Metric]:
    return {name: Metric(name, about == "page", unit, meaning) for name, about, unit, meaning in rows}


def _metric_columns(metric: Metric, prefix: str) -> Iterator[Column]:
    sets = {"all": "", "atf": ", above the fold"}
    for resources, where in list(sets.items())[: 1 if metric.of_page else 2]:
        name = metric.column(prefix, resources)
        yield Column(name, "number", metric.unit, metric.meaning + where, nullable=True)


def _column(entry: list[str], prefix: str = "") -> Column:
    name, kind, unit, meaning = entry
    optional = name.endswith("?")
    nullable = optional or kind.endswith("?") or kind in ("string", "number")
    return Column(prefix + name.removesuffix("?"), kind.removesuffix("?"), unit, meaning, optional, nullable)


def _columns(entries: list[Any], lists: Mapping[str, Any]) -> Iterator[Column]:
    for entry in entries:
        if isinstance(entry, list):
            yield _column(entry)
            continue
        name, _, prefix = entry.removeprefix("@").partition(" ")
        if name == "metrics":
            for metric in METRICS.values():
                yield from _metric_columns(metric, prefix)
        elif name == "pages":
            for metric in METRICS:
                for resources, where in (("all", ""), ("atf", ", above the fold")):
                    column = f"pages_{metric}_{resources}"
                    yield Column(column, "integer", "", f"Pages with {metric}{where}", optional=True, nullable=True)
        else:
            yield from (_column(it, prefix) for it in lists[name])


_DATA = tomllib.loads(files("utmost").joinpath("schema.toml").read_text(encoding="utf-8"))

METRICS: dict[str, Metric] = _metrics(_DATA["metrics"])
"""Every metric, by its name."""

TABLES: dict[str, Table] = {
    name: Table(name, it["about"], tuple(_columns(it["columns"], _DATA)))
    for name, it in _DATA.items()
    if isinstance(it, dict)
}
"""Every table, by its name."""
