"""Packs a study for an archive: `python -m utmost.bundle STUDY`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from utmost.errors import UtmostError
from utmost.files import FORMAT
from utmost.journal import NAME as JOURNAL
from utmost.program import ENVIRONMENT, find_program, run_program
from utmost.study import Study, read_study, study_of

KEPT = ("manifest.json", JOURNAL, "report.html")
"""Files of a study that a bundle holds as they are."""

INPUTS = ("pages", "schemes")
"""Folders of a study with the pages and schemes that are not built in."""

README = """A study that `utmost compare` made: in what order should a server send the bytes of a web page?

tables/         every table as Parquet, with the type, unit and meaning of each column in NAME.schema.json (%(format)s)
manifest.json   all that it takes to repeat the study: `utmost compare --from manifest.json --out again`
runs.jsonl      the loads, a line each
pages, schemes  the pages and schemes that are not built in
report.html     tables and figures
study.ipynb     a notebook that reads the tables
CITATION.cff    how to cite it
"""


def bundle(folder: str | Path, out: str | Path, *, doi: str | None = None, program: str | Path | None = None) -> Path:
    """Pack the finished study in `folder` into the ZIP file `out`; return its path.

    `doi` stands in its citation. A folder without `study.json` is asked of the program, which loads nothing again.
    """
    folder, out = Path(folder), Path(out)
    study = read_study(folder) if (folder / "study.json").exists() else _asked(folder, program)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        study.to_parquet(scratch)
        for table in sorted(Path(scratch).iterdir()):
            archive.write(table, f"tables/{table.name}")
        inputs = (it for name in INPUTS for it in sorted((folder / name).glob("*")))
        for path in [*(folder / it for it in KEPT), *inputs]:
            archive.write(path, path.relative_to(folder))
        archive.writestr("README.txt", README % {"format": FORMAT})
        archive.writestr("CITATION.cff", _citation(study, doi))
        archive.writestr("study.ipynb", json.dumps(_notebook(study), indent=1))
    return out


def main(arguments: list[str] | None = None) -> int:
    """Pack the study that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m utmost.bundle", description="Pack a study for an archive.")
    parser.add_argument("study", help="the folder that `utmost compare --out` wrote")
    parser.add_argument("-o", "--out", help="the ZIP file [default: STUDY.zip]")
    parser.add_argument("--doi", help="the DOI of the archive, for CITATION.cff")
    asked = parser.parse_args(arguments)
    try:
        made = bundle(asked.study, asked.out or f"{asked.study.rstrip('/')}.zip", doi=asked.doi)
    except (UtmostError, OSError) as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 2
    print(f"made: {made}")
    return 0


def _asked(folder: Path, program: str | Path | None) -> Study:
    command = ["compare", "--from", str(folder), "--out", str(folder), "--json"]
    output = run_program(command, program=program, accepted=(0, ENVIRONMENT))
    return study_of(json.loads(output.stdout), str(find_program(program)))


def _citation(study: Study, doi: str | None) -> str:
    made: dict[str, Any] = study.conditions
    title = f"Page loads under {', '.join(it['name'] for it in made['schemes'])}: a study made with utmost"
    about = f"{len(study.loads)} loads on engine {made['engine']}."
    lines = [
        "cff-version: 1.2.0",
        "message: If you use this study, please cite it.",
        "type: dataset",
        f"title: {json.dumps(title)}",
        f"abstract: {json.dumps(about)}",
        f"version: {json.dumps(str(made.get('date', made['utmost'])))}",
        "authors:",
        "  - name: The authors of the study",
        *([f"doi: {doi}"] if doi else []),
        "references:",
        "  - type: software",
        f"    title: utmost {made['utmost']}",
        "    authors:",
        "      - name: The utmost authors",
    ]
    return "\n".join(lines) + "\n"


def _notebook(study: Study) -> dict[str, Any]:
    cells = ["import pandas as pd"]
    cells += [f'{it} = pd.read_parquet("tables/{it}.parquet")\n{it}.head()' for it in study.tables]
    code: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return {
        "cells": [{**code, "id": f"cell-{at}", "source": it} for at, it in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    sys.exit(main())
