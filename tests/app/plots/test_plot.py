"""Which part of a run is in view: dragging, turning the wheel, moving, and back; and how plots are taken down."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from netwright.app.plots.plot_data import LinkedXAxis, PlotData
from netwright.app.plots.run_plot import RunPlot
from netwright.app.plots.series import Series
from netwright.engine.runs.events import Progress

NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def plot(qtbot: QtBot) -> RunPlot:
    """Of a run of 1000 steps."""
    series = Series()
    series.append(np.zeros(1000))
    plot = RunPlot(PlotData("Loss", "loss", series, {}, x_axis=LinkedXAxis(expected_steps=1000)))
    plot.part_changed.connect(plot.refresh)
    qtbot.addWidget(plot)
    plot.resize(640, 240)
    plot.show()
    qtbot.waitExposed(plot)
    return plot


def at(plot: RunPlot, place: float) -> QPoint:
    """The pixel of a place on the x axis."""
    return QPoint(round(float(plot.to_pixels(np.array([place]), np.array([0.0]))[0][0])), 100)


def drag(
    qtbot: QtBot,
    plot: RunPlot,
    begin: float,
    end: float,
    button: Qt.MouseButton = Qt.MouseButton.LeftButton,
    *,
    ends: bool = True,
) -> None:
    viewport = plot.viewport()
    middle = at(plot, (begin + end) / 2)
    places = at(plot, begin), at(plot, end)
    qtbot.mousePress(viewport, button, pos=places[0])
    for place in (middle, places[1]):
        qtbot.mouseMove(viewport, place)
        QApplication.processEvents()
    if ends:
        qtbot.mouseRelease(viewport, button, pos=places[1])


def turn(plot: RunPlot, place: float, notches: float, modifier: Qt.KeyboardModifier = NONE) -> None:
    where = QPointF(at(plot, place))
    angle, phase = QPoint(0, round(120 * notches)), Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(where, where, QPoint(), angle, Qt.MouseButton.NoButton, modifier, phase, False)
    plot.wheelEvent(event)


@pytest.mark.parametrize(("begin", "end"), [(200, 300), (300, 200)])
def test_a_drag_chooses_a_part_in_either_direction(qtbot: QtBot, plot: RunPlot, begin: float, end: float) -> None:
    with qtbot.waitSignal(plot.part_changed):
        drag(qtbot, plot, begin, end)
    assert plot.data.x_axis.part == pytest.approx((200, 300), abs=2)
    assert not plot.view.is_dragged


def test_a_click_and_a_drag_that_was_given_up_change_nothing(qtbot: QtBot, plot: RunPlot) -> None:
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at(plot, 200))
    drag(qtbot, plot, 200, 400, ends=False)
    assert plot.view.is_dragged
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert not plot.view.is_dragged
    qtbot.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=at(plot, 400))
    assert plot.data.x_axis.part is None


def test_a_double_click_shows_all_again(qtbot: QtBot, plot: RunPlot) -> None:
    plot.data.x_axis.look_at(100, 300, 1000)
    plot.refresh()
    with qtbot.waitSignal(plot.part_changed):
        qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at(plot, 200))
    assert plot.data.x_axis.part is None


def test_the_wheel_keeps_what_is_under_the_pointer_and_goes_back_to_all(plot: RunPlot) -> None:
    x_axis = plot.data.x_axis
    turn(plot, 250, 4)
    assert x_axis.part is not None
    low, high = x_axis.part
    assert (250 - low) / (high - low) == pytest.approx(0.25, abs=0.01)
    assert high - low == pytest.approx(1000 / 1.25**4)
    turn(plot, 250, -5)
    assert x_axis.part is None


def test_moving_stops_at_the_ends_and_no_part_is_smaller_than_two_steps(qtbot: QtBot, plot: RunPlot) -> None:
    x_axis = plot.data.x_axis
    x_axis.look_at(100, 300, 1000)
    plot.refresh()
    turn(plot, 200, -1, SHIFT)
    assert x_axis.part == (120, 320)
    turn(plot, 200, 100, SHIFT)
    assert x_axis.part == (0, 200)
    turn(plot, 100, -100, SHIFT)
    assert x_axis.part == (800, 1000)
    drag(qtbot, plot, 850, 950, Qt.MouseButton.MiddleButton)
    assert x_axis.part == pytest.approx((700, 900), abs=2)
    x_axis.look_at(500.1, 500.2, 1000)
    assert x_axis.part == (500.1, 502.1)


def test_a_drag_over_time_chooses_steps(qtbot: QtBot, plot: RunPlot) -> None:
    x_axis = plot.data.x_axis
    x_axis.along = "time"
    for step, elapsed in ((500, 10.0), (1000, 90.0)):
        x_axis.timeline.take(
            Progress(
                epoch=1,
                iteration=step,
                elapsed_s=elapsed,
                remaining_s=0,
                rate=0.1,
                samples_per_second=1,
                memory_bytes=1,
            )
        )
    plot.refresh()
    with qtbot.waitSignal(plot.part_changed):
        drag(qtbot, plot, 45, 90)
    assert x_axis.part == pytest.approx((718.75, 1000), abs=2)


def test_on_a_logarithmic_axis_a_pixel_and_its_place_agree(plot: RunPlot) -> None:
    plot.data.x_axis.is_log = True
    plot.refresh()
    assert plot.place_at(at(plot, 250).x()) == pytest.approx(250, rel=0.02)
    turn(plot, 100, 4)
    assert plot.data.x_axis.part is not None
