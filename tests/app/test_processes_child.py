"""A child of the window: it hears and says messages, and can be ended, with what it started, or let go."""

import sys

import psutil
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from netwright.app.processes import ChildProcess

PATIENCE_MS = 60_000
ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
LEADER = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def owner(qtbot: QtBot) -> QObject:
    return QObject()


def command(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def test_it_hears_and_says_lines_longer_than_a_pipe_holds(qtbot: QtBot, owner: QObject) -> None:
    child = ChildProcess(command(ECHO), owner, hears=True)
    told: list[object] = []
    child.received.connect(told.append)
    messages = [{"long": "x" * 300_000}, {"words": "ä \ud800"}]
    for message in messages:
        child.say(message)
    qtbot.waitUntil(lambda: told == messages, timeout=PATIENCE_MS)
    assert not child.is_behind
    child.end(60.0)
    assert child.process.returncode == 0, "it ended by itself when it heard nothing any more"


def test_what_is_no_message_is_ignored(qtbot: QtBot, owner: QObject) -> None:
    child = ChildProcess(command("print('a warning'); print('{'); print('[' * 100_000); print('[1]')"), owner)
    told: list[object] = []
    child.received.connect(told.append)
    with qtbot.waitSignal(child.closed, timeout=PATIENCE_MS):
        pass
    child.end(60.0)
    assert told == [[1]]


def test_its_own_end_is_told(qtbot: QtBot, owner: QObject) -> None:
    child = ChildProcess(command("pass"), owner)
    with qtbot.waitSignal(child.closed, timeout=PATIENCE_MS):
        pass
    child.end(60.0)
    assert child.process.returncode == 0


def test_one_that_does_not_end_is_ended(owner: QObject) -> None:
    child = ChildProcess(command("import time; time.sleep(600)"), owner, hears=True)
    child.end()
    assert child.process.returncode


def test_a_leader_is_ended_with_what_it_started(qtbot: QtBot, owner: QObject) -> None:
    child = ChildProcess(command(LEADER), owner, is_leader=True)
    told: list[int] = []
    child.received.connect(told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    below = psutil.Process(told[0])
    child.end()
    assert child.process.returncode
    psutil.wait_procs([below], timeout=60)
    assert not below.is_running() or below.status() == psutil.STATUS_ZOMBIE


def test_where_there_is_no_such_program_there_is_no_child(owner: QObject) -> None:
    with pytest.raises(OSError, match="nowhere"):
        ChildProcess(["/nowhere/python"], owner)
    assert owner.children() == []
