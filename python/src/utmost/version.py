"""Which versions of the program this package knows."""

from __future__ import annotations

from utmost.errors import UnknownVersion

__version__ = "1.0.0"

SERIES = __version__.partition(".")[0]
"""The program's versions with this beginning print what this package reads."""


def check_version(version: object, place: str) -> None:
    """Raise `UnknownVersion` unless `version`, of the program at `place`, is one that this package knows.

    A file is judged by its format alone (`check_format`).
    """
    if not (isinstance(version, str) and version.partition(".")[0] == SERIES):
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
