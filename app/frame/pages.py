"""The pages behind the tabs, made when they are first seen, and what they ask of the rest of the window."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from netwright.app.data.data_guesser import DataGuesser
from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.frame.document_commands import DocumentCommands
from netwright.app.frame.weights_commands import WeightsCommands
from netwright.app.frame.window_commands import DialogCommands, SweepCommands
from netwright.app.notifier import Notifier
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.designer.language import tr

if TYPE_CHECKING:
    from netwright.app.data.data_tab import DataTab
    from netwright.app.history.runs_page import RunsPage
    from netwright.app.start_page.running_program import RunningRun

FIRST_CHAPTER = "network"
"""The chapter of the tour that it begins with."""


class Pages:
    """Makes the pages of Data and Runs and the start page; their modules are imported only then."""

    def __init__(
        self,
        shell: Shell,
        dataset: DatasetTracker,
        guesser: DataGuesser,
        dialogs: DialogCommands,
        training: Training,
        files: DocumentCommands,
        weights: WeightsCommands,
        sweeps: SweepCommands,
        notifier: Notifier,
    ) -> None:
        self._shell = shell
        self._dataset, self._guesser = dataset, guesser
        self._dialogs, self._training, self._files, self._weights = dialogs, training, files, weights
        self._sweeps, self._notifier = sweeps, notifier
        self._runs: RunsPage | None = None

    def data(self) -> QWidget:
        """Make the Data tab."""
        from netwright.app.data.data_tab import DataTab

        tab = DataTab(self._shell, self._dataset, self._guesser)
        tab.network_made.connect(self._show_network)
        tab.trust_wanted.connect(self._dialogs.trust_code)
        tab.augmentation_wanted.connect(lambda: self._augment(tab))
        tab.sweep_requested.connect(self._sweeps.begin)
        tab.sweep_ended.connect(self._sweeps.end)
        return tab

    def _show_network(self) -> None:
        """Show the network that was just made."""
        self._shell.show_tab("design")
        count = len(self._shell.editor.network.layers)
        self._shell.hint(tr("%n layer(s) made. Undo takes them away again.", "", count))

    def _augment(self, tab: "DataTab") -> None:
        """Let the options of augmentation be chosen, and show the samples so."""
        if self._dialogs.edit_training_options("Augmentation"):
            tab.show_augmented()

    def runs(self, parent: QWidget) -> QWidget:
        """Make the page of the runs."""
        from netwright.app.history.runs_page import RunsPage

        page = self._runs = RunsPage(self._shell, self._training, self._files.open_copy, parent)
        page.commands.weights_requested.connect(self._weights.start_from)
        page.commands.export_requested.connect(self._dialogs.export_network)
        page.sweep_requested.connect(self.show_search)
        page.begun.connect(self._notifier.watch)
        return page

    def show_segment(self, key: str) -> None:
        """Show a page about the run that is shown, such as its scores."""
        self._shell.show_tab("runs")
        if self._runs is not None:
            self._runs.show_segment(key)

    def open_model(self) -> None:
        """Ask for the file of a network, and show it beside the runs."""
        self._shell.show_tab("runs")
        if self._runs is not None:
            self._runs.models.choose()

    def show_search(self) -> None:
        """Show the page of experiments, beside the rail of runs, which was made."""
        if self._runs is None or self._runs.experiment is None:
            self._shell.hint(
                tr("What varies is saved in the project. This installation has no part that trains with it.")
            )
        else:
            self._runs.show_experiment(None)

    def start(self) -> QWidget:
        """Make the start page."""
        from netwright.app.start_page.start_page import StartPage

        page = StartPage(self._shell.documents)
        page.open_requested.connect(self._files.open_asking)
        page.blank_requested.connect(self._files.new)
        page.browse_requested.connect(self._files.open)
        page.back_requested.connect(lambda: self._shell.show_tab("design"))
        page.run_requested.connect(self._follow_run)
        page.tour_requested.connect(self._start_tour)
        return page

    def _start_tour(self) -> None:
        """Start the tour as the menu does."""
        if (entry := self._shell.dialog_parent.findChild(QAction, f"tour.{FIRST_CHAPTER}")) is not None:
            entry.trigger()

    def _follow_run(self, run: "RunningRun") -> None:
        """Show a run or an experiment that is under way, after opening its project where that has a file."""
        if not self._files.open_project_of(run.project_id, run.project_path):
            return
        self._shell.show_tab("runs")
        if self._runs is not None:
            (self._runs.show_experiment if run.is_experiment else self._runs.show_run)(Path(run.run_dir))

    def may_leave(self) -> bool:
        """Ask what to do with the experiments that are under way. Return whether the window may close."""
        from netwright.app.frame.leaving import may_leave

        return may_leave(self._shell, self._notifier.watched)
