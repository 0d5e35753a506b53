"""The outcome of a training in words."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.follow_command import ProgressPrinter
from netwright.engine.cli.train_command import tell_outcome
from netwright.engine.runs.folder import RunFolder

RESULT: dict[str, Any] = {
    "state": "finished",
    "reason": "all 30 epochs completed",
    "epochs": 30,
    "iterations": 450,
    "seconds": 3.0,
    "samples_per_second": 100.0,
    "validation": {},
    "test": {"loss": 1.6, "accuracy": 0.22},
    "run_dir": "run",
    "baselines": {"test": {"most frequent class": {"accuracy": 0.2}}},
}


@pytest.mark.parametrize(("state", "is_said"), [("finished", True), ("stopped", False)])
def test_that_nothing_was_learned_is_said_first(
    state: str, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = argparse.Namespace(junit=None, json=False)
    with ProgressPrinter() as printer:
        tell_outcome(RunFolder(tmp_path), {**RESULT, "state": state}, printer, [], arguments)
    first, second, *_ = capsys.readouterr().out.splitlines()
    warning = "The network is hardly better than always answering the most frequent class: accuracy 22.0 % against"
    assert first.startswith(warning) is is_said
    assert (second if is_said else first) == f"{state}: all 30 epochs completed"
