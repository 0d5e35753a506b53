"""The page of robustness: what is asked of the engine, what a result looks like, and what goes wrong in words."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog, QTableWidget

from netwright.app.analysis.robustness_page import CANCELLED, RobustnessPage, StrengthCard
from netwright.app.window import MainWindow
from netwright.engine.runs import queued_answers
from netwright.engine.runs.queue import Queue
from tests.app.fake_server import FakeServer

SHARE = "share of the range"
RESULT: dict[str, Any] = {
    "metric": "accuracy",
    "samples": 270,
    "split": "test",
    "curves": [
        {"kind": "noise", "unit": SHARE, "strengths": [0.0, 0.1, 0.4], "values": [0.97, 0.9, 0.5]},
        {"kind": "blur", "unit": "pixels", "strengths": [0.0, 1.0, 3.0], "values": [0.97, 0.7, 0.1]},
        {"kind": "fgsm", "unit": SHARE, "strengths": [0.0, 0.01, 0.1], "values": [0.97, 0.9, 0.4]},
        {"kind": "pgd", "unit": SHARE, "strengths": [0.0, 0.01, 0.1], "values": [0.97, 0.8, 0.2]},
    ],
    "unlike_training": [
        {
            "score": "max softmax",
            "threshold": 0.9618,
            "kept_share": 0.95,
            "samples": 270,
            "flagged_noise": 0.97,
            "auroc": 0.988,
        }
    ],
    "notes": [],
    "stored": False,
    "cached": False,
}


@pytest.fixture
def page(window: MainWindow, tmp_path: Path) -> RobustnessPage:
    page = RobustnessPage(window, window)
    page.resize(1000, 700)
    page.set_run(tmp_path)
    page.show()
    return page


def test_a_run_is_measured_and_its_threshold_stored(page: RobustnessPage, server: FakeServer, tmp_path: Path) -> None:
    assert page.message.text() == "Measuring…", "on arrival"
    page.button.click()
    assert (page.message.text(), page.store.isHidden()) == (CANCELLED, True)
    page.button.click()
    assert server.waiting[-1].given == {"model": str(tmp_path)}
    assert page.button.text() == "Cancel"
    server.answer("robustness", RESULT)
    plots = [one for one in page.cards if isinstance(one, StrengthCard)]
    assert [one.title for one in plots] == ["Attacks", "Noise", "Blur"]
    assert [one["kind"] for one in plots[0].strengths.curves] == ["fgsm", "pgd"]
    (table,) = page.cards[-1].findChildren(QTableWidget)
    item = table.item(0, 1)
    assert item is not None
    assert item.text() == "0.962"
    assert page.state.text() == "accuracy on 270 samples of the test split"
    page.store.click()
    assert server.waiting[-1].given == {"model": str(tmp_path), "store": True}
    server.answer("robustness", {**RESULT, "stored": True})
    assert not page.store.isEnabled()


def test_a_measurement_goes_on_in_the_background(
    page: RobustnessPage, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(tmp_path / "queue")
    monkeypatch.setattr(queued_answers, "Queue", lambda: queue)
    monkeypatch.setattr(queued_answers, "start_entry", lambda queue, id: None)
    assert not page.leave.isHidden()
    page.leave.click()
    assert server.cancelled == ["robustness"]
    assert page.leave.isHidden()
    assert page.message.text().startswith("It is measured in the background")
    assert queued_answers.read_request(queue, 1).values == {"model": str(tmp_path)}
    page.arrive()
    assert all(request.do != "robustness" for request in server.waiting), "nothing is measured twice"


def test_a_plot_tells_and_exports_its_numbers(
    page: RobustnessPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.show_result(RESULT)
    attacks = page.cards[0]
    assert isinstance(attacks, StrengthCard)
    place, said = attacks.strengths.readout(0.09)
    assert place == 0.1
    assert "10.0 %" in said
    assert "20.0 %" in said
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a"), ""))
    for kind in ("csv", "svg", "png"):
        attacks._save(kind)
        assert (tmp_path / f"a.{kind}").stat().st_size > 50
    assert (tmp_path / "a.csv").read_text().splitlines()[:2] == [f"{SHARE},fgsm,pgd", "0.0,0.97,0.97"]


def test_refusals_are_shown_and_another_run_ends_the_process(page: RobustnessPage, server: FakeServer) -> None:
    server.refuse("robustness", "The network takes indices.")
    assert page.message.text() == "The network takes indices."
    page.button.click()
    page.set_run(None)
    assert server.cancelled == ["robustness"]
    assert not page.button.isEnabled()
    page.shutdown()
