"""The labels of a field: its label with a dot for a changed value, and one line of help."""

from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QEnterEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy

from netwright.designer import icons, markup, theme
from netwright.designer.forms.line_editors import HEIGHT
from netwright.designer.language import tr


class FieldLabel(QLabel):
    """A field's label. A dot says that the value is changed; under the pointer it offers to reset it. An arrow with two
    ends says that the value varies between the trials of an experiment; a click on it leads there."""

    reset_requested = Signal()
    sweep_requested = Signal()
    """The value is to vary, or how it varies is to be seen."""
    sweep_ended = Signal()
    _MARK = 14

    def __init__(self, text: str, *, is_muted: bool) -> None:
        super().__init__(text)
        self.default_text = ""
        self._is_marked = False
        self._is_hovered = False
        self._is_swept: bool | None = None
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

    @property
    def is_swept(self) -> bool | None:
        """Whether the value varies in an experiment; None where that is not offered."""
        return self._is_swept

    def set_swept(self, is_swept: bool | None) -> None:
        """Show or hide the arrow; None: the menu says nothing of experiments."""
        if is_swept != self._is_swept:
            self._is_swept = is_swept
            self.update()

    def sizeHint(self) -> QSize:
        """The text and room for the marks."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + self._marks_width() + 6, HEIGHT)

    def _marks_width(self) -> int:
        return self._MARK * (2 if self._is_swept and self._is_marked else 1)

    def _text_width(self) -> int:
        return min(self.fontMetrics().horizontalAdvance(self.text()), self.width() - self._marks_width() - 4)

    def mark_rect(self) -> QRectF:
        """The rectangle of the dot and its button."""
        area = self.contentsRect()
        return QRectF(self._text_width() + 4, area.top() + (area.height() - self._MARK) / 2, self._MARK, self._MARK)

    def sweep_rect(self) -> QRectF:
        """The rectangle of the arrow behind the dot."""
        return self.mark_rect().translated(self._MARK if self._is_marked else 0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The text, elided in the middle, and the marks."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        room = self.width() - self._marks_width() - 4
        text = markup.elided(self.fontMetrics(), self.text(), Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(self.contentsRect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        if self._is_swept:
            icons.draw(painter, "sweep", self.sweep_rect(), theme.current().accent)
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
        """A click on the dot resets, one on the arrow leads to the experiment, one on the text to the editor."""
        if self._is_swept and self.sweep_rect().adjusted(0, -6, 4, 6).contains(event.position()):
            self.sweep_requested.emit()
        elif self._is_marked and self.mark_rect().adjusted(-4, -6, 4, 6).contains(event.position()):
            self.reset_requested.emit()
        elif self.buddy() is not None:
            self.buddy().setFocus(Qt.FocusReason.MouseFocusReason)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Reset, by name, and vary in an experiment."""
        menu = QMenu(self)
        add_field_actions(menu, self)
        menu.exec(event.globalPos())
        menu.deleteLater()


LEAST_HELP = 72
"""Width in pixels below which a cut line of help says nothing."""


class HelpLine(QLabel):
    """One line of help beside a field, elided at its end where it has no room, and left out where that would leave a
    few letters. The tooltip says all."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.mark(self, "role", "help")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the label as far as there is room."""
        if self.width() < LEAST_HELP < self.fontMetrics().horizontalAdvance(self.text()):
            return
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        text = markup.elided(self.fontMetrics(), self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Emit `clicked`, where the pointer is still over the text."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Taken, so that the release arrives here too."""
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)


def add_field_actions(menu: QMenu, label: FieldLabel) -> None:
    """Add to a menu what can be done with a field: reset it, which is greyed where nothing is changed, and let it vary
    in an experiment, where its form offers that."""
    reset = QAction(theme.icon("reset"), tr("Reset to {default}", default=label.default_text), menu)
    reset.setEnabled(label.is_marked)
    reset.triggered.connect(label.reset_requested)
    menu.addAction(reset)
    if label.is_swept is not None:
        menu.addSeparator()
        sweep = QAction(theme.icon("sweep"), tr("Edit its sweep…") if label.is_swept else tr("Sweep this…"), menu)
        sweep.triggered.connect(label.sweep_requested)
        menu.addAction(sweep)
    if label.is_swept:
        menu.addAction(tr("Sweep no more"), label.sweep_ended.emit)
