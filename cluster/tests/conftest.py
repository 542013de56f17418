"""A stand-in for the program, and the cluster that all tests share."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from utmost_cluster.study import local_cluster

STAND_IN = '''#!{python}
"""Behaves as `utmost compare --shard` and `utmost merge` do, without a study."""
import os, pathlib, signal, sys

arguments = sys.argv[1:]
out = pathlib.Path(arguments[arguments.index("--out") + 1])
out.mkdir(parents=True, exist_ok=True)
if arguments[0] == "merge":
    shards = [pathlib.Path(it) for it in arguments[1:arguments.index("--out")]]
    lines = sorted(line for it in shards for line in (it / "runs.jsonl").read_text().splitlines())
    (out / "merged.txt").write_text("\\n".join(lines))
    (out / "report.html").write_text("a report")
    sys.exit("utmost: a load did not finish" if "unfinished" in "".join(lines) else 0)
shard = arguments[arguments.index("--shard") + 1]
log = pathlib.Path(__file__).with_name("begun.txt")
with log.open("a") as begun:
    begun.write(shard + "\\n")
if "--fail" in arguments and shard.startswith("2/"):
    sys.exit("utmost: out of luck")
if "--kill-worker" in arguments and shard.startswith("2/") and log.read_text().count(shard) == 1:
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit(1)
(out / "manifest.json").write_text("{{}}")
(out / "runs.jsonl").write_text(f"load of shard {{shard}}")
(out / "report.html").write_text("is not sent back")
if "--hang" in arguments and shard.startswith("2/"):
    (out / "runs.jsonl").write_text(f"unfinished load of shard {{shard}}")
    sys.exit("utmost: a load did not finish")
'''


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """The stand-in's path; it writes down each shard that it begins in `begun.txt` beside it."""
    program = tmp_path / "utmost"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Two workers on this machine."""
    with local_cluster(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def program() -> str:
    """The real program, if there is one to test with."""
    path = os.environ.get("UTMOST_BIN")
    if path is None:
        pytest.skip("UTMOST_BIN is not set")
    return path
