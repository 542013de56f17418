#!/usr/bin/env python3
"""Executes the notebook. With --check, says whether it still prints what it keeps; otherwise keeps what it prints.

Texts are compared, pictures are not: fonts and rendering differ between machines.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

import utmost

NOTEBOOK = Path(__file__).with_name("studies.ipynb")


def main(arguments: list[str]) -> int:
    """Execute the notebook and compare or keep it; return the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: execute.py [--check]", file=sys.stderr)
        return 2
    fresh = executed()
    if not arguments:
        nbformat.write(fresh, NOTEBOOK)
        print(f"written: {NOTEBOOK}")
        return 0
    differing = list(differences(nbformat.read(NOTEBOOK, as_version=4), fresh))
    print("\n".join(differing) or f"{NOTEBOOK.name}: all {len(list(texts(fresh)))} printed results are the same")
    return 1 if differing else 0


def executed() -> NotebookNode:
    """Return the notebook with new outputs. It uses the package and the program that this process uses."""
    os.environ["UTMOST_BIN"] = str(utmost.find_program())
    os.environ["PYTHONPATH"] = str(Path(utmost.__file__).parents[1])
    notebook: NotebookNode = nbformat.read(NOTEBOOK, as_version=4)
    folder = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=600, record_timing=False, resources=folder).execute()
    # The exact version of Python is this machine's.
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec, "language_info": {"name": "python"}}
    return notebook


def differences(kept: NotebookNode, fresh: NotebookNode) -> Iterator[str]:
    """Yield a line for each printed result that differs."""
    before, after = list(texts(kept)), list(texts(fresh))
    if len(before) != len(after):
        yield f"{NOTEBOOK.name}: keeps {len(before)} results, and printed {len(after)}"
    for (cell, old), (_, new) in zip(before, after, strict=False):
        if old != new:
            yield f"{NOTEBOOK.name}: cell {cell} differs.\nkept:\n{old}\nnow:\n{new}"


def texts(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    """Yield each printed result with the number of its cell, from 0."""
    for at, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain")
            # The text of a picture is its size.
            if text and "image/png" not in output.get("data", {}):
                yield at, text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
