"""The right half of the Predict page: an answer or a table of answers, with copy and export."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.analysis.prediction_answers import AnswerView
from netwright.app.analysis.prediction_table import AnswersTable, as_text, name_of
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import noop, tr, translation
from netwright.engine.analysis.operations.predict import OPERATION, PredictRequest

HEAD = 32


FORMS = (
    (noop("Folder: a table, and masks, pictures, sounds or steps in files"), ""),
    (noop("Table (*.csv)"), ".csv"),
    (noop("Table (*.parquet)"), ".parquet"),
    (noop("Arrays (*.npz)"), ".npz"),
    ("JSON (*.json)", ".json"),
)
"""What answers are saved as, and its suffix."""


class AnswersPanel(QFrame):
    """Says what to do first, shows one answer as a whole, and several as a table with the selected one below."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell
        self.request: PredictRequest | None = None
        """The request whose answers are shown, or under way."""
        self.pages, self.view, self.table = QStackedWidget(), AnswerView(), AnswersTable()
        self.hint, self.note = QLabel(), ElidedLabel()
        self.copy_button, self.export_button = QPushButton(tr("Copy")), QPushButton(tr("Export"))
        self.copy_button.setToolTip(tr("Copy the answers as text and as a picture"))
        self.copy_button.clicked.connect(self.copy)
        menu = QMenu(self.export_button)
        self.save_action = menu.addAction(tr("Save answers…"), self.save)
        menu.addAction(tr("Picture as PNG…"), lambda: self._export("png", self.view.export_png))
        menu.addAction(tr("Picture as SVG…"), lambda: self._export("svg", self.view.export_svg))
        self.export_button.setMenu(menu)
        theme.mark(self.note, "role", "muted")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setWordWrap(True)
        self.hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table.chosen.connect(self.view.show_answer)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self.view)
        both = QWidget()
        inner = QVBoxLayout(both)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(12)
        inner.addWidget(self.table, 3)
        inner.addWidget(area, 2)
        self.pages.addWidget(self.hint)
        self.pages.addWidget(both)
        lay_out_card(self, tr("Prediction"), self.note, self.copy_button, self.export_button).addWidget(self.pages, 1)

    def show_hint(self, text: str, *, refused: bool = False) -> None:
        """Show a hint, or an error."""
        theme.mark(self.hint, "role", "error" if refused else "muted")
        self.hint.setText(text)
        self.pages.setCurrentIndex(0)
        self.note.setText("")
        self.copy_button.hide()
        self.export_button.hide()

    def show_answers(self, result: Mapping[str, Any], *, is_live: bool = False) -> None:
        """Show the answers of `serve` to `predict`; those for a drawing or a typed text have no name."""
        answers = list(result["predictions"])
        count, failed = int(result.get("count", len(answers))), int(result.get("failed", 0))
        is_one = count == 1
        self.table.setVisible(not is_one)
        self.view.show_answer(answers[0])
        self.pages.setCurrentIndex(1)
        self.copy_button.show()
        self.export_button.show()
        if is_one:
            name = "" if is_live else name_of(answers[0])
            self.note.setText(Path(name).name, note=name)
            return
        self.table.show_answers(answers)
        is_series = any("group" in answer for answer in answers)
        words = [tr("%n series", "", count) if is_series else tr("%n sample(s)", "", count)]
        if failed:
            words.append(tr("{failed:,} not used", failed=failed))
        if warned := int(result.get("warned", 0)):
            words.append(tr("{warned:,} with values that the network does not know", warned=warned))
        if count > len(answers):
            words.append(tr("the first {count:,} are listed", count=len(answers)))
        self.note.setText(tr(", ", "between facts").join(words))

    def copy(self) -> None:
        """Copy the answers that are listed, as text; one answer as a picture too."""
        data = QMimeData()
        if self.table.isHidden():
            data.setText(as_text([self.view.answer] if self.view.answer is not None else []))
            data.setImageData(self.view.picture_of().toImage())
        else:
            data.setText(as_text(self.table.answers))
        QGuiApplication.clipboard().setMimeData(data)
        self._shell.hint(tr("Copied."))

    def save(self) -> None:
        """Ask for a file or folder, and have the engine write the answers to all samples, also those not listed."""
        suffixes = {translation(text): suffix for text, suffix in FORMS}
        name, form = QFileDialog.getSaveFileName(self, tr("Save answers"), "answers", ";;".join(suffixes))
        if not name or self.request is None:
            return
        path = Path(name)
        path = path if path.suffix else path.with_name(path.name + suffixes.get(form, ""))
        fail = partial(self._shell.show_error, tr("The answers cannot be saved"))
        tell = partial(self._shell.hint, tr("Saved {name}.", name=path.name))
        request = replace(self.request, folder=None, output=path)
        self._shell.server.ask(OPERATION, request, lambda _: tell(), fail)

    def _export(self, kind: str, write: Callable[[Path], None]) -> None:
        name, _ = QFileDialog.getSaveFileName(self, tr("Export the prediction"), f"prediction.{kind}", f"*.{kind}")
        if not name:
            return
        try:
            write(Path(name))
        except OSError as error:
            reason = tr("{path} cannot be written: {reason}.", path=name, reason=error.strerror or error)
            self._shell.show_error(tr("The prediction cannot be exported"), reason)


def card_with_head(title: str, *beside: QWidget) -> tuple[QFrame, QVBoxLayout]:
    """Return a card with a heading and widgets beside it, and the column below."""
    frame = QFrame()
    return frame, lay_out_card(frame, title, *beside)


def lay_out_card(frame: QFrame, title: str, *beside: QWidget) -> QVBoxLayout:
    """Make a frame a card with a heading and widgets beside it. Return the column below."""
    theme.mark(frame, "role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 12, 16, 12)
    column.setSpacing(12)
    heading = QLabel(title)
    heading.setMinimumHeight(HEAD)
    theme.mark(heading, "role", "strong")
    head = QHBoxLayout()
    head.setSpacing(8)
    head.addWidget(heading)
    for widget in beside:
        head.addWidget(widget, 1 if isinstance(widget, ElidedLabel) else 0)
    if not beside:
        head.addStretch(1)
    column.addLayout(head)
    return column
