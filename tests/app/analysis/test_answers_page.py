"""The page that compares the answers of two runs: what is asked, what is shown, and what goes wrong in words."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QTableWidget

from netwright.app.analysis.answers_page import CANCELLED, AnswersPage
from tests.app.fake_server import FakeServer

RESULT: dict[str, Any] = {
    "samples": 90,
    "notes": [],
    "targets": [
        {
            "name": "softmax",
            "conclusion": "The first run is better: the difference in accuracy is hardly chance.",
            "metrics": [
                {
                    "name": "accuracy",
                    "first": 0.9,
                    "second": 0.8,
                    "difference": -0.1,
                    "interval": [-0.15, -0.05],
                    "p": 0.01,
                }
            ],
            "mcnemar": {"both": 70, "only_first": 11, "only_second": 2, "neither": 7, "p": 0.0225},
            "disagreed": 13,
            "disagreements": [
                {
                    "index": 4,
                    "label": "a",
                    "first": "a",
                    "second": "b",
                    "first_confidence": 0.9,
                    "second_confidence": 0.6,
                }
            ],
        }
    ],
}


@pytest.fixture
def page(server: FakeServer, qtbot) -> AnswersPage:
    shell: Any = SimpleNamespace(server=server)
    page = AnswersPage(shell)
    qtbot.addWidget(page)
    page.set_pair(("Run 2", Path("/runs/2")), ("Run 1", Path("/runs/1")))
    return page


def test_two_runs_are_compared_on_arrival_and_the_difference_is_told(page: AnswersPage, server: FakeServer) -> None:
    page.show()
    asked = {"model": str(Path("/runs/2")), "against": str(Path("/runs/1")), "split": "test"}
    assert server.waiting[0].given == asked
    server.answer("evaluate", RESULT)
    assert any("The first run is better" in label.text() for label in page.findChildren(QLabel))
    metrics, right, rows = page.findChildren(QTableWidget)
    cells = [item.text() for column in range(6) if (item := metrics.item(0, column))]
    assert cells == ["Accuracy", "90.0 %", "80.0 %", "−10 points", "−15 to −5", "0.01"]
    assert (right.rowCount(), rows.rowCount()) == (2, 1)


def test_refusals_are_said_and_forgotten(page: AnswersPage, server: FakeServer) -> None:
    page.button.click()
    server.refuse("evaluate", "The runs differ in the classes.")
    assert page.message.text() == "The runs differ in the classes."
    assert page.button.text() == "Compare again"
    page.set_pair(("Run 3", Path("/runs/3")), ("Run 1", Path("/runs/1")))
    assert page.message.text() == CANCELLED
    page.arrive()
    page.button.click()
    assert (server.cancelled, page.message.text()) == (["evaluate"], CANCELLED)
