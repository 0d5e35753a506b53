"""The workflow of GitHub is YAML, and runs what is there."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from netwright.engine.cli.commands import commands

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
LINES = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]


def test_there_are_three_systems_and_two_versions_of_python() -> None:
    systems: list[Any] = [WORKFLOW["jobs"]["linux"]["runs-on"]]
    for job in (job for job in WORKFLOW["jobs"].values() if "strategy" in job):
        matrix = job["strategy"]["matrix"]
        assert matrix["python"] == ["3.11", "3.12"]
        systems += matrix.get("system", ())
    assert systems == ["ubuntu-latest", "windows-latest", "macos-latest"]


@pytest.mark.parametrize("line", LINES)
def test_each_step_names_what_is_there(line: str) -> None:
    program, *words = line.split()
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    if program == "make":
        assert set(words) <= set(targets)
    elif program == "netwright-engine":
        assert words[0] in commands()
    else:
        assert program == "python"
    for path in (word for word in words if word.startswith(("tests/", "scripts/")) or word == "constraints.txt"):
        assert (ROOT / path).exists()
