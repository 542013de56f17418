"""One shard, on the worker that carries it out: `utmost compare ... --shard I/N`, packed for the way back."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

DONE = 0
"""The program's exit code when all that was asked for is done."""
WHOLE = "report.html"
"""The program writes it after the last load, also if some of the loads did not finish (a page that hangs): these are results
like the others. It then exits with a code of its own."""


class ShardFailed(Exception):
    """A shard whose program ended badly: doing it again would end the same."""


@dataclass(frozen=True)
class Shard:
    """A part of a study: `place` of `count`, from 1."""

    program: str
    arguments: tuple[str, ...]
    place: int
    count: int
    scratch: str | None = None
    """A folder on the worker for shards under way; a temporary one if not given. In a folder that outlives
    the worker, a shard goes on from the loads that were done when its worker was lost."""

    @property
    def name(self) -> str:
        """As on the command line."""
        return f"{self.place}/{self.count}"


def carry_out(shard: Shard) -> bytes:
    """Run the shard; its folder as a tar archive. Runs on the worker."""
    if shard.scratch is not None:
        folder = Path(shard.scratch) / f"shard-{shard.place}-of-{shard.count}"
        folder.mkdir(parents=True, exist_ok=True)
        return _carry_out_in(shard, folder)
    with tempfile.TemporaryDirectory(prefix="utmost-shard-") as folder_name:
        return _carry_out_in(shard, Path(folder_name) / "shard")


def _carry_out_in(shard: Shard, folder: Path) -> bytes:
    command = [shard.program, "compare", *shard.arguments, "--shard", shard.name, "--out", str(folder)]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode != DONE and not (folder / WHOLE).exists():
        cause = ended.stderr.strip() or "it said nothing"
        raise ShardFailed(f"shard {shard.name}: exit code {ended.returncode}: {cause}")
    return pack(folder)


RECORD = ("manifest.json", "runs.jsonl")
"""What `utmost merge` needs of a shard. Its tables and figures are made again from all shards."""


def pack(folder: Path) -> bytes:
    """The record of a shard, and the qlogs if it kept any, as a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in (*RECORD, "qlogs"):
            if (folder / name).exists():
                archive.add(folder / name, arcname=name)
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> None:
    """The opposite of `pack`; refuses paths that lead out of `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")
