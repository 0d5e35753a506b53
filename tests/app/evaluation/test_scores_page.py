"""The page of scores: what is asked of the engine, what a result looks like, and what goes wrong in words."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QTableWidget

from app.evaluation import scores_page as module
from app.evaluation.plots import PredictionPlot, ReliabilityPlot
from app.evaluation.scores_page import NOT_YET, ScoresPage
from app.plots.confusion_chart import ConfusionCard
from app.widgets import ValueTable
from app.window import MainWindow

CLASSES = {
    "name": "softmax",
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
NUMBERS = {
    "name": "fc",
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


class FakeCommand(QObject):
    """An engine command that answers when it is told to."""

    finished, failed = Signal(object), Signal(str)
    made: list["FakeCommand"] = []

    def __init__(self, arguments: list[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.arguments, self.is_cancelled = arguments, False
        FakeCommand.made.append(self)

    def cancel(self) -> None:
        self.is_cancelled = True


@pytest.fixture
def page(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> ScoresPage:
    monkeypatch.setattr(module, "EngineCommand", FakeCommand)
    FakeCommand.made = []
    page = ScoresPage(window)
    page.set_run(Path("/runs/2"))
    return page


def tables(page: ScoresPage) -> list[list[list[str]]]:
    """The cells of all tables."""
    found = []
    for table in page.findChildren(QTableWidget):
        cells = [[table.item(row, column) for column in range(table.columnCount())] for row in range(table.rowCount())]
        found.append([[item.text() if item else "" for item in row] for row in cells])
    return found


def test_scores_confusions_calibration_and_the_worst_samples_are_shown(page: ScoresPage) -> None:
    page.button.click()
    (command,) = FakeCommand.made
    assert command.arguments == ["evaluate", str(Path("/runs/2")), "--split", "test", "--json"]
    assert page.button.text() == "Cancel"
    command.finished.emit(result(CLASSES, {"accuracy": 0.75}))
    assert page.button.text() == "Evaluate"
    assert page.state.text() == "4 samples of the test split, best weights"
    scores = page.findChildren(ValueTable)[0]
    assert scores.rows == [("Loss", "0.5"), ("Accuracy", "75.0 %"), ("Accuracy, 95 %", "50.0 % to 100.0 %")]
    (confusion,) = page.findChildren(ConfusionCard)
    assert confusion.chart.table.counts == ((2, 1), (0, 1))
    assert confusion.note.text() == "3 of 4 correct (75.0 %)"
    (calibration,) = page.findChildren(ReliabilityPlot)
    assert "75.0 % correct" in str(calibration.readout(0.85)[1])
    assert tables(page) == [
        [
            ["cat", "3", *(f"{value}  (0.40 to 1.00)" for value in ("1.000", "0.667", "0.800"))],
            ["dog", "1", "0.500", "1.000", ""],
        ],
        [["3", "cat", "dog", "2.5", "92.0 %"]],
    ]


def test_numbers_are_shown_against_the_true_ones(page: ScoresPage) -> None:
    page.evaluate()
    FakeCommand.made[-1].finished.emit(result(NUMBERS, {"rmse": 1.5}))
    assert page.findChildren(ValueTable)[0].rows == [("Loss", "0.5"), ("RMSE", "1.5"), ("RMSE, 95 %", "1 to 2")]
    (plot,) = page.findChildren(PredictionPlot)
    assert "predicted 3" in str(plot.readout(2.9)[1])
    assert tables(page) == [[["2", "5", "3", "2"]]]


def test_what_goes_wrong_is_said_and_another_run_forgets_it(page: ScoresPage) -> None:
    page.evaluate()
    FakeCommand.made[-1].failed.emit("pets has changed since the run.")
    assert page.message.text() == "pets has changed since the run."
    page.set_run(Path("/runs/1"))
    assert page.message.text() == NOT_YET


def test_an_evaluation_can_be_cancelled(page: ScoresPage) -> None:
    page.button.click()
    page.button.click()
    assert FakeCommand.made[-1].is_cancelled
    assert page.button.text() == "Evaluate"


def test_other_data_is_asked_for(page: ScoresPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/data/new.csv", ""))
    at = page.data.findData(module.OTHER_FILE)
    page.data.setCurrentIndex(at)
    page.data.activated.emit(at)
    assert page.data.currentText() == "new.csv"
    page.evaluate()
    assert FakeCommand.made[-1].arguments[2:] == ["--data", "/data/new.csv", "--json"]
