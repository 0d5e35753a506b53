"""The page of scores: what is asked of the engine, what a result looks like, and what goes wrong in words."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog, QTableWidget

from netwright.app.analysis import scores_page as module
from netwright.app.analysis.calibration_card import CalibrationCard
from netwright.app.analysis.curves_card import CurvesCard
from netwright.app.analysis.groups_card import GroupsCard
from netwright.app.analysis.plots import PredictionPlot, ReliabilityPlot, StepsPlot
from netwright.app.analysis.scores_page import CANCELLED, ScoresPage
from netwright.app.plots.confusion_chart import ConfusionCard
from netwright.app.widgets import ValueTable
from tests.app.fake_server import FakeServer

CLASSES: dict[str, Any] = {
    "name": "softmax",
    "task": "classes",
    "per": "sample",
    "classes": ["cat", "dog"],
    "accuracy": 0.75,
    "accuracy_interval": [0.5, 1.0],
    "confusion": [[2, 1], [0, 1]],
    "per_class": [
        {"class": "cat", "precision": 1.0, "recall": 2 / 3, "f1": 0.8, "iou": 2 / 3, "support": 3}
        | {f"{name}_interval": [0.4, 1.0] for name in ("precision", "recall", "f1", "iou")},
        {"class": "dog", "precision": 0.5, "recall": 1.0, "f1": None, "iou": 0.5, "support": 1},
    ],
    "calibration": {
        "expected_error": 0.125,
        "bins": [{"low": 0.8, "high": 1.0, "count": 4, "confidence": 0.9, "accuracy": 0.75}],
    },
    "worst": [{"index": 3, "label": "cat", "prediction": "dog", "loss": 2.5, "confidence": 0.92}],
}
SAMPLES = {
    "total": 1,
    "rows": [{"place": 1, "index": 3, "label": "cat", "prediction": "dog", "loss": 2.5, "confidence": 0.92}],
    "columns": [],
    "cells": [[]],
}
NUMBERS: dict[str, Any] = {
    "name": "fc",
    "task": "numbers",
    "per": "sample",
    "classes": [],
    "rmse": 1.5,
    "rmse_interval": [1.0, 2.0],
    "residuals": [
        {
            "name": "price",
            "points": [[1.0, 2.0], [3.0, 3.0], [5.0, 3.0]],
            "histogram": {"low": -2.0, "high": 1.0, "counts": [1, 1, 1], "missing": 0},
        }
    ],
    "worst": [{"index": 2, "label": [5.0], "prediction": [3.0], "error": 2.0}],
}


def result(target: dict[str, Any], metrics: dict[str, float]) -> dict[str, Any]:
    return {
        "weights": "best",
        "split": "test",
        "data": "pets",
        "samples": 4,
        "loss": 0.5,
        "metrics": metrics,
        "targets": [target],
        "notes": [],
        "cached": False,
    }


@pytest.fixture
def page(server: FakeServer, qtbot) -> ScoresPage:
    shell: Any = SimpleNamespace(server=server, documents=SimpleNamespace(base=Path("/")))
    page = ScoresPage(shell)
    qtbot.addWidget(page)
    page.set_run(Path("/runs/2"))
    return page


def given(server: FakeServer, do: str) -> dict[str, Any]:
    """What was asked last of a kind."""
    return [request.given for request in server.asked if request.do == do][-1]


def tables(page: ScoresPage) -> list[list[list[str]]]:
    """The cells of all tables."""
    found = []
    for table in page.findChildren(QTableWidget):
        cells = [[table.item(row, column) for column in range(table.columnCount())] for row in range(table.rowCount())]
        found.append([[item.text() if item else "" for item in row] for row in cells])
    return found


def test_scores_confusions_calibration_and_samples_are_shown(page: ScoresPage, server: FakeServer) -> None:
    page.button.click()
    asked = {"model": str(Path("/runs/2")), "split": "test", "with_groupings": True}
    assert given(server, "evaluate") == asked
    assert page.button.text() == "Cancel"
    server.answer("evaluate", result(CLASSES, {"accuracy": 0.75}))
    assert page.button.text() == "Evaluate again"
    assert page.state.text() == "4 samples of the test split, best weights"
    scores = page.findChildren(ValueTable)[0]
    assert scores.rows == [("Loss", "0.500"), ("Accuracy", "75.0 %"), ("Accuracy, 95 %", "50.0 % to 100.0 %")]
    (confusion,) = page.findChildren(ConfusionCard)
    assert confusion.chart.table.counts == ((2, 1), (0, 1))
    assert confusion.values() == [["actual \\ predicted", "cat", "dog"], ["cat", 2, 1], ["dog", 0, 1]]
    (calibration,) = page.findChildren(ReliabilityPlot)
    assert "75.0 % correct" in str(calibration.readout(0.85)[1])
    server.answer("samples", SAMPLES)
    assert tables(page) == [
        [
            ["cat", "3", *(f"{value}  (0.400 to 1.00)" for value in ("1.00", "0.667", "0.800"))],
            ["dog", "1", "0.500", "1.00", ""],
        ],
        [["4", "cat", "dog", "92.0 %", "2.50"]],
    ]


def test_transcripts_have_their_error_rates(page: ScoresPage, server: FakeServer) -> None:
    rates = {"wer": 0.25, "wer_interval": [0.1, 1.5], "cer": 0.125, "cer_interval": [0.05, 0.2]}
    target = {"name": "text", "task": "transcripts", "per": "sample", "classes": ["a", " "], "answers": 4, **rates}
    page.evaluate()
    server.answer("evaluate", result({**target, "worst": []}, {"wer": 0.25, "cer": 0.125}))
    words = [("WER", "25.0 %"), ("WER, 95 %", "10.0 % to 150.0 %"), ("CER", "12.5 %"), ("CER, 95 %", "5.0 % to 20.0 %")]
    assert page.findChildren(ValueTable)[0].rows == [("Loss", "0.500"), *words]
    several = result({**target, "worst": []}, {"accuracy": 0.5})
    page.show_result({**several, "targets": [NUMBERS, several["targets"][0]]})
    assert page.findChildren(ValueTable)[-1].rows == words


def test_a_sample_leads_to_the_look_inside(page: ScoresPage, server: FakeServer, qtbot) -> None:
    page.evaluate()
    server.answer("evaluate", result(CLASSES, {"accuracy": 0.75}))
    server.answer("samples", SAMPLES)
    table = page.findChildren(QTableWidget)[-1]
    with qtbot.waitSignal(page.sample_requested) as requested:
        table.cellActivated.emit(0, 2)
    assert requested.args == ["test", 1]
    table.setCurrentCell(0, 0)
    with qtbot.waitSignal(page.sample_requested) as requested:
        table.actions()[0].trigger()  # of the menu, which the Menu key opens
    assert requested.args == ["test", 1]


def test_a_cell_and_a_group_lead_to_their_samples(page: ScoresPage, server: FakeServer) -> None:
    page.evaluate()
    server.answer("evaluate", {**result(CLASSES, {"accuracy": 0.75}), "groupings": ["class", "colour"]})
    (confusion,) = page.findChildren(ConfusionCard)
    confusion.chart.cell_chosen.emit(0, 1)
    assert given(server, "samples")["cell"] == [0, 1]
    (groups,) = page.findChildren(GroupsCard)
    groups.by.setCurrentIndex(2)
    groups.by.activated.emit(2)
    assert given(server, "evaluate")["by"] == "colour"
    rows = [{"group": "red", "samples": 3, "metrics": {"accuracy": 0.5}, "intervals": {"accuracy": [0.2, 0.8]}}]
    found = {"by": "colour", "note": "", "targets": [{"name": "softmax", "whole": {"accuracy": 0.75}, "groups": rows}]}
    server.answer("evaluate", {"groups": found})
    assert not groups.bars.isHidden()
    groups.bars.chosen.emit(0)
    assert given(server, "samples")["group"] == ["colour", "red"]


def test_the_threshold_moves_and_is_stored(page: ScoresPage, server: FakeServer, tmp_path: Path) -> None:
    points = [[0.9, 1, 0], [0.6, 2, 0], [0.3, 2, 1], [0.1, 3, 1]]
    curve = {"class": "cat", "auc": 0.67, "average_precision": 0.9, "positives": 3, "negatives": 1, "points": points}
    page.evaluate()
    server.answer("evaluate", result({**CLASSES, "curves": [curve]}, {}))
    (card,) = page.findChildren(CurvesCard)
    assert card.threshold == 0.6, "the point nearest above one half"
    card.slider.setValue(2)
    assert [card.values.text(name) for name in ("Precision", "Recall", "F1", "Accuracy", "Missed")] == [
        "0.667",
        "0.667",
        "0.667",
        "50.0 %",
        "1",
    ]
    card.kinds.setCurrentIndex(1)
    for name in ("a.csv", "a.png", "a.svg"):
        card.write(tmp_path / name)
    assert (tmp_path / "a.csv").read_text().splitlines()[1] == "0.9,1,0,1.0,0.3333333333333333,0.5,0.5"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    card.store.click()
    assert given(server, "evaluate") == {
        "model": str(Path("/runs/2")),
        "split": "test",
        "threshold": ["cat=0.3"],
        "store": True,
        "with_groupings": True,
    }


def test_a_temperature_is_shown_before_it_is_stored(page: ScoresPage, server: FakeServer) -> None:
    page.evaluate()
    server.answer("evaluate", result(CLASSES, {}))
    page.findChildren(CalibrationCard)[0].fit.click()
    assert given(server, "evaluate")["calibrate"] is True
    after = {**CLASSES["calibration"], "expected_error": 0.01}
    calibrated = [{"output": "softmax", "temperature": 1.4, "before": CLASSES["calibration"], "after": after}]
    server.answer("evaluate", {**result(CLASSES, {}), "calibrated": calibrated})
    (card,) = [one for one in page.findChildren(CalibrationCard) if one.fit.isHidden()]
    assert "Temperature 1.4" in card.said.text()
    card.store.click()
    assert given(server, "evaluate")["store"] is True


def test_numbers_are_shown_against_the_true_ones(page: ScoresPage, server: FakeServer) -> None:
    page.evaluate()
    server.answer("evaluate", result(NUMBERS, {"rmse": 1.5}))
    assert page.findChildren(ValueTable)[0].rows == [
        ("Loss", "0.500"),
        ("RMSE", "1.50"),
        ("RMSE, 95 %", "1.00 to 2.00"),
    ]
    (plot,) = page.findChildren(PredictionPlot)
    assert "predicted 3" in str(plot.readout(2.9)[1])
    row = {"place": 0, "index": 2, "label": [5.0], "prediction": [3.0], "loss": 2.0}
    server.answer("samples", {"total": 1, "rows": [row], "columns": ["rooms"], "cells": [["4"]]})
    assert tables(page) == [[["3", "5", "3", "2.00", "4"]]]


def test_many_numbers_share_one_plot(page: ScoresPage, server: FakeServer) -> None:
    page.evaluate()
    one = {"rmse": 1.0, "mae": 0.8, "mean": 0.0, "largest": 2.0, "r2": 0.5, **NUMBERS["residuals"][0]}
    server.answer("evaluate", result({**NUMBERS, "residuals": [one] * 24}, {"rmse": 1.5}))
    (plot,) = page.findChildren(StepsPlot)
    assert "RMSE 1" in str(plot.readout(3.2)[1])
    assert len(page.findChildren(PredictionPlot)) == 1


def test_what_goes_wrong_is_said_and_another_run_forgets_it(page: ScoresPage, server: FakeServer) -> None:
    page.evaluate()
    server.refuse("evaluate", "pets has changed since the run.")
    assert page.message.text() == "pets has changed since the run."
    page.set_run(Path("/runs/1"))
    assert page.message.text() == CANCELLED


def test_an_evaluation_can_be_cancelled(page: ScoresPage, server: FakeServer) -> None:
    page.show()
    assert page.button.text() == "Cancel", "the page shows its result on arrival"
    page.button.click()
    assert server.cancelled == ["evaluate"]
    assert page.button.text() == "Evaluate"
    page.hide()
    page.show()
    assert server.count("evaluate") == 1, "what was cancelled is not begun again"
    page.button.click()
    server.answer("evaluate", result(CLASSES, {"accuracy": 0.75}))
    assert page.button.text() == "Evaluate again"
    page.hide()
    page.show()
    assert server.count("evaluate") == 2, "the result is there"


def test_other_data_is_asked_for(page: ScoresPage, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/data/new.csv", ""))
    at = page.data.findData(module.OTHER_FILE)
    page.data.setCurrentIndex(at)
    page.data.activated.emit(at)
    assert page.data.currentText() == "new.csv"
    page.evaluate()
    assert given(server, "evaluate")["data"] == "/data/new.csv"
