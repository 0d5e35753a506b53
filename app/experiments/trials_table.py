"""Table of the trials of an experiment: their values, what they have reached, and how they ended."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem

from designer import theme
from engine.core.text import format_duration
from engine.project.parameters import value_text
from engine.runs.experiments import Trial

STATES = {"finished": "finished", "pruned": "stopped early", "refused": "refused", "running": "trains"}


class TrialsTable(QTableWidget):
    """A row per trial, sorted by any column; the best ones have a star."""

    def __init__(self) -> None:
        super().__init__()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.setAccessibleName("Trials")
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def show_trials(self, trials: Sequence[Trial], objectives: Sequence[str], marked: set[int]) -> None:
        """Fill the table and keep the selected trial and the order."""
        chosen = self.number
        paths = list(dict.fromkeys(path for trial in trials for path in trial.values))
        head = ["Trial", *(path.removeprefix("training.") for path in paths), *map(score_name, objectives)]
        head += ["Time", "State"]
        self.setSortingEnabled(False)
        self.setColumnCount(len(head))
        self.setHorizontalHeaderLabels(head)
        self.setRowCount(len(trials))
        for row, trial in enumerate(trials):
            values = [trial.values.get(path) for path in paths]
            scores = [trial.scores.get(name) for name in objectives]
            cells: list[tuple[str, Any]] = [(f"{trial.number}{' ★' if trial.number in marked else ''}", trial.number)]
            cells += [("" if value is None else value_text(value), value) for value in values]
            cells += [(_score_text(trial, name), score) for name, score in zip(objectives, scores, strict=True)]
            cells += [(format_duration(trial.seconds) if trial.runs else "", trial.seconds)]
            cells += [(STATES.get(trial.state, trial.state), trial.state)]
            for column, (text, value) in enumerate(cells):
                self._set_cell(row, column, text, value, trial.reason or text)
        self.setSortingEnabled(True)
        self.resizeColumnsToContents()
        self.select(chosen)

    def _set_cell(self, row: int, column: int, text: str, value: Any, tip: str) -> None:
        item = _Cell(text)
        item.setData(Qt.ItemDataRole.UserRole, value if isinstance(value, int | float | str) else text)
        item.setToolTip(tip)
        item.setFont(theme.figures(self.font()))
        self.setItem(row, column, item)

    @property
    def number(self) -> int | None:
        """The number of the selected trial; None where none is selected."""
        rows = self.selectionModel().selectedRows() if self.selectionModel() else []
        item = self.item(rows[0].row(), 0) if rows else None
        return int(item.data(Qt.ItemDataRole.UserRole)) if item is not None else None

    def select(self, number: int | None) -> None:
        """Select a trial by its number."""
        for row in range(self.rowCount()):
            item = self.item(row, 0)
            if item is not None and item.data(Qt.ItemDataRole.UserRole) == number:
                self.selectRow(row)
                return


class _Cell(QTableWidgetItem):
    """A cell that is sorted by its value, numbers before texts and empty ones last."""

    def __lt__(self, other: QTableWidgetItem) -> bool:
        own, theirs = (item.data(Qt.ItemDataRole.UserRole) for item in (self, other))
        kinds = [(value == "", isinstance(value, str), value) for value in (own, theirs)]
        return kinds[0] < kinds[1] if kinds[0][:2] == kinds[1][:2] else kinds[0][:2] < kinds[1][:2]


def score_name(name: str) -> str:
    """Return the name of an objective for a person: metrics of the validation without their split."""
    split, _, metric = name.partition(".")
    return name if not metric or split != "validation" else metric


def _score_text(trial: Trial, name: str) -> str:
    value = trial.scores.get(name)
    if value is None:
        return ""
    spread = trial.spread(name)
    return f"{value:.4g}" + (f" ± {spread[0]:.2g}" if spread else "")
