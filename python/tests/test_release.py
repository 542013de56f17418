"""What a release is made of, with stand-ins for the programs. `make release-test` installs the real ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import artifact
import release


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Stand-ins for the programs."""
    folder = tmp_path / "built"
    folder.mkdir()
    for program in release.PROGRAMS:
        (folder / program).write_text(f"#!/bin/sh\necho {program} 1.0.0 runs\n")
    return folder


def test_the_wheel_brings_the_programs_along(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    release.wheel(tmp_path / "scratch", built, "any", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == "utmost-1.0.0-py3-none-any.whl"
    # pip refuses a wheel whose RECORD does not have the sum of each file.
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--prefix", tmp_path / "env"]
    subprocess.run([*install, wheel], check=True)
    for program in release.PROGRAMS:
        ran = subprocess.run([tmp_path / "env" / "bin" / program], capture_output=True, text=True, check=True)
        assert ran.stdout == f"{program} 1.0.0 runs\n"
    assert list((tmp_path / "env").rglob("site-packages/utmost/schema.toml"))


def test_a_program_that_needs_a_newer_c_library_is_no_release(tmp_path: Path) -> None:
    program = tmp_path / "utmost"
    program.write_bytes(b"\0GLIBC_2.2.5\0GLIBC_2.28\0")
    release.check_glibc(program)
    program.write_bytes(b"\0GLIBC_2.2.5\0GLIBC_2.34\0")
    with pytest.raises(artifact.CannotMake, match=r"utmost: needs glibc \(2, 34\), newer than \(2, 28\)"):
        release.check_glibc(program)


def test_the_unit_of_the_package_runs_what_the_package_installs() -> None:
    unit = (artifact.ROOT / "examples/utmost.service").read_text()
    assert unit.count("/usr/local/bin/utmost-serve") == 1
    assert "--config /etc/utmost/serve.toml" in unit
    assert "EnvironmentFile=-/etc/default/utmost" in unit
