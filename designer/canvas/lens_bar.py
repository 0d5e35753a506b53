"""The bar above the canvas: the lenses as segments, and at the right what is shown and of which sample."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import tr, translation
from netwright.designer.scene.lens import HELP, LABELS, LENSES, Lens, Lenses, Remark
from netwright.designer.segment_row import SegmentRow

HEIGHT = 40
_LEAST_TEXT = 72
_MARGIN = 12


class LensBar(QFrame):
    """One row. Where there is no room, the segments are one button with a menu."""

    def __init__(self, lenses: Lenses, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lenses = lenses
        theme.mark(self, "role", "lens-bar")
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        row.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
        row.setSpacing(12)
        self._title = QLabel(tr("Lens"))
        theme.mark(self._title, "role", "muted")
        self._segments, self._folded = self._make_segments(), self._make_folded()
        self.text = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        theme.mark(self.text, "role", "help")
        for widget in (self._title, self._segments, self._folded):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.text, 1)
        row.addWidget(self._make_samples())
        lenses.changed.connect(self.refresh)
        lenses.remarked.connect(self.refresh)
        theme.changed.connect(self._dress)
        self._dress()
        self.refresh()

    def _make_segments(self) -> SegmentRow:
        segments = SegmentRow(margin=2, spacing=0)
        self.buttons: dict[Lens, QPushButton] = {}
        for lens in LENSES:
            button = self.buttons[lens] = segments.add(translation(LABELS[lens]))
            button.toggled.connect(lambda is_on, lens=lens: self._choose(lens) if is_on else None)
        return segments

    def _choose(self, lens: Lens) -> None:
        """Choose a lens that was toggled: by a click, or by a screen reader, which does not click."""
        if lens != self._lenses.current:
            self._lenses.choose(lens)

    def _make_folded(self) -> QToolButton:
        button = QToolButton()
        theme.mark(button, "role", "chip")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setAccessibleName(tr("Lens"))
        self.menu = QMenu(button)
        theme.mark(self.menu, "role", "choices")
        self.menu.setToolTipsVisible(True)
        for lens in LENSES:
            action = self.menu.addAction(translation(LABELS[lens]), lambda lens=lens: self._lenses.choose(lens))
            action.setCheckable(True)
        button.setMenu(self.menu)
        return button

    def _make_samples(self) -> QWidget:
        """Return the sample that is shown, between buttons for the one before and the next."""
        self._samples, self.sample = QWidget(), QLabel()
        self.sample.setFont(theme.figures(self.sample.font()))
        row = QHBoxLayout(self._samples)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.before, self.after = QToolButton(), QToolButton()
        for button, name, step in ((self.before, tr("Sample before"), -1), (self.after, tr("Next sample"), 1)):
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(lambda _=False, step=step: self._lenses.sample_stepped.emit(step))
        for widget in (self.before, self.sample, self.after):
            row.addWidget(widget)
        return self._samples

    def _dress(self) -> None:
        self.before.setIcon(theme.icon("chevron-left", "muted"))
        self.after.setIcon(theme.icon("chevron-right", "muted"))

    def refresh(self) -> None:
        """Show the lens, which others can be had, and what the lens shows."""
        lenses = self._lenses
        for lens, action in zip(LENSES, self.menu.actions(), strict=True):
            refusal, button = lenses.refusal(lens), self.buttons[lens]
            tip = refusal or f"{translation(HELP[lens])} ({LENSES.index(lens) + 1})"
            for entry in (button, action):
                entry.setEnabled(not refusal)
                entry.setToolTip(tip)
                entry.setChecked(lens == lenses.current)
        self._folded.setText(translation(LABELS[lenses.current]))
        self._folded.setToolTip(translation(HELP[lenses.current]))
        remark = lenses.remarks.get(lenses.current, Remark())
        self.text.setText(remark.shown)
        self.sample.setText(remark.sample)
        self._samples.setVisible(bool(remark.sample))
        self._fold()

    def minimumSizeHint(self) -> QSize:
        """As narrow as it can be folded."""
        return QSize(self._folded.sizeHint().width() + 2 * _MARGIN, HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold."""
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        """Fold the segments into a menu where there is no room for them and the first letters of the text."""
        right = self._samples.sizeHint().width() + 12 if self.sample.text() else 0
        right += _LEAST_TEXT if self.text.text() else 0
        segments, title = self._segments.sizeHint().width(), self._title.sizeHint().width() + 12
        room = self.width() - 2 * _MARGIN - right
        is_folded = segments > room
        self._segments.setVisible(not is_folded)
        self._folded.setVisible(is_folded)
        self._title.setVisible(room >= title + (self._folded.sizeHint().width() if is_folded else segments))
