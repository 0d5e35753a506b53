"""One editor widget per kind of declared field. `editor_for` makes it; a new kind of field registers one here.

An editor reports what was typed, unchecked, to `changed`; whoever holds the record checks it with the field. It takes
values with `show_value`, which leaves text alone that already says the same, so that undo does not disturb typing.
"""

from functools import singledispatch
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QPaintEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QWidget,
)

from netwright.designer import markup, theme
from netwright.designer.forms.line_editors import (
    HEIGHT,
    SEVERAL,
    Changed,
    ColumnLine,
    LineEditor,
    NumberEditor,
    PathLine,
    as_typed,
    mark_invalid,
    parsed,
)
from netwright.designer.forms.switch import Switch
from netwright.designer.language import in_sentence, tr, translation
from netwright.designer.markup import visible
from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, ColumnNames, Field, FilePath, Float, Int, Text
from netwright.engine.core.list_fields import Choices, Floats, Ints, Padding, Pairs, Texts
from netwright.engine.core.records import Record
from netwright.engine.project.options.schedule import Phases
from netwright.engine.project.parameters import Parameters, Rows

_COMBO_WIDTH = 96


@runtime_checkable
class FieldEditor(Protocol):
    """The interface of an editor for its form, beyond that of a widget."""

    def show_value(self, value: Any) -> None:
        """Show a value; text that already says it stays as it was typed."""

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""

    def show_record(self, record: Record) -> None:
        """Hear of the record's other values."""

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the value as refused."""


@singledispatch
def editor_for(field: Field[Any], value: object, changed: Changed) -> QWidget:
    """Return the editor for a field, showing `value`. Typed texts go to `changed`, unchecked."""
    raise TypeError(f"No editor is registered for {type(field).__name__}.")


class FormCombo(QComboBox):
    """Base of the list editors of a form: their size, and elided texts where there is no room."""

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the value as refused: alone, or beside another one."""
        mark_invalid(self, is_invalid)

    def show_record(self, record: Record) -> None:
        """The words depend on no other value."""

    def sizeHint(self) -> QSize:
        """Of one size whatever the words: the form decides, and Qt would measure every word anew."""
        return QSize(_COMBO_WIDTH, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Long words are cut off before the form grows."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Elide a text without room: Qt would cut a letter."""
        if self.isEditable() or self.currentIndex() < 0:
            super().paintEvent(event)
            return
        option, painter = QStyleOptionComboBox(), QStylePainter(self)
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self)
        text = markup.elided(self.fontMetrics(), self.currentText(), Qt.TextElideMode.ElideRight, room.width())
        option.currentText = text
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class ChoiceEditor(FormCombo):
    """One of the field's options in words; its note is the tooltip."""

    def __init__(self, field: Choice, value: object, changed: Changed) -> None:
        super().__init__()
        self.field = field
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.addItems([translation(field.word(option)) for option in field.options])
        for index, option in enumerate(field.options):
            if note := field.notes.get(option):
                self.setItemData(index, translation(note), Qt.ItemDataRole.ToolTipRole)
        self.setCurrentIndex(field.options.index(str(value)) if value in field.options else -1)
        self.activated.connect(lambda index: changed(field.options[index]))

    def show_value(self, value: Any) -> None:
        """Show one of the words."""
        self.setCurrentIndex(self.field.options.index(value))

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self.setPlaceholderText(translation(SEVERAL))
        self.setCurrentIndex(-1)

    def show_record(self, record: Record) -> None:
        """Grey the words that do not go with the record's other values."""
        if self.field.offered is None:
            return
        offered, model = self.field.offered(record), self.model()
        assert isinstance(model, QStandardItemModel)
        for index, word in enumerate(self.field.options):
            model.item(index).setEnabled(word in offered)


class PaddingEditor(FormCombo):
    """A word from the list, or numbers typed in its place."""

    def __init__(self, field: Padding, value: object, changed: Changed) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.line = LineEditor(field, value, changed)
        self.line.setParent(self)  # first: the text that the box sets below is no edit
        self.setLineEdit(self.line)
        self.line.setFrame(False)
        self.addItems(list(field.words))
        self.addItem(field.sizes.show(field.sizes.check(0)))
        self.setCompleter(None)  # type: ignore[arg-type]  # Qt takes none, the stubs do not say so
        self.line.setText(as_typed(field, value))
        self.textActivated.connect(changed)

    def show_value(self, value: Any) -> None:
        """Show a word or numbers; text that already says it stays as it was typed."""
        self.line.show_value(value)

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self.line.show_several()


class PathEditor(QWidget):
    """A line with a path and a button that opens the file dialog for it.

    `base` is the folder that relative paths start at, where that is known: what is chosen in it is then relative.
    """

    def __init__(self, field: FilePath, value: object, changed: Changed) -> None:
        super().__init__()
        self.field = field
        self.base: Path | None = None
        self._record: Record | None = None
        self.line = PathLine(field, value, changed)
        self.line.end(False)
        self.line.setToolTip(visible(self.line.text()))
        self.browse = QToolButton()
        self.browse.setIcon(theme.icon("folder"))
        self.browse.setFixedSize(HEIGHT, HEIGHT)
        theme.mark(self.browse, "role", "chip")
        self.browse.setStyleSheet("padding: 0; min-height: 0; border-radius: 6px;")
        self.browse.setToolTip(tr("Browse…"))
        self.browse.setAccessibleName(tr("Browse for {field}", field=in_sentence(field.label)))
        self.browse.clicked.connect(self._browse)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.browse)
        self.setFocusProxy(self.line)

    def _browse(self) -> None:
        is_folder = self.field.folder or bool(self.field.folder_when and self.field.folder_when(self._record))
        pattern = self.field.pattern_for(self._record) if self.field.pattern_for else self.field.pattern
        start = str((self.base or Path.home()) / self.line.text())
        if is_folder:
            path = QFileDialog.getExistingDirectory(self, tr("Choose a folder"), start)
        else:
            path, _ = QFileDialog.getOpenFileName(self, tr("Choose a file"), start, pattern)
        if path and self.base is not None and Path(path).is_relative_to(self.base):
            path = Path(path).relative_to(self.base).as_posix()
        if path:
            self.line.type_in(path)

    def show_value(self, value: Any) -> None:
        """Show a path with its end visible, which tells it from others."""
        self.line.show_value(value)
        self.line.setToolTip(visible(value))
        if not self.line.hasFocus():
            self.line.end(False)

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self.line.show_several()

    def show_record(self, record: Record) -> None:
        """Whether a file or a folder is wanted may depend on another value."""
        self._record = record

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the path as refused."""
        self.line.set_invalid(is_invalid)


@editor_for.register
def _(field: Int, value: object, changed: Changed) -> QWidget:
    return NumberEditor(field, value, changed)


@editor_for.register
def _(field: Float, value: object, changed: Changed) -> QWidget:
    return NumberEditor(field, value, changed)


@editor_for.register
def _(field: Bool, value: object, changed: Changed) -> QWidget:
    return Switch(value, changed)


@editor_for.register
def _(field: Choice, value: object, changed: Changed) -> QWidget:
    return ChoiceEditor(field, value, changed)


@editor_for.register
def _(field: Choices, value: object, changed: Changed) -> QWidget:
    return ChoicesEditor(field, value, changed)


@editor_for.register
def _(field: Text, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: ColumnNames, value: object, changed: Changed) -> QWidget:
    return ColumnLine(field, value, changed)


@editor_for.register
def _(field: FilePath, value: object, changed: Changed) -> QWidget:
    return PathEditor(field, value, changed)


@editor_for.register
def _(field: Ints, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: Floats, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: Pairs, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: Texts, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: Parameters, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: Rows, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


@editor_for.register
def _(field: Padding, value: object, changed: Changed) -> QWidget:
    return PaddingEditor(field, value, changed)


@editor_for.register
def _(field: Phases, value: object, changed: Changed) -> QWidget:
    return LineEditor(field, value, changed)


class TickMenu(QMenu):
    """A menu that stays open while its entries are ticked."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click ticks."""
        if not self._tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The space bar ticks."""
        if event.key() != Qt.Key.Key_Space or not self._tick(self.activeAction()):
            super().keyPressEvent(event)

    def _tick(self, action: QAction | None) -> bool:
        if action is None or not action.isCheckable():
            return False
        action.trigger()
        return True


class ChoicesEditor(QWidget):
    """Words separated by commas, to be typed or ticked; ticked words go to the end."""

    def __init__(self, field: Choices, value: object, changed: Changed) -> None:
        super().__init__()
        self.field = field
        self.line = LineEditor(field, value, changed)
        self.button = QToolButton()
        self.button.setIcon(theme.icon("chevron-down"))
        self.button.setFixedSize(HEIGHT, HEIGHT)
        theme.mark(self.button, "role", "chip")
        self.button.setStyleSheet("padding: 0; min-height: 0; border-radius: 6px;")
        self.button.setToolTip(tr("Choose from a list…"))
        self.button.setAccessibleName(tr("Choose {field}", field=in_sentence(field.label)))
        self.menu = TickMenu(self)
        self.menu.setToolTipsVisible(True)
        self.menu.setStyleSheet("QMenu::item { padding-left: 16px; }")  # room between box and word
        for option in field.options:
            action = self.menu.addAction(translation(field.word(option)))
            action.setCheckable(True)
            action.setData(option)
            action.setToolTip(translation(field.notes.get(option, "")))
            action.triggered.connect(lambda is_on, option=option: self._tick(option, is_on))
        self.button.clicked.connect(self._open)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        self.setFocusProxy(self.line)

    def _options(self) -> tuple[str, ...]:
        """Return the options in the line; none where the field does not take them."""
        try:
            return self.field.check(parsed(self.field, self.line.text()))
        except FieldError:
            return ()

    def _open(self) -> None:
        self._show_ticks()
        self.menu.popup(self.button.mapToGlobal(QPoint(0, HEIGHT + 2)))

    def _show_ticks(self) -> None:
        options = self._options()
        for action in self.menu.actions():
            action.setChecked(action.data() in options)

    def _tick(self, option: str, is_on: bool) -> None:
        options = [other for other in self._options() if other != option]
        self.line.type_in(as_typed(self.field, [*options, option] if is_on else options))
        self._show_ticks()

    def show_value(self, value: Any) -> None:
        """Show words; text that already says them stays as it was typed."""
        self.line.show_value(value)
        self.line.setToolTip(visible(as_typed(self.field, value)))

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self.line.show_several()

    def show_record(self, record: Record) -> None:
        """The words depend on no other value."""

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the words as refused."""
        self.line.set_invalid(is_invalid)
