"""The strip below the canvas shows a run, and looks at one of its epochs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from netwright.app.runs.monitor import Monitor
from netwright.app.runs.run_strip import NO_RUN, RunStrip
from netwright.engine.runs.events import Points, StateChanged
from netwright.engine.runs.folder import RunFolder
from tests.app.runs.test_facts_panel import STARTED, progress

PER_EPOCH, EPOCHS, DONE = 10, 12, 9
"""Steps per epoch, epochs that are planned, epochs that are trained."""


@pytest.fixture
def monitor(qtbot) -> Iterator[Monitor]:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    monitor.show_run(RunFolder(Path("/runs/one")))
    monitor.take(replace(STARTED, steps_per_epoch=PER_EPOCH, epochs=EPOCHS, iterations=PER_EPOCH * EPOCHS))
    monitor.take(StateChanged(state="running"))
    losses = [2.0 / step for step in range(1, DONE * PER_EPOCH + 1)]
    monitor.take(Points(split="training", first_step=1, steps_apart=1, values={"loss": losses, "accuracy": losses}))
    for epoch in range(1, DONE + 1):
        values = {"loss": [1.0 / epoch], "accuracy": [epoch / 10]}
        monitor.take(Points(split="validation", first_step=epoch * PER_EPOCH, steps_apart=1, values=values))
    yield monitor
    monitor.shutdown()


@pytest.fixture
def strip(qtbot, monitor: Monitor) -> RunStrip:
    strip = RunStrip()
    qtbot.addWidget(strip)
    strip.resize(1300, strip.height())
    strip.show()
    strip.show_run(monitor.facts.head, monitor.board)
    strip.flush()
    return strip


def texts(strip: RunStrip) -> list[str]:
    return [label.text() for pair in strip.figures for label in pair]


def test_it_shows_what_the_page_of_the_run_says(strip: RunStrip, monitor: Monitor) -> None:
    monitor.take(replace(progress(iteration=90, epoch=9), remaining_s=42.0))
    strip.flush()
    assert strip.name.text() == monitor.facts.head.name.text()
    assert strip.state.text() == "● Training"
    assert strip.about.text() == f"epoch 9 of {EPOCHS} · 42 s left"
    assert texts(strip) == ["90.0 %", "validation", "0.111", "newest"]
    assert [button.isVisible() for button in (strip.pause, strip.resume, strip.stop)] == [True, False, True]
    assert not strip.grab().isNull()
    monitor.take(StateChanged(state="paused"))
    strip.flush()
    assert [button.isVisible() for button in (strip.pause, strip.resume, strip.stop)] == [False, True, True]


def test_its_buttons_are_those_of_the_run(strip: RunStrip, qtbot) -> None:
    with qtbot.waitSignal(strip.clicked) as pause:
        strip.pause.click()
    with qtbot.waitSignal(strip.clicked) as stop:
        strip.stop.click()
    assert [*pause.args, *stop.args] == ["pause", "stop"]


def test_a_drag_looks_at_the_end_of_an_epoch(strip: RunStrip, qtbot) -> None:
    plot = strip.plot
    left = Qt.MouseButton.LeftButton
    with qtbot.waitSignal(plot.moved):
        QTest.mousePress(plot, left, pos=QPoint(round(plot.x_of(72)), 76))
    assert (plot.moment, strip.moment_text) == (70, "at epoch 7")
    assert texts(strip) == ["70.0 %", "validation", "0.143", "at epoch 7"]
    QTest.mouseMove(plot, QPoint(round(plot.x_of(30)), 76))
    QTest.mouseRelease(plot, left, pos=QPoint(round(plot.x_of(30)), 76))
    strip.after.click()
    assert plot.moment in (40, 80)
    assert strip.live.isVisible()
    QTest.mouseClick(plot, left, pos=QPoint(round(plot.x_of(PER_EPOCH * EPOCHS)), 76))
    assert plot.moment is None, "right of the newest step it follows the run"
    assert not strip.live.isVisible()


def test_keys_and_arrows_go_by_epochs(strip: RunStrip) -> None:
    plot = strip.plot
    strip.before.click()
    assert strip.moment_text == "at epoch 8"
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert strip.moment_text == "at epoch 7"
    QTest.keyClick(plot, Qt.Key.Key_Home)
    assert strip.moment_text == "at epoch 1"
    assert not strip.before.isEnabled()
    QTest.keyClick(plot, Qt.Key.Key_End)
    assert plot.moment is None
    strip.before.click()
    strip.live.click()
    assert plot.moment is None


def test_the_zoom_and_the_unit_of_the_page_leave_the_timeline_whole(strip: RunStrip, monitor: Monitor) -> None:
    before = strip.plot.x_of(60), strip.plot.grab().toImage()
    monitor.set_along("time")
    monitor.board.x_axis.look_at(20, 40, 90)
    monitor.log_x.setChecked(True)
    strip.flush()
    assert strip.plot.x_of(60) == before[0]
    assert strip.plot.grab().toImage() == before[1]


def test_a_run_that_went_back_is_followed_again(strip: RunStrip, monitor: Monitor) -> None:
    strip.plot.go_to(80)
    for card in monitor.board.first_cards().values():
        card.data.go_back(30)
    strip.flush()
    assert strip.plot.moment is None


def test_within_the_first_epochs_any_step_can_be_looked_at(strip: RunStrip, monitor: Monitor) -> None:
    monitor.board.x_axis.timeline.steps_per_epoch = 90
    strip.plot.go_to(33)
    assert (strip.plot.moment, strip.moment_text) == (33, "at epoch 0.37")


def test_without_a_run_it_says_what_to_do(qtbot) -> None:
    strip = RunStrip()
    qtbot.addWidget(strip)
    strip.show()
    strip.flush()
    assert strip.about.text() == NO_RUN
    assert not strip.pause.isVisible()
    assert not strip.stop.isVisible()
    assert not strip.grab().isNull()
