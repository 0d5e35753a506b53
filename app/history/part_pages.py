"""The pages that parts bring, as the window knows them: results, experiments."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from netwright.engine.runs.folder import RunFolder


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


class ResultsPage(QWidget):
    """A tab that shows how good the network of an ended run is, and answers questions to it."""

    train_requested = Signal()

    def choose_run(self, folder: RunFolder) -> None:
        """Show a run of the project."""
        raise NotImplementedError

    def show_trial(self, path: Path, title: str) -> None:
        """Show the run of a trial of an experiment."""
        raise NotImplementedError
