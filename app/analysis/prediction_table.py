"""The table of the Predict page: a row per file or sample."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QAbstractItemView, QTableView

from netwright.app.analysis.prediction_answers import Answer, answer_text
from netwright.designer import markup, theme
from netwright.designer.engine_messages import message_text
from netwright.designer.items import TableModel
from netwright.designer.language import tr
from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.text import format_percent

THUMB = 32
ROW_HEIGHT = THUMB + 6
WIDEST_NAME, WIDEST_ANSWER, LEAST_ANSWER = 320, 280, 110
COPIED_DIGITS = 6
AnyIndex = QModelIndex | QPersistentModelIndex


class AnswersTable(QTableView):
    """Answers by sample; `chosen` tells the one whose row is selected."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Predictions"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(THUMB, THUMB))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    @property
    def answers(self) -> list[Answer]:
        """The answers that are listed."""
        model = self.model()
        return model.answers if isinstance(model, AnswersModel) else []

    def show_answers(self, answers: Sequence[Answer]) -> None:
        """List these answers, and select the first one."""
        model = AnswersModel(answers)
        self.setModel(model)
        self.resizeColumnsToContents()
        self.setColumnWidth(0, min(WIDEST_NAME, self.columnWidth(0) + THUMB))
        for column in range(1, model.columnCount()):
            self.setColumnWidth(column, min(WIDEST_ANSWER, max(LEAST_ANSWER, self.columnWidth(column) + 16)))
        self.selectionModel().currentRowChanged.connect(lambda index, _: self.chosen.emit(model.answers[index.row()]))
        self.selectRow(0)


class AnswersModel(TableModel):
    """A row per sample: its name with a small picture, or that of its series, the answers, the probability of a class
    or what was wrong."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        super().__init__()
        self.answers = list(answers)
        first: Sequence[Answer] = next((entry["outputs"] for entry in self.answers if "outputs" in entry), ())
        head = tr("Series") if any("group" in entry for entry in self.answers) else tr("Sample")
        self._heads = [head, *(str(entry["name"]) for entry in first)] if first else [head, tr("Answer")]
        self._has_probability = len(first) == 1 and "class" in first[0]
        if self._has_probability:
            self._heads.append(tr("Probability"))
        self._pictures: dict[int, QPixmap] = {}

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        """Return the number of samples."""
        return 0 if parent is not None and parent.isValid() else len(self.answers)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        """Return the number of columns."""
        return len(self._heads)

    def heading(self, section: int, role: int) -> object:
        """Return the names of the columns."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        return None

    def cell(self, index: AnyIndex, role: int) -> object:
        """Return text, tooltip, picture or colour of a cell."""
        answer, column = self.answers[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(answer, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            words = name_of(answer) if not column else self.text(answer, column)
            return markup.wrapped("\n".join((words, *map(message_text, answer.get("warnings", ())))))
        if role == Qt.ItemDataRole.DecorationRole and not column and "picture" in answer:
            return self._picture(index.row(), str(answer["picture"]))
        if role == Qt.ItemDataRole.ForegroundRole and column == 1 and "error" in answer:
            return theme.current().error
        if role == Qt.ItemDataRole.ForegroundRole and column == 1 and "warnings" in answer:
            return theme.current().warning
        return None

    def text(self, answer: Answer, column: int) -> str:
        """Return the text of a cell."""
        if not column:
            return str(answer.get("group", "")) or Path(str(answer["sample"])).name
        if "error" in answer:
            return str(answer["error"]).removeprefix(f"{answer['sample']} ") if column == 1 else ""
        outputs = answer["outputs"]
        if self._has_probability and column == len(self._heads) - 1:
            return format_percent(outputs[0]["top"][0]["probability"], 1)
        return answer_text(outputs[column - 1])

    def _picture(self, row: int, file: str) -> QPixmap:
        if row not in self._pictures:
            pixmap = QPixmap(file)
            mode = (
                Qt.TransformationMode.SmoothTransformation
                if pixmap.width() > THUMB
                else Qt.TransformationMode.FastTransformation
            )
            size = QSize(THUMB, THUMB)
            self._pictures[row] = (
                pixmap if pixmap.isNull() else pixmap.scaled(size, Qt.AspectRatioMode.KeepAspectRatio, mode)
            )
        return self._pictures[row]


def name_of(answer: Answer) -> str:
    """Return the sample, and the name of its series where there are several."""
    return f"{answer['sample']}, {answer['group']}" if "group" in answer else str(answer["sample"])


def as_text(answers: Sequence[Answer]) -> str:
    """Return answers as rows with tabs, for the clipboard."""
    rows = []
    for answer in answers:
        cells = [str(answer["error"])] if "error" in answer else []
        for output in answer.get("outputs", ()):
            cells.append(answer_text(output, COPIED_DIGITS))
            cells += [f"{entry['class']} {format_percent(entry['probability'], 1)}" for entry in output.get("top", ())]
        rows.append([name_of(answer), *cells, *answer.get("warnings", ())])
    return csv_text(rows, delimiter="\t").rstrip("\n")
