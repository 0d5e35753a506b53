"""A switch: on or off, in a word as well as a picture."""

from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton

from netwright.designer import theme
from netwright.designer.focus_ring import has_ring
from netwright.designer.forms.line_editors import HEIGHT, SEVERAL, Changed
from netwright.designer.language import tr, translation
from netwright.engine.core.records import Record


class Switch(QAbstractButton):
    """On or off, with the word beside the switch."""

    TRACK = QSize(34, 18)

    def __init__(self, value: object, changed: Changed) -> None:
        super().__init__()
        self._is_several = False
        self._is_invalid = False
        self.setCheckable(True)
        self.setChecked(bool(value))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(HEIGHT)
        self.clicked.connect(self._on_clicked)
        self._changed = changed

    def _on_clicked(self, is_on: bool) -> None:
        self._is_several = False
        self.update()
        self._changed(is_on)

    def show_value(self, value: Any) -> None:
        """Show on or off."""
        self._is_several = False
        self.setChecked(value)
        self.update()

    def show_several(self) -> None:
        """Show that the records behind the form differ in this field."""
        self._is_several = True
        self.setChecked(False)
        self.update()

    def show_record(self, record: Record) -> None:
        """A switch depends on no other value."""

    def set_invalid(self, is_invalid: bool) -> None:
        """Mark the state as refused: it does not go with another value."""
        self._is_invalid = is_invalid
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space turns it, as Qt does; left and right say which."""
        state = {Qt.Key.Key_Left: False, Qt.Key.Key_Right: True}.get(Qt.Key(event.key()))
        if state is None:
            super().keyPressEvent(event)
        elif state != self.isChecked() or self._is_several:
            self.setChecked(state)
            self._on_clicked(state)

    def sizeHint(self) -> QSize:
        """Track, gap and the longest word."""
        words = self.fontMetrics().horizontalAdvance(translation(SEVERAL) if self._is_several else tr("Off"))
        return QSize(self.TRACK.width() + 10 + words, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A track with a knob, and the word."""
        palette = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_on = self.isChecked()
        track = QRectF(0.5, (self.height() - self.TRACK.height()) / 2 + 0.5, self.TRACK.width(), self.TRACK.height())
        track.adjust(0, 0, -1, -1)
        border = palette.error if self._is_invalid else palette.primary if is_on else palette.muted
        if has_ring(self):
            border = palette.text if is_on else palette.accent
        painter.setPen(QPen(border, 1))
        painter.setBrush(palette.primary if is_on else palette.raised)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        side = track.height() - 6
        travel = track.width() - side - 6
        left = track.left() + 3 + travel * (0.5 if self._is_several else float(is_on))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.on_primary if is_on else palette.muted)
        painter.drawEllipse(QRectF(left, track.top() + 3, side, side))
        painter.setPen(palette.muted if self._is_several else palette.text)
        word = translation(SEVERAL) if self._is_several else tr("On") if is_on else tr("Off")
        rest = self.rect().adjusted(self.TRACK.width() + 10, 0, 0, 0)
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, word)
