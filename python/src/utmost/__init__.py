"""Runs studies of the program `utmost` and reads them into pandas, with the conditions under which they were made.

>>> import utmost
>>> study = utmost.compare("davies-meenan", paper=True, metadata="full")
>>> study.summary[["scheme", "mean_speedup_atf"]]
"""

from utmost.compare import compare
from utmost.errors import (
    MalformedFile,
    ProgramFailed,
    ProgramNotFound,
    UnfinishedLoads,
    UnknownVersion,
    UtmostError,
)
from utmost.files import read_table
from utmost.journal import Journal, read_journal
from utmost.program import find_program
from utmost.reproduction import Reproduction, experiments, read_reproduction, reproduce
from utmost.schema import TABLES
from utmost.study import Study, read_study
from utmost.version import __version__

__all__ = [
    "TABLES",
    "Journal",
    "MalformedFile",
    "ProgramFailed",
    "ProgramNotFound",
    "Reproduction",
    "Study",
    "UnfinishedLoads",
    "UnknownVersion",
    "UtmostError",
    "__version__",
    "compare",
    "experiments",
    "find_program",
    "read_journal",
    "read_reproduction",
    "read_study",
    "read_table",
    "reproduce",
]
