"""No network unless it is asked for: a whole training, begun as a user begins it, names no other machine."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.project.file import save
from engine.runs.folder import RunFolder
from tests.faults.conftest import project_of
from tests.faults.network import NOTES
from tests.runs import PATIENCE_S, ROOT
from tests.system.test_training import TWO

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
AWAY = """
import contextlib, os, socket
pid = os.fork()
if not pid:
    with socket.socket() as one, contextlib.suppress(OSError):
        one.setblocking(False)
        one.connect(("192.0.2.1", 9))
    os._exit(0)
os.waitpid(pid, 0)
with socket.socket() as one, socket.socket(socket.AF_UNIX) as local:
    local.bind("")
    one.bind(("", 0))
with contextlib.suppress(OSError):
    socket.getaddrinfo("192.0.2.2", 9)
"""
"""Addresses that lead nowhere (RFC 5737), one of them from a forked process."""


def watched(folder: Path, words: Sequence[str]) -> list[dict[str, Any]]:
    """What a Python program, and what it starts, asks of the network; it is watched before its first line."""
    site, notes = folder / "site", folder / "notes"
    site.mkdir()
    (site / "sitecustomize.py").write_text("from tests.faults.network import install_where_asked as i\ni()\n")
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}", NOTES: str(notes)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in notes.read_text().splitlines()]


def test_what_is_asked_of_the_network_is_seen(tmp_path: Path) -> None:
    seen = watched(tmp_path, ["-c", AWAY])
    named = [(one["what"], one["host"]) for one in seen if one["what"] != "watched"]
    away, bound, asked = ("socket.connect", "192.0.2.1"), ("socket.bind", ""), "socket.getaddrinfo"
    assert named == [away, bound, (asked, "192.0.2.2")]
    assert len({one["pid"] for one in seen}) == 2


@pytest.mark.parametrize("environment", [None, TWO], ids=["one worker", "two workers"])
def test_training_names_no_other_machine(environment: dict[str, Any] | None, tmp_path: Path) -> None:
    file, run = tmp_path / "digits.netwright", RunFolder(tmp_path / "run")
    save(project_of(environment, max_epochs=2), file)
    seen = watched(tmp_path, ["-m", "engine", "train", str(file), "--run-dir", str(run.path)])
    assert run.state() == "finished"
    workers = {int(pid) for pid in run.read_info()["workers"]}
    assert len(workers) == (2 if environment else 1)
    assert workers | {int(run.read_info()["coordinator"])} <= {one["pid"] for one in seen}, "all were watched"
    assert {one["host"] for one in seen if one["what"] != "watched"} <= LOOPBACK, seen
