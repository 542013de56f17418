"""Runs studies: `utmost compare`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from utmost.errors import UnfinishedLoads
from utmost.program import ENVIRONMENT, find_program, run_program
from utmost.study import Study, read_study, study_of

Values = str | float | Path | Iterable[str | float | Path]
"""One value of an option, or several."""


def compare(
    pages: str | Path | Iterable[str | Path] = (),
    *,
    paper: bool = False,
    schemes: Values | None = None,
    engine: str | None = None,
    network: Values | None = None,
    send_buffer: Values | None = None,
    send_buffer_model: str | None = None,
    metadata: str | None = None,
    delivery_order: str | None = None,
    cc: Values | None = None,
    http: Values | None = None,
    queue: Values | None = None,
    set: Mapping[str, Values] | None = None,
    cross: Values | None = None,
    push: Values | None = None,
    gate: Values | None = None,
    hints: Values | None = None,
    migration: Values | None = None,
    signals: Values | None = None,
    warm_up: Values | None = None,
    initial_window: int | None = None,
    seeds: int | None = None,
    metric: str | None = None,
    baseline: str | None = None,
    weights: str | None = None,
    jobs: int | None = None,
    scheme_file: str | Path | Iterable[str | Path] = (),
    arguments: Iterable[str] = (),
    out: str | Path | None = None,
    program: str | Path | None = None,
) -> Study:
    """Load `pages` under several schemes and compare them. `utmost compare --help` explains each option.

    `paper` stands for the conditions of Marx et al. (2019). An option that is `None` has the program's default; a list gives several values. `set` names properties of the links and
    their values, as in `set={"rtt_ms": [10, 50]}`. `arguments` are passed on as they are, for options that have no parameter
    here. With `out`, that folder also holds the journal, figures and a report, and the same call continues an interrupted
    study. Warns with `UnfinishedLoads` if a load did not finish. Raises `ProgramFailed` with the program's message if it
    rejects the study.
    """
    options = {
        "schemes": schemes,
        "engine": engine,
        "network": network,
        "send-buffer": send_buffer,
        "send-buffer-model": send_buffer_model,
        "metadata": metadata,
        "delivery-order": delivery_order,
        "cc": cc,
        "http": http,
        "queue": queue,
        "cross": cross,
        "push": push,
        "gate": gate,
        "hints": hints,
        "migration": migration,
        "signals": signals,
        "warm-up": warm_up,
        "initial-window": initial_window,
        "seeds": seeds,
        "metric": metric,
        "baseline": baseline,
        "weights": weights,
        "jobs": jobs,
    }
    command = ["compare", *map(str, _several(pages)), "--json", *(["--paper"] if paper else [])]
    for name, value in options.items():
        if value is not None:
            command.append(f"--{name}={','.join(map(str, _several(value)))}")
    command += [f"--set={key}={','.join(map(str, _several(value)))}" for key, value in (set or {}).items()]
    command += [f"--scheme-file={it}" for it in _several(scheme_file)]
    command += arguments
    if out is not None:
        command.append(f"--out={out}")
    output = run_program(command, program=program, accepted=(0, ENVIRONMENT))
    if output.exit_code == ENVIRONMENT:
        warnings.warn(output.stderr.strip().removeprefix("utmost: "), UnfinishedLoads, stacklevel=2)
    if out is not None:
        with warnings.catch_warnings():
            # The program has said it.
            warnings.simplefilter("ignore", UnfinishedLoads)
            return read_study(out)
    return study_of(json.loads(output.stdout), str(find_program(program)))


def _several(value: Values) -> list[str | float | Path]:
    return [value] if isinstance(value, str | int | float | Path) else list(value)
