"""What a runner has in memory before its first run begins."""

from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.experiments import runner
from netwright.engine.experiments.runner import Runner
from tests.trials import RATE, SOLVER, trial, written


class PreloadedError(Exception):
    """Torch would be imported now."""


@pytest.fixture(autouse=True)
def preload(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PreloadedError

    monkeypatch.setattr(runner, "preload", refuse)


@pytest.mark.parametrize("is_over", [True, False])
def test_an_experiment_whose_trials_have_ended_loads_no_torch(tmp_path: Path, is_over: bool) -> None:
    trials = [trial(n, {RATE: 0.001 * n, SOLVER: "adam"}, accuracy=0.01 * n) for n in range(1, 70)]
    if not is_over:
        trials[-1] = replace(trials[-1], state="running", runs=())
    experiment = written(tmp_path, trials)
    if is_over:
        assert Runner(experiment).run().state == "finished"
    else:
        with pytest.raises(PreloadedError):
            Runner(experiment).run()
