"""Shares of the time of training steps: waiting for data, computing, communication between workers."""

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from netwright.app.plots.quantities import COMMUNICATION, COMPUTING, DATA
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr, translation
from netwright.engine.core.text import format_percent

HEIGHT, RADIUS = 8, 4.0
SMOOTHING = 0.8
"""Share of the previous value that the bar keeps with each report: single reports would make it flicker."""
NAMES = (DATA, COMPUTING, COMMUNICATION)


def colour_of(name: str) -> QColor:
    """Return the colour of a share, as in the plot of step times."""
    palette = theme.current()
    return {DATA: palette.warning, COMPUTING: palette.accent}.get(name) or palette.family("Pooling")


class ShareBar(QWidget):
    """A bar divided in proportion to shares that add up to 1."""

    def __init__(self) -> None:
        super().__init__()
        self.shares: dict[str, float] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return its height; it is as wide as there is room."""
        return QSize(120, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the parts one beside the other, with rounded ends."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline, x = QPainterPath(), 0.0
        outline.addRoundedRect(QRectF(0, 0, self.width(), HEIGHT), RADIUS, RADIUS)
        painter.setClipPath(outline)
        for name, share in self.shares.items():
            painter.fillRect(QRectF(x, 0, share * self.width() + 1, HEIGHT), colour_of(name))
            x += share * self.width()
        painter.end()


class StepTime(QWidget):
    """The bar under its heading, with a label per share, and below it advice where a part takes long."""

    def __init__(self) -> None:
        super().__init__()
        self.bar, self.advice = ShareBar(), QLabel()
        self.labels = {name: QLabel() for name in NAMES}
        heading = QLabel(tr("Step time").upper())
        theme.mark(heading, "role", "section")
        theme.mark(self.advice, "role", "help")
        self.advice.setWordWrap(True)
        row = self._row = QHBoxLayout()
        for number, label in enumerate(self.labels.values()):
            theme.mark(label, "role", "help")
            label.setFont(theme.figures(label.font()))
            row.addWidget(label)
            if number < len(self.labels) - 1:
                row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (heading, self.bar):
            column.addWidget(part)
        column.addLayout(row)
        column.addWidget(self.advice)
        self.setToolTip(tr("Shares of the time of recent steps"))
        self.clear()

    def clear(self) -> None:
        """Forget a run."""
        self.bar.shares = {}
        self.show_advice("")
        self.hide()

    def add(self, shares: Mapping[str, float], num_workers: int = 1) -> None:
        """Take the shares since the last report; empty where nothing was measured. One worker alone does not
        communicate."""
        if num_workers == 1:
            shares = {name: share for name, share in shares.items() if name != COMMUNICATION}
        if not shares:
            return
        old = self.bar.shares if set(self.bar.shares) == set(shares) else shares
        mixed = {n: SMOOTHING * old[n] + (1 - SMOOTHING) * shares[n] for n in NAMES if n in shares}
        total = sum(mixed.values()) or 1.0
        self.bar.shares = {name: share / total for name, share in mixed.items()}
        for name, label in self.labels.items():
            label.setVisible(name in self.bar.shares)
            share = format_percent(self.bar.shares.get(name, 0.0))
            text = f"{translation(name)} {share}".replace(" ", "\u00a0")
            if label.text() != text:
                label.setText(text)
        self._row.setStretch(
            self._row.count() - 2, int(COMMUNICATION in self.bar.shares)
        )  # the last one is at the right
        shares_text = ", ".join(self.labels[n].text() for n in self.bar.shares)
        self.setAccessibleName(tr("Step time: {shares}", shares=shares_text))
        self.bar.update()
        self.show()

    def show_advice(self, text: str) -> None:
        """Show what would make steps faster; empty for nothing."""
        self.advice.setText(message_text(text))
        self.advice.setVisible(bool(text))
        if text:
            self.show()
