"""Lines of text and numbers that are read as a field's value."""

import contextlib
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QStringListModel, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QCompleter, QLabel, QLineEdit, QStyle, QStyleOptionFrame, QWidget

from netwright.designer import markup, theme
from netwright.designer.engine_messages import part_text
from netwright.designer.forms.typed_line import TypedLine
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Field, Float, Int, Text
from netwright.engine.core.list_fields import Choices, Floats, Ints, Texts
from netwright.engine.core.records import Record
from netwright.engine.project.options.schedule import Phases

Changed = Callable[[object], None]
SEVERAL = noop("several values")
HEIGHT = 30
TEXT_INSET = 2
"""Pixels that Qt leaves beside the text of a line."""
_HISTORY_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


def mark_invalid(widget: QWidget, is_invalid: bool) -> None:
    """Dress an input as refused or not; dressing costs time, so one that never was refused is left alone."""
    if is_invalid or widget.property("invalid"):
        theme.mark(widget, "invalid", is_invalid)


def as_typed(field: Field[Any], value: Any) -> str:
    """A value as a person would type it: `1e-5`, not `1e-05`, and choices and zero by their words."""
    if isinstance(field, Choices):
        return ", ".join(translation(field.word(option)) for option in value)
    if isinstance(field, Int) and field.zero and value == 0:
        return translation(field.zero)
    text = field.show(value)
    return re.sub(r"e(-?)\+?0*(\d)", r"e\1\2", text) if isinstance(field, Float) else text


def parsed(field: Field[Any], typed: object) -> Any:
    """Return the value that an editor reported. Raises `FieldError` in words."""
    if not isinstance(typed, str) or isinstance(field, Text):
        return field.check(typed)
    text = typed.strip()
    if not text and not isinstance(field, (Ints, Floats, Texts, Phases)):
        raise FieldError(field.name, tr("enter {value}.", value=part_text(field.expects)))
    if isinstance(field, Int) and field.zero and text == translation(field.zero):
        return 0
    if isinstance(field, (Int, Float)) and re.fullmatch(r"[+-]?\d{1,3}([,  ]\d{3})+(\.\d*)?", text):
        text = re.sub(r"[,  ]", "", text)  # grouped as people write large numbers
    if isinstance(field, Choices):
        with contextlib.suppress(FieldError):  # by their keys
            return field.parse(text)
        options = {translation(field.word(option)).casefold(): option for option in field.options}
        parts = filter(None, map(str.strip, re.split("[,，、]", text)))
        return field.check([options.get(part.casefold()) or field.option(part) for part in parts])
    return field.parse(text)


class LineEditor(TypedLine):
    """A line of text that is read as the field's value; the unit stands inside it."""

    def __init__(self, field: Field[Any], value: object, changed: Changed) -> None:
        super().__init__()
        self.field = field
        self._changed = changed
        self._unit: QLabel | None = None
        self._resolved = ""
        self.setMinimumWidth(64)
        self.setText(as_typed(field, value))
        self.setCursorPosition(0)
        if field.unit:
            self._unit = QLabel(translation(field.unit), self)
            theme.mark(self._unit, "role", "muted")
            self._unit.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._unit.ensurePolished()
            self.setTextMargins(0, 0, self._unit.sizeHint().width() + 6, 0)
        self.textEdited.connect(self._on_edited)
        self.editingFinished.connect(self._tidy)

    def _tidy(self) -> None:
        """Write a complete typed value in its usual form: `3 × 3` for `3`."""
        try:
            tidy = as_typed(self.field, parsed(self.field, self.text())) if self.text() else ""
        except FieldError:
            return
        if tidy != self.text():
            self.setText(tidy)

    def _on_edited(self, text: str) -> None:
        self._changed(text)

    def show_value(self, value: Any) -> None:
        """Show a value; text that already says it stays as it was typed."""
        self.setPlaceholderText(self._resolved)
        if self._says(value):
            return
        caret, had_focus = self.cursorPosition(), self.hasFocus()
        self.setText(self._text_of(value))
        self.setCursorPosition(min(caret, len(self.text())) if had_focus else 0)

    def _text_of(self, value: Any) -> str:
        return as_typed(self.field, value)

    @property
    def typed(self) -> str:
        """The text as it would be typed."""
        return self.text()

    def _says(self, value: object) -> bool:
        try:
            return bool(parsed(self.field, self.typed) == value)
        except FieldError:
            return False

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self.clear()
        self.setPlaceholderText(translation(SEVERAL))

    def show_record(self, record: Record) -> None:
        """A line depends on no other value."""

    def show_resolved(self, resolved: str) -> None:
        """Show in an empty line the value that is used."""
        if self.placeholderText() == self._resolved:
            self.setPlaceholderText(resolved)
        self._resolved = resolved

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the text as refused."""
        mark_invalid(self, is_invalid)

    def type_in(self, text: str) -> None:
        """Put a text in as if it had been typed."""
        if text != self.text():
            self.setText(text)
            self.textEdited.emit(text)

    def event(self, event: QEvent) -> bool:
        """Undo and redo are the project's where the window offers them, so that field and project keep in step."""
        is_typed = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_typed and any(event.matches(key) for key in _HISTORY_KEYS):  # type: ignore[attr-defined]  # a key event
            event.ignore()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the unit at the right end."""
        super().resizeEvent(event)
        if self._unit is not None:
            wide = self._unit.sizeHint()
            self._unit.setGeometry(
                self.width() - wide.width() - 9, (self.height() - wide.height()) // 2, wide.width(), wide.height()
            )


class PathLine(LineEditor):
    """A line with a path, which is taken on Enter or when the keyboard leaves: each letter on the way names another
    file, which may be asked about, and of which a form may have other fields."""

    def __init__(self, field: Field[Any], value: object, changed: Changed) -> None:
        super().__init__(field, value, changed)
        self._is_typed, self._shown = False, value
        self.editingFinished.connect(self._take)

    def _on_edited(self, text: str) -> None:
        self._is_typed = True

    def _take(self) -> None:
        if self._is_typed:
            self._is_typed = False
            self._changed(self.text())

    def type_in(self, text: str) -> None:
        """Put a path in that was chosen, and take it."""
        self.setText(text)
        self._is_typed = True
        self._take()

    def show_value(self, value: Any) -> None:
        """Show a path, unless another one is being typed in the place of the same."""
        if not self._is_typed or value != self._shown:
            self._is_typed, self._shown = False, value
            super().show_value(value)

    @property
    def shown_text(self) -> str:
        """The text as it is painted: while it is not edited, a long path is elided in the middle, since its beginning
        and its end tell it from others."""
        if self.hasFocus():
            return self.text()
        return markup.elided(self.fontMetrics(), self.text(), Qt.TextElideMode.ElideMiddle, self._area().width())

    def _area(self) -> QRect:
        """Return where the text stands."""
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        area = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        return area.marginsRemoved(self.textMargins()).adjusted(TEXT_INSET, 0, -TEXT_INSET, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the path, a long one with its middle left out."""
        if (text := self.shown_text) == self.text():
            super().paintEvent(event)
            return
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelLineEdit, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self._area(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()

    def forget_typing(self) -> None:
        """Give up a text that was not taken."""
        self._is_typed = False


class ColumnLine(PathLine):
    """A line with names of columns, taken as a path is. It offers the columns of the data as a list: at the arrow, with
    the down key, and those that match while a name is typed."""

    def __init__(self, field: Field[Any], value: object, changed: Changed) -> None:
        super().__init__(field, value, changed)
        self._names = QStringListModel(self)
        self._completer = _LastName(self)
        self._completer.setModel(self._names)
        self._completer.activated.connect(self.type_in)
        self.setCompleter(self._completer)
        if (popup := self._completer.popup()) is not None:
            theme.mark(popup, "role", "popup")
        self._arrow = self.addAction(theme.icon("chevron-down", "muted"), QLineEdit.ActionPosition.TrailingPosition)
        self._arrow.setToolTip(tr("Columns of the data"))
        self._arrow.triggered.connect(self.show_names)
        self.offer(())

    def offer(self, names: Sequence[str]) -> None:
        """Set the names of the columns."""
        self._names.setStringList(list(names))
        self._arrow.setVisible(bool(names))

    def show_names(self) -> None:
        """Show all columns as a list."""
        self.setFocus()
        self._completer.setCompletionPrefix("")
        self._completer.complete()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The down key shows the list."""
        if event.key() == Qt.Key.Key_Down and self._names.rowCount():
            self.show_names()
        else:
            super().keyPressEvent(event)


class _LastName(QCompleter):
    """Completes the last of several names that are separated by commas."""

    def __init__(self, line: ColumnLine) -> None:
        super().__init__(line)
        self._line = line
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setFilterMode(Qt.MatchFlag.MatchContains)

    def splitPath(self, path: str) -> list[str]:
        """Match the text behind the last comma."""
        return [path.rpartition(",")[2].strip()]

    def pathFromIndex(self, index: QModelIndex | QPersistentModelIndex) -> str:
        """Put the name that was chosen behind the others."""
        before = self._line.text().rpartition(",")[0].strip()
        name = str(super().pathFromIndex(index))
        return f"{before}, {name}" if before else name


class NumberEditor(LineEditor):
    """A line with a number: the up and down keys change it, and the wheel while it has the keyboard. Without the
    keyboard, a word for zero is followed by what it comes to: `auto (2)`."""

    def __init__(self, field: Field[Any], value: object, changed: Changed) -> None:
        self._resolved = ""
        super().__init__(field, value, changed)

    def show_resolved(self, resolved: str) -> None:
        """Set the resolved value of zero; empty where it is not known."""
        before, self._resolved = self.typed, resolved
        if isinstance(self.field, Int) and before == as_typed(self.field, 0) and not self.hasFocus():
            self.setText(self._text_of(0))

    @property
    def typed(self) -> str:
        """The text as it would be typed: the word without the resolved value."""
        return self.text().removesuffix(f" ({self._resolved})")

    def _text_of(self, value: Any) -> str:
        text = super()._text_of(value)
        is_word = isinstance(self.field, Int) and bool(self.field.zero) and value == 0
        return f"{text} ({self._resolved})" if is_word and self._resolved and not self.hasFocus() else text

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Leave the text as it would be typed."""
        self.setText(self.typed)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show the resolved value of zero."""
        super().focusOutEvent(event)
        if self._says(0):
            self.setText(self._text_of(0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down step, with Shift or by page ten times as far."""
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        self.step(step * (10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Without the keyboard focus let the wheel scroll the area around the line."""
        if self.hasFocus() and event.angleDelta().y():
            self.step(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            event.ignore()

    def step(self, count: int) -> None:
        """Change the number by so many steps, within the field's limits."""
        try:
            value = parsed(self.field, self.typed)
        except FieldError:
            return
        self.type_in(stepped(self.field, value, count))
        self.selectAll()


def stepped(field: Field[Any], value: Any, count: int) -> str:
    """The text of a number some steps on: one for whole numbers, one in the first digit for others."""
    if isinstance(field, Int):
        return as_typed(field, max(field.low, min(field.high, value + count)))
    assert isinstance(field, Float)
    number = Decimal(as_typed(field, value))
    if not number.is_finite():
        return "1" if count < 0 else as_typed(field, value)
    way = 1 if count > 0 else -1
    for _ in range(abs(count)):
        digit = number.adjusted() if number else -1
        # Going down from 0.01, the next finer digit counts: 0.009.
        if number and (number > 0) == (way < 0) and number.copy_abs() == Decimal(1).scaleb(digit):
            digit -= 1
        after = number + way * Decimal(1).scaleb(digit)
        if not field.low <= after <= field.high or (field.above is not None and after <= field.above):
            break
        number = after
    return as_typed(field, float(number))
