"""Finds the program `utmost` and the one for reviewers beside it, and runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from utmost.errors import ProgramFailed, ProgramNotFound
from utmost.version import check_version

VARIABLE = "UTMOST_BIN"
"""The environment variable that can name the program."""

NO = 1
"""The exit code for "the answer is no": a condition does not hold."""
ENVIRONMENT = 3
"""The exit code for a failure of the environment, such as a page load that did not finish."""


@dataclass(frozen=True)
class Output:
    """What the program printed, and its exit code."""

    stdout: str
    stderr: str
    exit_code: int


def find_program(program: str | Path | None = None) -> Path:
    """Return the path of `utmost`: the argument, else that of UTMOST_BIN, else beside this Python, else on the PATH.

    Raises `ProgramNotFound` if there is no such program. An argument or variable that names a missing file is an error
    too, so that a study never runs with another program than the one named.
    """
    for named, place in ((program, "the argument `program`"), (os.environ.get(VARIABLE), f"the variable {VARIABLE}")):
        if named:
            found = shutil.which(Path(named).expanduser())
            if found is None:
                raise ProgramNotFound(f"{named}: is not a program that can be run; correct {place}")
            return Path(found).resolve()
    # A wheel of a release puts the program beside its Python, which need not be on the PATH.
    found = shutil.which("utmost", path=sysconfig.get_path("scripts")) or shutil.which("utmost")
    if found is None:
        raise ProgramNotFound(
            "there is no `utmost` on the PATH or beside this Python; install the wheel of a release, which has it, "
            f"or build it with `make build` and set {VARIABLE} to target/release/utmost"
        )
    return Path(found).resolve()


def find_workshop(program: str | Path | None = None) -> Path:
    """Return the path of `utmost-workshop`, which lies beside the program that `find_program` finds."""
    found = find_program(program).with_name("utmost-workshop")
    if shutil.which(found) is None:
        raise ProgramNotFound(f"{found}: is not a program that can be run; `make build` builds it beside `utmost`")
    return found


def run_program(
    arguments: Sequence[str], *, program: str | Path | None = None, accepted: Sequence[int] = (0,)
) -> Output:
    """Run `utmost`, or the program at the path `program`, with `arguments` and return what it printed.

    Raises `ProgramFailed` with the program's message if the exit code is not among the `accepted` ones, and
    `UnknownVersion` if the program is not of a version that this package knows.
    """
    path = find_program(program)
    check_version(version_of(path), str(path))
    output = _run(path, arguments)
    if output.exit_code not in accepted:
        message = output.stderr.strip().removeprefix("utmost: ").removeprefix("utmost-workshop: ") or f"exit code {output.exit_code} without a message"
        raise ProgramFailed(message, output.exit_code, [str(path), *arguments])
    return output


def version_of(path: Path) -> str:
    """Return what `--version` of the program at `path` says, such as `1.0.0`."""
    return _version(path, path.stat().st_mtime_ns)


@lru_cache
def _version(path: Path, _changed_ns: int) -> str:
    output = _run(path, ["--version"])
    name, _, version = output.stdout.strip().partition(" ")
    if output.exit_code != 0 or name not in ("utmost", "utmost-workshop"):
        raise ProgramNotFound(f"{path}: is not the program utmost: `--version` printed {output.stdout.strip()!r}")
    return version


def _run(path: Path, arguments: Sequence[str]) -> Output:
    try:
        ended = subprocess.run(
            [str(path), *arguments], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
        )
    except OSError as error:
        raise ProgramNotFound(f"{path}: cannot be run: {error.strerror}") from error
    return Output(ended.stdout, ended.stderr, ended.returncode)
