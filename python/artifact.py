#!/usr/bin/env python3
"""Makes `utmost-artifact-VERSION.tar.gz`, which a reviewer unpacks: the last commit's files, the wheel, and checksums.

The same commit gives the same bytes on the same machine: times are the commit's, owners and modes are fixed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

VERSIONS = {
    "Cargo.toml": r'^version = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "python/pyproject.toml": r'^version = "(.+)"$',
    "python/src/utmost/version.py": r'^__version__ = "(.+)"$',
}
"""Files that state the version, and how."""


class CannotMake(Exception):
    """The archive cannot be made; the text says why, and what to do."""


def main(arguments: list[str]) -> int:
    """Make the archive in the folder that is named, or in `target`; return the exit code."""
    try:
        if _git(ROOT, "status", "--porcelain"):
            raise CannotMake(
                "the folder has changes that are not committed; commit them, because the archive has commits only"
            )
        archive = make(ROOT, Path(arguments[0]) if arguments else ROOT / "target")
    except CannotMake as error:
        print(f"artifact: {error}", file=sys.stderr)
        return 1
    print(f"made: {archive}\nsha256: {sha256(archive.read_bytes())}")
    return 0


def make(root: Path, out: Path) -> Path:
    """Make the archive of the last commit of the clone `root` in the folder `out`; return its path."""
    name = f"utmost-artifact-{version(root)}"
    made_s = commit_time_s(root)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / name
        _unpack_commit(root, folder)
        build_wheel(folder, Path(scratch) / "wheel", made_s)
        (folder / "COMMIT").write_text(_git(root, "rev-parse", "HEAD") + "\n")
        sums = [f"{sha256(it.read_bytes())}  {it.relative_to(folder)}\n" for it in _files(folder)]
        (folder / "SHA256SUMS").write_text("".join(sums))
        out.mkdir(parents=True, exist_ok=True)
        return pack(folder, out / f"{name}.tar.gz", made_s)


def commit_time_s(root: Path) -> int:
    """Return when the last commit was made, in seconds since 1970."""
    return int(_git(root, "log", "-1", "--format=%ct"))


def version(root: Path) -> str:
    """Return the version that all files of `VERSIONS` state. Raises `CannotMake` if they differ."""
    found = {}
    for name, pattern in VERSIONS.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    if len(set(found.values())) != 1:
        raise CannotMake(f"versions differ; make them the same: {found}")
    return found["Cargo.toml"]


def _unpack_commit(root: Path, folder: Path) -> None:
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def build_wheel(folder: Path, scratch: Path, made_s: int) -> Path:
    """Make the wheel of `folder/python` in `folder/dist`; return its path. Raises `CannotMake`."""
    # In a copy, because a build leaves files in its source.
    shutil.copytree(folder / "python", scratch)
    for path in scratch.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-index",
    ]
    command += ["--no-build-isolation", "--wheel-dir", str(folder / "dist"), str(scratch)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(made_s)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise CannotMake(f"the wheel cannot be built: {ended.stderr.strip()}")
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def pack(folder: Path, path: Path, made_s: int) -> Path:
    """Pack a folder into the archive `path`, with this time for all files; return `path`."""
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=made_s) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in _files(folder):
            entry = tarfile.TarInfo(f"{folder.name}/{member.relative_to(folder)}")
            content = member.read_bytes()
            entry.size, entry.mtime = len(content), made_s
            entry.mode = 0o755 if member.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return path


def _files(folder: Path) -> list[Path]:
    return sorted(it for it in folder.rglob("*") if it.is_file())


def sha256(content: bytes) -> str:
    """Return the sum of a file as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def _git(root: Path, *arguments: str) -> str:
    ended = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise CannotMake(f"git {arguments[0]} failed: {ended.stderr.strip()}; run this in a clone")
    return ended.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
