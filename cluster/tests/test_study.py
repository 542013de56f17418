from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from distributed import Client

from utmost_cluster import Study, StudyFailed
from utmost_cluster.study import run_study_on


def begun(stand_in: Path) -> Counter[str]:
    return Counter((stand_in.parent / "begun.txt").read_text().split())


def test_every_shard_is_done_once_and_all_are_merged(client: Client, stand_in: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    study = Study(("page",), tmp_path / "study", str(stand_in), shards=3)
    outcome = run_study_on(client, study, progress=lambda done, all_: steps.append((done, all_)))
    assert (outcome.shards, outcome.begun) == (3, 3)
    assert begun(stand_in) == {"1/3": 1, "2/3": 1, "3/3": 1}
    merged = (tmp_path / "study" / "merged.txt").read_text().splitlines()
    assert merged == ["load of shard 1/3", "load of shard 2/3", "load of shard 3/3"]
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert not (tmp_path / "study.shards").exists()


def test_without_a_number_there_are_four_shards_a_worker(client: Client, stand_in: Path, tmp_path: Path) -> None:
    study = Study(("page",), tmp_path / "study", str(stand_in))
    assert run_study_on(client, study).shards == 8


def test_a_shard_whose_worker_is_killed_is_done_by_another(client: Client, stand_in: Path, tmp_path: Path) -> None:
    study = Study(("page", "--kill-worker"), tmp_path / "study", str(stand_in), shards=3)
    run_study_on(client, study)
    assert begun(stand_in)["2/3"] == 2, "begun, lost with its worker, begun again"
    assert len((tmp_path / "study" / "merged.txt").read_text().splitlines()) == 3


def test_a_shard_that_fails_is_named_and_the_others_are_kept(client: Client, stand_in: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    with pytest.raises(StudyFailed, match="1 of 3 shards failed.*shard 2/3: exit code 1: utmost: out of luck"):
        run_study_on(client, Study(("page", "--fail"), out, str(stand_in), shards=3))
    again = run_study_on(client, Study(("page",), out, str(stand_in)))
    assert (again.shards, again.begun) == (3, 1), "only the shard that failed is begun again"
    assert begun(stand_in) == {"1/3": 1, "2/3": 2, "3/3": 1}


def test_a_load_that_does_not_finish_keeps_the_loads_of_its_shard(
    client: Client, stand_in: Path, tmp_path: Path
) -> None:
    outcome = run_study_on(client, Study(("page", "--hang"), tmp_path / "study", str(stand_in), shards=3))
    assert outcome.unfinished == "utmost: a load did not finish"
    merged = (tmp_path / "study" / "merged.txt").read_text().splitlines()
    assert merged == ["load of shard 1/3", "load of shard 3/3", "unfinished load of shard 2/3"]
    assert not (tmp_path / "study.shards").exists()


@pytest.mark.parametrize("flag", ["--out", "--shard", "--out=x"])
def test_flags_that_are_set_for_each_shard_are_refused(
    client: Client, stand_in: Path, tmp_path: Path, flag: str
) -> None:
    with pytest.raises(StudyFailed, match=flag.partition("=")[0]):
        run_study_on(client, Study(("page", flag), tmp_path / "study", str(stand_in)))
