"""A row of a form: label with a dot for a changed value, editor, help, and error."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QMenu, QPushButton, QWidget

from netwright.designer import theme
from netwright.designer.engine_messages import message_text, part_text
from netwright.designer.forms.field_editors import FieldEditor, PathEditor, editor_for
from netwright.designer.forms.field_labels import FieldLabel, HelpLine, add_field_actions
from netwright.designer.forms.line_editors import HEIGHT, ColumnLine, NumberEditor, as_typed, parsed
from netwright.designer.language import field_help, tr, translation, with_english
from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, Field, Int, first_clause
from netwright.engine.core.list_fields import Choices
from netwright.engine.core.records import Record

LONGEST_DEFAULT = 16
"""Letters of a default that is told beside the field; a longer one stands in the tooltip."""


def sentence(text: str) -> str:
    """The same words with a capital at the start."""
    return text[:1].upper() + text[1:]


def section_label(text: str) -> QLabel:
    """A small bold heading in capitals."""
    label = QLabel(text.upper())
    theme.mark(label, "role", "section")
    return label


class Row:
    """A field in a form. Holds refused text; the record is the form's.

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
        reference: str = "",
        look_up: Callable[[str], None] = lambda name: None,
        sweep: Callable[[str, bool], None] = lambda name, ends: None,
    ) -> None:
        """`reference` names the page that documents the field; a click on the help calls `look_up`. `sweep` is called
        with the name where the value is to vary in an experiment, and with True where it is to vary no more."""
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
        self.is_relevant = True
        """Whether it plays a part, given the other values."""
        self.applies = True
        """Whether the values, the page and the search leave it to be shown."""
        self.is_unused = False
        """Whether it plays no part for a reason that the record does not know; one that is changed is shown all the
        same."""
        self.is_on_page = True
        """Whether its form shows it now; a search finds it all the same."""
        self.has_default = True
        """Whether there is something to reset to."""
        self._record = record
        self._is_wide = is_wide
        self._base = base
        self._typed, self._reset = typed, reset
        self._reference, self._look_up = reference, look_up
        self._sweep = sweep
        self.is_swept: bool | None = None
        """Whether the value varies in an experiment; None where that is not offered."""
        self._place: Callable[[_Parts], None] = lambda parts: None
        self._parts: _Parts | None = None
        self._error_label: QLabel | None = None
        self._resolved = ""
        self._columns: Sequence[str] = ()
        self._offer: QWidget | None = None
        self.offer_button: QPushButton | None = None

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
            parts.label.sweep_requested.connect(lambda: self._sweep(self.field.name, False))
            parts.label.sweep_ended.connect(lambda: self._sweep(self.field.name, True))
            if parts.help is not None and self._reference:
                parts.help.setCursor(Qt.CursorShape.PointingHandCursor)
                parts.help.clicked.connect(lambda: self._look_up(self.field.name))
            self._parts = parts
            if isinstance(parts.editor, PathEditor):
                parts.editor.base = self._base
            parts.field_editor.show_record(self._record)
            self._place(parts)
            self.show_resolved(self._resolved)
            self.offer_columns(self._columns)
            if not self.applies or self.is_folded:  # asked for although it is not seen
                self.set_visible(False)
        return self._parts

    def place(self, grid: QGridLayout, line: int, field_width: int | None, gap: int) -> None:
        """Put the row's widgets into a line of the grid, once they are made, with a gap above them. What is to be told
        of the value takes the next two lines."""
        self._place = lambda parts: parts.place(grid, line, field_width, gap)

    def set_gap(self, gap: int) -> None:
        """Leave so much room above the row."""
        self._made().set_gap(gap)

    @property
    def message(self) -> str:
        """The error or warning of the row, or an empty text."""
        return self.error or self.problem

    def parse(self, typed: object) -> Any:
        """Return the value of the typed text. Raises `FieldError`, and keeps its message."""
        self.is_several = False
        try:
            value = parsed(self.field, typed)
        except FieldError as refused:
            self.error = sentence(message_text(refused.message))
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
        self.is_relevant = is_used and record.is_visible(self.field.name)
        self.applies = self.is_found and self.is_on_page and self.is_relevant
        if not self.is_made and (not self.applies or self.is_folded):
            return
        if not self.is_made and self.is_several:
            self._made().field_editor.show_several()
        value = getattr(record, self.field.name)
        default = _in_words(self.field, self.field.default_for(record))
        is_changed = self.has_default and self.is_changed(record)
        self.label.default_text = default
        self.label.set_marked(is_changed)
        self.label.set_swept(self.is_swept)
        help_text, note = _in_own_words(self.field, field_help(self.field)), self._note(value)
        hint = f"{help_text}\n" if help_text else ""
        state = (
            tr("Changed; the default is {default}. Click the dot to reset.", default=default)
            if is_changed
            else tr("Default: {default}", default=default)
        )
        state += "\n" + tr("Varies in the experiment. Click the arrow to see how.") if self.is_swept else ""
        self.label.setToolTip(f"{with_english(self.field.label)}\n{hint}{state}" if self.has_default else hint.strip())
        self.widget.setToolTip("\n".join(filter(None, self._tooltip(note, help_text))))
        self.widget.setAccessibleDescription(self.message or self.warning or help_text)
        if self.help is not None:
            self.help.setText(translation(first_clause(note)) or self._help_line(default))
            click = tr("Click to open {reference}.", reference=self._reference) if self._reference else ""
            self.help.setToolTip("\n".join(filter(None, (*self._tooltip(note, help_text), click))))
        self._made().field_editor.set_invalid(bool(self.message))
        self._show_message()
        self.set_visible(self.applies and not self.is_folded)

    def is_changed(self, record: Record) -> bool:
        """Whether the value is not the default, or not the same in all records."""
        return record.is_changed(self.field.name) or bool(self.error) or self.is_several

    def _help_line(self, default: str) -> str:
        """The effect and the default, for one line."""
        short = default if self.has_default and len(default) <= LONGEST_DEFAULT else ""
        note = tr("Default {value}", value=short.lower() if isinstance(self.field, Bool) else short) if short else ""
        return tr(". ", "between two sentences").join(filter(None, (translation(self.field.effect), note)))

    def _note(self, value: Any) -> str:
        """Return the note on the chosen option."""
        return self.field.notes.get(value, "") if isinstance(self.field, Choice) and not self.is_several else ""

    def _tooltip(self, note: str, help_text: str) -> tuple[str, ...]:
        """The lines of the tooltip: the chosen word, the field, its names elsewhere, its limits."""
        field = self.field
        if not self._is_wide:
            return translation(note), help_text
        elsewhere = [
            f"{whose}: {name}"
            for whose, name in (("MATLAB", field.matlab), ("torch", field.torch))
            if name and name != "none"
        ]
        takes = "" if isinstance(field, Choice | Choices | Bool) else part_text(field.expects)
        return (
            translation(note),
            _in_own_words(field, translation(field.description)),
            *elsewhere,
            tr("Takes {expects}.", expects=takes) if takes else "",
        )

    def _show_message(self) -> None:
        text = self.message or self.warning
        if self._error_label is None:
            if not text:
                return
            self._error_label = QLabel()
            self._error_label.setWordWrap(True)
            self._made().place_below(self._error_label, 1)
        theme.mark(self._error_label, "role", "error" if self.message else "warning")
        self._error_label.setText(text)
        self._error_label.setVisible(bool(text))

    def show_resolved(self, resolved: str) -> None:
        """Show the resolved value beside a word for zero, or in an empty line."""
        self._resolved = resolved
        if self._parts is not None and isinstance(self._parts.editor, NumberEditor | ColumnLine):
            self._parts.editor.show_resolved(resolved)

    def offer_columns(self, names: Sequence[str]) -> None:
        """Offer names of columns, where the field takes some."""
        self._columns = names
        if self._parts is not None and isinstance(self._parts.editor, ColumnLine):
            self._parts.editor.offer(names)

    def offer(self, words: str, button: str, act: Callable[[], None]) -> None:
        """Offer something under the field, which one click on the button takes, until `withdraw`."""
        self.withdraw()
        self._offer = QWidget()
        row = QHBoxLayout(self._offer)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        label = QLabel(words)
        theme.mark(label, "role", "help")
        self.offer_button = QPushButton(button)
        self.offer_button.setAutoDefault(False)  # Enter in a field takes no offer
        theme.mark(self.offer_button, "role", "link")
        theme.mark(self.offer_button, "flush", True)
        self.offer_button.clicked.connect(act)
        row.addWidget(label)
        row.addWidget(self.offer_button)
        row.addStretch(1)
        self._made().place_below(self._offer, 2)
        self._offer.setVisible(self.is_shown)

    def withdraw(self) -> None:
        """Take an offer away."""
        if self._offer is not None:
            self._offer.hide()
            self._offer.deleteLater()
            self._offer = None

    @property
    def has_offer(self) -> bool:
        """Whether something is offered under the field."""
        return self._offer is not None

    @property
    def error_label(self) -> QLabel | None:
        """The label of the error or warning, if there ever was one."""
        return self._error_label

    @property
    def is_shown(self) -> bool:
        """Whether the row is to be seen in its form."""
        return self._parts is not None and not self._parts.editor.isHidden()

    def set_visible(self, is_visible: bool) -> None:
        """Show or hide the whole row."""
        for part in (self.label, self.widget, self.help):
            if part is not None and part.isHidden() == is_visible:
                part.setVisible(is_visible)
        if self._error_label is not None:
            self._error_label.setVisible(is_visible and bool(self.message or self.warning))
        if self._offer is not None:
            self._offer.setVisible(is_visible)

    def matches(self, words: list[str]) -> bool:
        """Whether all words occur in the texts of the row."""
        field = self.field
        notes = ""
        if isinstance(field, (Choice, Choices)):
            options = (*field.options, *field.notes.values(), *map(field.word, field.options))
            notes = " ".join(options)
        text = f"{field.label} {field.name} {field.group} {field.help} {field.unit} {notes}"
        text = f"{text} {translation(field.label)} {translation(field.effect)}".lower()
        return all(word in text for word in words)


def _in_words(field: Field[Any], value: Any) -> str:
    if isinstance(field, Bool):
        return tr("On") if value else tr("Off")
    if isinstance(field, Choice):
        return translation(field.word(value))
    return as_typed(field, value) or tr("empty")


def _in_own_words(field: Field[Any], text: str) -> str:
    """Return a text in which the default is called as the form calls it."""
    if not isinstance(field, Choice | Int) or callable(field.default):
        return text
    default = tr("Default: {default}", default=_in_words(field, field.default))
    word = field.zero if isinstance(field, Int) and field.zero and not field.default else field.default
    return re.sub(rf"(?:Default|默认) {re.escape(str(word))}(?!\w)", lambda _: default, text)


class _Parts:
    """The widgets of a row."""

    def __init__(self, field: Field[Any], value: object, typed: Callable[[object], None], *, is_wide: bool) -> None:
        self.field = field
        self.editor = editor_for(field, value, typed)
        assert isinstance(self.editor, FieldEditor)
        self.field_editor: FieldEditor = self.editor
        self.label = FieldLabel(translation(field.label), is_muted=not is_wide)
        self.label.setBuddy(self.editor)
        self.help = HelpLine() if is_wide else None
        self._grid: QGridLayout | None = None
        self._line = 0
        name = tr("{field}, in {unit}") if field.unit else "{field}"
        name = name.format(field=translation(field.label), unit=translation(field.unit))
        self.editor.setAccessibleName(name)
        line = self.editor.findChild(QLineEdit) or self.editor
        if line is not self.editor:
            line.setAccessibleName(self.editor.accessibleName())
        line.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        line.customContextMenuRequested.connect(lambda at: self._show_menu(line, at))

    def _show_menu(self, line: QWidget, at: QPoint) -> None:
        menu = line.createStandardContextMenu() if isinstance(line, QLineEdit) else QMenu(line)
        menu.addSeparator()
        add_field_actions(menu, self.label)
        menu.exec(line.mapToGlobal(at))
        menu.deleteLater()

    def place(self, grid: QGridLayout, line: int, field_width: int | None, gap: int) -> None:
        """Put the widgets into a line of the grid. The label holds the gap above them: a layout with a margin would
        take its room even where all in it is hidden."""
        self._grid, self._line = grid, line
        if field_width is not None and not isinstance(self.field, Bool):
            self.editor.setFixedWidth(field_width)
        self.editor.setFixedHeight(HEIGHT)
        self.set_gap(gap)
        for column, widget in enumerate((self.label, self.editor, self.help)):
            if widget is not None:
                grid.addWidget(widget, line, column)
                grid.setAlignment(widget, Qt.AlignmentFlag.AlignBottom)

    def set_gap(self, gap: int) -> None:
        """Leave so much room above the row."""
        if self.label.height() != HEIGHT + gap:
            self.label.setFixedHeight(HEIGHT + gap)
            self.label.setContentsMargins(0, gap, 0, 0)

    def place_below(self, widget: QWidget, number: int) -> None:
        """Put a widget so many lines below, across the form: from the field to the end of the help, or from the label
        where the form is narrow."""
        assert self._grid is not None
        if self.help is not None:
            self._grid.addWidget(widget, self._line + number, 1, 1, 2)
        else:
            self._grid.addWidget(widget, self._line + number, 0, 1, 2)
