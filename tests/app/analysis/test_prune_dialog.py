"""The dialog that prunes: what is asked of the engine, the table, and the project that is opened."""

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
    assert server.waiting[-1].given == {"model": run, "structured": True}
    dialog.way.setCurrentIndex(1)
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


def test_a_refusal_is_shown(
    window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = PruneDialog(window, RunFolder(tmp_path), lambda _: None)
    server.refuse("prune", "No channel of the network can be removed.")
    assert dialog.state.text() == "No channel of the network can be removed."
    dialog.close()
    told: list[str] = []
    monkeypatch.setattr(window, "show_error", lambda title, _: told.append(title))
    window.weights.prune()
    assert told == ["There is no trained network yet"]
