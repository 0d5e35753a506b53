"""The Test tab: choose a run and data, evaluate, and look at scores, confusions, calibration and the worst samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.evaluation.plots import PredictionPlot, ReliabilityPlot
from app.experiments.history import RunHistory
from app.plots.confusion_chart import ConfusionCard
from app.plots.histogram_plot import HistogramPlot
from app.processes import EngineCommand
from app.shell import Shell
from app.widgets import ElidedLabel, ValueTable
from designer import theme
from engine.core.errors import plural
from engine.core.text import format_percent
from engine.project.options.metrics import in_a_line, is_share
from engine.runs.confusion import Confusion
from engine.runs.history import in_order

SPLITS = (("test", "Test split"), ("validation", "Validation split"), ("training", "Training split"))
OTHER_FILE, OTHER_FOLDER = "file", "folder"
MOST_SCORES = 14
ROW_HEIGHT, MOST_ROWS = 28, 12
LISTS = (("worst", "Worst samples"), ("most_uncertain", "Most uncertain samples"))
NO_RUNS = "Train the network first: what it has learned is tested here, on samples that it has not seen."
NOT_YET = "Choose a run and data, then Evaluate: scores, confusions and the samples it gets wrong are shown here."


class TestTab(QWidget):
    """Evaluates a run of the project in a process of its own. Results are kept in the folder of the run, so that an
    evaluation that is known is shown at once."""

    __test__ = False
    """Not a class of tests, whatever pytest thinks of its name."""
    train_requested = Signal()

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._command: EngineCommand | None = None
        self._other = ""
        self.history = RunHistory(self)
        self.history.changed.connect(self._list_runs)
        self.runs, self.data, self.button = QComboBox(), QComboBox(), QPushButton("Evaluate")
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.pages, self.message = QStackedWidget(), QLabel()
        self.train_button = QPushButton("Train")
        self.cards: list[QWidget] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addLayout(self._make_bar())
        column.addWidget(self.pages, 1)
        self.pages.addWidget(self._make_message())
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.pages.addWidget(self._area)
        shell.documents.changed.connect(self._on_document)
        self._list_runs()

    def _make_bar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.runs.setAccessibleName("Run")
        self.runs.setMinimumWidth(260)
        self.data.setAccessibleName("Data")
        for key, label in SPLITS:
            self.data.addItem(label, key)
        self.data.insertSeparator(len(SPLITS))
        self.data.addItem("Another file…", OTHER_FILE)
        self.data.addItem("Another folder…", OTHER_FOLDER)
        self.data.activated.connect(self._on_data)
        self.runs.activated.connect(self._forget)
        self.button.clicked.connect(self._on_clicked)
        theme.mark(self.state, "role", "muted")
        for widget in (QLabel("Run"), self.runs, QLabel("on"), self.data, self.button):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self.state, 1)
        return row

    def _make_message(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(12)
        column.addStretch(1)
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.train_button.clicked.connect(self.train_requested)
        column.addWidget(self.message)
        column.addWidget(self.train_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        return page

    # ---- runs and data ----

    def showEvent(self, event: QShowEvent) -> None:
        """Look for the runs of the project."""
        super().showEvent(event)
        self.history.watch(self._shell.documents.key)

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no more."""
        super().hideEvent(event)
        self.history.rest()

    def shutdown(self) -> None:
        """End the processes."""
        self._cancel()
        self.history.close()

    def _on_document(self) -> None:
        if self.isVisible():
            self.history.watch(self._shell.documents.key)

    def _list_runs(self) -> None:
        """List the runs that have ended, the newest first, and keep the one that is chosen."""
        chosen = self.run
        ended = [run for run in in_order(self.history.runs.values()) if run.result is not None]
        ended = [run for run in ended if self.history.is_of_project(run)]
        self.runs.clear()
        for run in ended:
            self.runs.addItem(run.title, run.path)
        paths = [run.path for run in ended]
        if chosen in paths:
            self.runs.setCurrentIndex(paths.index(chosen))
        elif chosen is not None:
            self._forget()
        self.runs.setEnabled(bool(ended))
        self.button.setEnabled(bool(ended))
        self.train_button.setVisible(not ended)
        if self._command is None and not self.cards and not self.message.property("refused"):
            self.message.setText(NOT_YET if ended else NO_RUNS)

    @property
    def run(self) -> Path | None:
        """The run that is chosen."""
        chosen = self.runs.currentData()
        return chosen if isinstance(chosen, Path) else None

    def _on_data(self) -> None:
        """Ask for other data, or forget what was shown of the one before."""
        kind = self.data.currentData()
        if kind in (OTHER_FILE, OTHER_FOLDER):
            base = str(self._shell.documents.base)
            asked = (
                QFileDialog.getOpenFileName(self, "Evaluate on another file", base)[0]
                if kind == OTHER_FILE
                else QFileDialog.getExistingDirectory(self, "Evaluate on another folder", base)
            )
            if not asked:
                self.data.setCurrentIndex(0)
            else:
                self._other = asked
                self.data.setItemText(self.data.currentIndex(), Path(asked).name)
        self._forget()

    def _forget(self) -> None:
        """Another run or other data is chosen: what is shown does not belong to it."""
        self._cancel()
        self._clear()
        self.state.setText("")
        self._say(NOT_YET)

    # ---- evaluating ----

    def _on_clicked(self) -> None:
        if self._command is not None:
            self._forget()
        else:
            self.evaluate()

    def evaluate(self) -> None:
        """Evaluate the run that is chosen on the data that are chosen."""
        if self.run is None:
            return
        self._cancel()
        kind = str(self.data.currentData())
        where = ["--data", self._other] if kind in (OTHER_FILE, OTHER_FOLDER) else ["--split", kind]
        try:
            self._command = EngineCommand(["evaluate", str(self.run), *where, "--json"], self)
        except OSError as error:
            self._on_failed(f"The engine cannot be started: {error.strerror}.")
            return
        self._command.finished.connect(self._on_finished)
        self._command.failed.connect(self._on_failed)
        self.button.setText("Cancel")
        self.state.setText("Evaluating…")

    def _cancel(self) -> None:
        command, self._command = self._command, None
        if command is not None:
            command.cancel()
            command.deleteLater()
        self.button.setText("Evaluate")

    def _end(self) -> None:
        command, self._command = self._command, None
        if command is not None:
            command.deleteLater()
        self.button.setText("Evaluate")

    def _on_failed(self, reason: str) -> None:
        self._end()
        self._clear()
        self.state.setText("")
        self._say(reason, refused=True)

    def _on_finished(self, result: Mapping[str, Any]) -> None:
        self._end()
        self.show_result(result)

    def _say(self, text: str, *, refused: bool = False) -> None:
        self.message.setProperty("refused", refused)
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(text)
        self.pages.setCurrentIndex(0)

    # ---- the result ----

    def _clear(self) -> None:
        self.cards = []
        self._area.setWidget(QWidget())

    def show_result(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine evaluate`."""
        self._clear()
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 8, 0)  # beside the scroll bar
        grid.setSpacing(12)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 2)
        line = 0
        for target in result["targets"]:
            for row in self._rows_of(target, result):
                for column, card in enumerate(row):
                    span = 2 if len(row) == 1 else 1
                    grid.addWidget(card, line, column, 1, span)
                    self.cards.append(card)
                line += 1
        grid.setRowStretch(line, 1)
        self._area.setWidget(page)
        self.pages.setCurrentIndex(1)
        known = ", as evaluated before" if result.get("cached") else ""
        where = f"{result['split']} split" if result.get("split") else str(result["data"])
        notes = " ".join(result.get("notes", ()))
        text = f"{plural(result['samples'], 'sample')} of the {where}, {result['weights']} weights{known}"
        self.state.setText(text, note=f"{text}. {notes}" if notes else "")

    def _rows_of(self, target: Mapping[str, Any], result: Mapping[str, Any]) -> list[list[QWidget]]:
        """Return rows of cards about one output of the network."""
        title = "Scores" if len(result["targets"]) == 1 else f"Scores of {target['name']}"
        scores = ValueTable(title, tuple(map(str, range(MOST_SCORES))))
        scores.show_rows(scores_of(target, result if len(result["targets"]) == 1 else {})[:MOST_SCORES])
        left = [_card(scores)]
        if target.get("calibration") and target["calibration"]["bins"]:
            error = f"expected error {target['calibration']['expected_error']:.3f}"
            left.append(_card(ReliabilityPlot(target["calibration"]["bins"]), "Calibration", error))
        first: list[QWidget] = [_stacked(left, QVBoxLayout())]
        rows = [first]
        if target.get("confusion"):
            classes, counts = tuple(target["classes"]), tuple(map(tuple, target["confusion"]))
            first.append(ConfusionCard({"matrix": Confusion(classes, counts)}, can_close=False))
        for number, found in enumerate(target.get("residuals", ())):
            plots: list[QWidget] = [_card(PredictionPlot(found), f"Predicted against true: {found['name']}")]
            if number == 0:
                first += plots
            else:
                rows.append(plots)
            errors = HistogramPlot(found["histogram"], "of error", "samples")
            rows.append([_card(errors, f"Errors: {found['name']}", "predicted minus true")])
        if target.get("per_class"):
            table = class_table(target["per_class"], has_iou=target["per"] != "sample")
            rows.append([_card(table, "Scores per class", "with 95 % intervals")])
        if lists := [_card(sample_table(target[key]), label) for key, label in LISTS if target.get(key)]:
            rows.append([_stacked(lists, QHBoxLayout())])
        return rows


def scores_of(target: Mapping[str, Any], result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of the scores of an output, with 95 % intervals where they are known. `result` has loss
    and metrics of the whole, where the output is the only one."""
    rows = [("Loss", f"{result['loss']:.4g}")] if result.get("loss") is not None else []
    measured = dict(result.get("metrics", {})) or {
        name: target[name] for name in ("accuracy", "rmse", "mae") if isinstance(target.get(name), float)
    }
    for name, value in measured.items():
        is_percent = is_share(name)
        rows.append((_named(name), _figure(value, is_percent=is_percent)))
        if (interval := target.get(f"{name}_interval")) is not None:
            low, high = (_figure(end, is_percent=is_percent) for end in interval)
            rows.append((f"{_named(name)}, 95 %", f"{low} to {high}"))
    if target.get("mean_iou") is not None and target["per"] != "sample":
        rows.append(("Mean IoU", f"{target['mean_iou']:.3f}"))
    return rows


def _named(name: str) -> str:
    text = in_a_line(name)
    return text[:1].upper() + text[1:]


def _figure(value: Any, *, is_percent: bool) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return format_percent(value, 1) if is_percent else f"{value:.4g}"


def class_table(rows: Sequence[Mapping[str, Any]], *, has_iou: bool) -> QTableWidget:
    """Return a table with a row per class: precision, recall, F1 and IoU with intervals, and the number of samples."""
    names = ("precision", "recall", "f1", *(["iou"] if has_iou else []))
    cells = []
    for row in rows:
        scores = [_with_interval(row.get(name), row.get(f"{name}_interval")) for name in names]
        cells.append([str(row["class"]), f"{row['support']:,}", *scores])
    return _table(("Class", "Samples", "Precision", "Recall", "F1", "IoU")[: 2 + len(names)], cells)


def _with_interval(value: Any, interval: Sequence[float] | None) -> str:
    if not isinstance(value, int | float):
        return "" if value is None else str(value)
    return f"{value:.3f}" if interval is None else f"{value:.3f}  ({interval[0]:.2f} to {interval[1]:.2f})"


def sample_table(rows: Sequence[Mapping[str, Any]]) -> QTableWidget:
    """Return a table of single samples: which one, its label, the prediction, loss or error, and confidence."""
    is_file = any(row.get("file") for row in rows)
    has_confidence = any("confidence" in row for row in rows)
    measure = "loss" if any("loss" in row for row in rows) else "error"
    head = ["File" if is_file else "Sample", "Label", "Prediction", measure.capitalize()]
    cells = []
    for row in rows:
        name = str(row.get("file") or f"{row['index']:,}")
        cell = [name, _answer(row.get("label")), _answer(row.get("prediction")), f"{row.get(measure, 0.0):.4g}"]
        cells.append(cell + ([format_percent(row.get("confidence", 0.0), 1)] if has_confidence else []))
    return _table((*head, *(["Confidence"] if has_confidence else [])), cells)


def _answer(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_answer(one) for one in value[:4]) + (", …" if len(value) > 4 else "")
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> QTableWidget:
    table = QTableWidget(len(rows), len(head))
    table.setHorizontalHeaderLabels(list(head))
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    figures = theme.figures(table.font())
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            if column:
                item.setFont(figures)
            table.setItem(at, column, item)
    table.resizeColumnsToContents()
    for column in range(len(head)):
        table.setColumnWidth(column, table.columnWidth(column) + 16)
    table.setFixedHeight(ROW_HEIGHT * min(MOST_ROWS, len(rows)) + table.horizontalHeader().sizeHint().height() + 4)
    return table


def _stacked(cards: Sequence[QWidget], layout: QBoxLayout) -> QWidget:
    """Return cards below or beside each other. Below, the last one takes the height that is left; beside, each takes
    the same width."""
    stack = QWidget()
    stack.setLayout(layout)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(12)
    for card in cards:
        layout.addWidget(card, 1 if card is cards[-1] or isinstance(layout, QHBoxLayout) else 0)
    return stack


def _card(content: QWidget, title: str = "", note: str = "") -> QFrame:
    card = QFrame()
    theme.mark(card, "role", "card")
    column = QVBoxLayout(card)
    column.setContentsMargins(16, 12, 16, 12)
    column.setSpacing(8)
    if title:
        heading, beside = QLabel(title), QLabel(note)
        theme.mark(heading, "role", "strong")
        theme.mark(beside, "role", "muted")
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addWidget(beside)
        row.addStretch(1)
        column.addLayout(row)
        content.setAccessibleName(title)
    column.addWidget(content, 0, Qt.AlignmentFlag.AlignTop)
    return card
