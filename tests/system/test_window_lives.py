"""The window as a process: how it starts and ends, and that no run depends on it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt

from netwright.app.runs.monitor import Monitor
from netwright.app.window import MainWindow
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, RunOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.folder import RunFolder, open_run
from tests.app.main_windows import fork_programs, shown_windows
from tests.builders import chain, layer

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120
PATIENCE_MS = PATIENCE_S * 1000
# A window that presses Train itself and says where the run is: what a person does before the power fails.
TRAINS = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
import netwright.app.main
from netwright.app.window import MainWindow

application = QApplication(sys.argv)
window = MainWindow("light")
window.open_path(Path(sys.argv[1]))
window.show()
window.training.start()

def look():
    folder = window.training.run_folder
    if folder is not None and folder.read_info().state == "running":
        print(folder.path, flush=True)
        timer.stop()

timer = QTimer(interval=20)
timer.timeout.connect(look)
timer.start()
application.exec()
"""
CLOSES = """
import sys
import netwright.app.main as main
from netwright.app.window import MainWindow
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMenu, QWidget

class Closing(MainWindow):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        for tab in ("data", "runs", "design"):
            self.show_tab(tab)
        self.server.ready.connect(lambda: QTimer.singleShot(0, self.close))

main.MainWindow = Closing
code = main.main(sys.argv[1:])
# pyqtgraph makes a menu without a parent for each plot, in a plain QMenu and QWidget: they are none of ours.
print(*(left for left in QApplication.allWidgets() if type(left.window()) not in (QMenu, QWidget)))
sys.exit(code)
"""
# A second window: it finds the run that another one has begun, lets it go on once that one has paused it, and says at
# the end what it shows.
GOES_ON = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
import netwright.app.main
from netwright.app.window import MainWindow

application = QApplication(sys.argv)
window = MainWindow("light")
window.open_path(Path(sys.argv[1]))
window.show()
window.show_tab("runs")
monitor = window.training.monitor
was_paused = False

def look():
    global was_paused
    if monitor.facts.head.status.text() == "II Paused" and not was_paused:
        was_paused = True
        monitor.facts.head.buttons.resume.click()
    elif was_paused and not window.training.is_running:
        timer.stop()
        rows = [list(card.rows()) for card in (monitor.loss_card, monitor.metric_card)]
        print(json.dumps([window.training.run_folder.path.name, monitor.facts.head.status.text(), rows]), flush=True)
        window.editor.mark_saved()
        window.close()
        window.shutdown()
        application.quit()

timer = QTimer(interval=20)
timer.timeout.connect(look)
timer.start()
application.exec()
"""


def digits(epochs: int) -> Project:
    network = chain(
        layer("image_input", size=8),
        layer("fully_connected", outputs=32),
        layer("relu"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )
    training = TrainingOptions(max_epochs=epochs, mini_batch_size=256)
    environment = EnvironmentOptions(target="multi-cpu", num_workers=2)
    data, fragile = DataOptions(source="digits"), RunOptions(max_restarts=0)
    return Project(network, data=data, training=training, environment=environment, run=fragile)


def python(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def said(errors: str) -> list[str]:
    """What was printed that is worth a look."""
    return [line for line in errors.splitlines() if line and "This plugin does not support" not in line]


@pytest.fixture
def window(qtbot, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    fork_programs(monkeypatch)
    with shown_windows(qtbot) as make:
        yield make()


def monitor_of(window: MainWindow) -> Monitor:
    window.show_tab("runs")
    monitor = window.training.monitor
    assert isinstance(monitor, Monitor)
    return monitor


def test_the_startup_report_is_one_json_object() -> None:
    done = python("-X", "importtime", "-m", "netwright.app", "--startup-report")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert set(report) == {"seconds_to_window", "memory_bytes"}
    assert 0 < report["seconds_to_window"] < PATIENCE_S
    assert report["memory_bytes"] > 2**20
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "PySide6" in imported
    assert imported & {"torch", "numpy", "onnx", "PIL"} == set()


def test_the_startup_report_with_a_project(tmp_path: Path) -> None:
    save(digits(1), tmp_path / "net.netwright")
    done = python("-m", "netwright.app", str(tmp_path / "net.netwright"), "--startup-report")
    assert done.returncode == 0
    assert said(done.stderr) == []
    assert json.loads(done.stdout)["seconds_to_window"] > 0


def test_a_window_that_is_used_and_closed_ends_cleanly(tmp_path: Path) -> None:
    save(digits(1), tmp_path / "net.netwright")
    done = python("-c", CLOSES, str(tmp_path / "net.netwright"))
    assert said(done.stderr) == []
    assert done.stdout.strip() == "", "widgets that are left to the end of the interpreter may crash it"
    assert done.returncode == 0


def test_a_run_outlives_its_window_and_the_next_one_finds_and_follows_it(
    qtbot, window: MainWindow, tmp_path: Path
) -> None:
    save(digits(1_000_000), tmp_path / "net.netwright")
    command = [sys.executable, "-c", TRAINS, str(tmp_path / "net.netwright")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # a window that is killed removes none of its files
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as first:
        assert first.stdout is not None
        folder = open_run(Path(first.stdout.readline().strip()))
        os.kill(first.pid, signal.SIGKILL)
    assert folder.is_alive()
    window.open_path(tmp_path / "net.netwright")
    qtbot.waitUntil(lambda: window.training.run_folder == folder, timeout=PATIENCE_MS)
    assert window.training.is_running
    monitor = monitor_of(window)
    qtbot.waitUntil(lambda: bool(monitor.facts.progress.text("Iteration")), timeout=PATIENCE_MS)
    window.training.stop()
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    assert monitor.facts.head.status.text() == "■ Stopped"
    steps = [step for split, step, _ in monitor.loss_card.rows() if split == "training"]
    assert steps == list(range(1, len(steps) + 1)), "every step, from the first on"
    assert folder.state() == "stopped"


def start(qtbot, window: MainWindow, path: Path) -> RunFolder:
    save(digits(1_000_000), path)
    window.open_path(path)
    window.show_tab("runs")
    window.training.start()
    monitor = monitor_of(window)
    qtbot.waitUntil(lambda: bool(monitor.facts.progress.text("Iteration")), timeout=PATIENCE_MS)
    folder = window.training.run_folder
    assert folder is not None
    return folder


def test_a_killed_worker_is_told_in_words(qtbot, window: MainWindow, tmp_path: Path) -> None:
    folder = start(qtbot, window, tmp_path / "net.netwright")
    os.kill(folder.read_info().workers[1], signal.SIGKILL)
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    panel = monitor_of(window).facts
    head = panel.head
    assert head.status.text() == "✕ Failed"
    assert "Worker 1 was killed by signal 9" in head.reason.text()
    assert window.bar.train.text() == "Train"


def test_a_killed_coordinator_is_a_lost_run(qtbot, window: MainWindow, tmp_path: Path) -> None:
    folder = start(qtbot, window, tmp_path / "net.netwright")
    info = folder.read_info()
    workers = [psutil.Process(pid) for pid in info.workers]
    os.kill(info.coordinator, signal.SIGKILL)
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    assert monitor_of(window).facts.head.status.text() == "✕ Lost"
    assert psutil.wait_procs(workers, timeout=PATIENCE_S)[1] == [], "workers end with their coordinator"


def test_stop_keeps_what_was_learned_and_resume_goes_on(qtbot, window: MainWindow, tmp_path: Path) -> None:
    folder = start(qtbot, window, tmp_path / "net.netwright")
    qtbot.mouseClick(window.bar.stop, Qt.MouseButton.LeftButton)
    panel = monitor_of(window).facts
    head = panel.head
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    assert head.status.text() == "■ Stopped"
    assert head.buttons.export.isVisible()
    assert folder.kept() is not None
    done = max(step for split, step, _ in monitor_of(window).loss_card.rows() if split == "training")
    qtbot.mouseClick(head.buttons.extend, Qt.MouseButton.LeftButton)
    # What was before is told first, in slices: the buttons follow it to the end.
    qtbot.waitUntil(
        lambda: "Resumed: resumed on request" in [text for _, text in panel.events.rows], timeout=PATIENCE_MS
    )
    qtbot.waitUntil(lambda: head.buttons.pause.isEnabled() and head.buttons.pause.isVisible(), timeout=PATIENCE_MS)
    qtbot.mouseClick(head.buttons.pause, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: head.status.text() == "II Paused", timeout=PATIENCE_MS)
    window.menus.actions_by_id["run.resume"].trigger()
    qtbot.waitUntil(lambda: head.status.text() == "● Training", timeout=PATIENCE_MS)
    window.training.stop()
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    steps = [step for split, step, _ in monitor_of(window).loss_card.rows() if split == "training"]
    assert steps == list(range(1, len(steps) + 1)), "every step once"
    assert len(steps) > done


def test_two_windows_follow_one_run_and_either_leads_it(qtbot, window: MainWindow, tmp_path: Path) -> None:
    """This one pauses, the other one lets it go on, this one shortens it: both see it finish, with the same curves."""
    path = tmp_path / "net.netwright"
    folder = start(qtbot, window, path)
    monitor = monitor_of(window)
    panel = monitor.facts
    head = panel.head
    command = [sys.executable, "-c", GOES_ON, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as other:
        qtbot.waitUntil(head.buttons.pause.isEnabled, timeout=PATIENCE_MS)
        qtbot.mouseClick(head.buttons.pause, Qt.MouseButton.LeftButton)
        told = ["Paused", "Resumed"]
        qtbot.waitUntil(lambda: [words for _, words in panel._lines if words in told] == told, timeout=PATIENCE_MS)
        folder.request("set", epochs=1)
        qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
        printed, errors = other.communicate(timeout=PATIENCE_S)
    assert said(errors) == []
    name, status, shown = json.loads(printed)
    assert (name, status) == (folder.path.name, head.status.text())
    assert status == "✓ Finished"
    mine = [[list(row) for row in card.rows()] for card in (monitor.loss_card, monitor.metric_card)]
    assert shown == mine
    assert {split for split, _, _ in mine[0]} == {"training", "validation", "test"}


def test_a_project_that_waits_is_trained_when_the_run_has_ended(
    qtbot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = start(qtbot, window, tmp_path / "net.netwright")
    window.menus.actions_by_id["run.queue"].trigger()
    keeper = window.training.queue_follower.queue
    assert [entry.title for entry in keeper.waiting] == ["net"]
    window.training.stop()
    qtbot.waitUntil(lambda: window.training.run_folder != first, timeout=PATIENCE_MS)
    assert first.state() == "stopped"
    qtbot.waitUntil(lambda: monitor_of(window).facts.head.buttons.pause.isEnabled(), timeout=PATIENCE_MS)
    window.training.stop()
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: [entry.state for entry in keeper.entries] == ["stopped"], timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not keeper.queue.is_worked(), timeout=PATIENCE_MS)


def test_stop_pressed_before_the_run_has_a_folder_still_stops_it(qtbot, window: MainWindow, tmp_path: Path) -> None:
    save(digits(1_000_000), tmp_path / "net.netwright")
    window.open_path(tmp_path / "net.netwright")
    window.training.start()
    assert window.training.run_folder is None
    window.menus.actions_by_id["run.stop"].trigger()
    assert monitor_of(window).facts.head.status.text() == "◐ Stopping"
    qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    assert monitor_of(window).facts.head.status.text() == "■ Stopped"
