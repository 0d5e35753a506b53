"""The queue in the window: what is listed, and what its buttons do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.runs.queue import MOST_ROWS, QueueController, QueuePanel
from engine.runs.create import create
from engine.runs.folder import RunFolder
from engine.runs.info import RunInfo
from engine.runs.queue import Queue


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
    assert panel.clear.isHidden()
    keeper.queue.add("{}", "three")
    qtbot.waitUntil(lambda: len(panel.rows) == 3)
    press(panel, 3, "Move up")
    assert [entry.id for entry in keeper.waiting] == [1, 3, 2]
    press(panel, 1, "Remove from the queue")
    assert list(panel.rows) == [3, 2]
    with keeper.queue.at_work():
        keeper.look()
        assert panel.start.isHidden()


def test_a_run_of_the_queue_is_told_once_and_its_curves_are_offered(
    qtbot: QtBot, keeper: QueueController, panel: QueuePanel, tmp_path: Path
) -> None:
    entry = keeper.queue.add("{}", "one")
    run = create(tmp_path / "run", "{}", RunInfo())
    keeper.look()
    with keeper.queue.claimed(entry.id) as claim:
        with qtbot.waitSignal(keeper.began):
            claim.change(state="running", run_dir=str(run.path))
        assert panel.rows[entry.id].state.text() == "Training"
        with qtbot.waitSignal(panel.shown) as shown:
            press(panel, entry.id, "Show curves")
        assert shown.args == [run]
        claim.change(state="failed", reason="The loss became NaN")
    qtbot.waitUntil(lambda: panel.rows[entry.id].state.text() == "Failed")
    assert panel.rows[entry.id].state.toolTip() == "The loss became NaN"
    panel.clear.click()
    assert panel.isHidden()


def test_what_cannot_be_done_is_said(qtbot: QtBot, keeper: QueueController) -> None:
    with qtbot.waitSignal(keeper.refused) as refused:
        keeper.remove(7)
    assert "There is no entry 7" in refused.args[0]


def test_other_runs_that_are_under_way_are_listed_but_not_the_one_shown(panel: QueuePanel, tmp_path: Path) -> None:
    runs = [RunFolder(tmp_path / name) for name in ("one", "two")]
    panel.show_others(runs, runs[0])
    assert [row.name.text() for row in panel.other_rows] == ["two"]
    panel.show_others(runs[:1], runs[0])
    assert panel.isHidden()


def test_of_a_long_queue_the_next_ones_are_shown(keeper: QueueController, panel: QueuePanel) -> None:
    for number in range(MOST_ROWS + 3):
        keeper.queue.add("{}", f"net {number}")
    keeper.look()
    assert len(panel.rows) == MOST_ROWS
