"""The archive for reviewers: complete, checked by its sums, and the same each time."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

import artifact
import utmost

FILES = ["Cargo.toml", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE", "ARTIFACT.md", "Dockerfile"]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small clone, because the tests also run where there is not a clone around them."""
    folder = tmp_path_factory.mktemp("clone")
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__", ".*", "build"))
    (folder / "results").mkdir()
    shutil.copy(ROOT / "results" / "marx-table2.json", folder / "results")
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "not-committed").write_text("")
    return folder


@pytest.fixture(scope="module")
def unpacked(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    path = artifact.make(clone, out)
    assert path.name == "utmost-artifact-1.0.0.tar.gz"
    with tarfile.open(path) as packed:
        packed.extractall(out, filter="data")
    return out / "utmost-artifact-1.0.0"


def test_the_archive_has_everything_that_a_reviewer_needs(unpacked: Path) -> None:
    wanted = [
        *FILES,
        "COMMIT",
        "SHA256SUMS",
        "dist/utmost-1.0.0-py3-none-any.whl",
        "python/notebooks/studies.ipynb",
        "results/marx-table2.json",
    ]
    assert [it for it in wanted if not (unpacked / it).is_file()] == []
    assert not (unpacked / "not-committed").exists()
    assert not (unpacked / "python" / "build").exists()


def test_the_sums_are_those_of_all_files(unpacked: Path) -> None:
    lines = [it.split("  ") for it in (unpacked / "SHA256SUMS").read_text().splitlines()]
    found = {str(it.relative_to(unpacked)): it for it in unpacked.rglob("*") if it.is_file()}
    assert {name for _, name in lines} == set(found) - {"SHA256SUMS"}
    assert [name for sum_, name in lines if hashlib.sha256(found[name].read_bytes()).hexdigest() != sum_] == []


def test_the_wheel_holds_the_package_and_its_schema(unpacked: Path, tmp_path: Path) -> None:
    wheel = unpacked / "dist" / "utmost-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    command = "import utmost; print(utmost.__version__, utmost.__file__, len(utmost.TABLES))"
    # -P and -I keep the package of the source tree away.
    printed = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {command}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.split() == ["1.0.0", str(tmp_path / "utmost" / "__init__.py"), str(len(utmost.TABLES))]


def test_one_commit_gives_the_same_bytes_each_time(clone: Path, tmp_path: Path) -> None:
    first, second = (artifact.make(clone, tmp_path / it).read_bytes() for it in ("first", "second"))
    assert first == second


def test_one_version_is_stated_everywhere(clone: Path, tmp_path: Path) -> None:
    assert artifact.version(ROOT) == utmost.__version__
    for name in artifact.VERSIONS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clone / name, tmp_path / name)
    citation = tmp_path / "CITATION.cff"
    citation.write_text(citation.read_text().replace("version: 1.0.0", "version: 0.2.0"))
    with pytest.raises(artifact.CannotMake, match="versions differ; make them the same: .*'CITATION.cff': '0.2.0'"):
        artifact.version(tmp_path)


def test_outside_of_a_clone_the_reason_is_given(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in artifact.VERSIONS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clone / name, tmp_path / name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(artifact.CannotMake, match="git log failed: .*; run this in a clone"):
        artifact.make(tmp_path, tmp_path / "out")
