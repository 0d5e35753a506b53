"""The dialog that prunes: what is asked of the engine, the table, and the project that is opened."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from netwright.app.dialogs import prune as module
from netwright.app.dialogs.prune import PruneDialog
from netwright.app.window import MainWindow
from netwright.engine.runs.folder import RunFolder


class FakeCommand(QObject):
    """Stands for the engine's process."""

    finished = Signal(object)
    failed = Signal(str)
    made: "list[FakeCommand]" = []

    def __init__(self, arguments: list[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.arguments, self.is_cancelled = arguments, False
        self.made.append(self)

    def cancel(self) -> None:
        self.is_cancelled = True


def row(amount: float, accuracy: float) -> dict[str, Any]:
    counts = {"parameters": 100, "nonzero": 90, "flops": 1000, "bytes": 400, "milliseconds": 1.25, "batch": 8}
    return {"amount": amount, "loss": 0.1, "metrics": {"accuracy": accuracy}, **counts}


def test_an_amount_is_chosen_and_its_project_opened(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeCommand.made.clear()
    monkeypatch.setattr(module, "EngineCommand", FakeCommand)
    opened: list[Path] = []
    dialog = PruneDialog(window, RunFolder(tmp_path), opened.append)
    dialog.show()
    run = str(tmp_path)
    assert FakeCommand.made[0].arguments == ["prune", run, "--structured", "--json"]
    dialog.way.setCurrentIndex(1)
    assert FakeCommand.made[0].is_cancelled
    assert FakeCommand.made[1].arguments == ["prune", run, "--json"]
    FakeCommand.made[1].finished.emit({"split": "test", "rows": [row(0.0, 0.97), row(0.5, 0.9)], "notes": ["n"]})
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
    assert FakeCommand.made[2].arguments == ["prune", run, "--amount", "0.5", "-o", str(to), "--force", "--json"]
    FakeCommand.made[2].finished.emit({})
    assert opened == [to]


def test_a_refusal_is_shown(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCommand.made.clear()
    monkeypatch.setattr(module, "EngineCommand", FakeCommand)
    dialog = PruneDialog(window, RunFolder(tmp_path), lambda _: None)
    FakeCommand.made[0].failed.emit("No channel of the network can be removed.")
    assert dialog.state.text() == "No channel of the network can be removed."
    dialog.close()
    told: list[str] = []
    monkeypatch.setattr(window, "show_error", lambda title, _: told.append(title))
    window.weights.prune()
    assert told == ["There is no trained network yet"]
