"""Makes DataFrames of the program's records: flattened, checked against the schema, and with the study's conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from utmost.schema import METRICS, TABLES, Column, Table, undescribed

Record = Mapping[str, Any]

_DTYPES = {"integer": ("int64", "Int64"), "number": ("float64", "float64"), "boolean": ("bool", "boolean")}
"""By type: of columns without, and with missing values."""

_PREFIXES = ("mean_", "median_", "")
"""Before the names of metrics."""

_NESTED = {"tail": "", "setting": "", "other_setting": "other_"}
"""By key of a nested value: the prefix of its columns, where it is not the key."""


def frame(name: str, rows: list[dict[str, Any]], conditions: Record) -> pd.DataFrame:
    """Make the table `name` of flat `rows`. Its `attrs` have the table's name and the study's conditions."""
    made = {it.name: _series([row.get(it.name) for row in rows], it) for it in columns_of(TABLES[name], rows)}
    table = pd.DataFrame(made)
    table.attrs = {"table": name, "conditions": dict(conditions)}
    return table


def columns_of(table: Table, rows: Iterable[Record]) -> list[Column]:
    """Return the columns that `rows` have, in the schema's order. Columns it does not describe come last."""
    rows = list(rows)
    found = dict.fromkeys(key for row in rows for key in row)
    described = [it for it in table.columns if not it.optional or it.name in found]
    names = {it.name for it in table.columns}
    return described + [undescribed(it, [row.get(it) for row in rows]) for it in found if it not in names]


def check(name: str, row: Record) -> None:
    """Raise `ValueError` if a flat `row` does not fit the table `name`."""
    for column in TABLES[name].columns:
        missing = column.name not in row and not column.optional
        problem = f"`{column.name}` is missing" if missing else column.problem(row.get(column.name))
        if problem:
            raise ValueError(problem)


def flatten(record: Record) -> dict[str, Any]:
    """Give nested values of a record columns of their own, named as in the program's CSV files."""
    return dict(item for key, value in record.items() for item in _flat(key, value))


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 # a value of JSON
    if key == "unfinished" and not isinstance(value, int):
        yield "unfinished", value and value["problem"]
        yield "unfinished_log", value and value["qlog"]
    elif key == "reused":
        yield key, len(value)
    elif isinstance(value, Mapping) and value and set(value) <= {"all", "atf"}:
        for resources, inner in value.items():
            yield from _flat_set(key, resources, inner)
    elif isinstance(value, Mapping):
        prefix = _NESTED.get(key, f"{key}_")
        yield from ((f"{prefix}{name}", inner) for name, inner in value.items())
    elif not isinstance(value, list):
        yield key, value


def _flat_set(key: str, resources: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    if key.endswith("_interval"):
        low, high = value or (None, None)
        stem = f"{key.removesuffix('_interval')}_{resources}"
        yield f"{stem}_low", low
        yield f"{stem}_high", high
        return
    prefix = next(it for it in _PREFIXES if key.startswith(it))
    metric = METRICS.get(key.removeprefix(prefix))
    if metric:
        yield metric.column(prefix, resources), value
    else:
        yield f"{key}_{resources}" + ("_ms" if key == "lower_bound" else ""), value


def _series(values: list[Any], column: Column) -> pd.Series[Any]:
    if column.type == "string":
        return pd.Series(values, dtype="str" if pd.__version__ >= "3" else "object")
    with_missing = any(it is None for it in values)
    return pd.Series(values, dtype=_DTYPES[column.type][with_missing])
