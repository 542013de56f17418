"""The errors of this package."""

from __future__ import annotations

from collections.abc import Sequence


class UtmostError(Exception):
    """The base of every error of this package."""


class ProgramNotFound(UtmostError):
    """The program `utmost` is not where it was looked for."""


class ProgramFailed(UtmostError):
    """The program rejected its input, or could not do its work. The text is the program's own message."""

    def __init__(self, message: str, exit_code: int, command: Sequence[str]) -> None:
        """Keep what the program printed, its exit code, and the command that was run."""
        super().__init__(message)
        self.exit_code = exit_code
        self.command = list(command)


class UnknownVersion(UtmostError):
    """The program or a file is of a version that this package does not know."""


class MalformedFile(UtmostError):
    """A file is not what its name says. The text names the file, the line where there is one, and the remedy."""


class UnfinishedLoads(UserWarning):
    """Some loads of a study did not finish, so they count in no mean. Their rows have `completed == False`."""
