"""The commands for the runs that are selected in the rail: export, report, name, options, project, folder, trash."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from netwright.app import messages
from netwright.app.history.run_history import RunHistory
from netwright.app.shell import Shell, open_dialog
from netwright.app.training import Training
from netwright.designer.engine_messages import message_text, title_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically
from netwright.engine.core.part_registry import has_entry
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.query import as_csv
from netwright.engine.runs.summary import RunSummary

RESUMABLE = ("stopped", "failed", "lost", "finished")
RESUME = noop("Resume from the last checkpoint; a complete run gets more epochs")
ROWS = (
    ("resume", noop("Resume"), RESUME),
    ("export", noop("Export network…"), noop("As ONNX or PyTorch, with the best or the last weights of this run")),
    ("report", noop("Export report…"), noop("Network, options, curves and results of this run as one HTML file")),
    (
        "weights",
        noop("Start from its weights…"),
        noop("Let the open project start from the result of this run: transfer learning"),
    ),
    ("register", noop("Register as a model…"), noop("Keep network, weights and scores as a version in the registry")),
    ("rename", noop("Rename…"), noop("Change the name of the run (F2)")),
    ("", "", ""),
    ("project", noop("Open project"), noop("Open an unsaved copy of the project as it was when this run started")),
    (
        "options",
        noop("Reuse options"),
        noop("Copy the training options of this run into the open project; can be undone"),
    ),
    ("folder", noop("Open folder"), noop("Show the folder with the files of the run")),
    ("", "", ""),
    (
        "delete",
        noop("Move to trash…"),
        noop("Move the selected runs to the trash, from where the desktop restores them (Del)"),
    ),
)
"""The menu of a run; an empty entry is a separator."""
DIALOGS = {"export": "export_network", "report": "run_report"}


class RunCommands(QObject):
    """Carries out commands. `open_copy` opens a copy of a project, as if it lay at its second argument. The signals ask
    for what the window does."""

    rename_requested = Signal()
    weights_requested = Signal(object)
    export_requested = Signal()
    register_requested = Signal(object)
    """The folder of a run."""

    def __init__(
        self,
        shell: Shell,
        training: Training,
        open_copy: Callable[[Path, Path], bool],
        history: RunHistory,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._shell, self._training, self._open_copy, self._history = shell, training, open_copy, history
        self.runs: Sequence[RunSummary] = ()
        """The runs that are selected."""
        self.menu = QMenu(parent)
        self.actions: dict[str, QAction] = {}
        done_by: dict[str, Callable[[RunSummary], object]] = {
            "resume": lambda run: training.resume_run(RunFolder(run.path)),
            "export": lambda _: self.export_requested.emit(),
            "report": lambda run: open_dialog("run_report", shell, run.path),
            "weights": self.weights_requested.emit,
            "register": lambda run: self.register_requested.emit(run.path),
            "rename": lambda _: self.rename_requested.emit(),
            "project": self.open_project,
            "options": self.use_options,
            "folder": self.open_folder,
            "delete": lambda _: self.delete(self.runs),
        }
        for key, text, tip in ROWS:
            if not key:
                self.menu.addSeparator()
            elif key not in DIALOGS or has_entry("dialogs", DIALOGS[key]):
                action = self.actions[key] = self.menu.addAction(translation(text))
                action.setToolTip(translation(tip))
                action.triggered.connect(lambda _=False, act=done_by[key]: act(self.runs[0]) if self.runs else None)
        self.menu.setToolTipsVisible(True)
        history.refused.connect(lambda why: shell.hint(message_text(why)))

    def select(self, runs: Sequence[RunSummary]) -> None:
        """Take the runs that are selected."""
        self.runs = runs
        for key, action in self.actions.items():
            action.setEnabled(bool(runs) if key == "delete" else len(runs) == 1)
        run = runs[0] if len(runs) == 1 else None
        resume = self.actions["resume"]
        resume.setText(tr("Resume…") if run is not None and run.state == "finished" else tr("Resume"))
        resume.setEnabled(run is not None and run.state in RESUMABLE and run.has_checkpoint)
        has_none = run is not None and not run.has_checkpoint
        resume.setToolTip(tr("This run has saved no checkpoint to go on from") if has_none else translation(RESUME))

    def open_project(self, run: RunSummary) -> bool:
        """Open the project as it was trained, as a copy: the run's own file stays as it is."""
        shell = self._shell
        try:
            base = RunFolder(run.path).read_info().base or str(run.path)
        except UserError as error:
            shell.show_error(tr("The project cannot be opened"), str(error))
            return False
        origin = Path(run.project_path) if run.project_path else Path(base) / "untitled"
        if not self._open_copy(RunFolder(run.path).project, origin):
            return False
        shell.show_tab("design")
        shell.hint(tr("Opened a copy of the project of {title}. Save it to keep it.", title=title_text(run.title)))
        return True

    def use_options(self, run: RunSummary) -> None:
        """Take over the training options of a run, as one step that can be undone."""
        shell = self._shell
        if (theirs := self._project_of(run)) is None:
            return
        project = shell.editor.project
        if theirs.training == project.training:
            shell.hint(tr("The open project already has these training options."))
            return
        shell.editor.apply(tr("Reuse options of a run"), replace(project, training=theirs.training))
        shell.hint(tr("Copied the training options of {title}. Ctrl+Z undoes it.", title=title_text(run.title)))

    def _project_of(self, run: RunSummary) -> Project | None:
        try:
            return load(RunFolder(run.path).project).project
        except UserError as error:
            self._shell.show_error(tr("The project of the run cannot be read"), str(error))
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

    def open_folder(self, run: RunSummary) -> None:
        """Show the run's files in the desktop's file manager."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.path))):
            self._shell.show_error(
                tr("The folder cannot be opened"), tr("No program was found that shows {path}.", path=run.path)
            )

    def delete(self, runs: Sequence[RunSummary]) -> None:
        """Move runs to the trash, after asking. One that is at work is refused."""
        if not runs:
            return
        if alive := [run for run in runs if run.is_alive]:
            if len(alive) == 1:
                reason = tr("{name} is in progress. Stop it first.", name=title_text(alive[0].title))
            else:
                reason = tr("{count:,} of them are in progress. Stop it first.", count=len(alive))
            self._shell.show_error(tr("A run in progress cannot be deleted"), reason)
            return
        if len(runs) == 1:
            question = tr("Move {name} to the trash?", name=title_text(runs[0].title))
        else:
            question = tr("Move %n run(s) to the trash?", "", len(runs))
        text = tr("Curves, weights and notes are moved too. The desktop's trash can restore them until it is emptied.")
        if messages.ask(self._shell.dialog_parent, question, text, tr("Move to trash")):
            self._history.delete([run.path for run in runs])

    def ask_and_export(self, runs: Sequence[RunSummary]) -> None:
        """Ask for a file, and write the runs as CSV."""
        parent, pattern = self._shell.dialog_parent, tr("CSV tables (*.csv)")
        name, _ = QFileDialog.getSaveFileName(parent, tr("Export the table of runs"), "runs.csv", pattern)
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(name).with_suffix(".csv")
        try:
            write_atomically(path, as_csv(runs).encode("utf-8", "backslashreplace"))
        except OSError as error:
            text = tr(
                "{path} cannot be written: {strerror}. Choose another folder.", path=path, strerror=error.strerror
            )
            self._shell.show_error(tr("The table cannot be exported"), text)
            return
        self._shell.hint(tr("Wrote %n run(s) to {file}.", "", len(runs), file=path.name))
