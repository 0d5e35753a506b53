"""Commands that say what the trials of an experiment have shown."""

import json
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from tests.trials import ACCURACY, RATE, sample_trials, written


def test_importance_tells_the_shares_of_the_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path, sample_trials())
    assert main(["experiment", "importance", str(tmp_path / "net.netwright"), "--json"]) == EXIT_DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["objective"], told["trials"], told["experiment_dir"]) == (ACCURACY, 8, str(folder.path))
    assert sum(told["importance"].values()) == pytest.approx(1.0)
    assert next(iter(told["importance"])) == RATE, "the objective follows the learn rate"
    wrong = ["experiment", "importance", str(folder.path), "--objective", "validation.acuracy"]
    assert main(wrong) == EXIT_INPUT
    assert "Did you mean 'validation.accuracy'?" in capsys.readouterr().err
