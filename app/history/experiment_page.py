"""The page of experiments as the window knows it; the part of experiments brings it."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class ExperimentPage(QWidget):
    """A page behind the list of runs, on which many values of the open project are tried and compared."""

    back_requested = Signal()
    run_requested = Signal(object)
    """The folder of a run of a trial whose curves are to be shown."""
    begun = Signal(object)
    """The `ExperimentFolder` of an experiment that was started here."""
    test_requested = Signal(object, str)
    """The folder of a run of a trial that is to be tested, and its title."""
    compare_requested = Signal(object)
    """Runs of trials."""

    def show_definition(self) -> None:
        """Show what varies."""
        raise NotImplementedError

    def show_experiment(self, path: Path) -> None:
        """Show the experiment in a folder."""
        raise NotImplementedError
