from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from utmost_cluster.shard import Shard, ShardFailed, carry_out, pack, unpack


def test_the_record_and_the_logs_are_sent_back_and_nothing_else(tmp_path: Path) -> None:
    shard = tmp_path / "shard"
    (shard / "qlogs" / "page").mkdir(parents=True)
    for name in ("manifest.json", "runs.jsonl", "report.html", "qlogs/page/client.sqlog"):
        (shard / name).write_text(name)
    unpack(pack(shard), tmp_path / "here")
    there = sorted(str(it.relative_to(tmp_path / "here")) for it in (tmp_path / "here").rglob("*") if it.is_file())
    assert there == ["manifest.json", "qlogs/page/client.sqlog", "runs.jsonl"]


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../escaped"), io.BytesIO())
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack(packed.getvalue(), tmp_path / "here")
    assert not (tmp_path / "escaped").exists()


def test_a_shard_under_way_stays_in_the_scratch_folder(stand_in: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    carry_out(Shard(str(stand_in), ("page",), 1, 2, str(scratch)))
    assert (scratch / "shard-1-of-2" / "runs.jsonl").read_text() == "load of shard 1/2"


def test_a_failure_says_what_the_program_said(stand_in: Path) -> None:
    with pytest.raises(ShardFailed, match="shard 2/2: exit code 1: utmost: out of luck"):
        carry_out(Shard(str(stand_in), ("page", "--fail"), 2, 2))
