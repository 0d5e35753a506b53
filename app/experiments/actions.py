"""What the Experiments tab asks of the window: show a run, open its project, use its options, delete it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app import messages
from app.experiments.tab import ExperimentsTab
from engine.core.errors import UserError, plural
from engine.project.file import load
from engine.project.project import Project
from engine.runs.folder import RunFolder
from engine.runs.summary import RunSummary

if TYPE_CHECKING:
    from app.window import MainWindow


class RunActions(QObject):
    """Carries out for one window what a tab asks for."""

    def __init__(self, window: "MainWindow", tab: ExperimentsTab) -> None:
        super().__init__(tab)
        self._window, self._tab = window, tab
        tab.show_requested.connect(self.show_curves)
        tab.resume_requested.connect(lambda run: window.training.resume_run(RunFolder(run.path)))
        tab.project_requested.connect(self.open_project)
        tab.options_requested.connect(self.use_options)
        tab.folder_requested.connect(self.open_folder)
        tab.delete_requested.connect(self.delete)
        tab.networks_requested.connect(self.compare_networks)
        tab.train_requested.connect(window.training.start)
        tab.told.connect(window.hint)
        tab.failed.connect(window.show_error)
        window.documents.changed.connect(self.follow_document)
        self.follow_document()

    def follow_document(self) -> None:
        """List the runs of the project that is open."""
        documents = self._window.documents
        self._tab.show_project(documents.path or documents.origin)

    def show_curves(self, run: RunSummary) -> None:
        """Show a run in the Train tab. One of the window's own that is under way goes on unseen."""
        self._window.show_train()
        self._window.training.follow(RunFolder(run.path))

    def open_project(self, run: RunSummary) -> bool:
        """Open the project as it was trained, as a copy: the run's own file stays as it is."""
        window = self._window
        try:
            base = str(RunFolder(run.path).read_info().get("base") or run.path)
        except UserError as error:
            window.show_error("The project cannot be opened", str(error))
            return False
        origin = Path(run.project_path) if run.project_path else Path(base) / "untitled"
        if not window.files.open_copy(RunFolder(run.path).project, origin):
            return False
        window.show_design()
        window.hint(f"This is the project of {run.path.name}, as a copy. Save it to keep it.")
        return True

    def use_options(self, run: RunSummary) -> None:
        """Take over the training options of a run, as one step that can be undone."""
        window = self._window
        if (theirs := self._project_of(run)) is None:
            return
        project = window.editor.project
        if theirs.training == project.training:
            window.hint("The open project has the same training options already.")
            return
        window.editor.apply("Use options of a run", replace(project, training=theirs.training))
        window.hint(f"The training options are those of {run.path.name}. Ctrl+Z takes that back.")

    def _project_of(self, run: RunSummary) -> Project | None:
        try:
            return load(RunFolder(run.path).project).project
        except UserError as error:
            self._window.show_error("The project of the run cannot be read", str(error))
            return None

    def compare_networks(self, before: RunSummary, after: RunSummary) -> None:
        """The networks of two runs, layer by layer."""
        from app.dialogs.compare import CompareDialog

        projects = self._project_of(before), self._project_of(after)
        if projects[0] is not None and projects[1] is not None:
            names = before.path.name, after.path.name
            dialog = CompareDialog(projects[0], projects[1], names, self._window)
            dialog.exec()
            dialog.deleteLater()

    def open_folder(self, run: RunSummary) -> None:
        """Show the run's files in the desktop's file manager."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.path))):
            self._window.show_error("The folder cannot be opened", f"No program was found that shows {run.path}.")

    def delete(self, runs: list[RunSummary]) -> None:
        """Move runs to the bin, after asking. One that is at work is refused."""
        if alive := [run for run in runs if run.is_alive]:
            which = alive[0].path.name if len(alive) == 1 else f"{len(alive):,} of them"
            self._window.show_error("Runs at work cannot be deleted", f"{which} is under way. Stop it first.")
            return
        what = runs[0].path.name if len(runs) == 1 else plural(len(runs), "run")
        text = "Its curves, weights and notes go with it. Until the bin is emptied they can be brought back."
        if messages.ask(self._window, f"Move {what} to the bin?", text, "Move to bin"):
            self._tab.history.delete([run.path for run in runs])
