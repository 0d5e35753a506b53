"""The pages behind the tabs, made when they are first seen, and what they ask of the rest of the window."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from netwright.app.data.data_guesser import DataGuesser
from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.frame.document_commands import DocumentCommands
from netwright.app.frame.weights_commands import WeightsCommands
from netwright.app.frame.window_commands import DialogCommands, SweepCommands
from netwright.app.notifier import Notifier
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.engine.core.errors import plural
from netwright.engine.core.part_registry import entry, has_entry, required
from netwright.engine.runs.folder import RunFolder

if TYPE_CHECKING:
    from netwright.app.data.data_tab import DataTab
    from netwright.app.history.part_pages import ExperimentPage, ResultsPage
    from netwright.app.history.runs_tab import RunsTab
    from netwright.app.start_page.running_program import RunningRun


class Pages:
    """Makes the pages of Data, Test, Experiments and the start page; their modules are imported only then."""

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
        self._test: ResultsPage | None = None
        self._runs: RunsTab | None = None
        self._experiments: ExperimentPage | None = None

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
        count = plural(len(self._shell.editor.network.layers), "layer")
        self._shell.hint(f"{count} made. Undo takes them away again.")

    def _augment(self, tab: "DataTab") -> None:
        """Let the options of augmentation be chosen, and show the samples so."""
        if self._dialogs.edit_training_options("Augmentation"):
            tab.show_augmented()

    def test(self) -> QWidget:
        """Make the Test tab."""
        tab: ResultsPage = required("pages", "test")(self._shell)
        self._test = tab
        tab.train_requested.connect(self._training.start)
        self._training.test_requested.connect(tab.choose_run)
        return tab

    def _test_trial(self, run: Path, title: str) -> None:
        """Show the run of a trial on the Test tab."""
        if has_entry("pages", "test"):
            self._shell.show_tab("test")
        if self._test is not None:
            self._test.show_trial(run, title)

    def experiments(self) -> QWidget:
        """Make the tab of runs, with the page of experiments where that part is here."""
        from netwright.app.history.run_commands import RunCommands
        from netwright.app.history.runs_tab import RunsTab

        make = entry("pages", "experiments")
        tab = self._runs = RunsTab(self._shell.dialog_parent)
        RunCommands(self._shell, self._training, self._files.open_copy, tab)
        tab.weights_requested.connect(self._weights.start_from)
        tab.search_requested.connect(self.show_search)
        if make is not None:
            self._add_experiments(tab, make(self._shell))
        return tab

    def _add_experiments(self, tab: "RunsTab", page: "ExperimentPage") -> None:
        tab.add_page(page)
        page.run_requested.connect(self._show_trial)
        page.test_requested.connect(self._test_trial)
        page.compare_requested.connect(tab.compare_runs)
        page.back_requested.connect(tab.show_list)
        page.begun.connect(self._notifier.watch)
        self._experiments = page

    def show_search(self, *, defines: bool = False) -> None:
        """Show the page of experiments in the tab of runs, which was made; perhaps with what varies."""
        if self._experiments is None:
            self._shell.hint("What varies is saved in the project. This installation has no part that trains with it.")
        elif self._runs is not None:
            self._runs.pages.setCurrentWidget(self._experiments)
            if defines:
                self._experiments.show_definition()

    def _show_trial(self, path: Path) -> None:
        """Show the curves of a run of a trial in the Train tab."""
        self._training.follow(RunFolder(path))
        self._shell.show_tab("train")

    def start(self) -> QWidget:
        """Make the start page."""
        from netwright.app.start_page.start_page import StartPage

        page = StartPage(self._shell.documents)
        page.open_requested.connect(self._files.open_asking)
        page.blank_requested.connect(self._files.new)
        page.browse_requested.connect(self._files.open)
        page.back_requested.connect(lambda: self._shell.show_tab("design"))
        page.run_requested.connect(self._follow_run)
        return page

    def _follow_run(self, run: "RunningRun") -> None:
        """Show a run that is under way in the Train tab, or an experiment, after opening its project where that has a
        file."""
        if not self._files.open_project_of(run.project_id, run.project_path):
            return
        if not run.is_experiment:
            self._show_trial(Path(run.run_dir))
            return
        self._shell.show_tab("experiments")
        self.show_search()
        if self._experiments is not None:
            self._experiments.show_experiment(Path(run.run_dir))

    def may_leave(self) -> bool:
        """Ask what to do with the experiments that are under way. Return whether the window may close."""
        from netwright.app.frame.leaving import may_leave

        return may_leave(self._shell, self._notifier.watched)
