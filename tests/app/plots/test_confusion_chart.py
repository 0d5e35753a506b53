"""The chart of which class was taken for which."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from netwright.app.plots.confusion_chart import ConfusionCard, ConfusionChart, _contrast, text_on
from netwright.app.runs.monitor import Monitor
from netwright.app.runs.run_follower import Outcome
from netwright.designer import theme
from netwright.engine.runs.confusion import FILE, Confusion, write_confusions
from netwright.engine.runs.folder import RunFolder
from tests.app.clipping import settle
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
    assert chart.words_of(0, 0) == "cat: 8 of 10 predicted correctly (80.0 %)"
    assert chart.words_of(0, 1) == "cat: 2 of 10 predicted as <b>dog</b> (20.0 %)"
    assert chart.words_of(2, 2) == "cow: 0 of 0 predicted correctly"


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
    card = ConfusionCard({"test": Confusion(names, counts)})
    qtbot.addWidget(card)
    for size in ((1000, 600), (120, 100)):
        card.resize(*size)
        assert not card.grab().isNull()


def test_cells_are_square_and_counts_fit(qtbot, chart: ConfusionChart) -> None:
    for size in ((900, 200), (300, 700), (160, 120)):
        chart.resize(*size)
        cell = chart._cell(chart.grid(), 0, 0)
        assert cell.width() == pytest.approx(cell.height())
    names = tuple(f"class {number}" for number in range(10))
    card = ConfusionCard({"test": Confusion(names, tuple(tuple(100 for _ in names) for _ in names))})
    qtbot.addWidget(card)
    card.resize(900, card.minimumSizeHint().height())
    card.show()
    assert card.chart._cell(card.chart.grid(), 0, 0).height() >= 28


def test_the_test_split_is_shown_first_with_its_most_frequent_errors(qtbot) -> None:
    right = Confusion(TABLE.classes, ((10, 0, 0), (0, 5, 0), (0, 0, 0)))
    card = ConfusionCard({"validation": right, "test": TABLE})
    qtbot.addWidget(card)
    assert card.choice.currentText() == "test"
    assert card.note.text() == "13 of 15 correct (86.7 %)"
    assert card.errors.rows == [("cat → <b>dog</b>", "2")]
    card.choice.setCurrentText("validation")
    assert card.note.text() == "15 of 15 correct (100.0 %)"
    assert card.chart.table == right
    assert card.errors.isHidden()
    alone = ConfusionCard({"validation": right})
    qtbot.addWidget(alone)
    assert alone.choice.isHidden()
    assert alone.note.text() == "validation: 15 of 15 correct (100.0 %)"


def test_the_curves_have_the_matrix_of_a_run_that_ended(qtbot, tmp_path: Path) -> None:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    monitor.resize(1200, 700)
    monitor.show()
    write_confusions(tmp_path, TABLE.classes, {"validation": COUNTS, "test": COUNTS})
    monitor.show_run(RunFolder(tmp_path))
    monitor.take(STARTED)
    monitor.board.choose("memory", True)
    monitor.show_replay(Outcome("finished", "all done"))
    monitor.show_outcome(Outcome("finished", "all done"))
    assert not monitor.findChildren(ConfusionCard)
    monitor.board.show_confusion()
    (card,) = monitor.findChildren(ConfusionCard)
    assert card.accessibleName() == "Confusion matrix, test"
    assert card.accessibleDescription() == "13 of 15 correct (86.7 %)"
    settle(monitor)
    assert card.width() == monitor.loss_card.width(), "a row of its own"
    view = monitor.board._area.viewport()
    qtbot.waitUntil(lambda: view.rect().contains(view.mapFromGlobal(card.mapToGlobal(card.rect().center()))))
    monitor.board._fill_menu()
    assert "Confusion matrix" in [action.text() for action in monitor.board.choice.menu().actions()]
    (tmp_path / FILE).write_text(json.dumps({"classes": 7}))
    monitor.show_outcome(Outcome("finished", "all done"))
    monitor.board._fill_menu()
    assert not [action for action in monitor.board.choice.menu().actions() if "Confusion" in action.text()]
    assert card.isHidden()
    monitor.shutdown()
