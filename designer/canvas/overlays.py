"""Widgets over the canvas: zoom, breadcrumbs, the hint beside the pointer, progress, and the empty state."""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from netwright.designer import markup, theme
from netwright.designer.canvas.legend_card import LegendCard
from netwright.designer.canvas.minimap import Minimap
from netwright.designer.canvas.viewport import Viewport
from netwright.designer.editor import Editor
from netwright.designer.language import tr
from netwright.designer.scene.lens import Lenses
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.engine.network.block import Block
from netwright.engine.network.blocks import names_of, network_in
from netwright.engine.network.problems import Fix

_MARGIN = 14
HELP_WIDTH = 480
"""Width in pixels at which the sentences of an empty canvas wrap."""


class ZoomChip(QFrame):
    """Minus, the zoom in percent, plus, and Fit."""

    zoom_out = Signal()
    zoom_in = Signal()
    zoom_reset = Signal()
    fit = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 2, 3, 2)
        row.setSpacing(0)
        self._button(row, "−", tr("Zoom out"), self.zoom_out, 24)
        self._percent = self._button(row, "100 %", tr("Actual size"), self.zoom_reset, 52)
        self._button(row, "+", tr("Zoom in"), self.zoom_in, 24)
        self._button(row, tr("Fit"), tr("Show the whole network (F)"), self.fit, 34)
        self.adjustSize()

    def _button(self, row: QHBoxLayout, text: str, tip: str, signal: object, width: int) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFixedSize(width, 24)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        font = theme.figures(button.font())
        font.setPixelSize(12)
        button.setFont(font)
        button.clicked.connect(signal)
        row.addWidget(button)
        return button

    def show_zoom(self, zoom: float) -> None:
        """Show a zoom; 1 is 100 %."""
        percent = f"{zoom * 100:.0f}" if zoom >= 0.01 else f"{zoom * 100:.1g}"
        self._percent.setText(f"{percent} %")


class Hint(QLabel):
    """A hint beside the pointer while a gesture is in progress."""

    _WIDTH = 320

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setProperty("role", "chip")
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, text: str, at: QPoint) -> None:
        """Show a text below a point of the parent; an empty text hides it."""
        self.setVisible(bool(text))
        if not text:
            return
        self.setText(text)
        self.ensurePolished()  # until then Qt guesses whether it is rich text
        width = min(self._WIDTH, self.fontMetrics().horizontalAdvance(text) + 24)
        self.resize(width, self.heightForWidth(width))
        room = self._over.size()
        x = min(at.x() + 16, room.width() - self.width() - 8)
        y = at.y() + 20
        if y + self.height() > room.height() - 8:
            y = at.y() - self.height() - 12
        self.move(max(8, x), max(8, y))
        self.raise_()


class EmptyState(QWidget):
    """Buttons for the first steps, on an empty canvas."""

    starter_requested = Signal()
    example_requested = Signal()
    add_input_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        picture = QLabel(self)
        picture.setPixmap(theme.icon("network", "muted").pixmap(40, 40))
        self._picture = picture
        self._title, self._help = QLabel(self), QLabel(self)
        self._title.setProperty("role", "title")
        self._help.setProperty("role", "muted")
        self._help.setWordWrap(True)
        self._help.setFixedWidth(HELP_WIDTH)
        for label in (picture, self._title, self._help):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(label, 0, Qt.AlignmentFlag.AlignHCenter)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.setContentsMargins(0, 8, 0, 0)
        row.addStretch()
        self._starter = QPushButton(self)
        self._starter.setAccessibleName(tr("Make a first network"))
        theme.mark(self._starter, "primary", True)
        example, add = QPushButton(tr("Start from an example"), self), QPushButton(tr("Add an image input"), self)
        requests = (self.starter_requested, self.example_requested, self.add_input_requested)
        for button, signal in zip((self._starter, example, add), requests, strict=True):
            button.clicked.connect(signal)
            row.addWidget(button)
        row.addStretch()
        column.addLayout(row)
        theme.changed.connect(self._dress)
        self.offer(None)

    def offer(self, starter: Fix | None) -> None:
        """Offer to make a network for the data of the project, where the data is known."""
        self._title.setText(tr("Start with a network for the data") if starter else tr("Drag an image input here"))
        where = tr("Layers are in the library on the left. Connect them by dragging from port to port.")
        self._help.setText(starter.detail if starter else where)
        self._help.setFixedHeight(self._help.heightForWidth(HELP_WIDTH))
        self._starter.setText(starter.label if starter else "")
        self._starter.setAccessibleName(starter.label if starter else tr("Make a first network"))
        self._starter.setVisible(starter is not None)
        self.place()

    def place(self) -> None:
        """Centre the buttons when the canvas is resized, or they are."""
        self.adjustSize()
        over = self.parentWidget()
        if over is not None:
            self.move((over.width() - self.width()) // 2, (over.height() - self.height()) // 2)

    def event(self, event: QEvent) -> bool:
        result = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:  # a button has its size when it is first shown
            self.place()
        return result

    def _dress(self) -> None:
        self._picture.setPixmap(theme.icon("network", "muted").pixmap(40, 40))


class BusyCard(QFrame):
    """A message, an indeterminate progress bar, and Cancel."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.setSpacing(12)
        self._text = QLabel(self)
        bar = QProgressBar(self)
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedSize(96, 4)
        bar.setAccessibleName(tr("Progress"))
        button = QPushButton(tr("Cancel"), self)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Escape on the canvas does the same
        button.setToolTip(tr("Leave everything as it is (Esc)"))
        button.clicked.connect(self.cancelled)
        for widget in (self._text, bar, button):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def say(self, text: str) -> None:
        """Show a message at the top of the canvas."""
        self._text.setText(text)
        self.adjustSize()
        self.place()
        self.show()
        self.raise_()

    def place(self) -> None:
        """Centre the card when the canvas is resized."""
        over = self.parentWidget()
        if over is not None:
            self.move((over.width() - self.width()) // 2, 16)


_LONGEST_NAME = 24


class Breadcrumbs(QFrame):
    """`Network › stage_1 › bottleneck`, at the top left of the canvas. Hidden while no block is open."""

    def __init__(self, editor: Editor, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor = editor
        self.setProperty("role", "card")
        self.setAccessibleName(tr("Open block"))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(5, 2, 10, 2)
        self._row.setSpacing(0)
        self.hide()
        editor.scope_changed.connect(self._show)
        editor.project_changed.connect(self._show)

    def _show(self, _change: object = None) -> None:
        path = self._editor.scope
        self.setVisible(bool(path))
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if not path:
            return
        names = (tr("Network"), *names_of(self._editor.project.network, path))
        for depth, name in enumerate(names[:-1]):
            self._row.addWidget(self._button(name, path[:depth]))
            self._row.addWidget(self._text("›", "muted"))
        self._row.addWidget(self._text(f" {_short(names[-1])}", "strong", names[-1]))
        *outer, id = path
        type = network_in(self._editor.project.network, outer).layers[id].type
        if isinstance(type, Block) and type.repeat > 1:
            self._row.addWidget(self._text("  " + tr("shared by %n copies", "", type.repeat), "muted"))
        for index in range(self._row.count()):
            if (item := self._row.itemAt(index)) is not None and (widget := item.widget()) is not None:
                widget.show()
        self.adjustSize()

    def _button(self, name: str, path: tuple[str, ...]) -> QToolButton:
        button = QToolButton(self)
        button.setText(markup.without_mnemonic(_short(name)))
        button.setToolTip(tr("Go back to {name}", name=name))
        button.setAccessibleName(tr("Go back to {name}", name=name))
        button.setFixedHeight(24)
        button.setFont(self._small(button))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self._go_back(path))
        return button

    def _go_back(self, path: tuple[str, ...]) -> None:
        """Leave all blocks down to a path; the block that was left last is selected, as after leaving by key."""
        block_id = self._editor.scope[len(path)]
        self._editor.open_scope(path)
        self._editor.set_selection({block_id})

    def _text(self, text: str, role: str, tip: str = "") -> QLabel:
        label = QLabel(text, self)
        label.setProperty("role", role)
        label.setToolTip(tip)
        label.setFont(self._small(label))
        return label

    def _small(self, widget: QWidget) -> QFont:
        font = theme.figures(widget.font())
        font.setPixelSize(12)
        return font


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


class Overlays(QObject):
    """The widgets over one canvas, each in its corner. The legend is made when a lens first needs it."""

    go_to = Signal(str)
    """A layer is to be selected and shown."""
    frozen_clicked = Signal()

    def __init__(self, view: Viewport, editor: Editor, lenses: Lenses, stages: PipelineStages) -> None:
        super().__init__(view)
        self._view, self._editor = view, editor
        self._lenses, self._stages = lenses, stages
        self._legend: LegendCard | None = None
        self.zoom_chip = ZoomChip(view)
        view.corners.append(self.zoom_chip)
        self.minimap = Minimap(view.network_scene, view)
        self.empty = EmptyState(view)
        self.breadcrumbs = Breadcrumbs(editor, view)
        self.hint = Hint(view)
        self.busy = BusyCard(view)
        self.zoom_chip.zoom_in.connect(view.zoom_in)
        self.zoom_chip.zoom_out.connect(view.zoom_out)
        self.zoom_chip.zoom_reset.connect(view.zoom_reset)
        self.zoom_chip.fit.connect(view.fit)
        self.minimap.moved.connect(view.look_at)
        view.zoom_changed.connect(self.zoom_chip.show_zoom)
        view.resized.connect(self.place)
        view.visible_changed.connect(self.minimap.show_visible)
        for signal in (view.network_scene.tint_changed, view.network_scene.health_changed, stages.changed):
            signal.connect(self.minimap.refresh)
        lenses.changed.connect(self._show_legend)
        editor.project_changed.connect(self._show_emptiness)
        editor.project_changed.connect(self._show_legend)
        editor.analysis_changed.connect(self._offer)
        self.empty.offer(editor.check_result.starter)
        self._show_emptiness()

    @property
    def legend(self) -> LegendCard:
        """The legend of the lens."""
        if self._legend is None:
            view, go_to = self._view, self.go_to.emit
            self._legend = LegendCard(self._lenses, view.network_scene, self._stages, go_to, view)
            self._legend.frozen_clicked.connect(self.frozen_clicked)
            self._legend.appeared.connect(view.clear_corners)
            view.corners.append(self._legend)
            self._legend.refresh()
        return self._legend

    def _show_legend(self) -> None:
        """Make the legend for a lens, or for frozen layers."""
        if self._lenses.current != "structure" or self._view.network_scene.frozen:
            assert self.legend is not None

    def place(self) -> None:
        """Put each widget into its corner of the view."""
        width, height = self._view.width(), self._view.height()
        chip = self.zoom_chip
        chip.move(width - chip.width() - _MARGIN, height - chip.height() - _MARGIN)
        self.minimap.place()
        self.busy.place()
        self.breadcrumbs.move(_MARGIN, _MARGIN)
        self.empty.place()
        if self._legend is not None:
            self._legend.refresh()

    def _offer(self) -> None:
        self.empty.offer(self._editor.check_result.starter)
        self._show_emptiness()

    def _show_emptiness(self) -> None:
        layout, layers = self._editor.layout, self._editor.network.layers
        is_empty = not (layers or layout.frames or layout.comments)
        self._lenses.set_layers(has_layers=bool(layers))
        self.empty.setVisible(is_empty)
        self.zoom_chip.setVisible(not is_empty)
        if is_empty:
            self.minimap.hide()
