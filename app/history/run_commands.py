"""The commands of the Experiments tab: show a run, open its project, use its options, delete it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from netwright.app import messages
from netwright.app.history.runs_tab import RunsTab
from netwright.app.shell import Shell, open_dialog
from netwright.app.training import Training
from netwright.engine.core.errors import UserError, plural
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import RunSummary


class RunCommands(QObject):
    """Carries out what the tab asks for. `open_copy` opens a copy of a project, as if it lay at its second argument."""

    def __init__(self, shell: Shell, training: Training, open_copy: Callable[[Path, Path], bool], tab: RunsTab) -> None:
        super().__init__(tab)
        self._shell, self._training, self._open_copy, self._tab = shell, training, open_copy, tab
        tab.show_requested.connect(self.show_curves)
        tab.resume_requested.connect(lambda run: training.resume_run(RunFolder(run.path)))
        tab.project_requested.connect(self.open_project)
        tab.options_requested.connect(self.use_options)
        tab.export_requested.connect(self.export_network)
        tab.report_requested.connect(self.export_report)
        tab.folder_requested.connect(self.open_folder)
        tab.delete_requested.connect(self.delete)
        tab.networks_requested.connect(self.compare_networks)
        tab.train_requested.connect(training.start)
        tab.details.data_asked.connect(self.look_at_data)
        tab.message.connect(shell.hint)
        tab.failed.connect(shell.show_error)
        shell.documents.changed.connect(self.follow_document)
        self.follow_document()

    def follow_document(self) -> None:
        """List the runs of the project that is open."""
        self._tab.show_project(self._shell.documents.key)

    def look_at_data(self, run: Path) -> None:
        """Ask what has changed in the data of a run since it trained. Where that cannot be told, nothing is shown."""

        def show(answer: dict[str, Any]) -> None:
            self._tab.details.show_data_changes(run, [str(change) for change in answer["changes"]])

        self._shell.server.request("data_changes", {"run_dir": str(run)}, show, lambda _: None)

    def show_curves(self, run: RunSummary) -> None:
        """Show a run in the Train tab. A run of this window that is under way goes on unseen."""
        self._training.follow(RunFolder(run.path))
        self._shell.show_tab("train")

    def open_project(self, run: RunSummary) -> bool:
        """Open the project as it was trained, as a copy: the run's own file stays as it is."""
        shell = self._shell
        try:
            base = RunFolder(run.path).read_info().base or str(run.path)
        except UserError as error:
            shell.show_error("The project cannot be opened", str(error))
            return False
        origin = Path(run.project_path) if run.project_path else Path(base) / "untitled"
        if not self._open_copy(RunFolder(run.path).project, origin):
            return False
        shell.show_tab("design")
        shell.hint(f"Opened a copy of the project of {run.title}. Save it to keep it.")
        return True

    def use_options(self, run: RunSummary) -> None:
        """Take over the training options of a run, as one step that can be undone."""
        shell = self._shell
        if (theirs := self._project_of(run)) is None:
            return
        project = shell.editor.project
        if theirs.training == project.training:
            shell.hint("The open project already has these training options.")
            return
        shell.editor.apply("Reuse options of a run", replace(project, training=theirs.training))
        shell.hint(f"Copied the training options of {run.title}. Ctrl+Z undoes it.")

    def _project_of(self, run: RunSummary) -> Project | None:
        try:
            return load(RunFolder(run.path).project).project
        except UserError as error:
            self._shell.show_error("The project of the run cannot be read", str(error))
            return None

    def compare_networks(self, before: RunSummary, after: RunSummary) -> None:
        """Compare the networks of two runs, layer by layer."""
        from netwright.app.dialogs.compare_projects import CompareDialog

        projects = self._project_of(before), self._project_of(after)
        if projects[0] is not None and projects[1] is not None:
            names = before.title, after.title
            dialog = CompareDialog(projects[0], projects[1], names, self._shell.dialog_parent)
            dialog.exec()
            dialog.deleteLater()

    def export_network(self, run: RunSummary) -> None:
        """Export the network with the weights of a run."""
        try:
            open_dialog("export_run", self._shell, RunFolder(run.path))
        except UserError as error:
            self._shell.show_error("The run cannot be exported", str(error))

    def export_report(self, run: RunSummary) -> None:
        """Write the report of a run."""
        open_dialog("run_report", self._shell, RunFolder(run.path))

    def open_folder(self, run: RunSummary) -> None:
        """Show the run's files in the desktop's file manager."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.path))):
            self._shell.show_error("The folder cannot be opened", f"No program was found that shows {run.path}.")

    def delete(self, runs: list[RunSummary]) -> None:
        """Move runs to the trash, after asking. One that is at work is refused."""
        if alive := [run for run in runs if run.is_alive]:
            subject = f"{alive[0].title} is" if len(alive) == 1 else f"{len(alive):,} of them are"
            self._shell.show_error("A run in progress cannot be deleted", f"{subject} in progress. Stop it first.")
            return
        noun = runs[0].title if len(runs) == 1 else plural(len(runs), "run")
        text = "Curves, weights and notes are moved too. The desktop's trash can restore them until it is emptied."
        if messages.ask(self._shell.dialog_parent, f"Move {noun} to the trash?", text, "Move to trash"):
            self._tab.history.delete([run.path for run in runs])
