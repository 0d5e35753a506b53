"""The examples of `--help`, one after the other, from an empty folder."""

from pathlib import Path

import pytest

from netwright.engine.cli.commands import EXAMPLES
from netwright.engine.core.part_registry import parts
from tests import warm
from tests.system.test_examples import PATIENCE_S, run_all


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_the_examples_of_the_help_work_from_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # The test of a machine takes long, and has tests of its own.
    lines = [line for examples in EXAMPLES.values() for line in examples if line != "devices --test"]
    lines += [
        "new recipes",
        "train recipes.netwright --set training.max_epochs=1 --run-dir runs/recipes",
    ]  # it writes on
    for part in sorted(parts(), key=lambda part: part.name != "exchange"):  # the others ask what it has exported
        lines += [line for command in part.commands.values() for line in command.examples]
    lines.remove("endpoint digits.onnx")  # which does not end by itself
    lines = [line.replace("--minutes 1", "--minutes 0.5") for line in lines]
    folder = tmp_path / "empty"
    folder.mkdir()
    try:
        run_all(lines, folder)
        assert {path.name for path in folder.iterdir()} >= {"digits.onnx", "digits.svg", "curves.csv", "outcome.xml"}
    finally:
        warm.run(["stop", "runs/two"], cwd=folder, timeout=PATIENCE_S)
