"""A study in shards on a Dask cluster."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client, Future, LocalCluster, as_completed

from utmost_cluster.shard import DONE, WHOLE, Shard, carry_out, unpack

SHARDS_A_WORKER = 4
"""Shards are not equally long; with several for each worker none waits long for the last."""


class StudyFailed(Exception):
    """A study that could not be finished; the shards that are done are kept."""


@dataclass(frozen=True)
class Study:
    """What is to be done, and where it goes."""

    arguments: tuple[str, ...]
    """Of `utmost compare`, without `--out` and `--shard`."""
    out: Path
    program: str = "utmost"
    """The program's path on the workers, and here for the merge."""
    shards: int | None = None
    scratch: str | None = None


@dataclass(frozen=True)
class Outcome:
    """A finished study."""

    out: Path
    shards: int
    begun: int
    """Shards that were begun now; the others were done by an earlier run into the same folder."""
    unfinished: str = ""
    """What the program says of loads that did not finish, if there are some. The study has all others."""


def run_study(
    study: Study,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Outcome:
    """Carry out `study` on the cluster at `scheduler`, or on this machine; merge its shards into `study.out`."""
    with _client(scheduler, workers) as client:
        return run_study_on(client, study, progress=progress)


def run_study_on(
    client: Client, study: Study, *, progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Outcome:
    """As `run_study`, on a cluster that is there already."""
    _refuse_flags(study.arguments)
    folder = _shards_folder(study.out)
    threads = sum(int(it["nthreads"]) for it in client.scheduler_info(n_workers=-1)["workers"].values())
    count = study.shards or _known_count(folder) or max(1, threads) * SHARDS_A_WORKER
    places = [it for it in range(1, count + 1) if not _shard_folder(folder, it, count).exists()]
    done = count - len(places)
    progress(done, count)
    for place, packed in _results(client, study, places, count):
        _keep(packed, _shard_folder(folder, place, count))
        done += 1
        progress(done, count)
    unfinished = _merge(study, [_shard_folder(folder, it, count) for it in range(1, count + 1)])
    shutil.rmtree(folder)
    return Outcome(out=study.out, shards=count, begun=len(places), unfinished=unfinished)


def _results(client: Client, study: Study, places: Sequence[int], count: int) -> Iterator[tuple[int, bytes]]:
    futures: dict[Future[bytes], int] = {}
    for place in places:
        shard = Shard(study.program, study.arguments, place, count, study.scratch)
        # A shard whose worker is lost is begun again elsewhere, by the scheduler, until it has taken more than
        # `distributed.scheduler.allowed-failures` workers with it. Not pure: no answers from an earlier study.
        futures[client.submit(carry_out, shard, pure=False)] = place
    failed: list[str] = []
    for future in as_completed(list(futures)):
        place = futures.pop(future)
        error = future.exception()
        if error is None:
            yield place, future.result()
        else:
            failed.append(str(error) or type(error).__name__)
        future.release()
    if failed:
        raise StudyFailed(f"{len(failed)} of {count} shards failed; the others are kept. The first: {failed[0]}")


def _merge(study: Study, folders: list[Path]) -> str:
    """What the program says of loads that did not finish."""
    command = [study.program, "merge", *map(str, folders), "--out", str(study.out), "--json"]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode == DONE:
        return ""
    if not (study.out / WHOLE).exists():
        raise StudyFailed(f"merge: exit code {ended.returncode}: {ended.stderr.strip()}")
    return ended.stderr.strip()


def _keep(packed: bytes, folder: Path) -> None:
    """Unpack, then rename: a folder under its final name is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="arriving-") as arriving:
        unpack(packed, Path(arriving) / "shard")
        (Path(arriving) / "shard").rename(folder)


def _shards_folder(out: Path) -> Path:
    """Beside the study, for `merge` wants a folder of its own."""
    return out.with_name(out.name + ".shards")


def _shard_folder(folder: Path, place: int, count: int) -> Path:
    return folder / f"{place}-of-{count}"


def _known_count(folder: Path) -> int | None:
    """Into how many shards an interrupted run has cut the study."""
    counts = {int(it.name.rpartition("-of-")[2]) for it in folder.glob("*-of-*")}
    if len(counts) > 1:
        raise StudyFailed(f"{folder}: holds shards of {sorted(counts)}; name one with --shards, or remove it")
    return next(iter(counts), None)


def _refuse_flags(arguments: Sequence[str]) -> None:
    for flag in ("--out", "--shard"):
        if any(it == flag or it.startswith(flag + "=") for it in arguments):
            raise StudyFailed(f"{flag}: is set for each shard; give the study's folder to --out of utmost-cluster")


@contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
        return
    with local_cluster(workers) as cluster, Client(cluster) as client:
        yield client


def local_cluster(workers: int | None) -> LocalCluster:
    """Processes on this machine, one shard at a time each: the program uses all cores it is given itself."""
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
