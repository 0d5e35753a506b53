"""Beside the curves of a run that has ended stand its errors: evaluated once, without holding up the window."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton

from netwright.app.analysis.errors_panel import ErrorsPanel
from netwright.app.data.tiles import Tiles
from netwright.app.plots.confusion_chart import ConfusionChart
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.app.runs.monitor import Monitor
from netwright.app.widgets import ValueTable
from netwright.engine.runs.folder import RunFolder
from tests.app.analysis.test_scores_page import CLASSES, NUMBERS, SAMPLES, result
from tests.app.fake_server import FakeServer

RUN = Path("/runs/2")


@pytest.fixture
def panel(server: FakeServer, qtbot) -> ErrorsPanel:
    shell: Any = SimpleNamespace(server=server)
    panel = ErrorsPanel(shell)
    qtbot.addWidget(panel)
    panel.resize(308, 600)
    return panel


def show(panel: ErrorsPanel, server: FakeServer, qtbot) -> None:
    panel.set_run(RUN)
    qtbot.waitUntil(lambda: server.count("evaluate") == 1)


def titles(panel: ErrorsPanel) -> list[str]:
    return [card.title for card in panel.cards]  # type: ignore[attr-defined]  # they are cards


def link(panel: ErrorsPanel, text: str) -> QPushButton:
    return next(button for card in panel.cards for button in card.findChildren(QPushButton) if button.text() == text)


def test_it_asks_as_scores_does_and_shows_the_matrix_and_the_worst(
    panel: ErrorsPanel, server: FakeServer, qtbot, tmp_path: Path
) -> None:
    assert panel.isHidden()
    show(panel, server, qtbot)
    asked = {"model": str(RUN), "split": "test", "with_groupings": True}
    assert server.asked[-1].given == asked, "so that one finds what the other has evaluated"
    server.answer("evaluate", result(CLASSES, {"accuracy": 0.75}))
    (chart,) = panel.findChildren(ConfusionChart)
    assert chart.table.counts == ((2, 1), (0, 1))
    asked = server.asked[-1].given
    assert (asked["path"], asked["list"], asked["count"], asked["split"]) == (str(RUN), "worst", 6, "test")
    file = tmp_path / "sample.png"
    QImage(8, 8, QImage.Format.Format_Grayscale8).save(str(file))
    server.answer("samples", SAMPLES | {"pictures": [{"file": str(file), "label": "cat → dog"}]})
    assert titles(panel) == ["Confusion", "Worst samples"]
    (tiles,) = panel.findChildren(Tiles)
    with qtbot.waitSignal(panel.sample_requested) as signal:
        tiles.chosen.emit(0)
    assert signal.args == ["test", 1]
    with qtbot.waitSignal(panel.sample_requested):
        link(panel, "Explain").click()
    with qtbot.waitSignal(panel.scores_requested):
        link(panel, "All scores").click()
    assert not panel.busy.isVisible()


def test_the_matrix_is_as_high_as_its_width_allows(panel: ErrorsPanel, server: FakeServer, qtbot) -> None:
    show(panel, server, qtbot)
    count = 12
    names = [f"class {number}" for number in range(count)]
    target = CLASSES | {"classes": names, "confusion": [[5] * count for _ in names], "worst": []}
    panel.show()
    server.answer("evaluate", result(target, {"accuracy": 0.75}))
    (chart,) = panel.findChildren(ConfusionChart)
    qtbot.waitUntil(lambda: chart.width() > 200)
    assert 0 < chart.height() - chart.grid().bottom() < 16, "nothing is left empty below it"


def test_errors_of_numbers_are_a_histogram_and_rows(panel: ErrorsPanel, server: FakeServer, qtbot) -> None:
    show(panel, server, qtbot)
    server.answer("evaluate", result(NUMBERS, {"rmse": 1.5}))
    assert len(panel.findChildren(HistogramPlot)) == 1
    rows = [{"place": 0, "index": 2, "label": [5.0], "prediction": [3.0], "error": 2.0}]
    server.answer("samples", {"total": 1, "rows": rows, "columns": [], "cells": [[]]})
    assert titles(panel) == ["Errors: price", "Worst samples"]
    (table,) = panel.findChildren(ValueTable)
    assert table.text("0") == "is 5.00, said 3.00"


def test_a_long_evaluation_shows_how_far_it_is_and_can_be_cancelled(
    panel: ErrorsPanel, server: FakeServer, qtbot
) -> None:
    show(panel, server, qtbot)
    qtbot.waitUntil(panel.busy.isVisible)
    server.tell("evaluate", 120, 270, "samples")
    assert (panel.bar.value(), panel.bar.maximum()) == (120, 270)
    panel.cancel.click()
    assert server.cancelled == ["evaluate"]
    assert panel.message.text() == "Not evaluated. Scores evaluates the run."
    assert not panel.cancel.isVisible()


def test_another_run_cancels_and_is_asked_for(panel: ErrorsPanel, server: FakeServer, qtbot) -> None:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    monitor.add_beside(panel)
    monitor.resize(1200, 800)
    monitor.facts.show_starting("Run 2")
    monitor.show()
    monitor.segments.set_run(RUN, "")
    qtbot.waitUntil(lambda: server.count("evaluate") == 1)
    monitor.segments.set_run(Path("/runs/3"), "")
    assert server.cancelled == ["evaluate"]
    qtbot.waitUntil(lambda: server.count("evaluate") == 2)
    assert server.asked[-1].given["model"] == str(Path("/runs/3"))
    monitor.show_run(RunFolder(Path("/runs/4")))
    assert panel.isHidden(), "that run is under way"
    monitor.shutdown()


def test_what_cannot_be_evaluated_says_why(panel: ErrorsPanel, server: FakeServer, qtbot) -> None:
    show(panel, server, qtbot)
    server.refuse("evaluate", "The run has no test split.")
    assert panel.message.text() == "The run has no test split."
    assert panel.busy.isVisible()
    assert not panel.bar.isVisible()
