"""Journals: the loads of a study, a line each, also of a study that is still running or was interrupted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.errors import MalformedFile
from utmost.study import Loads, read_json, run_rows
from utmost.tables import frame
from utmost.version import check_format

NAME = "runs.jsonl"
LINE_FORMAT = "utmost-run/1"
MANIFEST_FORMAT = "utmost-manifest/1"


class Journal(Loads):
    """The loads of a study that are done. A journal has no statistics; `read_study` reads those."""


def read_journal(path: str | Path) -> Journal:
    """Read `runs.jsonl` of a study's folder; `path` is the file or the folder.

    The conditions come from `manifest.json` beside it. Raises `MalformedFile` with the file and the line if a line is
    incomplete or is not a load.
    """
    path = Path(path)
    if path.is_dir():
        path = path / NAME
    if not path.is_file():
        raise MalformedFile(f"{path}: is missing; name the folder that `utmost compare --out` wrote, or its {NAME}")
    conditions = _conditions(path.with_name("manifest.json"))
    entries = [_entry(line, f"{path}:{at}") for at, line in enumerate(_lines(path), start=1)]
    entries.sort(key=lambda it: int(it[0]["place"]))
    for before, after in zip(entries, entries[1:], strict=False):
        if before[0]["place"] == after[0]["place"]:
            raise MalformedFile(f"{path}: has two lines for place {after[0]['place']}; keep one of them")
    tables = {
        "loads": frame("loads", [it for it, _ in entries], conditions),
        "resources": frame("resources", [row for _, rows in entries for row in rows], conditions),
    }
    return Journal(conditions, tables)


def _conditions(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise MalformedFile(
            f"{path}: is missing; it says under which conditions the loads were made, so keep it beside the journal"
        )
    conditions = read_json(path)
    if not isinstance(conditions, dict) or "utmost" not in conditions:
        raise MalformedFile(f"{path}: is not the manifest of a study: `utmost` is missing")
    # Manifests of old do not name their format.
    check_format(conditions.pop("format", MANIFEST_FORMAT), MANIFEST_FORMAT, str(path))
    return conditions


def _lines(path: Path) -> list[bytes]:
    lines = path.read_bytes().split(b"\n")
    if lines.pop():
        raise MalformedFile(
            f"{path}:{len(lines) + 1}: the line is incomplete, because the study was interrupted or still runs; wait "
            "for it, or run the same `utmost compare` again, which replaces the line and continues"
        )
    return lines


def _entry(line: bytes, place: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise MalformedFile(f"{place}: is not JSON: {error}; restore the file, or remove the line") from error
    if isinstance(entry, Mapping):
        # Lines of old do not name it.
        check_format(entry.get("format", LINE_FORMAT), LINE_FORMAT, place)
    run = entry.get("run") if isinstance(entry, Mapping) else None
    if not isinstance(run, Mapping) or type(entry.get("place")) is not int:
        raise MalformedFile(f"{place}: is not a load: it needs a `place` and a `run`")
    try:
        return run_rows({**run, "place": entry["place"]}, place)
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedFile(f"{place}: is not a load: {type(error).__name__}: {error}") from error
