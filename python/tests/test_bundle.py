"""A study is packed whole, and its notebook reads what is packed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import utmost
from utmost import bundle


def test_a_bundle_holds_tables_conditions_and_a_citation_with_the_doi(program: str, tmp_path: Path) -> None:
    out = tmp_path / "study"
    utmost.program.run_program(["compare", "davies-meenan", "--schemes=fifo", f"--out={out}"], program=program)
    assert not (out / "study.json").exists()
    made = bundle.bundle(out, tmp_path / "study.zip", doi="10.5281/zenodo.1234567", program=program)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked"
    pages = pd.read_parquet(unpacked / "tables/pages.parquet")
    assert set(pages.scheme) == {"rfc9218", "fifo"}
    assert (pages.site[0], pages.resources[0], pages.heroes[0]) == ("davies-meenan", 9, 1)
    manifest = json.loads((unpacked / "manifest.json").read_text())
    assert manifest["format"] == "utmost-manifest/1"
    citation = (unpacked / "CITATION.cff").read_text()
    assert "type: dataset" in citation
    assert "doi: 10.5281/zenodo.1234567" in citation
    notebook = json.loads((unpacked / "study.ipynb").read_text())
    assert notebook["cells"][1]["source"].startswith('loads = pd.read_parquet("tables/loads.parquet")')


def test_a_study_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bundle.main([str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("bundle: ")
