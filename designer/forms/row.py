"""One row of a form: label with a dot for a changed value, editor, help, and what is wrong in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QEnterEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QMenu, QVBoxLayout, QWidget

from designer import icons, theme
from designer.forms.field_editors import FieldEditor, PathEditor, editor_for
from designer.forms.line_editors import HEIGHT, as_typed, parsed
from engine.core.errors import FieldError
from engine.core.fields import Bool, Choice, Choices, Field
from engine.core.records import Record


def sentence(text: str) -> str:
    """The same words with a capital at the start."""
    return text[:1].upper() + text[1:]


def section_label(text: str) -> QLabel:
    """A small bold heading in capitals."""
    label = QLabel(text.upper())
    theme.mark(label, "role", "section")
    return label


class FieldLabel(QLabel):
    """A field's label. A dot says that the value is changed; under the pointer it offers to reset it."""

    reset_requested = Signal()
    _MARK = 14

    def __init__(self, text: str, *, is_muted: bool) -> None:
        super().__init__(text)
        self.default_text = ""
        self._is_marked = False
        self._is_hovered = False
        self.setFixedHeight(HEIGHT)
        self.setMinimumWidth(40)
        if is_muted:
            theme.mark(self, "role", "muted")

    @property
    def is_marked(self) -> bool:
        """Whether the dot is shown."""
        return self._is_marked

    def set_marked(self, is_marked: bool) -> None:
        """Show or hide the dot."""
        if is_marked != self._is_marked:
            self._is_marked = is_marked
            self.update()

    def sizeHint(self) -> QSize:
        """The text and room for the dot."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + self._MARK + 6, HEIGHT)

    def _text_width(self) -> int:
        return min(self.fontMetrics().horizontalAdvance(self.text()), self.width() - self._MARK - 4)

    def mark_rect(self) -> QRectF:
        """Where the dot and its button are."""
        return QRectF(self._text_width() + 4, (self.height() - self._MARK) / 2, self._MARK, self._MARK)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The text, elided in the middle, and the dot."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        room = self.width() - self._MARK - 4
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        if not self._is_marked:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent, mark = theme.current().accent, self.mark_rect()
        if self._is_hovered:
            icons.draw(painter, "reset", mark, accent)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(accent)
            painter.drawEllipse(mark.center() - QPoint(2, 0), 2.0, 2.0)

    def enterEvent(self, event: QEnterEvent) -> None:
        """The dot becomes a button."""
        self._is_hovered = True
        self.update()

    def leaveEvent(self, event: Any) -> None:
        """The button becomes a dot."""
        self._is_hovered = False
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Taken, so that the release arrives here too."""
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the dot resets, one on the text leads to the editor."""
        if self._is_marked and self.mark_rect().adjusted(-4, -6, 4, 6).contains(event.position()):
            self.reset_requested.emit()
        elif self.buddy() is not None:
            self.buddy().setFocus(Qt.FocusReason.MouseFocusReason)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Reset, by name."""
        menu = QMenu(self)
        menu.addAction(reset_action(menu, self))
        menu.exec(event.globalPos())
        menu.deleteLater()


def reset_action(menu: QMenu, label: FieldLabel) -> QAction:
    """Offers to reset the field; what cannot be reset is greyed."""
    action = QAction(theme.icon("reset"), f"Reset to {label.default_text}", menu)
    action.setEnabled(label.is_marked)
    action.triggered.connect(label.reset_requested)
    return action


class Row:
    """One field in a form. Holds what was typed and refused; the record is the form's.

    Its widgets are made when they are first seen or asked for: most options of a long form never apply.
    """

    def __init__(
        self,
        field: Field[Any],
        record: Record,
        *,
        is_wide: bool,
        typed: Callable[[str, object], None],
        reset: Callable[[str], None],
        base: Path | None = None,
    ) -> None:
        self.field = field
        self.error = ""
        """Why what was typed is refused."""
        self.problem = ""
        """Why the value does not go with others."""
        self.warning = ""
        """Why the value is not what it seems, although it will do."""
        self.is_found = True
        """Whether the search finds it."""
        self.is_several = False
        self.is_folded = False
        """Whether its group is folded away."""
        self.applies = True
        """Whether the values and the search leave it to be shown."""
        self.is_unused = False
        """Whether it plays no part for a reason that the record does not know; one that is changed is shown all the
        same."""
        self.waits = False
        """Whether it gets its widgets later, although it applies."""
        self.has_default = True
        """Whether there is something to reset to."""
        self._record = record
        self._is_wide = is_wide
        self._base = base
        self._typed, self._reset = typed, reset
        self._place: Callable[[_Parts], None] = lambda parts: None
        self._parts: _Parts | None = None
        self._error_label: QLabel | None = None

    @property
    def is_made(self) -> bool:
        """Whether it has widgets yet."""
        return self._parts is not None

    @property
    def widget(self) -> QWidget:
        """The editor."""
        return self._made().editor

    @property
    def label(self) -> FieldLabel:
        """The field's name, with the dot."""
        return self._made().label

    @property
    def help(self) -> QLabel | None:
        """The words beside the editor, in a wide form."""
        return self._made().help

    def _made(self) -> "_Parts":
        if self._parts is None:
            value = getattr(self._record, self.field.name)
            parts = _Parts(self.field, value, lambda raw: self._typed(self.field.name, raw), is_wide=self._is_wide)
            parts.label.reset_requested.connect(lambda: self._reset(self.field.name))
            self._parts = parts
            if isinstance(parts.editor, PathEditor):
                parts.editor.base = self._base
            parts.field_editor.show_record(self._record)
            self._place(parts)
            if not self.applies or self.is_folded:  # asked for although it is not seen
                self.set_visible(False)
            self.stop_waiting(self._record)
        return self._parts

    def stop_waiting(self, record: Record) -> None:
        """Make what waited; of no effect on others."""
        if self.waits:
            self.waits = False
            self.decorate(record)

    def place(self, grid: QGridLayout, line: int, field_width: int | None) -> None:
        """Put the row's widgets into a line of the grid, once they are made."""
        self._place = lambda parts: parts.place(grid, line, field_width)

    @property
    def message(self) -> str:
        """What is wrong, in words, or nothing."""
        return self.error or self.problem

    def parse(self, typed: object) -> Any:
        """The value of what was typed. Raises `FieldError`, and keeps why."""
        self.is_several = False
        try:
            value = parsed(self.field, typed)
        except FieldError as refused:
            self.error = sentence(refused.message)
            raise
        self.error = ""
        return value

    def show(self, record: Record, *, keep_typing: bool) -> None:
        """Show the record's value; a refused text stays if asked."""
        self._record = record
        if self._parts is not None:
            self._parts.field_editor.show_record(record)
            if not keep_typing and isinstance(self._parts.editor, PathEditor):
                self._parts.editor.line.forget_typing()
        if self.error and keep_typing:
            return
        self.error = ""
        if self._parts is None:
            return
        if self.is_several:
            self._parts.field_editor.show_several()
        else:
            self._parts.field_editor.show_value(getattr(record, self.field.name))

    def decorate(self, record: Record) -> None:
        """Bring dot, help, tooltips, error and visibility in step with the record."""
        is_used = not self.is_unused or self.is_changed(record) or bool(self.message or self.warning)
        self.applies = self.is_found and is_used and record.is_visible(self.field.name)
        if not self.is_made and (self.waits or not self.applies or self.is_folded):
            return
        if not self.is_made and self.is_several:
            self._made().field_editor.show_several()
        value = getattr(record, self.field.name)
        default = self._in_words(self.field.default_for(record))
        is_changed = self.has_default and self.is_changed(record)
        self.label.default_text = default
        self.label.set_marked(is_changed)
        help_text, note = self._help(value)
        hint = f"{help_text}\n" if help_text else ""
        state = f"Changed; the default is {default}. Click the dot to reset." if is_changed else f"Default: {default}"
        self.label.setToolTip(f"{self.field.label}\n{hint}{state}" if self.has_default else hint.strip())
        self.widget.setToolTip("\n".join(filter(None, (help_text, note))))
        self.widget.setAccessibleDescription(self.message or self.warning or help_text)
        if self.help is not None:
            self.help.setText(note or help_text)
            self.help.setToolTip(help_text)
        self._made().field_editor.set_invalid(bool(self.message))
        self._show_message()
        self.set_visible(self.applies and not self.is_folded)

    def is_changed(self, record: Record) -> bool:
        """Whether the value is not the default, or not the same in all records."""
        return record.is_changed(self.field.name) or bool(self.error) or self.is_several

    def _in_words(self, value: Any) -> str:
        if isinstance(self.field, Bool):
            return "On" if value else "Off"
        return as_typed(self.field, value) or "empty"

    def _help(self, value: Any) -> tuple[str, str]:
        """What the field is for, and what the chosen word means."""
        note = self.field.notes.get(value, "") if isinstance(self.field, Choice) and not self.is_several else ""
        return self.field.help, note

    def _show_message(self) -> None:
        text = self.message or self.warning
        if self._error_label is None:
            if not text:
                return
            self._error_label = QLabel()
            self._error_label.setWordWrap(True)
            if (width := self._made().field_width) is not None:  # the help beside it stays where it is in other rows
                self._error_label.setFixedWidth(width)
            self._made().cell.insertWidget(1, self._error_label)
        theme.mark(self._error_label, "role", "error" if self.message else "warning")
        self._error_label.setText(text)
        self._error_label.setVisible(bool(text))

    @property
    def error_label(self) -> QLabel | None:
        """Where the error or the warning stands, if there ever was one."""
        return self._error_label

    @property
    def is_shown(self) -> bool:
        """Whether the row is to be seen in its form."""
        if self._parts is None:
            return self.waits and self.applies and not self.is_folded
        return not self._parts.editor.isHidden()

    def set_visible(self, is_visible: bool) -> None:
        """Show or hide the whole row."""
        for part in (self.label, self.widget, self.help):
            if part is not None and part.isHidden() == is_visible:
                part.setVisible(is_visible)
        if self._error_label is not None:
            self._error_label.setVisible(is_visible and bool(self.message or self.warning))

    def matches(self, words: list[str]) -> bool:
        """Whether all words occur in what the row says."""
        field = self.field
        notes = (
            f"{' '.join(field.options)} {' '.join(field.notes.values())}"
            if isinstance(field, (Choice, Choices))
            else ""
        )
        text = f"{field.label} {field.name} {field.group} {field.help} {field.unit} {notes}".lower()
        return all(word in text for word in words)


class _Parts:
    """The widgets of a row."""

    def __init__(self, field: Field[Any], value: object, typed: Callable[[object], None], *, is_wide: bool) -> None:
        self.field = field
        self.editor = editor_for(field, value, typed)
        assert isinstance(self.editor, FieldEditor)
        self.field_editor: FieldEditor = self.editor
        self.label = FieldLabel(field.label, is_muted=not is_wide)
        self.label.setBuddy(self.editor)
        self.help = QLabel() if is_wide else None
        self.field_width: int | None = None
        self.cell = QVBoxLayout()
        unit = f", in {self.field.unit}" if self.field.unit else ""
        self.editor.setAccessibleName(f"{self.field.label}{unit}")
        line = self.editor.findChild(QLineEdit) or self.editor
        if line is not self.editor:
            line.setAccessibleName(self.editor.accessibleName())
        line.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        line.customContextMenuRequested.connect(lambda at: self._show_menu(line, at))
        if self.help is not None:
            theme.mark(self.help, "role", "help")
            self.help.setWordWrap(True)

    def _show_menu(self, line: QWidget, at: QPoint) -> None:
        menu = line.createStandardContextMenu() if isinstance(line, QLineEdit) else QMenu(line)
        menu.addSeparator()
        menu.addAction(reset_action(menu, self.label))
        menu.exec(line.mapToGlobal(at))
        menu.deleteLater()

    def place(self, grid: QGridLayout, line: int, field_width: int | None) -> None:
        """Put the widgets into a line of the grid."""
        self.cell.setContentsMargins(0, 0, 0, 0)
        self.cell.setSpacing(4)
        self.field_width = field_width
        if field_width is not None and not isinstance(self.field, Bool):
            self.editor.setFixedWidth(field_width)
        self.editor.setFixedHeight(HEIGHT)
        self.cell.addWidget(self.editor)
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(self.label, line, 0, top)
        # Without an alignment: Qt would give an aligned cell no more height than an unwrapped error needs.
        self.cell.addStretch(1)
        grid.addLayout(self.cell, line, 1)
        if self.help is not None:
            self.help.setMinimumHeight(HEIGHT)
            grid.addWidget(self.help, line, 2, top)
