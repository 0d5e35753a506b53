"""A module of Netwright as a program in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.core.process import engine_command, module_command, module_environment

PROGRAM = """
import atexit, os, sys, time
{ends}
def main(arguments):
    print("printed", *arguments)
    print("complained", file=sys.stderr)
    atexit.register(print, "left")
    return {code}
"""


@pytest.mark.parametrize(("code", "exit_code"), [(None, 0), (0, 0), (3, 3)])
def test_a_module_gets_its_arguments_and_gives_its_exit_code(code: int | None, exit_code: int, tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.format(ends="", code=code), "a b", "")
    assert (done.returncode, done.stdout, done.stderr) == (exit_code, "printed a b \nleft\n", "complained\n")


def test_a_module_can_end_at_once_with_all_that_it_printed(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM.format(ends="ENDS_AT_ONCE = True", code=4))
    assert (done.returncode, done.stdout, done.stderr) == (4, "printed\n", "complained\n")


def test_the_engine_is_found_from_any_folder(tmp_path: Path) -> None:
    command = engine_command("--version")
    done = subprocess.run(command, cwd=tmp_path, env=module_environment(), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("netwright-engine ") or done.stdout[:1].isdigit()


def run(folder: Path, text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "written.py").write_text(text)
    environment = module_environment()
    environment["PYTHONPATH"] += f"{os.pathsep}{folder}"
    command = module_command("written", *arguments)
    assert command[0] == sys.executable
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
