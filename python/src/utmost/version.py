"""Which versions of the program this package knows."""

from __future__ import annotations

from utmost.errors import UnknownVersion

__version__ = "0.1.0"

SERIES = __version__.rpartition(".")[0]
"""The program's versions with this beginning print what this package reads."""


def check_version(version: object, place: str) -> None:
    """Raise `UnknownVersion` unless `version`, found at `place`, is one of a program that this package knows."""
    if not (isinstance(version, str) and version.rpartition(".")[0] == SERIES):
        raise UnknownVersion(
            f"{place}: is of utmost {version}, but this package knows {SERIES}.x only; "
            "install the Python package from the same release as the program"
        )


def check_format(found: object, known: str, place: str) -> None:
    """Raise `UnknownVersion` unless a file's `format` is the `known` one."""
    if found != known:
        raise UnknownVersion(
            f"{place}: has the format {found!r}, but this package reads {known!r}; "
            "install the Python package from the same release as the program that wrote it"
        )
