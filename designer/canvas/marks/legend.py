"""Says what layers are tinted by, up to which figure, and lets another figure be chosen."""

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from designer import theme
from designer.canvas.marks import tint
from designer.canvas.marks.tint import KINDS, Kind, Tint
from designer.canvas.view import CanvasView

_MARGIN = 14
_GAP = 8


class _Scale(QWidget):
    """The tints from none to the heaviest."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(QSize(12 * (tint.STEPS + 1), 10))

    def paintEvent(self, event: QPaintEvent) -> None:
        """One field a tint, in a frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        width = self.width() / (tint.STEPS + 1)
        for level in range(tint.STEPS + 1):
            painter.fillRect(QRectF(level * width, 0, width, self.height()), tint.ground(level))
        painter.setPen(theme.current().line)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class TintLegend(QFrame):
    """A chip above the zoom, there while layers are tinted."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self._scene = view.network_scene
        theme.mark(self, "role", "card")
        self._make()
        view.chip.installEventFilter(self)
        self._scene.tint_changed.connect(self._on_tint_changed)
        theme.changed.connect(self._dress)
        self._dress()
        self._on_tint_changed(self._scene.tint)

    def _make(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 3, 4, 7)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(2)
        self.buttons: dict[Kind, QToolButton] = {}
        self._group = QButtonGroup(self)
        for kind in KINDS:
            row.addWidget(self._button(kind))
        self._close = QToolButton()
        self._close.setToolTip("Show no tint")
        self._close.setAccessibleName("Show no tint")
        self._close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._close.clicked.connect(lambda: self._scene.show_tint(""))
        row.addWidget(self._close)
        column.addLayout(row)
        column.addLayout(self._scale())

    def _scale(self) -> QHBoxLayout:
        """The tints between nothing and the figure of the heaviest layer."""
        row = QHBoxLayout()
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(8)
        none, self.highest = QLabel("0"), QLabel()
        self.highest.setFont(theme.figures(self.highest.font()))
        for widget in (none, _Scale(), self.highest):
            row.addWidget(widget)
        for label in (none, self.highest):
            theme.mark(label, "role", "help")
        row.insertStretch(3)
        return row

    def _button(self, kind: Kind) -> QToolButton:
        button = QToolButton()
        button.setText(tint.LABELS[kind])
        button.setToolTip(tint.HELP[kind])
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda _=False: self._scene.show_tint(kind))
        self._group.addButton(button)
        self.buttons[kind] = button
        return button

    def _dress(self) -> None:
        self._close.setIcon(theme.icon("close", "muted"))

    def _on_tint_changed(self, shown: Tint) -> None:
        self.setVisible(bool(shown.kind))
        if shown.kind:
            self.buttons[shown.kind].setChecked(True)
            self.highest.setText(shown.text(shown.highest) or "0")
            self.highest.setToolTip("The heaviest layer")
            self._place()

    def _place(self) -> None:
        self.adjustSize()
        self.move(_MARGIN, max(0, self._view.chip.y() - self.height() - _GAP))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """It goes where the zoom goes."""
        if watched is self._view.chip and event.type() == QEvent.Type.Move:
            self._place()
        return super().eventFilter(watched, event)


def next_kind(kind: Kind) -> Kind:
    """Parameters, FLOPs, memory, no tint, and round again."""
    order: tuple[Kind, ...] = ("", *KINDS)
    return order[(order.index(kind) + 1) % len(order)]
