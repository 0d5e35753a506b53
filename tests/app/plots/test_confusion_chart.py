"""The chart of which class was taken for which."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from app.plots.confusion_chart import ConfusionCard, ConfusionChart, _contrast, text_on
from app.runs.monitor import Monitor
from app.runs.run_follower import Outcome
from designer import theme
from engine.runs.confusion import FILE, Confusion, write_confusions
from engine.runs.folder import RunFolder
from tests.app.runs.test_facts_panel import STARTED

COUNTS = ((8, 2, 0), (0, 5, 0), (0, 0, 0))
TABLE = Confusion(("cat", "<b>dog</b>", "cow"), COUNTS)


@pytest.fixture
def chart(qtbot) -> ConfusionChart:
    chart = ConfusionChart(TABLE)
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    chart.show()
    return chart


def test_a_cell_says_what_it_means(chart: ConfusionChart) -> None:
    assert chart.words(0, 0) == "8 of 10 cat were recognised (80.0 %)"
    assert chart.words(0, 1) == "2 of 10 cat were taken for <b>dog</b> (20.0 %)"
    assert chart.words(2, 2) == "0 of 0 cow were recognised"


def test_every_cell_is_where_it_is_painted(chart: ConfusionChart) -> None:
    grid = chart.grid()
    picture = chart.grab().toImage()
    ratio = picture.devicePixelRatio()
    for row in range(3):
        for column in range(3):
            at = QPointF(grid.left() + (column + 0.1) * grid.width() / 3, grid.top() + (row + 0.15) * grid.height() / 3)
            assert chart.cell_at(at) == (row, column)
            is_tinted = picture.pixelColor((at * ratio).toPoint()) != picture.pixelColor(
                (QPointF(grid.left() + 0.1 * grid.width() / 3, grid.top() + 2.15 * grid.height() / 3) * ratio).toPoint()
            )
            assert is_tinted == bool(COUNTS[row][column])
    assert chart.cell_at(grid.topLeft() - QPointF(1, 1)) is None


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_number_can_be_read_on_every_ground(qapp: QApplication, scheme: theme.Scheme) -> None:
    theme.apply(qapp, scheme)
    for is_right in (True, False):
        for percent in range(101):
            ground = ConfusionChart._ground(percent / 100, is_right=is_right)
            assert _contrast(text_on(ground), ground) >= 4.5


def test_a_hundred_classes_and_a_tiny_window_are_painted(qtbot) -> None:
    names = tuple(f"a class with a long name, number {number}" for number in range(100))
    counts = tuple(tuple(90 if row == column else row % 7 for column in range(100)) for row in range(100))
    card = ConfusionCard("Confusion matrix, test", Confusion(names, counts))
    qtbot.addWidget(card)
    for size in ((1000, 600), (120, 100)):
        card.resize(*size)
        assert not card.grab().isNull()


def test_the_train_tab_offers_the_tables_of_a_run_that_ended(qtbot, tmp_path: Path) -> None:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    write_confusions(tmp_path, TABLE.classes, {"validation": COUNTS, "test": COUNTS})
    monitor.show_run(RunFolder(tmp_path))
    monitor.take(STARTED)
    monitor.show_outcome(Outcome("finished", "all done"))
    monitor.board._fill_menu()
    actions = {action.text(): action for action in monitor.board.choice.menu().actions()}
    assert "Confusion matrix, validation" in actions
    actions["Confusion matrix, test"].trigger()
    (card,) = monitor.findChildren(ConfusionCard)
    assert card.title == "Confusion matrix, test"
    assert card.accessibleDescription() == "13 of 15 right"
    (tmp_path / FILE).write_text(json.dumps({"classes": 7}))
    monitor.show_outcome(Outcome("finished", "all done"))
    monitor.board._fill_menu()
    assert not [action for action in monitor.board.choice.menu().actions() if "Confusion" in action.text()]
    assert card.isHidden()
    monitor.shutdown()
