"""The notebook keeps what it prints."""

from __future__ import annotations

import json

import nbformat
import pytest

from notebooks.execute import NOTEBOOK, differences, executed, texts


@pytest.fixture
def fresh(program: str, monkeypatch: pytest.MonkeyPatch) -> nbformat.NotebookNode:
    monkeypatch.setenv("UTMOST_BIN", program)
    # `executed` sets it.
    monkeypatch.setenv("PYTHONPATH", "")
    return executed()


def test_the_notebook_prints_what_it_keeps(fresh: nbformat.NotebookNode) -> None:
    kept = nbformat.read(NOTEBOOK, as_version=4)
    assert "\n".join(differences(kept, fresh)) == "", "make notebook keeps the new outputs"
    printed = list(texts(fresh))
    assert len(printed) == 12
    assert any("149 rows and 220 values are the same" in text for _, text in printed)
    guide = NOTEBOOK.parents[2] / "ARTIFACT.md"
    assert f"all {len(printed)} printed results are the same" in guide.read_text()
    assert NOTEBOOK.stat().st_size < 1_000_000


def test_a_value_that_differs_is_shown() -> None:
    kept = nbformat.read(NOTEBOOK, as_version=4)
    other = nbformat.from_dict(json.loads(json.dumps(kept).replace("1.02", "1.03")))
    assert "utmost 1.0.0" in next(texts(kept))[1]
    assert list(differences(kept, kept)) == []
    assert next(differences(kept, other)).startswith("studies.ipynb: cell 4 differs.\nkept:\n")
