"""The commands of the README, one after the other, from an empty folder."""

import glob
import re
import shlex
from pathlib import Path

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, EXIT_REQUIREMENT, EXIT_UNAVAILABLE
from tests import warm

ROOT = Path(__file__).parents[2]
PATIENCE_S = 100
ALSO = {"compare": EXIT_REQUIREMENT, "cluster": EXIT_UNAVAILABLE, "fetch": EXIT_INPUT}
"""Other exit codes of examples: projects that differ, a cluster that is not here, a run that is none of a cluster."""


def expanded(line: str, folder: Path) -> list[str]:
    """The words of a command, with the patterns of files expanded as a shell does."""
    return [found for word in shlex.split(line) for found in sorted(glob.glob(word, root_dir=folder)) or [word]]


def run_all(lines: list[str], folder: Path) -> None:
    """Run commands in a folder."""
    for line in lines:
        words = expanded(line, folder)
        done = warm.run(words, cwd=folder, timeout=PATIENCE_S)
        allowed = (EXIT_DONE, ALSO.get(words[0], EXIT_DONE))
        assert done.returncode in allowed, f"{line}\n{done.stdout}{done.stderr}"


def test_the_commands_of_the_readme_work_from_an_empty_folder(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.replace("\\\n", " ")
    lines = [
        line.partition("  #")[0] for line in re.findall(r"^(?: {4})?\$? ?netwright-engine (.+)$", block, re.MULTILINE)
    ]
    assert len(lines) >= 3
    run_all(lines, tmp_path)
