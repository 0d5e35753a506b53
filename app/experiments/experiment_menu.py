"""The menu of an experiment: let it end, try failed trials again, change its budget, export its trials."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from netwright.app.dialog import Dialog
from netwright.app.dialogs.report_writer import ReportWriter, ask_for_page
from netwright.app.experiments.trial_commands import TrialCommands
from netwright.app.experiments.trials_panel import TrialsPanel
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.forms.form import Form
from netwright.designer.language import in_sentence, noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically
from netwright.engine.experiments.operations import experiment_report
from netwright.engine.experiments.operations.experiment_export import OPERATION, TrialExportRequest
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import load
from netwright.engine.runs.trial_log import FAILED

BUDGET = ("trials", "max_hours", "at_once")
DIALOG_WIDTH = 420
FORMATS = {
    ".csv": noop("The trials and columns that are shown (*.csv)"),
    ".json": noop("All trials as JSON (*.json)"),
    ".log": noop("Study of optuna, a journal (*.log)"),
    ".db": noop("Study of optuna, an SQLite database (*.db)"),
}


def save_experiment_report(shell: Shell, folder: Path) -> ReportWriter | None:
    """Ask for a file, and start writing the report of an experiment; None where none was named."""
    if (to := ask_for_page(shell, folder.name)) is None:
        return None
    request = experiment_report.ExperimentReportRequest(experiment=folder.absolute(), output=to)
    lacks = tr("importances of the parameters")
    return ReportWriter(shell, experiment_report.OPERATION, request, to, tr("Writing the report…"), lacks)


class BudgetDialog(Dialog):
    """Number of trials, time limit and trials at once of an experiment that has begun."""

    def __init__(self, options: ExperimentOptions, *, is_alive: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before = options
        self.setWindowTitle(tr("Budget of the experiment"))
        self.setMinimumWidth(DIALOG_WIDTH)
        skip = [name for name in type(options).fields if name not in BUDGET]
        self.form = Form(options, skip=skip, has_headings=False)
        text = tr("It holds from the next trial on.") if is_alive else tr("The experiment is then resumed.")
        if options.strategy in ("grid", "table"):
            text = tr(
                "The trials are those of its {strategy}; other values need another experiment. {text}",
                strategy=in_sentence(type(options).strategy.word(options.strategy)),
                text=text,
            )
        note = QLabel(text)
        note.setWordWrap(True)
        theme.mark(note, "role", "help")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.ok = buttons.addButton(tr("Change") if is_alive else tr("Resume"), QDialogButtonBox.ButtonRole.AcceptRole)
        theme.mark(self.ok, "primary", True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.form.validity_changed.connect(self.ok.setEnabled)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        for widget in (self.form, note, buttons):
            column.addWidget(widget)

    def changes(self) -> Mapping[str, Any]:
        """Return the options that were changed."""
        values = {name: getattr(self.form.record, name) for name in BUDGET}
        return {name: value for name, value in values.items() if value != getattr(self._before, name)}


class ExperimentMenu(QPushButton):
    """Carries out what concerns an experiment as a whole."""

    def __init__(self, shell: Shell, panel: TrialsPanel, commands: TrialCommands) -> None:
        super().__init__(tr("More"))
        self.setToolTip(tr("Try failed trials again, change the budget, export"))
        self._shell, self._panel, self._commands = shell, panel, commands
        menu = QMenu(self)
        self.actions_by_key: dict[str, QAction] = {
            "finish": menu.addAction(tr("Stop after the trials under way"), lambda: commands.ask("finish")),
            "again": menu.addAction(tr("Try failed trials again"), self._try_again),
            "budget": menu.addAction(tr("Add trials, change the budget…"), self._change_budget),
        }
        menu.addSeparator()
        menu.addAction(tr("Export report…"), self._export_report)
        menu.addAction(tr("Export trials…"), self._ask_and_export)
        menu.addAction(tr("Open folder"), self._open_folder)
        menu.aboutToShow.connect(self.update_actions)
        self.setMenu(menu)

    def update_actions(self) -> None:
        """Enable what can be done with the experiment now."""
        watcher = self._panel.watcher
        failed = sum(trial.state in FAILED for trial in watcher.trials)
        actions = self.actions_by_key
        actions["finish"].setEnabled(watcher.is_alive)
        actions["again"].setEnabled(bool(failed))
        again = tr("Try %n failed trial(s) again", "", failed) if failed else tr("Try failed trials again")
        actions["again"].setText(again)

    def _try_again(self) -> None:
        self._commands.ask("again")
        self._commands.go_on()

    def _change_budget(self) -> None:
        folder = self._panel.watcher.folder
        if folder is None:
            return
        try:
            options = load(folder.project).project.experiment
        except UserError as error:
            self._shell.show_error(tr("The experiment cannot be read"), str(error))
            return
        dialog = BudgetDialog(options, is_alive=folder.is_alive(), parent=self._shell.dialog_parent)
        if dialog.exec() and (changes := dialog.changes()):
            self._commands.ask("set", **changes)
            self._commands.go_on()
        dialog.deleteLater()

    def _open_folder(self) -> None:
        folder = self._panel.watcher.folder
        if folder is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder.path))):
            self._shell.show_error(
                tr("The folder cannot be opened"), tr("No program was found that shows {path}.", path=folder.path)
            )

    # ---- exporting ----

    def _export_report(self) -> None:
        folder = self._panel.watcher.folder
        if folder is not None:
            save_experiment_report(self._shell, folder.path)

    def _ask_and_export(self) -> None:
        formats = {translation(text): suffix for suffix, text in FORMATS.items()}
        name, choice = QFileDialog.getSaveFileName(
            self._shell.dialog_parent, tr("Export trials"), "trials.csv", ";;".join(formats)
        )
        if name:
            path = Path(name)
            self.export(path if path.suffix else path.with_suffix(formats.get(choice, ".csv")))

    def export(self, path: Path) -> None:
        """Write the trials: by the end of the name as JSON, as a study of optuna, else as CSV as they are shown."""
        folder = self._panel.watcher.folder
        if folder is None:
            return
        kind = {".json": "json", ".log": "optuna", ".db": "optuna"}.get(path.suffix.lower(), "csv")
        if kind != "csv":
            request = TrialExportRequest(experiment=folder.path.absolute(), format=kind, output=path.absolute())
            self._shell.server.ask(OPERATION, request, lambda _: self._tell(path), self._refuse)
            return
        try:
            write_atomically(path, self._panel.table.all_as_text().encode("utf-8", "backslashreplace"))
        except OSError as error:
            self._refuse(
                tr("{path} cannot be written: {reason}. Choose another folder.", path=path, reason=error.strerror)
            )
        else:
            self._tell(path)

    def _refuse(self, reason: str) -> None:
        self._shell.show_error(tr("The trials cannot be exported"), reason)

    def _tell(self, path: Path) -> None:
        self._shell.hint(tr("Wrote the trials to {name}.", name=path.name))
