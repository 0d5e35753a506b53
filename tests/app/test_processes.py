"""The window's engine processes, against small stand-ins of our own and against the real server."""

import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from netwright.app.processes import GONE, LOG_BYTES, ChildProcess, EngineServer, engine_log
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.folder import RunFolder
from tests.builders import chain, layer

ECHO = """
import json, sys
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "die":
        sys.exit(3)
    if request["do"] == "refuse":
        print(json.dumps({"id": request["id"], "error": {"message": "No such thing.", "defect": False}}), flush=True)
    else:
        print(json.dumps({"id": request["id"], "result": {"got": request["with"]}}), flush=True)
"""


class Answers:
    """Collects what comes back."""

    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.errors: list[str] = []

    @property
    def count(self) -> int:
        return len(self.results) + len(self.errors)


def server_of(script: str, parent: QObject) -> EngineServer:
    return EngineServer(parent, [sys.executable, "-c", script])


@pytest.fixture
def parent(qtbot: QtBot) -> QObject:
    return QObject()


def test_requests_are_answered_in_their_own_functions(qtbot: QtBot, parent: QObject) -> None:
    server, answers = server_of(ECHO, parent), Answers()
    server.request("a", {"x": "ä"}, answers.results.append, answers.errors.append)
    server.request("refuse", {}, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 2)
    server.close()

    assert answers.results == [{"got": {"x": "ä"}}]
    assert answers.errors == ["No such thing."]


def test_a_server_that_dies_fails_its_requests_and_comes_back(qtbot: QtBot, parent: QObject) -> None:
    server, answers = server_of(ECHO, parent), Answers()
    server.request("die", {}, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 1)
    server.request("b", {}, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 2)
    server.close()

    assert answers.errors == [GONE]
    assert answers.results == [{"got": {}}]


def test_a_server_that_never_starts_is_given_up(qtbot: QtBot, parent: QObject) -> None:
    server = server_of("import sys; sys.exit(1)", parent)
    with qtbot.waitSignal(server.failed) as given_up:
        server.start()

    assert "times in a row" in given_up.args[0]
    server.close()


def test_a_run_starts_beside_a_reader_that_hangs_and_outlives_the_server(
    qtbot: QtBot, tmp_path: Path, parent: QObject
) -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("fully_connected", outputs=10), layer("softmax"))
    training = TrainingOptions(max_epochs=100_000)
    project = Project(network, data=DataOptions(source="digits"), training=training)
    server, answers, slow = EngineServer(parent), Answers(), Answers()
    (tmp_path / "big.csv").write_text("a,b,c\n" + "1,2,3\n" * 100)
    table = {"data": {"source": "table", "path": "big.csv"}, "base": str(tmp_path)}
    server.request("facts", table, slow.results.append, slow.errors.append)
    qtbot.waitUntil(lambda: slow.count == 1, timeout=60_000)
    assert server._child is not None
    (reader,) = psutil.Process(server._child.process.pid).children()
    reader.suspend()  # as one that reads for long, or from a disk that does not answer
    hanging = server.request("facts", table, slow.results.append, slow.errors.append)
    request = {"project": dumps(project), "project_path": None, "run_dir": str(tmp_path / "run")}
    server.request("train", request, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 1, timeout=60_000)
    assert slow.count == 1
    server.cancel(hanging)
    qtbot.waitUntil(lambda: not reader.is_running(), timeout=60_000)
    assert not answers.errors
    run = RunFolder(Path(answers.results[0]["run_dir"]))
    server.request("inventory", {}, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 2, timeout=60_000)  # it goes on answering

    server.close()

    coordinator = psutil.Process(run.read_info().coordinator)
    assert run.is_alive()
    run.request("stop")
    coordinator.wait(60)
    assert run.state() == "stopped"


def test_a_project_that_cannot_be_trained_is_refused_in_words(qtbot: QtBot, tmp_path: Path, parent: QObject) -> None:
    server, answers = EngineServer(parent), Answers()
    request = {"project": dumps(Project()), "project_path": None, "run_dir": str(tmp_path / "run")}
    server.request("train", request, answers.results.append, answers.errors.append)
    server.request("inventory", {}, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 2, timeout=60_000)
    server.close()

    assert "no data to learn from" in answers.errors[0]
    assert answers.results[0]["num_cores"] >= 1
    assert not (tmp_path / "run").exists()


def test_what_a_process_prints_of_a_defect_is_in_the_log_that_the_message_names(qtbot: QtBot, parent: QObject) -> None:
    script = """
import json, sys
print(json.dumps({"ready": True}), flush=True)
id = json.loads(sys.stdin.readline())["id"]
print("Traceback: the details", file=sys.stderr, flush=True)
print(json.dumps({"id": id, "error": {"message": "KeyError: 'x'", "defect": True}}), flush=True)
sys.stdin.read()
"""
    server, answers = server_of(script, parent), Answers()
    server.request("facts", {}, answers.results.append, answers.errors.append)
    qtbot.waitUntil(lambda: answers.count == 1, timeout=60_000)
    server.close()
    assert answers.errors == [f"A defect of Netwright: KeyError: 'x'. The details are in {engine_log()}."]
    assert "the details" in engine_log().read_text()


def test_a_long_log_begins_anew(qtbot: QtBot, parent: QObject) -> None:
    engine_log().parent.mkdir(parents=True)
    engine_log().write_bytes(b"x" * (LOG_BYTES + 1))
    ChildProcess([sys.executable, "-c", "import sys; print('new', file=sys.stderr)"], parent).end(patience_s=30.0)
    assert engine_log().read_text() == "new\n"
    assert (engine_log().parent / "engine.1.log").stat().st_size == LOG_BYTES + 1
