"""The queue in the window: what is listed, and what its buttons do."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.runs.background_answers import ResultDialog, leave_in_background
from netwright.app.runs.queue_panel import MOST_ROWS, QueueController, QueuePanel
from netwright.designer.elided_label import ElidedLabel
from netwright.engine.analysis.operations.evaluate import OPERATION as EVALUATE
from netwright.engine.analysis.operations.evaluate import EvaluateRequest
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs import queued_answers
from netwright.engine.runs.create import create
from netwright.engine.runs.history import ProjectKey
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.queue import Entry, Queue
from netwright.engine.runs.queued_answers import QueuedResult


@pytest.fixture
def keeper(qtbot: QtBot, tmp_path: Path) -> Iterator[QueueController]:
    made = QueueController(queue=Queue(tmp_path / "queue"), look_ms=20)
    yield made
    made.close()


@pytest.fixture
def panel(qtbot: QtBot, keeper: QueueController) -> Iterator[QueuePanel]:
    holder, made = QWidget(), QueuePanel(keeper)
    qtbot.addWidget(holder)
    QVBoxLayout(holder).addWidget(made)
    holder.show()
    keeper.look()
    yield made
    made.shutdown()


def press(panel: QueuePanel, id: int, words: str) -> None:
    buttons = {button.toolTip(): button for button in panel.rows[id].findChildren(QToolButton)}
    buttons[words].click()


def test_what_a_terminal_adds_and_removes_is_seen_while_nobody_looks(qtbot: QtBot, keeper: QueueController) -> None:
    """The window is idle: nothing waits, and the panel is hidden."""
    keeper.look()
    assert not keeper._timer.isActive()
    terminal = Queue(keeper.queue.folder)
    number = terminal.add("{}", "one").id
    qtbot.waitUntil(lambda: [entry.title for entry in keeper.entries] == ["one"])
    keeper._timer.stop()
    terminal.remove(number)
    qtbot.waitUntil(lambda: keeper.entries == [])


def test_nothing_is_shown_without_a_queue_and_what_others_add_is_seen(
    qtbot: QtBot, keeper: QueueController, panel: QueuePanel
) -> None:
    assert panel.isHidden()
    keeper.queue.add("{}", "one")
    keeper.queue.add("{}", "two")
    keeper.look()
    assert not panel.isHidden()
    assert [row.name.text() for row in panel.rows.values()] == ["one", "two"]
    assert not panel.start.isHidden()
    keeper.queue.add("{}", "three")
    qtbot.waitUntil(lambda: len(panel.rows) == 3)
    press(panel, 3, "Move up")
    assert [entry.id for entry in keeper.waiting] == [1, 3, 2]
    press(panel, 1, "Remove from the queue")
    assert list(panel.rows) == [3, 2]
    with keeper.queue.at_work():
        keeper.look()
        assert panel.start.isHidden()


def test_a_run_of_the_queue_is_told_once_and_leaves_the_list(
    qtbot: QtBot, keeper: QueueController, panel: QueuePanel, tmp_path: Path
) -> None:
    """The rail has a row for it; what could not be started stays, with the reason."""
    entry, other = (keeper.queue.add("{}", name) for name in ("one", "two"))
    run = create(tmp_path / "run", "{}", RunInfo())
    keeper.look()
    with keeper.queue.claimed(entry.id) as claim:
        with qtbot.waitSignal(keeper.began):
            claim.change(state="running", run_dir=str(run.path))
        assert list(panel.rows) == [other.id]
    with keeper.queue.claimed(other.id) as claim:
        claim.change(state="refused", reason="There is no data")
    keeper.look()
    assert panel.rows[other.id].name.toolTip() == "There is no data"
    press(panel, other.id, "Remove from the queue")
    assert panel.isHidden()


def test_a_run_that_began_and_ended_between_two_looks_is_told(
    qtbot: QtBot, keeper: QueueController, tmp_path: Path
) -> None:
    entry = keeper.queue.add("{}", "short")
    keeper.look()
    begun: list[int] = []
    keeper.began.connect(lambda entry: begun.append(entry.id))
    with keeper.queue.claimed(entry.id) as claim:
        claim.change(state="finished", run_dir=str(create(tmp_path / "run", "{}", RunInfo()).path))
    keeper.look()
    keeper.look()
    assert begun == [entry.id]


def test_what_cannot_be_done_is_said(qtbot: QtBot, keeper: QueueController) -> None:
    with qtbot.waitSignal(keeper.refused) as refused:
        keeper.remove(7)
    assert "There is no entry 7" in refused.args[0]


def test_of_a_long_queue_the_next_ones_are_shown(keeper: QueueController, panel: QueuePanel) -> None:
    for number in range(MOST_ROWS + 3):
        keeper.queue.add("{}", f"net {number}")
    keeper.look()
    assert len(panel.rows) == MOST_ROWS


def test_what_waits_is_put_in_order_by_dragging(qtbot: QtBot, keeper: QueueController, panel: QueuePanel) -> None:
    for name in ("one", "two", "three"):
        keeper.queue.add("{}", name)
    keeper.look()
    QApplication.processEvents()

    def drag(id: int, to: int, *, below: bool) -> None:
        """Onto the lower or the upper half of another row."""
        row, target = panel.rows[id], panel.rows[to]
        y = target.geometry().center().y() + (6 if below else -6) - row.geometry().top()
        middle = row.rect().center()
        QTest.mousePress(row, Qt.MouseButton.LeftButton, pos=middle)
        QTest.mouseMove(row, QPoint(middle.x(), middle.y() + 30))
        QTest.mouseMove(row, QPoint(middle.x(), y))
        assert panel._mark.isVisible()
        QTest.mouseRelease(row, Qt.MouseButton.LeftButton, pos=QPoint(middle.x(), y))
        assert not panel._mark.isVisible()

    drag(3, 1, below=False)
    assert [entry.id for entry in keeper.waiting] == [3, 1, 2]
    drag(3, 1, below=True)
    assert [entry.id for entry in keeper.waiting] == [1, 3, 2]
    drag(1, 2, below=True)
    assert [entry.id for entry in keeper.waiting] == [3, 2, 1]


def test_only_the_queue_of_the_open_project_is_shown_and_moved(keeper: QueueController, panel: QueuePanel) -> None:
    """The entries of other projects keep their places between."""
    mine = dumps(Project(identity="11111111-mine"))
    for text, name in (("{}", "other 1"), (mine, "mine 2"), ("{}", "other 3"), (mine, "mine 4"), (mine, "mine 5")):
        keeper.queue.add(text, name, project_path="" if text == mine else "/elsewhere/other.netwright")
    keeper.show_project(ProjectKey(Path("/nets/net.netwright"), "11111111-mine"))
    keeper.look()
    assert [row.name.text() for row in panel.rows.values()] == ["mine 2", "mine 4", "mine 5"]
    labels = [label.text() for label in panel.findChildren(ElidedLabel)]
    assert "Beside 2 runs of other projects in the queue" in labels
    press(panel, 5, "Move up")
    assert [entry.id for entry in keeper.waiting] == [1, 2, 3, 5, 4]
    keeper.move(2, 3)
    assert [entry.id for entry in keeper.waiting] == [1, 3, 5, 4, 2]
    with keeper.queue.claimed(1) as claim:
        claim.change(state="failed")
    with keeper.queue.claimed(2) as claim:
        claim.change(state="failed")
    keeper.look()
    keeper.show_project(ProjectKey(Path("/nets/another.netwright"), "22222222-ours"))
    assert panel.isHidden()


def test_the_first_entry_says_why_it_cannot_be_moved_up(keeper: QueueController, panel: QueuePanel) -> None:
    keeper.queue.add("{}", "one")
    keeper.look()
    up = next(button for button in panel.rows[1].findChildren(QToolButton) if not button.isEnabled())
    assert up.toolTip() == "Already the next one"


def test_an_entry_says_what_differs_and_the_same_options_get_another_seed(
    keeper: QueueController, panel: QueuePanel, tmp_path: Path
) -> None:
    def project(**options: object) -> str:
        return dumps(Project(training=TrainingOptions(**options)))

    run = create(tmp_path / "run", project(), RunInfo())
    for text in (project(initial_learn_rate=0.02), project(), project(), project(seed=7)):
        keeper.add(text, "mine", "", after=run, trust=False, begins=False)
    names = [row.name.text() for row in panel.rows.values()]
    assert names == ["mine · rate 0.02", "mine · seed 1", "mine · seed 2", "mine · seed 7"]
    seeds = [loads(keeper.queue.project_text(entry.id)).project.training.seed for entry in keeper.waiting]
    assert seeds == [0, 1, 2, 7]


def test_an_answer_has_its_progress_its_end_and_its_result(
    qtbot: QtBot, keeper: QueueController, panel: QueuePanel
) -> None:
    queue = keeper.queue
    shown: list[Entry] = []
    keeper.began.connect(shown.append)
    entry = queue.add("", "evaluate run", operation="evaluate")
    with queue.claimed(entry.id) as claim:
        claim.change(state="running", progress="45 % (9 of 20 samples)")
        keeper.look()
        assert panel.rows[entry.id].name.text() == "evaluate run · 45 % (9 of 20 samples)"
        press(panel, entry.id, "Stop")
        assert queued_answers.stop_file(queue, entry.id).exists()
        claim.change(state="finished", progress="")
    queued_answers.write_queued_result(queue, entry.id, QueuedResult({"loss": 1.5}, "loss: 1.5", ("as ever",)))
    keeper.look()
    press(panel, entry.id, "Show the result")
    dialog = panel.window().findChild(ResultDialog)
    assert dialog is not None
    assert dialog.text.toPlainText() == "loss: 1.5\nas ever"
    dialog.close()
    press(panel, entry.id, "Remove from the queue")
    assert not panel.rows
    assert shown == []  # no run is shown for it


def test_what_is_left_in_the_background_is_listed(
    qtbot: QtBot, keeper: QueueController, panel: QueuePanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(queued_answers, "Queue", lambda: keeper.queue)
    monkeypatch.setattr(queued_answers, "start_entry", lambda queue, id: None)
    hints: list[str] = []
    shell = SimpleNamespace(hint=hints.append, show_error=lambda title, text: hints.append(text))
    request = EvaluateRequest(model=tmp_path / "run")
    leave_in_background(shell, EVALUATE, request)
    assert hints == ["It goes on in the background, as number 1 of the queue."]
    assert [row.name.text() for row in panel.rows.values()] == ["evaluate run"]
    assert queued_answers.read_request(keeper.queue, 1).values["model"] == str(tmp_path / "run")
    leave_in_background(shell, EVALUATE, replace(request, store=True))
    assert hints[1].startswith("--store needs what to store")
