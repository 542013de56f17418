"""Where the program is looked for, and what is said when it is not there or not known."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import utmost
from utmost.program import run_program


@pytest.fixture(autouse=True)
def no_program_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("UTMOST_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


def stand_in(path: Path, version: str = "utmost 1.0.0", then: str = "echo unused") -> Path:
    """A program that prints `version`, and does `then` for all other arguments."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit\n{then}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_an_argument_goes_before_the_variable_and_the_variable_before_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(utmost.ProgramNotFound, match="no `utmost` on the PATH or beside this Python; install the wheel"):
        utmost.find_program()
    on_path = stand_in(tmp_path / "path" / "utmost")
    assert utmost.find_program() == on_path
    named = stand_in(tmp_path / "named")
    monkeypatch.setenv("UTMOST_BIN", str(named))
    assert utmost.find_program() == named
    given = stand_in(tmp_path / "given")
    assert utmost.find_program(given) == given


def test_a_named_program_that_is_missing_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "path" / "utmost")
    with pytest.raises(utmost.ProgramNotFound, match="nowhere: is not a program .* the argument `program`"):
        utmost.find_program(tmp_path / "nowhere")
    monkeypatch.setenv("UTMOST_BIN", str(tmp_path / "nowhere"))
    with pytest.raises(utmost.ProgramNotFound, match="nowhere: is not a program .* the variable UTMOST_BIN"):
        utmost.find_program()


@pytest.mark.parametrize("version", ["0.1.0", "2.0.0", "10.0.0", ""])
def test_a_program_of_an_unknown_version_is_rejected(tmp_path: Path, version: str) -> None:
    program = stand_in(tmp_path / "program", f"utmost {version}")
    with pytest.raises(
        utmost.UnknownVersion, match=f"program: is of utmost {version}, but this package knows 1.x only"
    ):
        utmost.compare("davies-meenan", program=program)


def test_another_program_is_not_taken_for_utmost(tmp_path: Path) -> None:
    program = stand_in(tmp_path / "program", "other 1.0.0")
    with pytest.raises(utmost.ProgramNotFound, match="is not the program utmost: `--version` printed 'other 1.0.0'"):
        utmost.compare("davies-meenan", program=program)


def test_a_failure_has_the_programs_message_and_exit_code(tmp_path: Path) -> None:
    program = stand_in(tmp_path / "program", then="echo 'utmost: no page' >&2; exit 2")
    with pytest.raises(utmost.ProgramFailed, match="^no page$") as raised:
        run_program(["compare"], program=program)
    assert (raised.value.exit_code, raised.value.command) == (2, [str(program), "compare"])
    silent = stand_in(tmp_path / "silent", then="exit 9")
    with pytest.raises(utmost.ProgramFailed, match="^exit code 9 without a message$"):
        run_program(["compare"], program=silent)


def test_a_newer_release_of_the_same_series_is_known(tmp_path: Path) -> None:
    program = stand_in(tmp_path / "program", "utmost 1.7.0")
    assert run_program(["compare"], program=program).stdout == "unused\n"


def test_the_program_for_reviewers_lies_beside_the_other(tmp_path: Path) -> None:
    program = stand_in(tmp_path / "utmost")
    with pytest.raises(utmost.ProgramNotFound, match="utmost-workshop: is not a program that can be run; `make build`"):
        utmost.experiments(program=program)
    stand_in(tmp_path / "utmost-workshop", "utmost-workshop 1.0.0", then="echo name; echo marx-table2 what")
    assert utmost.experiments(program=program) == ["marx-table2"]
