"""The page of results as the window knows it; the part of analysis brings it."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from netwright.engine.runs.folder import RunFolder


class ResultsPage(QWidget):
    """A tab that shows how good the network of an ended run is, and answers questions to it."""

    train_requested = Signal()

    def choose_run(self, folder: RunFolder) -> None:
        """Show a run of the project."""
        raise NotImplementedError

    def show_trial(self, path: Path, title: str) -> None:
        """Show the run of a trial of an experiment."""
        raise NotImplementedError
