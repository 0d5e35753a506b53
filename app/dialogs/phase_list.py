"""The learn rate schedules of a chain as rows: schedule, length and factor. Each edit creates the whole chain
anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.forms.field_editors import ChoiceEditor
from netwright.designer.forms.line_editors import HEIGHT, NumberEditor, parsed
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Choice, Field, Float, Int
from netwright.engine.project.options.schedule import MOST, UNITS, Phase
from netwright.engine.project.training import TrainingOptions

_SCHEDULE = Choice("none", options=TrainingOptions.schedule_chain.schedules, notes=TrainingOptions.schedule.notes)
_LENGTH = Int(0, low=0, high=1_000_000_000)
_UNIT = Choice("epochs", options=UNITS)
_FACTOR = Float(1.0, above=0.0, high=1e6)
_HEADINGS = (noop("Schedule"), noop("Length; 0: the rest"), "", noop("Times"))
_WIDTHS = (136, 112, 124, 76)


class PhaseList(QWidget):
    """Shows a chain of schedules and reports edits. Invalid input stays in its field, marked."""

    edited = Signal(object)
    """The new chain, as a tuple of phases."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._phases: tuple[Phase, ...] = ()
        self.rows: list[_PhaseRow] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(8)
        for place, words in enumerate(_HEADINGS):
            heading = QLabel(translation(words))
            theme.mark(heading, "role", "help")
            self._grid.addWidget(heading, 0, place)
        self._grid.setColumnStretch(len(_HEADINGS) + 1, 1)
        self.add_button = QPushButton(tr("Add a schedule"))
        self.add_button.setAutoDefault(False)
        self.add_button.setAutoDefault(False)
        theme.mark(self.add_button, "role", "link")
        self.add_button.clicked.connect(self._add)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(8)
        column.addLayout(self._grid)
        column.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_phases(self, phases: Sequence[Phase]) -> None:
        """Update the rows; where their number is the same, the widgets stay."""
        self._phases = tuple(phases)
        while len(self.rows) > len(phases):
            self.rows.pop().remove()
        while len(self.rows) < len(phases):
            number = len(self.rows)
            self.rows.append(_PhaseRow(self, number, self._grid))
        for row, phase in zip(self.rows, phases, strict=True):
            row.show_phase(phase)
        self.add_button.setEnabled(len(phases) < MOST)

    def change(self, number: int, **values: object) -> None:
        """Change values of one phase, and emit the chain."""
        phase = replace(self._phases[number], **values)  # type: ignore[arg-type]  # checked by their fields
        if "schedule" in values:
            phase = replace(phase, changes=())  # those were for the schedule before
        self._tell([*self._phases[:number], phase, *self._phases[number + 1 :]])

    def take_away(self, number: int) -> None:
        """Remove one phase, and emit the chain."""
        self._tell([*self._phases[:number], *self._phases[number + 1 :]])

    def _add(self) -> None:
        """Add a phase at the end; the one before it gets an end."""
        *before, last = self._phases or (Phase("warmup", 100, "iterations"),)
        last = last if last.length else replace(last, length=5, unit="epochs")
        self._tell([*before, last, Phase("cosine")])
        self.rows[-1].schedule.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell(self, phases: Sequence[Phase]) -> None:
        self.show_phases(phases)
        self.edited.emit(self._phases)


class _PhaseRow:
    """One phase as a row of the grid."""

    def __init__(self, owner: PhaseList, number: int, grid: QGridLayout) -> None:
        self._owner, self._number = owner, number
        self.schedule = ChoiceEditor(_SCHEDULE, "none", lambda word: owner.change(number, schedule=word))
        self.length = NumberEditor(_LENGTH, 0, lambda text: self._typed("length", _LENGTH, text))
        self.unit = ChoiceEditor(_UNIT, "epochs", lambda word: owner.change(number, unit=word))
        self.factor = NumberEditor(_FACTOR, 1.0, lambda text: self._typed("factor", _FACTOR, text))
        self.remove_button = QToolButton()
        self.remove_button.setIcon(theme.icon("close"))
        self.remove_button.setToolTip(tr("Remove this schedule"))
        self.remove_button.setAccessibleName(tr("Remove schedule {number}", number=number + 1))
        self.remove_button.clicked.connect(lambda: owner.take_away(number))
        self.own = QLabel()
        theme.mark(self.own, "role", "help")
        editors = (self.schedule, self.length, self.unit, self.factor)
        names = (
            tr("Schedule {number}", number=number + 1),
            tr("Length of schedule {number}", number=number + 1),
            tr("Unit of the length of schedule {number}", number=number + 1),
            tr("Factor of schedule {number}", number=number + 1),
        )
        for column, (editor, name, width) in enumerate(zip(editors, names, _WIDTHS, strict=True)):
            editor.setAccessibleName(name)
            editor.setFixedSize(width, HEIGHT)
            grid.addWidget(editor, number + 1, column)
        grid.addWidget(self.remove_button, number + 1, len(editors))
        grid.addWidget(self.own, number + 1, len(editors) + 1)

    def show_phase(self, phase: Phase) -> None:
        """Show the values; typed text that means the same stays."""
        self.schedule.show_value(phase.schedule)
        self.length.show_value(phase.length)
        self.unit.show_value(phase.unit)
        self.unit.setEnabled(phase.length > 0)
        self.factor.show_value(phase.factor)
        for editor in (self.length, self.factor):
            editor.set_invalid(False)
        self.own.setText(" ".join(f"{name}={value}" for name, value in phase.changes))

    def remove(self) -> None:
        """Remove the row from the grid."""
        for widget in (self.schedule, self.length, self.unit, self.factor, self.remove_button, self.own):
            widget.hide()
            widget.deleteLater()

    def _typed(self, name: str, field: Field[Any], typed: object) -> None:
        editor = self.length if name == "length" else self.factor
        try:
            value = parsed(field, typed)
        except FieldError as refused:
            editor.set_invalid(True)
            editor.setToolTip(message_text(refused.message))
            return
        editor.setToolTip("")
        self._owner.change(self._number, **{name: value})
