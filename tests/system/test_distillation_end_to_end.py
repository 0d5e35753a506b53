"""A run that learns from the answers of another one."""

from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_INPUT
from netwright.engine.project.file import save
from tests.runs import train
from tests.system.test_training import digits, mlp


def test_who_answers_as_the_teacher_has_nothing_to_learn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teacher = train(digits(mlp(), max_epochs=1), tmp_path / "teacher")
    project = digits(mlp(), max_epochs=1, distil_from=str(tmp_path / "teacher"), distil_weight=1.0)
    alike = project.with_section("weights", project.weights.replace(file=str(tmp_path / "teacher")))
    done = train(alike, tmp_path / "run")
    assert done.losses[0] == pytest.approx(0.0, abs=1e-6) != teacher.losses[0]
    texts = [event["text"] for event in done.events("message")]
    assert any("100 % of the training loss are its answers" in text for text in texts)
    file = tmp_path / "other.netwright"
    save(digits(mlp(), distil_from="nowhere"), file)
    assert main(["check", str(file)]) == EXIT_INPUT
    said = capsys.readouterr().out
    assert "training.distil_from" in said
    assert "nowhere cannot be read" in said
    assert "--set training.distil_from=" in said
