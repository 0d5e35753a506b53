"""The Experiments tab: every run of the project in a table, to find, sort, annotate, compare and delete."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.history.details import RunDetails
from netwright.app.history.query_line import UnknownNameLine
from netwright.app.history.run_history import READING, RunHistory
from netwright.app.history.runs_model import RunsModel, state_in_words
from netwright.app.history.runs_table import RunsTable
from netwright.app.widgets import Divider, SidePanel
from netwright.designer import theme
from netwright.designer.panels.parts import SearchField
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.files import write_atomically
from netwright.engine.core.part_registry import entries
from netwright.engine.runs.history import ProjectKey
from netwright.engine.runs.query import as_csv
from netwright.engine.runs.summary import RunSummary

if TYPE_CHECKING:
    from netwright.app.history.run_comparison import ComparePage

SIDE_WIDTH = 340
STATES = ("running", "paused", "finished", "stopped", "failed", "lost")
RESUMABLE = ("stopped", "failed", "lost", "finished")
SEARCH_HELP = (
    "Words and conditions, all of which must match:\n"
    "digits state:failed tag:paper accuracy>0.9\n"
    "validation.loss<0.2 epochs>=5 training.max_epochs=30"
)
RESUME = "Resume from the last checkpoint; a complete run gets more epochs"
ROWS = (
    ("show", "Show curves", "In the Train tab (Return)"),
    ("compare", "Compare", "Plot the curves of several runs together, with their results and options side by side"),
    ("resume", "Resume", RESUME),
    ("rename", "Rename…", "Change the name of the run (F2)"),
    ("project", "Open project", "Open an unsaved copy of the project as it was when this run started"),
    ("options", "Reuse options", "Copy the training options of this run into the open project; can be undone"),
    ("weights", "Start from its weights…", "Let the open project start from the result of this run: transfer learning"),
    ("export", "Export network…", "As ONNX or PyTorch, with the best or the last weights of this run"),
    ("report", "Export report…", "Network, options, curves and results of this run as one HTML file"),
    ("folder", "Open folder", "Show the folder with the files of the run"),
    ("delete", "Move to trash…", "Move the selected runs to the trash, from where the desktop restores them (Del)"),
)


MENU = ("export", "report", "weights", "rename", "", "project", "options", "folder", "", "delete")
"""The menu of a run beside its buttons, by the keys of `ROWS`; an empty entry is a separator."""


class RunsTab(QWidget):
    """Shows the history of runs; what concerns the rest of the window is requested by signals with the run."""

    show_requested = Signal(object)
    resume_requested = Signal(object)
    project_requested = Signal(object)
    options_requested = Signal(object)
    export_requested = Signal(object)
    report_requested = Signal(object)
    weights_requested = Signal(object)
    folder_requested = Signal(object)
    delete_requested = Signal(object)
    networks_requested = Signal(object, object)
    train_requested = Signal()
    search_requested = Signal()
    message = Signal(str)
    failed = Signal(str, str)
    """The title and the text of a message that has to be confirmed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.history = RunHistory(self)
        self.model = RunsModel()
        self.model.figures = theme.figures(self.font())
        self._compare: ComparePage | None = None
        self._key = ProjectKey()
        self._make_actions()
        menu = QMenu(self)
        menu.addActions(list(self.row_actions.values()))
        self.table = RunsTable(self.model, menu)
        more = QMenu(self)
        for key in MENU:
            more.addAction(self.row_actions[key]) if key else more.addSeparator()
        self.details = RunDetails(self.row_actions, more)
        self.search = SearchField("Find runs", "Find runs")
        self.search.setToolTip(SEARCH_HELP)
        self.state = QComboBox()
        self.only_project = QCheckBox("This project only")
        self.count = QLabel()
        self.pages = QStackedWidget()
        self._list = self._back = self._make_list()
        self.pages.addWidget(self._list)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.pages)
        self._connect()
        self._show_runs()

    def _make_actions(self) -> None:
        self.row_actions: dict[str, QAction] = {}
        for key, text, tip in ROWS:
            action = QAction(text, self)
            action.setToolTip(tip)
            self.row_actions[key] = action
        done_by = {
            "show": self._show,
            "compare": self._compare_selected,
            "resume": self._resume,
            "project": self._project,
            "options": self._options,
            "export": self._export_network,
            "report": self._export_report,
            "weights": self._start_from,
            "folder": self._folder,
            "rename": self._rename,
            "delete": self._delete,
        }
        for key, method in done_by.items():
            self.row_actions[key].triggered.connect(method)

    def _make_list(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addWidget(self._make_bar())
        self.refusal = UnknownNameLine(self.search)
        column.addWidget(self.refusal)
        self.body = QStackedWidget()
        card = QFrame()
        theme.mark(card, "role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(8, 4, 8, 8)
        inside.addWidget(self.table)
        self.body.addWidget(card)
        self._message_page = self._make_message()
        self.body.addWidget(self._message_page)
        column.addWidget(self.body, 1)
        row.addWidget(side, 1)
        self._side = SidePanel(self.details, SIDE_WIDTH)
        self._edge = Divider()
        row.addWidget(self._edge)
        row.addWidget(self._side)
        return page

    def _make_bar(self) -> QWidget:
        self._bar = QWidget()
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.search.setMinimumWidth(72)
        self.search.setMaximumWidth(420)
        self.state.setAccessibleName("State of the runs to show")
        self.state.addItem("All states", "")
        for state in STATES:
            self.state.addItem(state_in_words(state)[0], state)
        theme.mark(self.count, "role", "muted")
        self.table_button = QPushButton("Table")
        self.table_button.setToolTip("Export the runs that are shown, and choose columns")
        menu = QMenu(self.table_button)
        menu.addAction("Export as CSV…", self._ask_and_export)
        columns = menu.addMenu("Columns")
        columns.aboutToShow.connect(lambda: self.table.fill_columns_menu(columns))
        self.table_button.setMenu(menu)
        row.addWidget(self.search, 100)  # takes what there is, before the space behind it
        row.addWidget(self.state)
        row.addWidget(self.only_project)
        row.addWidget(self.count)
        row.addStretch(1)
        row.addWidget(_sweep_button(self.search_requested))
        row.addWidget(self.table_button)
        return self._bar

    def add_page(self, page: QWidget) -> None:
        """Add a page that is shown in place of the list."""
        self.pages.addWidget(page)

    def _make_message(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        self.title, self.hint, self.way_out = QLabel(), QLabel(), QPushButton()
        theme.mark(self.title, "role", "title")
        theme.mark(self.hint, "role", "muted")
        column.addStretch(2)
        for widget in (self.title, self.hint, self.way_out, _sweep_button(self.search_requested)):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.insertSpacing(3, 8)
        column.addStretch(3)
        self.way_out.clicked.connect(self._take_way_out)
        return page

    def _connect(self) -> None:
        self.only_project.setChecked(True)
        self.history.changed.connect(self._show_runs)
        self.history.refused.connect(lambda why: self.failed.emit("Runs", why))
        self.search.textChanged.connect(self._look_for)
        self.state.currentIndexChanged.connect(self._look_for)
        self.only_project.toggled.connect(self._show_runs)
        self.table.chosen.connect(self._on_chosen)
        self.table.opened.connect(self._show)
        self.table.delete_requested.connect(self.row_actions["delete"].trigger)
        self.table.rename_requested.connect(self.row_actions["rename"].trigger)
        self.details.noted.connect(self.history.note)
        self.details.renamed.connect(self.history.rename)
        theme.changed.connect(self.table.viewport().update)

    # ---- what is shown ----

    def show_project(self, project: ProjectKey) -> None:
        """Show the runs of another project, or of the same under another name."""
        self._key = project
        if self.isVisible():
            self.history.watch(project)

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the runs while the tab is visible."""
        super().showEvent(event)
        self.history.watch(self._key)
        if self._compare is not None and self.pages.currentWidget() is self._compare:
            self._compare.resume()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the runs."""
        super().hideEvent(event)
        self.details.keep()
        self.history.rest()
        if self._compare is not None:
            self._compare.rest()

    def _show_runs(self, _: object = None) -> None:
        runs = list(self.history.runs.values())
        if self.only_project.isChecked():
            runs = [run for run in runs if self.history.is_of_project(run)]
        self.model.show_runs(runs)
        self._on_shown()
        self._on_chosen()

    def _look_for(self, _: object = None) -> None:
        state = self.state.currentData()
        self.model.look_for(f"{self.search.text()} state:{state}" if state else self.search.text())
        self._on_shown()

    def _on_shown(self) -> None:
        self.refusal.show_unknown(self.model.unknown if self.model.num_all else None)
        rows, total = self.model.rowCount(), self.model.num_all
        self.count.setText(f"{rows:,} of {plural(total, 'run')}" if rows != total else plural(total, "run"))
        self.count.setVisible(bool(total))
        for part in (self._edge, self._side):
            part.setVisible(bool(total))
        self._bar.setVisible(bool(self.history.runs))
        self.table_button.setEnabled(bool(rows))
        if rows:
            self.body.setCurrentIndex(0)
            return
        if total:
            words = ("No matching runs", "Try other words, or all states.", "Show all runs")
        elif self.history.runs:
            others = plural(len(self.history.runs), "run")
            words = (
                "No runs of this project yet",
                f"The folder has {others} of other projects.",
                "Show all runs",
            )
        elif self.history.is_read:
            words = ("No runs yet", "Every run of this project is listed here, with its options and results.", "Train")
        else:
            words = (READING, "", "")
        self.title.setText(words[0])
        self.hint.setText(words[1])
        self.way_out.setText(words[2] or "Train")
        self.hint.setVisible(bool(words[1]))
        self.way_out.setVisible(bool(words[2]))
        self.body.setCurrentWidget(self._message_page)

    def _take_way_out(self) -> None:
        if not self.history.runs:
            self.train_requested.emit()
        elif not self.model.num_all:
            self.only_project.setChecked(False)
        else:
            self.search.clear()
            self.state.setCurrentIndex(0)

    def _on_chosen(self) -> None:
        runs = self.table.selected
        self.details.show_runs(runs)
        for key, action in self.row_actions.items():
            action.setEnabled(bool(runs) if key == "delete" else len(runs) == 1)
        resume = self.row_actions["resume"]
        resume.setText("Resume…" if len(runs) == 1 and runs[0].state == "finished" else "Resume")
        resume.setEnabled(len(runs) == 1 and runs[0].state in RESUMABLE and runs[0].has_checkpoint)
        has_none = len(runs) == 1 and not runs[0].has_checkpoint
        resume.setToolTip("This run has saved no checkpoint to go on from" if has_none else RESUME)
        self.row_actions["compare"].setEnabled(len(runs) >= 2)

    # ---- what can be done ----

    def _one(self) -> RunSummary | None:
        runs = self.table.selected
        return runs[0] if len(runs) == 1 else None

    def _show(self) -> None:
        if (run := self._one()) is not None:
            self.show_requested.emit(run)
        else:
            self._compare_selected()

    def _resume(self) -> None:
        if (run := self._one()) is not None:
            self.resume_requested.emit(run)

    def _project(self) -> None:
        if (run := self._one()) is not None:
            self.project_requested.emit(run)

    def _options(self) -> None:
        if (run := self._one()) is not None:
            self.options_requested.emit(run)

    def _export_network(self) -> None:
        if (run := self._one()) is not None:
            self.export_requested.emit(run)

    def _export_report(self) -> None:
        if (run := self._one()) is not None:
            self.report_requested.emit(run)

    def _start_from(self) -> None:
        if (run := self._one()) is not None:
            self.weights_requested.emit(run)

    def _folder(self) -> None:
        if (run := self._one()) is not None:
            self.folder_requested.emit(run)

    def _rename(self) -> None:
        self.details.rename()

    def _delete(self) -> None:
        if runs := self.table.selected:
            self.delete_requested.emit(runs)

    def _ask_and_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export the table of runs", "runs.csv", "CSV tables (*.csv)")
        if name:
            path = Path(name)
            try:
                self.export(path if path.suffix else path.with_suffix(".csv"))
            except UserError as error:
                self.failed.emit("The table cannot be exported", str(error))

    def export(self, path: Path) -> None:
        """Write the visible runs as CSV, sorted as they are. Raises `UserError`."""
        try:
            write_atomically(path, as_csv(self.model.rows).encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}. Choose another folder.") from None
        self.message.emit(f"Wrote {plural(self.model.rowCount(), 'run')} to {path.name}.")

    # ---- comparing ----

    def _compare_selected(self) -> None:
        if len(self.table.selected) >= 2:
            self.compare_runs(self.table.selected)

    def compare_runs(self, runs: list[RunSummary]) -> None:
        """Show runs side by side, in place of the page that is shown, to which its button leads back."""
        if self.pages.currentWidget() is not self._compare:
            self._back = self.pages.currentWidget()
        if self._compare is None:
            from netwright.app.history.run_comparison import ComparePage

            self._compare = ComparePage()
            self._compare.back_requested.connect(self._leave_comparison)
            self._compare.networks_requested.connect(self.networks_requested)
            self.pages.addWidget(self._compare)
        self._compare.back.setText("All runs" if self._back is self._list else "Trials")
        self._compare.show_runs(runs)
        self.pages.setCurrentWidget(self._compare)

    def show_list(self) -> None:
        """Go back to all runs."""
        self._back = self._list
        self._leave_comparison()

    def _leave_comparison(self) -> None:
        """Go back to where the runs were chosen."""
        if self._compare is not None:
            self._compare.rest()
        self.pages.setCurrentWidget(self._back)
        if self._back is self._list:
            self.table.setFocus()

    def shutdown(self) -> None:
        """Release the process and the plots."""
        self.details.keep()
        self.history.close()
        if self._compare is not None:
            self._compare.shutdown()
        theme.changed.disconnect(self.table.viewport().update)


def _sweep_button(requested: SignalInstance) -> QPushButton:
    """Return a button that leads to the page of experiments, hidden where that part is not here."""
    button = QPushButton("New sweep")
    button.setToolTip("Train with many values of options and layers, and compare the trials")
    button.clicked.connect(requested)
    button.setHidden("experiments" not in entries("pages"))
    return button
