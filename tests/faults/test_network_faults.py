"""No network unless it is asked for: a training, a window and exports, begun as a user begins them, name no other
machine."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.operations.run_files import FORMATS
from netwright.engine.project.file import save
from netwright.engine.runs.folder import RunFolder
from tests import warm
from tests.faults.conftest import project_of
from tests.faults.network_faults import NOTES
from tests.faults.test_golden_runs import GOLDEN
from tests.runs import PATIENCE_S, ROOT
from tests.system.test_training import TWO

# In a fork of the warm process. What libraries do as they are imported: see the training below, and test_telemetry.
STRANGERS = """
from tests.faults.network_faults import install_where_asked
install_where_asked()
import runpy
runpy.run_module("tests.faults.strangers", run_name="__main__", alter_sys=True)
"""
HAS_QT = importlib.util.find_spec("PySide6") is not None
EXPORTS = {"onnx": "net.onnx", "pytorch": "net.py"}
EXPORTING = """
import json, sys
from netwright.engine.cli.main import main
sys.exit(any([main(words) for words in json.loads(sys.argv[1])]))
"""
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


def watched(folder: Path, words: Sequence[str], patience_s: float = PATIENCE_S) -> tuple[list[dict[str, Any]], str]:
    """What a Python program, and what it starts, asks of the network, and what it says; it is watched before its first
    line."""
    site, notes = folder / "site", folder / "notes"
    site.mkdir()
    (site / "sitecustomize.py").write_text("from tests.faults.network_faults import install_where_asked as i\ni()\n")
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}", NOTES: str(notes)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, timeout=patience_s)
    assert done.returncode == 0, done.stdout + done.stderr
    return noted(notes), done.stdout


def noted(notes: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notes.read_text().splitlines()]


def away(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What of it names another machine."""
    return [one for one in seen if one["what"] != "watched" and one["host"] not in LOOPBACK]


def test_what_is_asked_of_the_network_is_seen(tmp_path: Path) -> None:
    seen, _ = watched(tmp_path, ["-c", AWAY])
    named = [(one["what"], one["host"]) for one in seen if one["what"] != "watched"]
    connected, bound, asked = ("socket.connect", "192.0.2.1"), ("socket.bind", ""), "socket.getaddrinfo"
    assert named == [connected, bound, (asked, "192.0.2.2")]
    assert len(away(seen)) == 3
    assert len({one["pid"] for one in seen}) == 2


def test_training_names_no_other_machine(tmp_path: Path) -> None:
    """With two workers; the window, below, trains with one."""
    file, run = tmp_path / "digits.netwright", RunFolder(tmp_path / "run")
    save(project_of(TWO, max_epochs=2), file)
    seen, _ = watched(tmp_path, ["-m", "netwright.engine", "train", str(file), "--run-dir", str(run.path)])
    assert run.state() == "finished"
    workers = set(run.read_info().workers)
    assert len(workers) == 2
    assert workers | {run.read_info().coordinator} <= {one["pid"] for one in seen}, "all were watched"
    assert away(seen) == []


@pytest.mark.skipif(not HAS_QT, reason="PySide6 is not installed")
def test_the_window_names_no_other_machine(tmp_path: Path) -> None:
    """From its start to the list of experiments, with every process that it starts; it has no socket of its own."""
    seen, printed = watched(tmp_path, ["-m", "tests.faults.window_user"], 250)
    said = json.loads(printed.splitlines()[-1])
    assert away(seen) == []
    assert (said["ends"], said["has_qt_network"]) == ([], False)
    run = RunFolder(Path(said["run"]))
    assert run.state() == "finished"
    workers = set(run.read_info().workers)
    assert workers | {run.read_info().coordinator} <= {one["pid"] for one in seen}, "all were watched"


def test_what_comes_from_a_stranger_contacts_nobody(tmp_path: Path) -> None:
    """Files of every kind that is opened, with addresses in them, and all that looks at them; not even this machine is
    contacted."""
    (tmp_path / "theirs").mkdir()
    notes = tmp_path / "notes"
    done = warm.run([tmp_path / "theirs"], code=STRANGERS, cwd=ROOT, env={**os.environ, NOTES: str(notes)}, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["looks"] > 200
    seen = noted(notes)
    assert seen
    assert [one for one in seen if one["what"] != "watched"] == []


@pytest.mark.faults
def test_exports_name_no_other_machine(tmp_path: Path) -> None:
    """A network in both forms, and curves in all three."""
    run = shutil.copytree(GOLDEN / "2_finished", tmp_path / "run")
    export = [["export", run, "--format", form, "-o", tmp_path / file] for form, file in EXPORTS.items()]
    curves = [["curves", run, "--format", form, "-o", tmp_path / f"{form}.x"] for form in FORMATS]
    commands = [list(map(str, words)) for words in (*export, *curves)]
    seen, _ = watched(tmp_path, ["-c", EXPORTING, json.dumps(commands)])
    assert away(seen) == []
    assert all((tmp_path / name).exists() for name in (*EXPORTS.values(), *(f"{form}.x" for form in FORMATS)))
