"""The page of a run takes events and draws; its curves leave as files."""

import csv
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from netwright.app.plots.run_plot import RunPlot
from netwright.app.plots.timeline import MOST_TICKS, Along
from netwright.app.runs.log_panel import MOST_LINES
from netwright.app.runs.monitor import HIDDEN, LOG_X, LOG_Y, MESSAGES, PLOTS, SMOOTHING, X_UNIT, Monitor
from netwright.app.runs.run_follower import Outcome
from netwright.engine.runs.events import Best, Checkpointed, Ended, Message, Points, Requested, Resumed
from netwright.engine.runs.folder import RunFolder
from tests.app.runs.test_facts_panel import STARTED, progress


@pytest.fixture
def monitor(qtbot) -> Iterator[Monitor]:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    monitor.resize(1000, 700)
    monitor.show()
    monitor.show_run(RunFolder(Path("/runs/one")))
    yield monitor
    monitor.shutdown()


def points(split: str, first: int, metric: str = "accuracy") -> Points:
    return Points(split=split, first_step=first, steps_apart=1, values={"loss": [2.0, 1.5], metric: [0.25, 0.5]})


def test_points_become_curves(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.take(points("validation", 2))
    monitor.take(points("test", 3))
    assert [row[:2] for row in monitor.loss_card.rows()] == [
        ("training", 1),
        ("training", 2),
        ("validation", 2),
        ("validation", 3),
        ("test", 3),
        ("test", 4),
    ]
    assert monitor.metric_card.title == "Accuracy"


def test_curves_that_are_not_read_yet_are_not_said_to_come(monitor: Monitor) -> None:
    assert monitor.loss_card.plot.draw() == "Reading the run…"
    monitor.board.show_caught_up()
    assert monitor.loss_card.plot.draw() == "The loss appears here when training starts."


def test_a_regression_shows_rmse(monitor: Monitor) -> None:
    monitor.take(replace(STARTED, metric="rmse"))
    monitor.take(points("training", 1, "rmse"))
    assert monitor.metric_card.title == "RMSE"
    assert [value for _, _, value in monitor.metric_card.rows()] == pytest.approx([0.25, 0.5])


def baselines_of(plot: RunPlot) -> dict[str, float]:
    """The labels of the lines of baselines that are shown, and where they lie."""
    lines = [item for item in plot.plotItem.items if isinstance(item, pg.InfiniteLine) and item.angle == 0]
    return {line.label.toPlainText(): line.value() for line in lines if line.isVisible()}


def test_baselines_are_lines_in_the_curves_of_their_metric(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("validation", 1))
    (plot,), (other,) = (card.findChildren(RunPlot) for card in (monitor.metric_card, monitor.loss_card))
    monitor.metric_card.flush()
    assert baselines_of(plot) == {}
    beside = {"most frequent class": {"accuracy": 0.1}, "boosting": {"accuracy": 0.84}}
    result = {"test": {"accuracy": 0.5}, "baselines": {"test": beside}}
    monitor.take(Ended(state="finished", reason="", result=result))
    monitor.metric_card.flush()
    assert baselines_of(plot) == {"most frequent class 10.0 %": 0.1, "boosting 84.0 %": 0.84}
    assert ("boosting", "84.0 %") in plot.readings(1)
    assert baselines_of(other) == {}
    plot.grab()
    monitor.show_starting("next")
    monitor.take(STARTED)
    monitor.take(points("validation", 1))
    monitor.metric_card.flush()
    assert baselines_of(plot) == {}


@pytest.mark.parametrize(("last_value", "is_shown"), [(0.6, True), (30.0, False)])
def test_a_baseline_far_from_the_curves_leaves_them_their_height(
    monitor: Monitor, last_value: float, is_shown: bool
) -> None:
    monitor.take(replace(STARTED, metric="rmse"))
    monitor.take(points("validation", 1, "rmse"))
    result = {"test": {"rmse": 0.5}, "baselines": {"season": 0, "test": {"last value": {"rmse": last_value}}}}
    monitor.take(Ended(state="finished", reason="", result=result))
    monitor.metric_card.flush()
    (plot,) = monitor.metric_card.findChildren(RunPlot)
    assert bool(baselines_of(plot)) == is_shown
    assert plot.y.high < 2


def test_another_run_starts_with_empty_curves(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.show_starting("next")
    assert list(monitor.loss_card.rows()) == []


def test_a_run_that_was_stopped_early_fills_its_plots(monitor: Monitor) -> None:
    """Not a few points at the left edge of what was planned."""
    monitor.take(replace(STARTED, iterations=4000))
    monitor.take(points("training", 1))
    (plot,) = monitor.loss_card.findChildren(RunPlot)
    monitor.loss_card.flush()
    running = plot.grab().toImage()
    monitor.show_outcome(Outcome("stopped", "stopped on request"))
    monitor.loss_card.flush()
    stopped = plot.grab().toImage()
    right = [stopped.pixel(stopped.width() * 3 // 4, y) for y in range(stopped.height())]
    assert right != [running.pixel(running.width() * 3 // 4, y) for y in range(running.height())]


def test_warnings_are_listed(monitor: Monitor) -> None:
    monitor.take(Message(severity="warning", text="The loss has not moved for 5 epochs."))
    monitor.take(Message(severity="note", text="unimportant"))
    assert monitor.facts.events.rows == [("Warning", "The loss has not moved for 5 epochs.")]


def test_every_point_is_in_the_csv_file(monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.take(Points(split="training", first_step=3, steps_apart=1, values={"loss": [float("nan")]}))
    monitor.take(progress(10))
    monkeypatch.setattr(
        "netwright.app.plots.curve_export.QFileDialog.getSaveFileName", lambda *_: (str(tmp_path / "c.csv"), "")
    )
    monitor.export.export_csv()
    with open(tmp_path / "c.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["curve", "split", "step", "value", "epoch", "elapsed_s"]
    assert ["accuracy", "training", "2", "0.5", "0.2", "12.2"] in rows
    assert ["loss", "training", "1", "2", "0.1", "6.1"] in rows
    assert ["loss", "training", "3", "nan", "0.3", "18.3"] in rows
    assert ["memory", "value", "10", "612", "1", "61"] in rows
    assert len(rows) == 9


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_pictures_leave_one_a_curve(
    monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, begins: bytes
) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    target = str(tmp_path / f"run.{kind}")
    monkeypatch.setattr("netwright.app.plots.curve_export.QFileDialog.getSaveFileName", lambda *_: (target, ""))
    monitor.export.export_pictures(kind)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [f"run-accuracy.{kind}", f"run-loss.{kind}"]
    assert all(file.read_bytes().startswith(begins) for file in files)


def test_a_file_that_cannot_be_written_is_told(
    monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("netwright.app.messages.show_error", lambda parent, title, text: said.append(text))
    target = str(tmp_path / "none" / "c.csv")
    monkeypatch.setattr("netwright.app.plots.curve_export.QFileDialog.getSaveFileName", lambda *_: (target, ""))
    monitor.export.export_csv()
    assert len(said) == 1
    assert "c.csv" in said[0]
    for kind in ("png", "svg"):
        monitor.export.export_pictures(kind)
    assert len(said) == 3


def test_other_metrics_and_what_reports_tell_are_shown_when_chosen(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.take(points("validation", 1, "f-score"))
    monitor.take(replace(progress(10), utilisation=0.5))
    board = monitor.board
    assert [row[2] for row in board.plot_data["utilisation"].rows()] == [0.5]
    board._fill_menu()
    offered = [action.text() for action in board.choice.menu().actions() if action.text()]
    reported = ["Learn rate", "Samples per second", "Share of measured peak", "Memory, MiB", "Utilisation", "Step time"]
    assert offered == ["Accuracy", "Loss", "F-score", *reported, "Gradient norm"]
    for action in board.choice.menu().actions():
        if action.text() in ("F-score", "Learn rate"):
            action.trigger()
    assert [card.title for card in board.cards] == ["Accuracy", "Loss", "F-score", "Learn rate"]
    assert [row[2] for row in board.shown["f-score"].rows()] == [0.25, 0.5]
    assert board.shown["learn_rate"].rows() == [("value", 10.0, 0.01)]
    board.shown["f-score"].closed.emit()
    assert list(board.shown) == ["accuracy", "loss", "learn_rate"]


def test_what_was_chosen_stays_for_the_next_run(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("validation", 1, "f-score"))
    monitor.board.choose("f-score", True)
    monitor.board.choose("memory", True)
    monitor.show_starting("next")
    assert list(monitor.board.shown) == ["accuracy", "loss", "memory"], "the next run may measure something else"
    monitor.take(replace(STARTED, metric="rmse"))
    monitor.take(points("validation", 1, "f-score"))
    assert list(monitor.board.shown) == ["rmse", "loss", "memory", "f-score"]
    monitor.show_starting("a third")
    monitor.take(replace(STARTED, metric="f-score"))
    assert list(monitor.board.shown) == ["f-score", "loss", "memory"], "it stands above now"
    assert monitor.metric_card.title == "F-score"


def test_what_a_resumed_run_superseded_goes(monitor: Monitor) -> None:
    monitor.take(STARTED)
    for first in (1, 3, 5):
        monitor.take(points("training", first))
        monitor.take(progress(first + 1))
    monitor.take(points("validation", 2))
    monitor.take(points("validation", 5))
    monitor.take(Best(iteration=2, objective="loss", value=2.0))
    monitor.take(Best(iteration=5, objective="metric", value=0.5))
    monitor.take(Resumed(iteration=4, after=9, reason="the machine was restarted"))
    steps = [step for _, step, _ in monitor.loss_card.rows()]
    assert steps == [1, 2, 3, 4, 2, 3], "training, then validation"
    assert [step for _, step, _ in monitor.board.plot_data["memory"].rows()] == [2, 4]
    assert monitor.loss_card.data.bests == [(2, 2.0)]
    assert monitor.metric_card.data.bests == []
    assert monitor.board.x_axis.timeline.place(4, "time") == 61.0


def test_a_part_of_the_run_is_seen_in_all_plots(monitor: Monitor, qtbot) -> None:
    monitor.take(replace(STARTED, iterations=100))
    for first in range(1, 100, 2):
        monitor.take(points("training", first))
    upper, lower = (card.findChild(RunPlot) for card in monitor.board.cards)
    assert upper is not None
    assert lower is not None
    assert monitor.whole.isHidden()
    for card in monitor.board.cards:
        card.flush()
    upper.grab()
    middle = upper.height() // 2
    qtbot.mousePress(upper.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, middle))
    qtbot.mouseMove(upper.viewport(), QPoint(200, middle))
    qtbot.mouseRelease(upper.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, middle))
    low, high = monitor.board.x_axis.view(100)
    assert 0 < low < high < 60
    assert not monitor.whole.isHidden()
    monitor.loss_card.flush()
    assert (lower.x.low, lower.x.high) == (low, high)
    qtbot.mouseDClick(lower.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(150, middle))
    assert monitor.board.x_axis.part is None
    assert monitor.whole.isHidden()


@pytest.mark.parametrize(("along", "word"), [("iterations", "training"), ("epochs", "epoch"), ("time", "time")])
def test_the_lower_axis_counts_what_is_chosen(monitor: Monitor, along: Along, word: str) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.take(progress(2))
    monitor.set_along(along)
    (plot,) = monitor.loss_card.findChildren(RunPlot)
    plot.grab()
    assert [name for name, _ in plot.readings(2)][:2] == ["iteration", word]


def test_a_run_without_a_metric_shows_its_loss_alone(monitor: Monitor) -> None:
    monitor.take(replace(STARTED, metric="loss"))
    assert monitor.metric_card.isHidden()
    monitor.take(points("training", 1, "mae"))
    assert len(monitor.loss_card.rows()) == 2
    monitor.take(replace(STARTED, metric="rmse"))
    assert not monitor.metric_card.isHidden()


def test_more_epochs_make_the_plots_longer(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(Requested(what="epochs", iteration=4, value=4000))
    assert monitor.board.x_axis.expected_steps == 40_000


def test_the_log_is_there_when_it_is_asked_for(monitor: Monitor) -> None:
    monitor.take(Message(severity="note", text="unimportant"))
    assert monitor.log.isHidden()
    monitor.log_button.click()
    assert monitor.log.isVisible()
    assert "unimportant" in monitor.log.messages.toPlainText()
    monitor.log_button.click()
    assert monitor.log.isHidden()


def test_what_the_time_of_steps_goes_to_is_one_plot(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.board.choose("time_shares", True)
    for step, data, workers in ((10, 0.25, 0.5), (20, 0.5, math.nan)):
        monitor.take(replace(progress(step, epoch=1), data_share=data, communication_share=workers))
    monitor.take(replace(progress(30, epoch=1), data_share=math.nan))
    card = monitor.board.shown["time_shares"]
    assert sorted(card.rows()) == [
        ("communication", 10.0, 0.5),
        ("computing", 10.0, 0.25),
        ("computing", 20.0, 0.5),
        ("data", 10.0, 0.25),
        ("data", 20.0, 0.5),
    ]
    card.flush()
    legend = next(w for w in card.findChildren(QWidget) if w.accessibleName().startswith("Curves: "))
    assert legend.accessibleName() == "Curves: computing, data, communication"
    (plot,) = card.findChildren(RunPlot)
    plot.grab()
    assert plot.readings(10)[1:] == [("computing", "25.0 %"), ("data", "25.0 %"), ("communication", "50.0 %")]
    monitor.take(Resumed(iteration=15, after=3, reason="a worker died"))
    assert len(card.rows()) == 3
    monitor.show_starting("next")
    assert card.rows() == []


def test_before_the_first_run_there_is_one_sentence_and_one_button(qtbot, monitor: Monitor) -> None:
    assert not monitor.empty.isVisible()
    monitor.show_nothing()
    monitor.say_first("Reading the runs…", offers=False)
    assert not monitor.empty.button.isVisible()
    monitor.say_first("Curves appear here.", offers=True)
    seen = [widget for widget in monitor.empty.findChildren(QWidget) if widget.isVisible()]
    assert len([widget for widget in seen if isinstance(widget, QPushButton)]) == 1
    assert len([widget for widget in seen if isinstance(widget, QLabel)]) == 1
    assert not any(isinstance(widget, RunPlot) for widget in seen)
    with qtbot.waitSignal(monitor.clicked) as clicked:
        monitor.empty.button.click()
    assert clicked.args == ["train"]
    monitor.show_starting("digits")
    assert monitor.facts.isVisible()
    assert not monitor.empty.isVisible()


def test_the_logarithmic_axis_is_that_of_one_plot(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1, "rmse"))
    monitor.board.choose("learn_rate", True)
    monitor.take(progress(10))
    for card in monitor.board.cards:
        card.flush()
    logs = {name: card._log for name, card in monitor.board.shown.items()}
    assert not logs["accuracy"].isVisible(), "shares have a linear axis"
    logs["loss"].click()
    assert monitor.loss_card.data.is_log
    assert not monitor.board.shown["learn_rate"].data.is_log


def test_choices_last_over_restarts(qtbot, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    first = Monitor(settings=settings)
    qtbot.addWidget(first)
    first.smoothing.setValue(25)
    first.along.menu().actions()[1].trigger()
    first.log_x.setChecked(True)
    first.board.set_log_y("loss", True)
    first.board.choose("memory", True)
    first.board.choose("f-score", True)
    first.loss_card._close.click()
    first.log_button.setChecked(True)
    first.shutdown()
    second = Monitor(settings=QSettings(settings.fileName(), QSettings.Format.IniFormat))
    qtbot.addWidget(second)
    assert second.smoothing.value() == 25
    assert second.along.text() == "x: epochs"
    assert second.board.x_axis.is_log
    assert second.loss_card.data.is_log
    assert list(second.board.shown) == ["accuracy", "loss", "memory"]
    assert [card.isHidden() for card in second.board.cards] == [False, True, False]
    assert second.board.chosen == ("memory", "f-score"), "a run that measures it shows it again"
    assert not second.log.isHidden()
    second.shutdown()


def test_accuracy_and_loss_can_be_hidden_and_are_brought_back_by_the_menu(qtbot) -> None:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    board = monitor.board
    monitor.take(STARTED)
    for card in board.cards:
        card._close.click()
    assert [card.isHidden() for card in board.cards] == [True, True]
    assert not board.nothing.isHidden()
    board._fill_menu()
    entries = board.choice.menu().actions()
    assert [(entry.text(), entry.isChecked()) for entry in entries[:2]] == [("Accuracy", False), ("Loss", False)]
    entries[1].trigger()
    assert [card.isHidden() for card in board.cards] == [True, False]
    assert board.nothing.isHidden()
    monitor.take(replace(STARTED, metric="rmse"))
    board._fill_menu()
    board.choice.menu().actions()[0].trigger()
    assert [(card.title, card.isHidden()) for card in board.cards] == [("RMSE", False), ("Loss", False)]
    monitor.take(replace(STARTED, metric="loss"))
    assert [card.isHidden() for card in board.cards] == [True, False], "nothing else is measured"
    monitor.shutdown()


@pytest.mark.parametrize("value", ["", "x", "-1", "1e9", "loss,,;", "\x00"])
def test_damaged_choices_are_left_aside(qtbot, tmp_path: Path, value: str) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    for key in (SMOOTHING, X_UNIT, LOG_X, LOG_Y, PLOTS, HIDDEN, MESSAGES):
        settings.setValue(key, value)
    monitor = Monitor(settings=settings)
    qtbot.addWidget(monitor)
    assert 0 <= monitor.smoothing.value() <= 99
    assert monitor.along.text() == "x: iterations"
    monitor.shutdown()


def test_the_list_of_plots_keeps_its_order(monitor: Monitor) -> None:
    """In whatever order a run brings its metrics."""
    monitor.take(STARTED)
    for metric in ("recall", "f-score", "precision"):
        monitor.take(points("validation", 1, metric))
    monitor.board._fill_menu()
    offered = [action.text() for action in monitor.board.choice.menu().actions() if action.text()]
    assert offered[:5] == ["Accuracy", "Loss", "F-score", "Precision", "Recall"]


def test_a_run_of_days_has_a_limited_number_of_messages_and_marks(monitor: Monitor) -> None:
    monitor.take(STARTED)
    last = MOST_LINES + 100
    for step in range(1, last + 1):
        monitor.take(Checkpointed(iteration=step, epoch=1, seconds=0.1))
    assert monitor.log.messages.blockCount() == MOST_LINES
    assert f"iteration {last:,}," in monitor.log.messages.toPlainText()
    assert len(monitor.board.x_axis.event_ticks) <= MOST_TICKS
