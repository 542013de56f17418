"""The program, and small studies that several tests read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import utmost

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def program() -> str:
    """The program that the Rust tests have built."""
    path = os.environ.get("UTMOST_BIN")
    if path is None:
        pytest.fail("UTMOST_BIN is not set; `make test` sets it to target/debug/utmost")
    return path


@pytest.fixture(scope="session")
def stack_folder(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study on engine `stack` that varies what is pushed."""
    out = tmp_path_factory.mktemp("stack")
    utmost.compare(
        ["davies-meenan", "agency-index"],
        paper=True,
        schemes="fifo",
        engine="stack",
        network=["cable", "3g"],
        push=["none", "push"],
        gate="strict",
        seeds=2,
        out=out,
        program=program,
    )
    return out


@pytest.fixture(scope="session")
def ideal_folder(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study of two loads on engine `ideal`."""
    out = tmp_path_factory.mktemp("ideal")
    utmost.compare("davies-meenan", paper=True, schemes="fifo", out=out, program=program)
    return out
