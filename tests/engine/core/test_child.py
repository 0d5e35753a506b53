"""A module as a program of its own."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

MODULE = """
import time

ENDS_WITH_PARENT = True


def main(arguments):
    print("runs", flush=True)
    time.sleep(600)
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "netwright.engine.core.child", "endless"], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
"""


def test_a_module_can_end_with_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "endless.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(__file__).parents[3]}")
    parent = subprocess.run([sys.executable, "-c", PARENT], capture_output=True, text=True, check=True)
    try:
        psutil.Process(int(parent.stdout)).wait(60)
    except psutil.NoSuchProcess:
        return
