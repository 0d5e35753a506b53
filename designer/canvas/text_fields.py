"""Text fields over the canvas: the name of a layer, the title of a frame, the text of a comment."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.language import tr
from netwright.engine.core.errors import UserError
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.layout import TITLE_LIMIT
from netwright.engine.network.network import name_refusal


def _text_of(editor: Editor, mark: Mark) -> str:
    annotation = annotations.find(editor.layout, mark)
    return annotations.words(annotation) if annotation is not None else ""


def _apply(editor: Editor, mark: Mark, text: str, merge: str) -> None:
    if text != _text_of(editor, mark):
        title = tr("Change title") if mark.kind == "frame" else tr("Change comment")
        try:
            editor.apply_here(title, layout=annotations.reword(editor.layout, mark, text), merge=merge)
        except UserError as error:
            editor.refused.emit(str(error))


class TitleField(QLineEdit):
    """A line over the title of a frame. Enter or a click elsewhere applies it; Escape keeps the old one."""

    closed = Signal()

    def __init__(self, editor: Editor, mark: Mark, merge: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor, self._mark, self._merge = editor, mark, merge
        self._is_open = True
        self.setAccessibleName(tr("Title of the frame"))
        self.setPlaceholderText(tr("Title"))
        self.setMaxLength(TITLE_LIMIT)
        self.setText(_text_of(editor, mark))
        self.selectAll()

    def finish(self, *, applies: bool = True) -> None:
        """Close the field; apply its text or discard it."""
        if self._is_open:
            self._is_open = False
            if applies:
                _apply(self._editor, self._mark, self.text(), self._merge)
            self.closed.emit()
            self.hide()
            self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.finish(applies=False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.finish()  # Qt's own handling leaves the event to the canvas, where Enter opens the field again
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # the context menu of the field
            self.finish()


class CommentField(QPlainTextEdit):
    """A text field over a comment. Ctrl+Enter or a click elsewhere applies it; Escape keeps the old one."""

    closed = Signal()

    def __init__(self, editor: Editor, mark: Mark, merge: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor, self._mark, self._merge = editor, mark, merge
        self._is_open = True
        self.setAccessibleName(tr("Text of the comment"))
        self.setAccessibleDescription(tr("Ctrl+Enter takes the text, Escape leaves the old one"))
        self.setPlaceholderText(tr("Ctrl+Enter is done"))
        self.setTabChangesFocus(True)
        self.setPlainText(_text_of(editor, mark))
        self.selectAll()

    def finish(self, *, applies: bool = True) -> None:
        """Close the field; apply its text or discard it."""
        if self._is_open:
            self._is_open = False
            if applies:
                _apply(self._editor, self._mark, self.toPlainText(), self._merge)
            self.closed.emit()
            self.hide()
            self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self.finish(applies=False)
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.finish()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # the context menu of the field
            self.finish()


class RenameField(QLineEdit):
    """A line over the name of a layer. Enter applies a valid name; Escape keeps the old one."""

    closed = Signal()
    refusal = Signal(str)

    def __init__(self, editor: Editor, id: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor = editor
        self._id = id
        self._is_open = True
        self.setAccessibleName(tr("Name of the layer"))
        self.setText(editor.network.layers[id].name)
        self.selectAll()
        self.textChanged.connect(self._judge)
        self.returnPressed.connect(self._take)

    def _refusal(self) -> str | None:
        network = self._editor.network
        layer = network.layers.get(self._id)
        if layer is None or self.text() == layer.name:
            return None
        return name_refusal(self.text(), network.by_name)

    def _judge(self) -> None:
        why = self._refusal()
        theme.mark(self, "invalid", "true" if why else "false")
        self.refusal.emit(why or "")

    def _take(self) -> None:
        if self._refusal() is None:
            if self._id in self._editor.network.layers:
                self._editor.rename(self._id, self.text())
            self._close()

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            self.refusal.emit("")
            self.closed.emit()
            self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._close()
