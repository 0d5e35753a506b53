"""Predictions on a machine that others keep busy: said, and measured again."""

import json

import pytest

from netwright.engine.launch import advisor
from netwright.engine.launch.trial import TrialResult
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.project import Project
from tests.builders import chain, layer

PROJECT = Project(chain(layer("feature_input", channels=4), layer("fully_connected", outputs=2)))


@pytest.mark.parametrize(("cores", "expected_s"), [(0.0, 0.9), (1.8, 0.1)])
def test_times_are_the_shortest_of_several_where_others_disturb_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cores: float, expected_s: float
) -> None:
    times = [0.9, 0.1, 0.5]

    def run_trial(project: Project, samples: int, device: str, threads: int, steps: int) -> TrialResult:
        times.append(times.pop(0))
        return TrialResult(samples, seconds=times[-1])

    monkeypatch.setattr(advisor, "run_trial", run_trial)
    monkeypatch.setattr(advisor, "busy_cores", lambda seconds: cores)
    monkeypatch.setattr(advisor, "probe", lambda: DeviceInventory(1))
    advisor._advise(PROJECT)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    way = next(line["way"] for line in lines if "way" in line)
    assert way["seconds"] == expected_s
    warnings = [line["busy"] for line in lines if line.get("busy")]
    assert len(warnings) == (2 if cores else 0), "before the first time, and beside the advice"
    assert all(text.startswith("The machine is busy: other programs take 1.0 of 1 core") for text in warnings)
