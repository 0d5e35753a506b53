"""The answers of a run are gone through with a slider, and the newest are followed while it trains."""

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from netwright.app.runs.monitor import Monitor
from netwright.app.runs.watched_page import WatchedPage
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.watched_answers import FILE, FOLDER, read_watched
from tests.app.runs.test_monitor import points


def write(run: Path, *iterations: int) -> None:
    """Answers that get surer."""
    (run / FOLDER).mkdir(exist_ok=True)
    steps = [
        {
            "iteration": number,
            "epoch": number // 10,
            "answers": [{"index": 3, "row": {"label": "a", "prediction": "b", "confidence": number / 100}, "view": {}}],
        }
        for number in iterations
    ]
    (run / FOLDER / FILE).write_text(json.dumps({"samples": {"3": {"text": "so it begins"}}, "steps": steps}))


@pytest.fixture
def page(qtbot: QtBot) -> WatchedPage:
    page = WatchedPage()
    qtbot.addWidget(page)
    page.show()
    return page


def shown(page: WatchedPage) -> list[str]:
    table = page.body.table  # type: ignore[attr-defined]
    return [table.item(0, column).text() for column in range(table.columnCount())]


def test_the_newest_answers_are_followed_until_others_are_chosen(page: WatchedPage, tmp_path: Path) -> None:
    write(tmp_path, 0, 10)
    page.show_steps(read_watched(tmp_path))
    assert page.moment.text() == "epoch 1, iteration 10"
    write(tmp_path, 0, 10, 20)
    page.show_steps(read_watched(tmp_path))
    assert page.moment.text() == "epoch 2, iteration 20"
    assert shown(page) == ["3", "so it begins", "a", "b", "20.0 %"]
    page.slider.setValue(1)
    assert shown(page)[-1] == "10.0 %"
    write(tmp_path, 0, 10, 20, 30)
    page.show_steps(read_watched(tmp_path))
    assert page.moment.text() == "epoch 1, iteration 10"


def test_the_values_of_all_validations_leave_as_a_table(page: WatchedPage, tmp_path: Path) -> None:
    write(tmp_path, 0, 10)
    page.show_steps(read_watched(tmp_path))
    page.card.write(tmp_path / "answers.csv")
    lines = (tmp_path / "answers.csv").read_text().splitlines()
    assert lines == [
        "Epoch,Iteration,Sample,Text,Label,Prediction,Confidence",
        "0,0,3,so it begins,a,b,0.0 %",
        "1,10,3,so it begins,a,b,10.0 %",
    ]


def test_a_run_shows_its_answers_as_they_come(qtbot: QtBot, tmp_path: Path) -> None:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    monitor.show()
    monitor.show_run(RunFolder(tmp_path))
    monitor.segments.choose("answers")
    assert monitor.answers.nothing.isVisible()
    write(tmp_path, 0)
    monitor.take(points("validation", 1))
    qtbot.waitUntil(lambda: bool(monitor.answers.steps))
    assert not monitor.answers.nothing.isVisible()
    assert not monitor.answers.slider.isEnabled()
    monitor.show_nothing()
    assert monitor.answers.nothing.isVisible()
    monitor.shutdown()
