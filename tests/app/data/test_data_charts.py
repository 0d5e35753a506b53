"""Charts of classes and columns: all are there, however many, and the whole name is in the tooltip."""

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip

from netwright.app.data.data_charts import MOST_HEIGHT, ColumnCharts, class_bars
from netwright.app.data.preview_panel import FEW_COLUMNS, Preview
from netwright.app.plots.bar_rows import BarRows
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.designer import theme
from netwright.engine.core.types import features
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of

NUMBERS = {"low": 0.0, "high": 4.0, "counts": [1, 0, 3, 2], "missing": 7}
TEXTS = {"names": ["a", "b"], "counts": [5, 2], "others": 3, "different": 5, "missing": 0}
FACTS = DatasetInfo((InputInfo("x", features(3)),), {"training": 10}, classes_of("a", "b"))


def column(name: str, **more: Any) -> dict[str, Any]:
    described = {"role": "input", "kind": "number", "low": 0.0, "mean": 2.0, "high": 4.0, "histogram": NUMBERS}
    return {"name": name, **described, **more}


def tip_at(widget: Any, point: QPoint) -> str:
    event = QHelpEvent(QEvent.Type.ToolTip, point, widget.mapToGlobal(point))
    QApplication.sendEvent(widget, event)
    return QToolTip.text()


def test_a_thousand_classes_scroll_and_their_bars_share_a_scale(qtbot) -> None:
    classes = [{"name": f"species {n}", "training": 100 if n == 0 else 50, "test": 0} for n in range(1000)]
    part = class_bars(classes, is_coloured=False)
    qtbot.addWidget(part)
    part.resize(800, 600)
    part.show()
    chart = part.findChild(BarRows)
    assert chart is not None
    assert next(label.text() for label in part.findChildren(QLabel)) == "training 50,050"
    assert chart.height() == MOST_HEIGHT
    row = chart.look.row
    assert chart.verticalScrollBar().maximum() == 1000 * row - MOST_HEIGHT
    _, (left, wide) = chart.places()
    picture, training = chart.viewport().grab().toImage(), theme.current().accent
    middle, far = round(left + wide * 0.45), round(left + wide * 0.95)
    assert picture.pixelColor(middle, row + row // 2) == training
    assert picture.pixelColor(far, row // 2) == training
    assert picture.pixelColor(far, row + row // 2) != training
    chart.verticalScrollBar().setValue(chart.verticalScrollBar().maximum())
    assert tip_at(chart.viewport(), QPoint(5, MOST_HEIGHT - 5)).startswith("species 999\ntraining: 50")


def test_columns_tell_their_figures(qtbot) -> None:
    name = "a name that is much longer than there is room for in any card of this kind"
    charts = ColumnCharts([column(name), column("city", kind="text", low=None, histogram=TEXTS)])
    qtbot.addWidget(charts)
    charts.resize(400, charts.heightForWidth(400))
    charts.show()
    charts.grab()
    lines = tip_at(charts, charts.cell(0).center().toPoint()).split("\n")
    assert (lines[0], lines[2:]) == (f"{name} (input)", ["0 to 4", "mean 2"])
    assert "3 others: 3" in tip_at(charts, charts.cell(1).center().toPoint())


def test_of_many_columns_the_first_are_shown_until_all_are_asked_for(qtbot) -> None:
    preview = Preview()
    qtbot.addWidget(preview)
    preview.show_answer({"columns": [column(f"c{n}") for n in range(200)], "rows": [[1.0] * 200]}, FACTS)
    (charts,) = preview.content.findChildren(ColumnCharts)
    assert len(charts.columns) == FEW_COLUMNS
    more = next(one for one in preview.content.findChildren(QPushButton) if one.text() == "Show 176 more columns")
    more.click()
    assert len(charts.columns) == 200


@pytest.mark.parametrize("counts", [[3], [1, 0], [0, 4, 0], [5] * 24])
def test_lengths_are_drawn_with_their_numbers(qtbot, counts: list[int]) -> None:
    plot = HistogramPlot({"low": 2.5, "high": 2.5 + len(counts), "counts": counts}, "steps", "sequences")
    qtbot.addWidget(plot)
    plot.resize(500, 160)
    plot.show()
    plot.grab()
    _, text = plot.readout(3.0)
    assert text == f"3 steps<br>{counts[0]} sequences"
    labels = [text for _, text in plot.getAxis("left")._tickLevels[0]]
    assert labels == [f"{int(label)}" for label in labels] == sorted(set(labels), key=int)


def test_the_axis_of_fractions_has_round_ticks_and_the_bin_its_ends(qtbot) -> None:
    plot = HistogramPlot({"low": -0.36, "high": 0.36, "counts": [1, 5, 2]}, "error", "samples", is_whole=False)
    qtbot.addWidget(plot)
    plot.resize(600, 168)
    plot.show()
    labels = [text for _, text in plot.getAxis("bottom")._tickLevels[0]]
    assert "-0.2" in [label.replace("−", "-") for label in labels]
    assert "-0.12 to 0.12 error" in plot.readout(0.0)[1]
