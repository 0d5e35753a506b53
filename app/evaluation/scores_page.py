"""The page of scores: evaluate a run on data, and look at scores, confusions, calibration and the worst samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
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
    QVBoxLayout,
    QWidget,
)

from app.evaluation.cards import card, stacked, text_table
from app.evaluation.page import TestPage
from app.evaluation.plots import PredictionPlot, ReliabilityPlot
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

SPLITS = (("test", "Test split"), ("validation", "Validation split"), ("training", "Training split"))
OTHER_FILE, OTHER_FOLDER = "file", "folder"
MOST_SCORES = 14
LISTS = (("worst", "Worst samples"), ("most_uncertain", "Most uncertain samples"))
NOT_YET = "Choose a run and data, then Evaluate: scores, confusions and the samples it gets wrong are shown here."


class ScoresPage(TestPage):
    """Evaluates a run in a process of its own. Results are kept in the folder of the run, so that an evaluation that is
    known is shown at once."""

    title = "Scores"

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(shell, parent)
        self._command: EngineCommand | None = None
        self._other = ""
        self.data, self.button = QComboBox(), QPushButton("Evaluate")
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.pages, self.message = QStackedWidget(), QLabel(NOT_YET)
        self.cards: list[QWidget] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._make_bar())
        column.addWidget(self.pages, 1)
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.pages.addWidget(self.message)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.pages.addWidget(self._area)

    def _make_bar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.data.setAccessibleName("Data")
        for key, label in SPLITS:
            self.data.addItem(label, key)
        self.data.insertSeparator(len(SPLITS))
        self.data.addItem("Another file…", OTHER_FILE)
        self.data.addItem("Another folder…", OTHER_FOLDER)
        self.data.activated.connect(self._on_data)
        self.button.clicked.connect(self._on_clicked)
        theme.mark(self.state, "role", "muted")
        for widget in (QLabel("on"), self.data, self.button):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self.state, 1)
        return row

    def set_run(self, run: Path | None) -> None:
        """Take the run that is chosen; what is shown of another one is forgotten."""
        super().set_run(run)
        self.button.setEnabled(run is not None)
        self._forget()

    def shutdown(self) -> None:
        """End the process."""
        self._cancel()

    def _on_data(self) -> None:
        """Ask for other data, or forget what was shown of the one before."""
        kind = self.data.currentData()
        if kind in (OTHER_FILE, OTHER_FOLDER):
            base = str(self.shell.documents.base)
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
                for column, widget in enumerate(row):
                    span = 2 if len(row) == 1 else 1
                    grid.addWidget(widget, line, column, 1, span)
                    self.cards.append(widget)
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
        left = [card(scores)]
        if target.get("calibration") and target["calibration"]["bins"]:
            error = f"expected error {target['calibration']['expected_error']:.3f}"
            left.append(card(ReliabilityPlot(target["calibration"]["bins"]), "Calibration", error))
        first: list[QWidget] = [stacked(left, QVBoxLayout())]
        rows = [first]
        if target.get("confusion"):
            classes, counts = tuple(target["classes"]), tuple(map(tuple, target["confusion"]))
            first.append(ConfusionCard({"matrix": Confusion(classes, counts)}, can_close=False))
        for number, found in enumerate(target.get("residuals", ())):
            plots: list[QWidget] = [card(PredictionPlot(found), f"Predicted against true: {found['name']}")]
            if number == 0:
                first += plots
            else:
                rows.append(plots)
            errors = HistogramPlot(found["histogram"], "of error", "samples")
            rows.append([card(errors, f"Errors: {found['name']}", "predicted minus true")])
        if target.get("per_class"):
            table = class_table(target["per_class"], has_iou=target["per"] != "sample")
            rows.append([card(table, "Scores per class", "with 95 % intervals")])
        if lists := [card(sample_table(target[key]), label) for key, label in LISTS if target.get(key)]:
            rows.append([stacked(lists, QHBoxLayout())])
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
    return text_table(("Class", "Samples", "Precision", "Recall", "F1", "IoU")[: 2 + len(names)], cells)


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
    return text_table((*head, *(["Confidence"] if has_confidence else [])), cells)


def _answer(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_answer(one) for one in value[:4]) + (", …" if len(value) > 4 else "")
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
