"""With the real program: what a cluster makes is what one machine makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from distributed import Client

from utmost_cluster import Study
from utmost_cluster.study import run_study_on


def one_machine(program: str, arguments: tuple[str, ...], out: Path) -> None:
    subprocess.run([program, "compare", *arguments, "--out", str(out), "--json"], check=True, stdout=subprocess.DEVNULL)


def study_of(folder: Path) -> dict[str, Any]:
    study: dict[str, Any] = json.loads((folder / "study.json").read_text())
    return study


def without_provenance(table: Path) -> bytes:
    return table.read_bytes().partition(b"\n")[2]


def test_ideal_is_byte_for_byte_what_one_machine_makes(client: Client, program: str, tmp_path: Path) -> None:
    arguments = ("--paper", "davies-meenan", "agency-index", "--schemes", "fifo,dfifo", "--send-buffer", "0,280k")
    one_machine(program, arguments, tmp_path / "one")
    run_study_on(client, Study(arguments, tmp_path / "many", program, shards=3))
    one, many = study_of(tmp_path / "one"), study_of(tmp_path / "many")
    assert one.pop("provenance") != many.pop("provenance"), "they say who made them"
    assert json.dumps(one) == json.dumps(many)
    names = sorted(str(it.relative_to(tmp_path / "one")) for it in (tmp_path / "one").rglob("*.*"))
    assert names == sorted(str(it.relative_to(tmp_path / "many")) for it in (tmp_path / "many").rglob("*.*"))
    for name in names:
        here, there = tmp_path / "one" / name, tmp_path / "many" / name
        if name.endswith(".csv"):
            assert without_provenance(here) == without_provenance(there), name
        elif name.startswith("figures/"):
            assert here.read_bytes() == there.read_bytes(), name


CONDITIONS = ("network", "send_buffer_bytes", "cc", "queue", "push", "gate", "hints", "signals")


def runs_of(folder: Path) -> list[tuple[Any, ...]]:
    keys = ("page", "scheme", "engine", *CONDITIONS, "seed", "completed")
    return [tuple(run.get(key) for key in keys) for run in study_of(folder)["runs"]]


def columns_of(table: Path) -> list[str]:
    return table.read_text().splitlines()[1].split(",")


def test_stack_is_the_same_set_of_runs(client: Client, program: str, tmp_path: Path) -> None:
    arguments = ("davies-meenan", "--schemes", "fifo", "--engine", "stack", "--network", "cable,3g", "--seeds", "2")
    one_machine(program, arguments, tmp_path / "one")
    run_study_on(client, Study(arguments, tmp_path / "many", program, shards=3))
    assert runs_of(tmp_path / "one") == runs_of(tmp_path / "many")
    assert len(runs_of(tmp_path / "one")) == 8


def test_everything_that_a_study_varies_is_passed_on_and_merged(client: Client, program: str, tmp_path: Path) -> None:
    arguments = (
        *("python-datetime", "--schemes", "rr", "--baseline", "rr", "--engine", "stack", "--network", "cable", "--seeds", "1"),
        *("--cc", "bbr2,cubic", "--queue", "2bdp", "--push", "none,push", "--gate", "strict"),
        *("--hints", "preload", "--signals", "ignore,obey"),
    )
    one_machine(program, arguments, tmp_path / "one")
    run_study_on(client, Study(arguments, tmp_path / "many", program, shards=3))
    assert len(runs_of(tmp_path / "many")) == 2 * 2 * 2
    assert runs_of(tmp_path / "one") == runs_of(tmp_path / "many")
    for table in ("runs.csv", "pages.csv", "summary.csv"):
        assert columns_of(tmp_path / "many" / table) == columns_of(tmp_path / "one" / table)
    assert set(CONDITIONS) <= set(columns_of(tmp_path / "many" / "runs.csv"))
