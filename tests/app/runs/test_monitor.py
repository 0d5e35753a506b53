"""The Train tab takes events and draws; its curves leave as files."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.runs.monitor import Monitor
from app.runs.plot import Plot
from app.runs.supervisor import Outcome
from engine.runs.events import Message, Points
from engine.runs.folder import RunFolder
from tests.app.runs.test_facts_panel import STARTED


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
    monitor.take(points("test", 2))
    assert [row[:2] for row in monitor.loss_card.rows()] == [
        ("training", 1),
        ("training", 2),
        ("validation", 2),
        ("validation", 3),
    ]
    assert monitor.metric_card.title == "Accuracy"


def test_a_regression_shows_rmse(monitor: Monitor) -> None:
    monitor.take(replace(STARTED, metric="rmse"))
    monitor.take(points("training", 1, "rmse"))
    assert monitor.metric_card.title == "RMSE"
    assert [value for _, _, value in monitor.metric_card.rows()] == pytest.approx([0.25, 0.5])


def test_another_run_starts_with_empty_curves(monitor: Monitor) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.show_starting("next")
    assert list(monitor.loss_card.rows()) == []


def test_a_run_that_was_stopped_early_fills_its_plots(monitor: Monitor) -> None:
    """Not a few points at the left edge of what was planned."""
    monitor.take(replace(STARTED, iterations=4000))
    monitor.take(points("training", 1))
    (plot,) = monitor.loss_card.findChildren(Plot)
    running = plot.grab().toImage()
    monitor.show_outcome(Outcome("stopped", "stopped on request"))
    stopped = plot.grab().toImage()
    right = [stopped.pixel(stopped.width() * 3 // 4, y) for y in range(stopped.height())]
    assert right != [running.pixel(running.width() * 3 // 4, y) for y in range(running.height())]


def test_warnings_are_listed(monitor: Monitor) -> None:
    monitor.take(Message(severity="warning", text="The loss has not moved for 5 epochs."))
    monitor.take(Message(severity="note", text="unimportant"))
    assert "has not moved" in monitor.facts.lines.text()
    assert "unimportant" not in monitor.facts.lines.text()


def test_every_point_is_in_the_csv_file(monitor: Monitor, tmp_path: Path) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    monitor.take(Points(split="training", first_step=3, steps_apart=1, values={"loss": [float("nan")]}))
    monitor.write_csv(tmp_path / "c.csv")
    with open(tmp_path / "c.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["curve", "split", "step", "value"]
    assert ["accuracy", "training", "2", "0.5"] in rows
    assert ["loss", "training", "1", "2"] in rows
    assert ["loss", "training", "3", "nan"] in rows
    assert len(rows) == 6


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_pictures_leave_one_a_curve(
    monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, begins: bytes
) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    target = str(tmp_path / f"run.{kind}")
    monkeypatch.setattr("app.runs.monitor.QFileDialog.getSaveFileName", lambda *_: (target, ""))
    monitor._export_pictures(kind)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [f"run-accuracy.{kind}", f"run-loss.{kind}"]
    assert all(file.read_bytes().startswith(begins) for file in files)


def test_a_file_that_cannot_be_written_is_told(
    monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("app.dialogs.messages.show_error", lambda parent, title, text: said.append(text))
    target = str(tmp_path / "none" / "c.csv")
    monkeypatch.setattr("app.runs.monitor.QFileDialog.getSaveFileName", lambda *_: (target, ""))
    monitor._export_csv()
    assert len(said) == 1
    assert "c.csv" in said[0]
    for kind in ("png", "svg"):
        monitor._export_pictures(kind)
    assert len(said) == 3


def test_of_several_metrics_one_is_shown_and_all_are_exported(monitor, tmp_path) -> None:
    monitor.take(STARTED)
    monitor.take(points("training", 1))
    assert monitor.metrics.choice.isHidden()
    for name in ("f-score", "top-k"):
        monitor.take(points("validation", 1, name))
    assert not monitor.metrics.choice.isHidden()
    names = [monitor.metrics.choice.list.itemText(index) for index in range(3)]
    assert names == ["Accuracy", "F-score", "Top-k accuracy"]
    assert monitor.metrics.currentWidget() is monitor.metric_card
    assert len(monitor.metric_card.rows()) == 2, "points of other metrics are not its own"
    monitor.metrics.show_metric("f-score")
    assert monitor.metrics.currentWidget().title == "F-score"
    monitor.write_csv(tmp_path / "curves.csv")
    curves = {line.split(",")[0] for line in (tmp_path / "curves.csv").read_text().splitlines()[1:]}
    assert curves == {"accuracy", "f-score", "top-k accuracy", "loss"}
    monitor.show_nothing()
    assert monitor.metrics.choice.isHidden()
    assert len(monitor.cards) == 2


def test_a_run_without_a_metric_shows_its_loss_alone(monitor) -> None:
    monitor.take(replace(STARTED, metric="loss"))
    assert monitor.metrics.isHidden()
    monitor.take(replace(STARTED, metric="rmse"))
    assert not monitor.metrics.isHidden()
