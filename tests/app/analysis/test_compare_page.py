"""The page that compares runs: what is asked, what is shown, and what goes wrong in words."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QTableWidget

from netwright.app.analysis.compare_page import NO_OTHER, NOT_YET, ComparePage
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
def page(server: FakeServer, qtbot) -> ComparePage:
    shell: Any = SimpleNamespace(server=server)
    page = ComparePage(shell)
    qtbot.addWidget(page)
    page.set_runs([("Run 2", Path("/runs/2")), ("Run 1", Path("/runs/1"))])
    page.set_run(Path("/runs/2"))
    return page


def test_the_other_run_is_chosen_and_the_difference_is_told(page: ComparePage, server: FakeServer) -> None:
    assert [page.other.itemText(at) for at in range(page.other.count())] == ["Run 1"]
    page.button.click()
    asked = {"run_dir": str(Path("/runs/2")), "against": str(Path("/runs/1")), "split": "test", "device": "cpu"}
    assert server.waiting[0].given == asked
    server.answer("evaluate", RESULT)
    assert any("The first run is better" in label.text() for label in page.findChildren(QLabel))
    metrics, right, rows = page.findChildren(QTableWidget)
    cells = [item.text() for column in range(6) if (item := metrics.item(0, column))]
    assert cells == ["Accuracy", "90.0 %", "80.0 %", "-10 points", "-15 to -5", "0.01"]
    assert (right.rowCount(), rows.rowCount()) == (2, 1)


def test_refusals_are_said_and_forgotten(page: ComparePage, server: FakeServer) -> None:
    page.button.click()
    server.refuse("evaluate", "The runs differ in the classes.")
    assert page.message.text() == "The runs differ in the classes."
    page.set_run(Path("/runs/1"))
    assert page.message.text() == NOT_YET
    page.set_runs([("Run 1", Path("/runs/1"))])
    assert page.message.text() == NO_OTHER
    assert not page.button.isEnabled()
