"""The skill for assistants: what it says works, one example after the other, as it is printed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from netwright.engine.cli.commands import commands
from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT
from netwright.engine.operations.docs import SKILL
from netwright.engine.project.schema import schema
from tests import warm
from tests.docs_blocks import ROOT, blocks
from tests.json_schema import violations

PATIENCE_S = 100


def test_it_has_the_head_of_a_skill() -> None:
    """As https://agentskills.io says: a name, which is that of its folder, and when it is of use."""
    head = re.match(r"---\n(.*?)\n---\n", SKILL.read_text(encoding="utf-8"), re.DOTALL)
    assert head is not None
    about = yaml.safe_load(head[1])
    assert set(about) == {"name", "description"}
    assert about["name"] == SKILL.parent.name
    assert 0 < len(about["description"]) <= 1024


def test_its_project_is_one_that_the_schema_allows() -> None:
    (block,) = (block for block in blocks(SKILL) if block.language == "json")
    assert [*violations(json.loads(block.text), schema())] == []


def test_its_examples_work_one_after_the_other(tmp_path: Path) -> None:
    examples = {block.language: block for block in blocks(SKILL)}
    (tmp_path / "small.netwright").write_text(examples["json"].text, encoding="utf-8")
    ends = {}
    for line in examples["sh"].commands:
        done = warm.run(shlex.split(line), cwd=tmp_path, timeout=PATIENCE_S)
        ends[line.split()[0]] = done.returncode
        assert done.returncode in (EXIT_DONE, EXIT_REQUIREMENT), f"{line}\n{done.stdout}{done.stderr}"
    assert {name for name, code in ends.items() if code != EXIT_DONE} == {"compare"}
    assert done.stdout == "~ training.max_epochs: 2 -> 3\n"
    assert (tmp_path / "small.onnx").is_file()
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    code += "".join(block.text for block in blocks(SKILL) if block.language == "python")
    program = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert program.returncode == 0, program.stderr
    assert program.stdout.startswith("finished ")


def test_its_commands_are_those_of_the_program() -> None:
    """In its sentences, too: those in blocks run above."""
    named = re.findall(r"`netwright-engine ([a-z]+)", SKILL.read_text(encoding="utf-8"))
    assert set(named) <= set(commands())
    assert len(named) > 5
