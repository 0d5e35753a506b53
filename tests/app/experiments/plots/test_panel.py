"""The panel of plots: each is made when it is chosen, says what it lacks, picks trials and leaves as a file."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from netwright.app.experiments.plots import landscape
from netwright.app.experiments.plots.chart import LEAST_PART, Findings, TrialChart
from netwright.app.experiments.plots.coordinates import ParallelCoordinates
from netwright.app.experiments.plots.front import ParetoPlot
from netwright.app.experiments.plots.importance_plot import COMPUTING, ImportancePlot
from netwright.app.experiments.plots.landscape import ContourPlot, estimated
from netwright.app.experiments.plots.learning_curves import LearningCurves, joined
from netwright.app.experiments.plots.panel import PLOTS, PlotsPanel
from netwright.app.experiments.plots.scatter import ScatterMatrix, SlicePlot
from netwright.engine.runs.trial_log import Trial, TrialRun
from tests.app.fake_server import FakeServer
from tests.app.history.sample_runs import log_curves, made
from tests.trials import ACCURACY, OPTIONS, SOLVER, sample_trials, written

PAINTED = {"coordinates", "slice", "contour", "matrix"}
"""Plots that need nothing but the trials."""


def shown(panel: PlotsPanel, kind: type[TrialChart]) -> Any:
    panel.choose(kind.key)
    chart = panel.current
    assert isinstance(chart, kind)
    panel.grab()
    QApplication.processEvents()  # cards have their sizes once what the first picture asked for is laid out
    panel.grab()
    return chart


def place_of(chart: TrialChart, number: int) -> QPointF:
    return next(iter(chart.spots_of(number)))


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.key)
def test_each_plot_is_painted_or_says_what_it_lacks(panel: PlotsPanel, plot: type[TrialChart]) -> None:
    chart = shown(panel, plot)
    assert bool(chart.empty) == (plot.key not in PAINTED)
    panel.show_findings(Findings())
    panel.grab()
    assert chart.empty
    assert plot.name
    assert plot.help


@pytest.mark.parametrize("plot", [SlicePlot, ScatterMatrix, ContourPlot])
def test_a_click_on_a_point_picks_its_trial_and_the_pointer_tells_it(
    qtbot: QtBot, panel: PlotsPanel, plot: type[TrialChart]
) -> None:
    chart = shown(panel, plot)
    at = place_of(chart, 3)
    with qtbot.waitSignal(panel.picked) as picked:
        qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert picked.args == [3]
    chart._point(at)
    assert "Trial 3" in chart._box.text()
    assert "Accuracy" in chart._box.text()
    assert chart.mark_at(QPointF(-50, -50)) is None


def test_a_brush_keeps_the_trials_that_pass_there(qtbot: QtBot, panel: PlotsPanel) -> None:
    chart = shown(panel, ParallelCoordinates)
    kept: list[Any] = []
    panel.filtered.connect(kept.append)
    axis = chart.findings.scores[0]
    x, top = round(chart.across(axis)), round(chart._rect.top())
    qtbot.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(x, top).toPoint())
    qtbot.mouseMove(chart.viewport(), QPointF(x, top + chart._rect.height() / 4).toPoint())
    chart.brush(axis.name, 1.0, 0.75)  # as the drag does, where no pointer is moved
    qtbot.mouseRelease(
        chart.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(x, top + chart._rect.height() / 4).toPoint()
    )
    assert kept[-1] == {3, 4, 5, 6, 7}
    assert panel._cards["coordinates"].note.text() == "5 of 8 trials"
    chart.brush(SOLVER, 0.0, 0.5)
    assert kept[-1] == {4, 6}, "both brushes hold"
    chart.clear()
    assert kept[-1] is None


def test_a_click_on_a_line_picks_its_trial(qtbot: QtBot, panel: PlotsPanel) -> None:
    chart = shown(panel, ParallelCoordinates)
    x, y = chart._lines[5]
    middle = QPointF((x[0] + x[1]) / 2, (y[0] + y[1]) / 2)
    with qtbot.waitSignal(panel.picked) as picked:
        qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=middle.toPoint())
    assert picked.args == [5]


def test_estimates_pass_near_the_trials_and_are_empty_far_from_them() -> None:
    import numpy as np

    found = estimated(np.array([[0.1, 0.1], [0.5, 0.1]]), np.array([0.0, 1.0]), cells=20)
    assert found[2, 2] == pytest.approx(0.0, abs=0.05)
    assert found[2, 10] == pytest.approx(1.0, abs=0.05)
    assert np.isnan(found[19, 19])
    assert 0.1 < found[2, 5] < 0.5 < found[2, 6] < 0.9


def test_the_front_has_the_trials_that_none_beats(panel: PlotsPanel, findings: Findings) -> None:
    chart = shown(panel, ParetoPlot)
    assert "several objectives" in chart.empty
    panel.show_findings(replace(findings, objectives=(ACCURACY, "parameters")))
    assert chart.front == [1, 2, 3, 4, 5]
    assert panel._cards["front"].note.text() == "5 on the front"


def test_curves_of_repeats_have_a_mean_and_a_band(qtbot: QtBot, panel: PlotsPanel, tmp_path: Path) -> None:
    repeated = Trial(2, {SOLVER: "sgdm"}, "finished", tuple(TrialRun(name, "finished", {}) for name in ("2_1", "2_2")))
    folder = written(tmp_path, ())
    for name, metric in (("1", "accuracy"), ("2_1", "accuracy"), ("2_2", "accuracy")):
        log_curves(made(folder.path, name, 1), epochs=3, steps_per_epoch=4, seconds=2, metric=metric)
    single = Trial(1, {SOLVER: "adam"}, "finished", (TrialRun("1", "finished", {ACCURACY: 0.9}),))
    panel.show_findings(Findings(folder, OPTIONS, (single, repeated), (ACCURACY,)))
    chart = shown(panel, LearningCurves)
    qtbot.waitUntil(lambda: len(chart.curves) == 2)
    one, two = chart.curves
    assert (one.number, one.spread) == (1, None)
    assert two.x.tolist() == [1, 2, 3]
    assert two.spread.max() == 0, "both runs have the same curve"
    assert chart.quantity.currentData() == ACCURACY
    panel.grab()
    assert chart.empty == ""
    assert [row[0] for row in chart.rows()][1:] == [1, 1, 1, 2, 2, 2]
    chart.traces.rest()


def test_a_band_reaches_as_far_as_all_runs() -> None:
    import numpy as np

    long, short = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0])
    curve = joined(7, [(long, np.array([1.0, 2.0, 3.0])), (short, np.array([3.0, 4.0]))])
    assert curve.x.tolist() == [1.0, 2.0]
    assert curve.y.tolist() == [2.0, 3.0]
    assert curve.spread is not None
    assert curve.spread.tolist() == pytest.approx([2**0.5, 2**0.5])


def test_importance_is_asked_once_and_a_missing_extra_is_said(
    panel: PlotsPanel, server: FakeServer, tmp_path: Path
) -> None:
    folder = written(tmp_path, sample_trials())
    trials = tuple(folder.read_trials())
    panel.show_findings(Findings(folder, OPTIONS, trials, (ACCURACY,)))
    chart = shown(panel, ImportancePlot)
    assert chart.empty == COMPUTING
    assert server.waiting[-1].given == {"experiment": str(folder.path), "objective": ACCURACY}
    server.answer("experiment importance", {"importance": {SOLVER: 0.25, "training.initial_learn_rate": 0.75}})
    assert chart.empty == ""
    panel.show_findings(Findings(folder, OPTIONS, trials, (ACCURACY,)))
    panel.grab()
    assert len(server.asked) == 1, "no trial has ended meanwhile"
    assert list(chart.rows())[1] == ("training.initial_learn_rate", 0.75)
    chart._on_failed('A study needs optuna: pip install "netwright[experiments]".')
    assert "netwright[experiments]" in chart.empty


def test_a_card_leaves_as_a_picture_a_drawing_and_a_table(panel: PlotsPanel, tmp_path: Path) -> None:
    shown(panel, SlicePlot)
    card = panel._cards["slice"]
    for suffix in ("png", "svg", "csv"):
        card.write(tmp_path / f"slice.{suffix}")
    head, *rows = csv.reader((tmp_path / "slice.csv").read_text().splitlines())
    assert head == ["trial", "state", "training.initial_learn_rate", SOLVER, "network.fc_1.outputs", ACCURACY]
    assert rows[0][:4] == ["1", "finished", "0.001", "adam"]
    assert len(rows) == 10
    drawing = (tmp_path / "slice.svg").read_text()
    assert "<image" not in drawing, "shapes, not a picture of the screen"
    assert "Initial learn rate" in drawing


def test_the_picked_trial_is_ringed_in_every_plot(panel: PlotsPanel) -> None:
    panel.select(4)
    assert shown(panel, SlicePlot).number == 4
    assert shown(panel, ScatterMatrix).number == 4


@pytest.mark.parametrize("plot", [SlicePlot, ScatterMatrix, ContourPlot])
def test_a_drag_shows_a_part_and_a_double_click_all_again(
    qtbot: QtBot, panel: PlotsPanel, plot: type[TrialChart]
) -> None:
    chart = shown(panel, plot)
    frame = chart.frames()[0]
    before = place_of(chart, 3)
    begin, end = frame.area.topLeft(), frame.area.center()
    qtbot.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, pos=begin.toPoint() + QPoint(1, 1))
    qtbot.mouseMove(chart.viewport(), end.toPoint())
    qtbot.mouseRelease(chart.viewport(), Qt.MouseButton.LeftButton, pos=end.toPoint())
    (left, right), (low, high) = chart.parts[frame.x.name], chart.parts[frame.y.name]
    assert (left, right, low, high) == pytest.approx((0, 0.5, 0.5, 1), abs=0.02)
    assert not chart.whole.isHidden()
    panel.grab()
    for number, *at in zip(chart._spots.numbers.tolist(), *chart._spots.at.T.tolist(), strict=True):
        if frame.area.contains(QPointF(*at)):
            x, y = chart.frames()[0].share_at(QPointF(*at))
            assert left <= x <= right, number
            assert low <= y <= high, number
    qtbot.mouseDClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=end.toPoint())
    qtbot.mouseRelease(
        chart.viewport(), Qt.MouseButton.LeftButton, pos=end.toPoint()
    )  # the application holds it pressed else
    panel.grab()
    assert (chart.parts, place_of(chart, 3), chart.whole.isHidden()) == ({}, before, True)


def test_the_wheel_zooms_one_axis_where_its_labels_are_and_shift_moves(panel: PlotsPanel) -> None:
    chart = shown(panel, ContourPlot)
    frame = chart.frames()[0]
    turn(chart, frame.area.center(), 2)
    assert chart.parts[frame.x.name] == pytest.approx((0.18, 0.82))
    turn(chart, QPointF(frame.area.left() - 10, frame.area.center().y()), -20)
    assert list(chart.parts) == [frame.x.name], "the left axis is whole again"
    turn(chart, frame.area.center(), -1, Qt.KeyboardModifier.ShiftModifier)
    assert chart.parts[frame.x.name] == pytest.approx((0.244, 0.884))
    turn(chart, QPointF(2, 2), 1)
    turn(chart, frame.area.center(), 100)
    low, high = chart.parts[frame.x.name]
    assert high - low == pytest.approx(LEAST_PART)
    panel.grab()


def turn(chart: TrialChart, at: QPointF, notches: int, keys: Any = Qt.KeyboardModifier.NoModifier) -> None:
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    chart.wheelEvent(QWheelEvent(at, at, QPoint(), QPoint(0, 120 * notches), none, keys, phase, False))


def test_many_trials_are_estimated_in_bins_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    places, scores = random.random((500, 2)), random.random(500)
    exact = estimated(places, scores, 20, x_part=(0.2, 0.8))
    monkeypatch.setattr(landscape, "BINNED", 100)
    assert estimated(places, scores, 20, x_part=(0.2, 0.8)) == pytest.approx(exact, abs=0.02, nan_ok=True)
