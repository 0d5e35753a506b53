"""The dialog that makes a network smaller: what is asked of the engine, the table, and the project that is opened."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from netwright.app.analysis.prune_dialog import PruneDialog
from netwright.app.window import MainWindow
from netwright.engine.runs.folder import RunFolder
from tests.app.fake_server import FakeServer


def row(amount: float, accuracy: float) -> dict[str, Any]:
    counts = {"parameters": 100, "nonzero": 90, "flops": 1000, "bytes": 400, "milliseconds": 1.25, "batch": 8}
    return {"amount": amount, "loss": 0.1, "metrics": {"accuracy": accuracy}, **counts}


def test_an_amount_is_chosen_and_its_project_opened(
    window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    dialog = PruneDialog(window, RunFolder(tmp_path), opened.append)
    dialog.show()
    run = str(tmp_path)
    dialog.way.setCurrentIndex(1)
    assert server.waiting[-1].given == {"model": run, "structured": True}
    dialog.way.setCurrentIndex(2)
    assert server.cancelled == ["prune"]
    assert server.waiting[-1].given == {"model": run}
    server.answer("prune", {"split": "test", "rows": [row(0.0, 0.97), row(0.5, 0.9)], "notes": ["n"]})
    texts = [dialog.table.item(1, place) for place in range(7)]
    said = [item.text() for item in texts if item is not None]
    assert said == ["50 %", "90.0 %", "100", "90", "400 B", "1,000", "1.25 ms"]
    dialog.plot.row_clicked.emit(0)
    assert (dialog.table.currentRow(), dialog.plot._chosen) == (0, 0)
    assert "0 % removed" in dialog.plot.readout(90.0)[1]
    assert not dialog.create_button.isEnabled(), "nothing is removed"
    dialog.table.selectRow(1)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "small"), ""))
    dialog.create_button.click()
    to = tmp_path / "small.netwright"
    assert dialog.plot._chosen == 1
    assert dialog._values()[2][:2] == [0.5, 0.9]
    assert server.waiting[-1].given == {"model": run, "amount": 0.5, "output": str(to), "replaces": True}
    server.answer("prune", {})
    assert opened == [to]


def candidate(number: int, accuracy: float, precision: str = "float32", **more: Any) -> dict[str, Any]:
    figures = {"amount": 0.25 * number, "score": accuracy, "loss": 97 - 100 * accuracy, "bytes": 50_000 // (number + 1)}
    counts = {"milliseconds": 0.5, "parameters": 1000, "flops": 9, "metrics": {"accuracy": accuracy}}
    shown = {"is_in_budget": False, "is_on_front": True}
    return {"number": number, "precision": precision, **figures, **counts, **shown, **more}


def test_a_candidate_within_a_budget_is_searched_and_opened(
    window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    dialog = PruneDialog(window, RunFolder(tmp_path), opened.append)
    dialog.show()
    assert server.waiting[-1].do != "compress", "a search waits for its budget"
    dialog.budget.size_text.setText("20KB")
    dialog.budget.time.setValue(2.0)
    dialog.budget.search_button.click()
    budget = {"model": str(tmp_path), "size": "20KB", "time": 2.0}
    assert server.waiting[-1].given == budget
    server.waiting[-1].on_progress({"done": 5, "total": 20, "unit": "epochs"})
    assert "25 %" in dialog.state.text()
    dialog.budget.search_button.click()
    assert server.cancelled == ["compress"]
    dialog.budget.search_button.click()
    hidden = candidate(2, 0.8, is_on_front=False)
    best = candidate(3, 0.965, "int8", is_in_budget=True)
    rows = [candidate(0, 0.97), candidate(1, 0.96), hidden, best]
    server.answer(
        "compress", {"metric": "accuracy", "split": "test", "rows": rows, "best": 3, "is_met": True, "notes": []}
    )
    assert dialog.table.rowCount() == 3
    texts = [dialog.table.item(2, place) for place in range(8)]
    said = [item.text() for item in texts if item is not None]
    assert said == ["75 %", "int8", "96.5 %", "+0.5 %", "12 KiB", "0.5 ms", "1,000", "best"]
    assert dialog.table.currentRow() == dialog.plot._chosen == 2
    assert "12 KiB" in dialog.plot.readout(12_000.0)[1]
    assert len(dialog._values()) == 4
    dialog.budget.epochs.setValue(9)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "small"), ""))
    dialog.create_button.click()
    to = tmp_path / "small.netwright"
    assert server.waiting[-1].given == {**budget, "pick": 3, "output": str(to), "replaces": True}, "of that search"
    server.answer("compress", {})
    assert opened == [to]


def test_a_refusal_is_shown(
    window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = PruneDialog(window, RunFolder(tmp_path), lambda _: None)
    dialog.way.setCurrentIndex(1)
    server.refuse("prune", "No channel of the network can be removed.")
    assert dialog.state.text() == "No channel of the network can be removed."
    dialog.close()
    told: list[str] = []
    monkeypatch.setattr(window, "show_error", lambda title, _: told.append(title))
    window.weights.prune()
    assert told == ["There is no trained network yet"]
