"""The commands of the README and of `--help`, one after the other, from an empty folder."""

import glob
import re
import shlex
from pathlib import Path

import pytest

from netwright.engine.cli.commands import EXAMPLES
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, EXIT_REQUIREMENT, EXIT_UNAVAILABLE
from netwright.engine.core.part_registry import parts
from tests import warm

ROOT = Path(__file__).parents[2]
PATIENCE_S = 100
ALSO = {"compare": EXIT_REQUIREMENT, "cluster": EXIT_UNAVAILABLE, "fetch": EXIT_INPUT}
"""Other exit codes of examples: projects that differ, a cluster that is not here, a run that is none of a cluster."""


def run_all(lines: list[str], folder: Path) -> None:
    """Run commands in a folder, with the patterns of files expanded as a shell does."""
    for line in lines:
        words = [found for word in shlex.split(line) for found in sorted(glob.glob(word, root_dir=folder)) or [word]]
        done = warm.run(words, cwd=folder, timeout=PATIENCE_S)
        allowed = (EXIT_DONE, ALSO.get(words[0], EXIT_DONE))
        assert done.returncode in allowed, f"{line}\n{done.stdout}{done.stderr}"


def test_the_examples_of_the_help_work_from_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # The test of a machine takes long, and has tests of its own.
    lines = [line for examples in EXAMPLES.values() for line in examples if line != "devices --test"]
    for part in sorted(parts(), key=lambda part: part.name != "exchange"):  # the others ask what it has exported
        lines += [line for command in part.commands.values() for line in command.examples]
    folder = tmp_path / "empty"
    folder.mkdir()
    try:
        run_all(lines, folder)
        assert {path.name for path in folder.iterdir()} >= {"digits.onnx", "digits.svg", "curves.csv", "outcome.xml"}
    finally:
        warm.run(["stop", "runs/two"], cwd=folder, timeout=PATIENCE_S)


def test_the_commands_of_the_readme_work_from_an_empty_folder(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.replace("\\\n", " ")
    lines = [
        line.partition("  #")[0] for line in re.findall(r"^(?: {4})?\$? ?netwright-engine (.+)$", block, re.MULTILINE)
    ]
    assert len(lines) >= 3
    run_all(lines, tmp_path)
