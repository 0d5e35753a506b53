"""The record in `run.json`: typed, tolerant of strangers and other versions, the same in the file as ever."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.placement.candidates import PlacementRecord, places_text
from netwright.engine.placement.choose import WorkerPlace
from netwright.engine.runs.info import RunInfo

GOLDEN = Path(__file__).parents[2] / "golden" / "runs"


def placement(resolved: str, threads: int, workers: int = 1) -> PlacementRecord:
    places = (WorkerPlace("cpu", threads, samples=64),) * workers
    return PlacementRecord(environment={"resolved": resolved}, places=places, sentence=f"on {workers}")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/run.json")), ids=lambda path: path.parent.name)
def test_runs_of_all_versions_are_read_and_written_as_they_were(path: Path) -> None:
    data = json.loads(path.read_bytes())
    again = json.loads(json.dumps(RunInfo.read(data).write()))
    for key, value in data.items():
        if key == "places":
            assert [dict(list(place.items())[: len(value[0])]) for place in again[key]] == value
        else:
            assert again[key] == value


def test_the_keys_of_a_new_run_stand_in_their_order() -> None:
    info = RunInfo(name="digits", placement=placement("cpu", 2), exit_code=0, kept="best")
    data = info.write()
    assert list(data)[:7] == ["project_path", "base", "name", "project_sha256", "environment", "places", "hardware"]
    assert list(data)[-5:] == ["workers", "created", "state", "exit_code", "kept"]
    assert not {"code", "resumed", "released", "project_sha256_next", "threads_are_chosen"} & data.keys()
    assert RunInfo.read(json.loads(json.dumps(data))) == info


@pytest.mark.parametrize(
    "data",
    [
        {"state": 5, "created": "soon", "workers": ["a"], "places": [1], "environment": [], "candidates": {}},
        {"max_restarts": 1.5, "seed": True, "exit_code": 2**70, "deterministic": 1, "loading": [], "versions": 3},
        {"loading": {"is_streamed": "yes"}, "code": [], "warnings": "none", "kept": None, "created": -1.0},
    ],
)
def test_values_of_another_kind_count_as_absent(data: Mapping[str, Any]) -> None:
    assert RunInfo.read(data) == RunInfo()


def test_keys_of_a_newer_version_are_kept() -> None:
    assert RunInfo.read({"later": {"x": [1]}, "name": "digits"}).write()["later"] == {"x": [1]}


def test_a_placement_trial_decides() -> None:
    info = RunInfo(placement=placement("cpu", 2), candidates=(placement("multi-cpu", 1, workers=2),))
    assert info.is_undecided
    chosen = info.decided(0, 1)
    assert not chosen.is_undecided
    assert (chosen.placement.sentence, places_text(chosen.placement.places)) == ("on 2", "2 workers with 1 thread each")
    assert dict(chosen.chosen_environment()) == {"target": "multi-cpu", "num_workers": 2, "threads": 1}
    alone = info.decided(-1, 1)
    assert (alone.placement.sentence, places_text(alone.placement.places)) == ("on 1", "1 process with 1 thread")
    assert dict(alone.chosen_environment()) == {"target": "cpu", "threads": 1}
    untried = info.decided(-1, 0)
    assert places_text(untried.placement.places) == "1 process with 2 threads"
    assert (dict(untried.chosen_environment()), untried.is_undecided) == ({}, False)
