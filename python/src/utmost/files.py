"""Writes tables as Parquet and CSV files with schema and conditions, and reads them back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from utmost.errors import MalformedFile
from utmost.schema import TABLES, Column, undescribed

FORMAT = "utmost-table/1"
"""The format of the metadata that these files carry."""

EXACT: dict[str, Any] = {} if pd.__version__ >= "3" else {"float_precision": "round_trip"}
"""For `pandas.read_csv`: before version 3, it reads the last digit right only if told to."""

_ARROW = {"string": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}


def write_parquet(tables: Iterable[pd.DataFrame], folder: str | Path) -> list[Path]:
    """Write `NAME.parquet` and `NAME.schema.json` for each table into `folder`; return the paths of the tables.

    A field's metadata are its unit and meaning. The file's metadata hold the conditions; pandas has them in `attrs`.
    """
    return [_write_parquet(it, _in(folder, it, "parquet")) for it in tables]


def write_csv(tables: Iterable[pd.DataFrame], folder: str | Path) -> list[Path]:
    """Write `NAME.csv` and `NAME.schema.json` for each table into `folder`; return the paths of the tables.

    The first line, which begins with `#`, holds the conditions, as in the program's CSV files.
    """
    return [_write_csv(it, _in(folder, it, "csv")) for it in tables]


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a file that `to_parquet` or `to_csv` wrote, with its types and conditions."""
    path = Path(path)
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    with path.open(encoding="utf-8") as file:
        first = file.readline()
    try:
        made = json.loads(first.removeprefix("#"))
        fields = _read_fields(path.with_name(f"{made['table']}.schema.json"))
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedFile(f"{path}:1: is not the first line of a table that `to_csv` wrote") from error
    types: dict[str, Any] = {"string": "str", "integer": "Int64", "number": "float64", "boolean": "boolean"}
    dtypes = {it["name"]: types[it["type"]] for it in fields}
    table: pd.DataFrame = pd.read_csv(path, skiprows=1, dtype=dtypes, **EXACT)
    for field in fields:
        if field["type"] in ("integer", "boolean") and not table[field["name"]].isna().any():
            table[field["name"]] = table[field["name"]].astype("int64" if field["type"] == "integer" else "bool")
    table.attrs = {"table": made["table"], "conditions": made["conditions"]}
    return table


def schema_of(table: pd.DataFrame) -> list[Column]:
    """Return what the columns of a table mean."""
    known = TABLES[table.attrs["table"]]
    return [known.column(it) or undescribed(it, table[it].dropna().tolist()) for it in table.columns]


def _in(folder: str | Path, table: pd.DataFrame, suffix: str) -> Path:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = table.attrs["table"]
    schema = {
        "format": FORMAT,
        "table": name,
        "description": TABLES[name].about,
        "fields": [it.as_json() for it in schema_of(table)],
    }
    text = json.dumps(schema, indent=2) + "\n"
    (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")
    return folder / f"{name}.{suffix}"


def _write_parquet(table: pd.DataFrame, path: Path) -> Path:
    fields = [
        pa.field(it.name, _ARROW[it.type], it.nullable, {"unit": it.unit, "meaning": it.meaning})
        for it in schema_of(table)
    ]
    made = pa.Table.from_pandas(table, pa.schema(fields), preserve_index=False)
    # PANDAS_ATTRS is where pandas itself keeps `attrs`.
    attrs = json.dumps(table.attrs)
    metadata: Mapping[bytes | str, bytes | str] = {
        **(made.schema.metadata or {}),
        "PANDAS_ATTRS": attrs,
        "utmost": json.dumps({"format": FORMAT, **table.attrs}),
    }
    pq.write_table(made.replace_schema_metadata(metadata), path)
    return path


def _write_csv(table: pd.DataFrame, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("# " + json.dumps({"format": FORMAT, **table.attrs}) + "\n")
        table.to_csv(file, index=False, lineterminator="\n")
    return path


def _read_fields(path: Path) -> list[dict[str, Any]]:
    fields: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["fields"]
    return fields
