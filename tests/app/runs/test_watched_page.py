"""The answers of a run are gone through with a slider, and the newest are followed while it trains."""

import json
from pathlib import Path

import pytest
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from netwright.app.data.answer_list import AnswerList
from netwright.app.data.tiles import Tiles
from netwright.app.runs.monitor import Monitor
from netwright.app.runs.watched_page import WatchedPage, WatchedPair, of_equal_samples
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.reported_pictures import ATTENTION
from netwright.engine.runs.reported_pictures import FOLDER as PICTURES
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
    (answers,) = page.body.findChildren(AnswerList)
    return first_row(answers)


def first_row(answers: AnswerList) -> list[str]:
    assert answers.table is not None
    items = [answers.table.item(0, column) for column in range(answers.table.columnCount())]
    return [item.text() for item in items if item is not None]


def test_the_newest_answers_are_followed_until_others_are_chosen(page: WatchedPage, tmp_path: Path) -> None:
    write(tmp_path, 0, 10)
    page.show_steps(read_watched(tmp_path))
    assert page.moment.text() == "epoch 1, iteration 10"
    write(tmp_path, 0, 10, 20)
    page.show_steps(read_watched(tmp_path))
    assert page.moment.text() == "epoch 2, iteration 20"
    assert shown(page) == ["4", "so it begins", "a", "b", "20.0 %"]
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
        "0,0,4,so it begins,a,b,0.0 %",
        "1,10,4,so it begins,a,b,10.0 %",
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
    qtbot.waitUntil(lambda: any(run.steps for run in monitor.answers.runs))
    assert not monitor.answers.nothing.isVisible()
    assert not monitor.answers.slider.isEnabled()
    monitor.show_nothing()
    assert monitor.answers.nothing.isVisible()
    monitor.shutdown()


def test_attention_and_pictures_of_hooks_are_shown_at_the_nearest_moment(page: WatchedPage, tmp_path: Path) -> None:
    write(tmp_path, 0, 10)
    entries = [{"iteration": number, "epoch": 1, "file": f"0-{number}.png"} for number in (4, 10)]
    for folder, name in ((ATTENTION, "encoder"), (PICTURES, "filters")):
        (tmp_path / folder).mkdir()
        for entry in entries:
            QPixmap(8, 8).save(str(tmp_path / folder / str(entry["file"])))
        (tmp_path / folder / "pictures.json").write_text(json.dumps({"pictures": {name: entries}}))
    page.read(tmp_path)
    assert page.slider.maximum() == 2
    attention, tiles = page.body.findChildren(Tiles)
    assert [tile.caption for tile in attention.tiles] == ["encoder"]
    assert [(tile.caption, tile.toolTip()) for tile in tiles.tiles] == [("filters", "filters\nepoch 1, iteration 10")]
    page.slider.setValue(1)
    assert page.moment.text() == "epoch 1, iteration 4"
    assert page.body.findChildren(Tiles)[1].tiles[0].accessibleName() == "filters\nepoch 1, iteration 4"
    assert shown(page)[-1] == "0.0 %", "the answers at the nearest validation"


def test_two_runs_are_shown_side_by_side_with_one_slider(qtbot: QtBot, tmp_path: Path) -> None:
    page = WatchedPair()
    qtbot.addWidget(page)
    runs = [tmp_path / "one", tmp_path / "two"]
    for run, *iterations in ((runs[0], 0, 10, 20), (runs[1], 0, 8)):
        run.mkdir()
        write(run, *iterations)
    page.set_pair([("Run 1", runs[0]), ("Run 2", runs[1])])
    qtbot.waitUntil(lambda: len(page.runs) == 2)
    cells = [first_row(answers)[-1] for answers in page.body.findChildren(AnswerList)]
    assert cells == ["20.0 %", "8.0 %"], "of each run the nearest"
    labels = [label.text() for label in page.body.findChildren(QLabel)]
    assert {"Run 1", "Run 2", "epoch 2, iteration 20", "epoch 0, iteration 8"} <= set(labels)
    assert page.slider.maximum() == 3
    assert [row[0] for row in page._rows()] == ["Run", *["Run 1"] * 3, *["Run 2"] * 2]
    page.set_pair([])
    assert not page.slider.isVisibleTo(page)


def test_only_equal_samples_are_compared() -> None:
    one = {
        "rows": [{"index": 1}, {"index": 2, "sample": "b.png"}, {"index": 3}],
        "pictures": ["p", "q", "r"],
        "total": 3,
    }
    two = {"rows": [{"index": 3}, {"index": 9, "sample": "b.png"}, {"index": 2}], "total": 3}
    first, second = of_equal_samples([one, two])
    assert [row["index"] for row in first["rows"]] == [2, 3]
    assert first["pictures"] == ["q", "r"]
    assert [row["index"] for row in second["rows"]] == [9, 3]
