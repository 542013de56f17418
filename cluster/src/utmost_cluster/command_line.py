"""`utmost-cluster OPTIONS -- ARGUMENTS OF utmost compare`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from utmost_cluster.study import Study, StudyFailed, run_study


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="utmost-cluster",
        description="Run the shards of a study on a Dask cluster, and merge them into one study.",
        epilog="Example: utmost-cluster --out study -- agency-index --engine stack --network 3g --seeds 9",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the study goes")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler: tcp://host:8786 [default: workers on this machine]"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="workers on this machine [default: one a core]")
    parser.add_argument("--shards", type=int, metavar="N", help="parts of the study [default: four a worker]")
    parser.add_argument(
        "--program", default="utmost", metavar="FILE", help="utmost, as the workers and this machine find it"
    )
    parser.add_argument(
        "--scratch", metavar="DIR", help="a folder on the workers in which an interrupted shard goes on"
    )
    parser.add_argument("compare", nargs="+", metavar="ARGUMENT", help="of `utmost compare`, after `--`")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 2 bad usage, 3 a shard or the cluster failed, or a load did not finish."""
    asked = _parser().parse_args(arguments)
    study = Study(tuple(asked.compare), asked.out.resolve(), asked.program, asked.shards, asked.scratch)
    try:
        outcome = run_study(study, scheduler=asked.scheduler, workers=asked.workers, progress=_progress)
    except StudyFailed as failure:
        print(f"utmost-cluster: {failure}", file=sys.stderr)
        return 3
    print(f"report: {outcome.out / 'report.html'}")
    if outcome.unfinished:
        print(f"utmost-cluster: {outcome.unfinished}", file=sys.stderr)
        return 3
    return 0


def _progress(done: int, all_: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {all_} shards", end="\n" if done == all_ else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
