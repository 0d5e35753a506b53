"""The curves of several runs: read whole, placed by iteration, epoch and time, and followed."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from netwright.app.plots.axes import places_axis
from netwright.app.plots.board import Board
from netwright.app.plots.comparison_plot import Comparison, ComparisonPlot, columns_of, spread
from netwright.app.plots.curve_export import write_csv
from netwright.app.plots.timeline import Along, Timeline
from netwright.app.plots.traces import Trace, Traces
from netwright.engine.runs.events import Points, Resumed, ThinnedPoints
from netwright.engine.runs.log import EventLog, read_all
from netwright.engine.runs.log_lines import split_points
from tests.app.history.sample_runs import log_curves, made


@pytest.fixture
def traces(qtbot: QtBot, tmp_path: Path):
    runs = [made(tmp_path, name, 1) for name in ("a", "b")]
    log_curves(runs[0], epochs=3, steps_per_epoch=4, seconds=24)
    log_curves(runs[1], epochs=2, steps_per_epoch=10, seconds=10, metric="rmse")
    traces = Traces(follow_ms=20)
    traces.show_runs(runs)
    qtbot.waitUntil(lambda: traces.is_read)
    yield traces
    traces.rest()


def test_every_quantity_is_read_the_loss_last(traces: Traces) -> None:
    assert traces.names() == ["accuracy", "rmse", "loss"]
    assert [len(trace.curves["loss"].training) for trace in traces.traces] == [12, 20]
    assert [len(trace.curves["loss"].validation) for trace in traces.traces] == [3, 2]


@pytest.mark.parametrize(
    ("along", "place", "step"), [("iterations", 6.0, 6.0), ("epochs", 1.5, 6.0), ("time", 12.0, 6.0)]
)
def test_places(traces: Traces, along: Along, place: float, step: float) -> None:
    trace = traces.traces[0]
    assert trace.places(np.array([step]), along).tolist() == [place]
    assert trace.step_at(place, along) == step


def test_a_run_that_goes_on_is_followed(qtbot: QtBot, traces: Traces) -> None:
    trace = traces.traces[0]
    log = EventLog(trace.folder)
    log.append(Points(split="training", first_step=13, steps_apart=1, values={"loss": [0.1]}))
    log.close()
    qtbot.waitUntil(lambda: trace.curves["loss"].last_step == 13)


def test_what_a_resumed_run_superseded_goes(qtbot: QtBot, traces: Traces) -> None:
    trace = traces.traces[0]
    log = EventLog(trace.folder)
    log.append(Resumed(iteration=6, after=3, reason="restarted"))
    log.close()
    qtbot.waitUntil(lambda: trace.curves["loss"].last_step == 6)
    assert len(trace.curves["loss"].training) == 6


def test_the_plot_paints_and_reads_out(qtbot: QtBot, traces: Traces) -> None:
    comparison = Comparison("accuracy", traces.traces)
    plot = ComparisonPlot(comparison)
    qtbot.addWidget(plot)
    plot.resize(400, 240)
    blank = ComparisonPlot(Comparison("nothing", traces.traces))
    qtbot.addWidget(blank)
    blank.resize(400, 240)
    assert plot.grab().toImage() != blank.grab().toImage()
    ((number, training, validation),) = plot.readings(4.0)
    assert (number, training, validation) == (0, "28.3 %", "28.3 %")
    badges = [items.badge for items in plot._runs if items.badge.isVisible()]
    assert [badge.number for badge in badges] == [0]
    assert badges[0].pos().x() > plot.view.sceneBoundingRect().right()
    place, html = plot.readout(4.0)
    assert place == 4.0
    assert "4 iterations" in html
    assert "28.3 %" in html
    comparison.shows_training = False
    assert plot.readings(4.0) == [(0, "", "28.3 %")]
    comparison.along, comparison.smoothing, comparison.is_log = "time", 0.0, True
    plot.grab()


@pytest.mark.parametrize(("along", "end"), [("iterations", 20.0), ("epochs", 3.0), ("time", 24.0)])
def test_a_part_is_chosen_in_what_runs_have_in_common(qtbot: QtBot, traces: Traces, along: Along, end: float) -> None:
    """In the units of the lower axis."""
    comparison = Comparison("loss", traces.traces, along=along, smoothing=0.0)
    plot = ComparisonPlot(comparison)
    qtbot.addWidget(plot)
    plot.resize(480, 240)
    plot.show()
    qtbot.waitExposed(plot)
    whole = plot.grab().toImage()
    assert comparison.last_step == end
    with qtbot.waitSignal(plot.part_changed):
        plot.view.chosen.emit(QRectF(end / 4, 0, end / 2, 1))
    assert comparison.x_axis.part == pytest.approx((end / 4, end * 3 / 4))
    plot.refresh()
    assert plot.grab().toImage() != whole
    plot.show_all()
    plot.refresh()
    assert plot.grab().toImage() == whole


def test_a_thinned_log_keeps_its_spikes_in_the_window(qtbot: QtBot, tmp_path: Path) -> None:
    run = made(tmp_path, "long", 1)
    log, count = EventLog(run, limit_bytes=2**18), 150_000
    values = [1.0] * count
    values[999], values[49_999] = math.nan, 1e6
    for points in split_points(Points(split="training", first_step=1, steps_apart=1, values={"loss": values})):
        log.append(points)
    for step in range(10, 3_000, 10):
        log.append(Points(split="validation", first_step=step, steps_apart=1, values={"loss": [2.0]}))
    log.close()
    trace, board = Trace(run), Board()
    qtbot.addWidget(board)
    events = read_all(run)
    assert any(isinstance(event, ThinnedPoints) for event in events)
    for event in events:
        board.take(event)
    while trace.read():
        pass
    for training in (trace.curves["loss"].training, board.plot_data["loss"].training):
        assert len(training) == count
        assert training.last_step == count
        steps, drawn = training.window(0, count, 500)
        assert np.nanmax(drawn) == pytest.approx(1e6)
        assert abs(steps[np.nanargmax(drawn)] - 50_000) < count / 500
        np.testing.assert_array_equal(training.nonfinite_steps(), [1_000])
        assert training.value(49_999) == 1e6
    target = tmp_path / "curves.csv"
    assert list(write_csv(target, board.plot_data, Timeline()))
    rows = target.read_text().splitlines()
    assert any(row.startswith("loss,training,50000,1000000,") for row in rows)
    assert any(row.startswith("loss,training,1000,nan,") for row in rows)
    board.shutdown()


def test_a_log_that_is_not_there_has_no_curves(tmp_path: Path) -> None:
    run = made(tmp_path, "a", 1)
    run.events.unlink()
    assert not Trace(run).read()


@pytest.mark.parametrize(
    ("furthest", "along", "unit", "last"),
    [
        (1200, "iterations", "iterations", 1200),
        (12, "epochs", "epochs", 12),
        (90, "time", "s", 90),
        (600, "time", "min", 600),
    ],
)
def test_the_lower_axis_has_round_ticks(furthest: float, along: Along, unit: str, last: float) -> None:
    axis, counted = places_axis(0, furthest, along, 6)
    assert (counted.name, axis.high) == (unit, last)
    assert 3 <= len(axis.ticks) <= 8


def test_close_ends_are_spread() -> None:
    assert spread([10.0, 11.0, 50.0], 17, 100) == [10, 27, 50]
    assert spread([90.0, 95.0], 17, 100) == [83, 100]
    assert spread([], 17, 100) == []


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    run = made(tmp_path, "a", 1)
    log_curves(run, epochs=1, steps_per_epoch=4, seconds=1)
    odd = {"kind": "points", "n": 9, "time": 1.0, "split": "training", "first_step": 9}
    with run.events.open("a") as file:
        for apart, values in ((1, {"loss": None}), (1, {"loss": ["x"]}), (0, {"loss": [1.0, 2.0]}), (1, {"loss": 3})):
            file.write(json.dumps({**odd, "steps_apart": apart, "values": values}) + "\n")
    trace = Trace(run)
    while trace.read():
        pass
    assert trace.curves["loss"].last_step == 4


def test_only_ends_above_each_other_are_spread() -> None:
    ends = [(90.0, 10.0, 0), (91.0, 400.0, 1), (80.0, 404.0, 2)]
    assert columns_of(ends, 17) == [[(90.0, 10.0, 0)], [(80.0, 404.0, 2), (91.0, 400.0, 1)]]
    assert columns_of([], 17) == []
