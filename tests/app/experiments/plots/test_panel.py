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

from netwright.app.experiments.plots.chart import LEAST_PART, Findings, TrialChart
from netwright.app.experiments.plots.coordinates import ParallelCoordinates
from netwright.app.experiments.plots.front import ParetoPlot
from netwright.app.experiments.plots.importance_plot import COMPUTING, ImportancePlot
from netwright.app.experiments.plots.landscape import LandscapePlot, Scale, nearest
from netwright.app.experiments.plots.learning_curves import LearningCurves, joined
from netwright.app.experiments.plots.panel import PLOTS, PlotsPanel
from netwright.app.experiments.plots.scatter import ScatterMatrix, SlicePlot
from netwright.engine.drawing.colour_maps import colours
from netwright.engine.runs.trial_log import Trial, TrialRun
from tests.app.fake_server import FakeServer
from tests.app.history.sample_runs import log_curves, made
from tests.trials import ACCURACY, FILTERS, OPTIONS, RATE, SOLVER, sample_trials, trial, written

PAINTED = {"coordinates", "slice", "landscape", "matrix"}
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


@pytest.mark.parametrize("plot", [SlicePlot, ScatterMatrix, LandscapePlot])
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
    assert rows[0][:4] == ["1", "finished", "0.001", "Adam"]
    assert len(rows) == 10
    drawing = (tmp_path / "slice.svg").read_text()
    assert "<image" not in drawing, "shapes, not a picture of the screen"
    assert "Initial learn rate" in drawing


def test_the_picked_trial_is_ringed_in_every_plot(panel: PlotsPanel) -> None:
    panel.select(4)
    assert shown(panel, SlicePlot).number == 4
    assert shown(panel, ScatterMatrix).number == 4


@pytest.mark.parametrize("plot", [SlicePlot, ScatterMatrix, LandscapePlot])
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
    chart = shown(panel, LandscapePlot)
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


def test_each_pixel_belongs_to_the_nearest_trial() -> None:
    random = np.random.default_rng(1)
    places = random.random((500, 2))
    parts = (0.2, 0.8), (0.0, 1.0)
    owners = nearest(places, 64, parts)
    middles = (np.arange(64) + 0.5) / 64
    x, y = np.meshgrid(0.2 + 0.6 * middles, middles)
    apart = np.hypot(x[..., None] - places[:, 0], y[..., None] - places[:, 1])
    own = np.take_along_axis(apart, owners[..., None], 2)[..., 0]
    is_exact = own <= apart.min(2) + 1e-12
    assert is_exact.mean() > 0.9, "trials outside of the part, and two in a pixel, are the exceptions"
    assert (own - apart.min(2)).max() < 0.06
    assert (nearest(places[:1], 8) == 0).all()


def grid_trials(rates: tuple[float, ...], sizes: tuple[int, ...]) -> tuple[Trial, ...]:
    pairs = [(size, rate) for size in sizes for rate in rates]
    values = ({"training.mini_batch_size": size, RATE: rate} for size, rate in pairs)
    return tuple(trial(n, each, accuracy=0.9 + 0.005 * n, loss=0.1) for n, each in enumerate(values, 1))


def test_values_that_repeat_make_a_grid_with_a_cell_per_trial(panel: PlotsPanel) -> None:
    trials = grid_trials((0.005, 0.0158, 0.05, 0.158, 0.5), (32, 128, 512))
    failed = Trial(15, trials[14].values, "failed")
    diverged = trial(1, dict(trials[0].values), accuracy=0.1, loss=9.0)
    panel.show_findings(Findings(None, OPTIONS, (diverged, *trials[1:14], failed), (ACCURACY,), frozenset({14})))
    chart = shown(panel, LandscapePlot)
    frame = chart.frames()[0]
    assert chart.surface.is_grid
    assert frame.x.categories == ("0.005", "0.0158", "0.05", "0.158", "0.5")
    assert frame.y.categories == ("32", "128", "512")
    widths = {round(chart.cell_of(frame, number).width(), 3) for number in range(1, 16)}
    assert widths == {round(frame.area.width() / 5, 3)}, "geometric values are evenly apart, and fill the axes"
    for number in range(1, 16):
        for corner in (chart.cell_of(frame, number).topLeft(), chart.cell_of(frame, number).bottomRight()):
            inside = corner + 0.1 * (chart.cell_of(frame, number).center() - corner)
            assert chart.mark_at(inside) == number
    scale = Scale.of(chart.score)
    assert scale.has_outliers
    assert scale.worst == pytest.approx(0.91)
    shades = chart.colours_of([1, 2, 14, 15])
    assert shades[0].tolist() == shades[1].tolist() == list(colours("sequential")[0])
    assert shades[2].tolist() == list(colours("sequential")[-1])
    assert shades[3].tolist() not in [list(colour) for colour in colours("sequential")], "without a score"
    chart._point(chart.cell_of(frame, 7).center())
    assert all(text in chart._box.text() for text in ("Trial 7", "128", "0.0158", "93.5 %"))


def test_the_best_of_several_trials_in_a_cell_counts(panel: PlotsPanel) -> None:
    twice = [replace(each, number=each.number + 4) for each in grid_trials((0.1, 0.2), (32, 64))]
    better = trial(9, dict(twice[0].values), accuracy=0.99, loss=0.1)
    panel.show_findings(Findings(None, OPTIONS, (*twice, better), (ACCURACY,), frozenset({9})))
    chart = shown(panel, LandscapePlot)
    assert sorted(chart.surface.cells.values()) == [6, 7, 8, 9]


def test_values_that_do_not_repeat_fill_the_plot_without_a_hole(panel: PlotsPanel) -> None:
    random = np.random.default_rng(3)
    values = [{RATE: 10.0**-at, FILTERS: float(more)} for at, more in random.uniform(1, 4, (30, 2)).tolist()]
    trials = tuple(trial(n, each, accuracy=0.01 * n, loss=0.1) for n, each in enumerate(values, 1))
    panel.show_findings(Findings(None, OPTIONS, trials, (ACCURACY,), frozenset({30})))
    chart = shown(panel, LandscapePlot)
    assert not chart.surface.is_grid
    assert chart.frames()[0].x.is_log or chart.frames()[0].y.is_log
    assert chart._image.image.shape[2] == 3
    area = chart.frames()[0].area
    assert all(chart.mark_at(corner + QPointF(1, 1)) is not None for corner in (area.topLeft(), area.center()))
