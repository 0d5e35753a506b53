"""Legends over the canvas: of the tint by a figure, of health badges, and of pipeline stages."""

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from netwright.designer import theme
from netwright.designer.canvas.view import CanvasView
from netwright.designer.scene import stage_colours as stage_colours
from netwright.designer.scene import tint
from netwright.designer.scene.health_badges import STATES, WORDS, State, paint_badge
from netwright.designer.scene.tint import KINDS, Kind, Tint
from netwright.engine.core.errors import plural
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.project.check_strategies import wrong_count
from netwright.engine.project.environment import SEVERAL, EnvironmentOptions
from netwright.engine.project.pipeline_stages import Stages
from netwright.engine.project.stage_edits import stage_bytes

_MARGIN = 14
_GAP = 8


class _Scale(QWidget):
    """Scale of the tints from none to the heaviest."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(QSize(12 * (tint.STEPS + 1), 10))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint one field per tint, in a frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        width = self.width() / (tint.STEPS + 1)
        for level in range(tint.STEPS + 1):
            painter.fillRect(QRectF(level * width, 0, width, self.height()), tint.ground(level))
        painter.setPen(theme.current().line)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class _Legend(QFrame):
    """A card above the zoom chip. A network that was fitted is fitted again, beside it."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        theme.mark(self, "role", "card")
        view.corner.append(self)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the network beside the legend."""
        super().showEvent(event)
        self._fit_again()

    def hideEvent(self, event: QHideEvent) -> None:
        """Give the network the room of the legend."""
        super().hideEvent(event)
        self._fit_again()

    def _fit_again(self) -> None:
        if self._view.refit is not None:
            QTimer.singleShot(0, self._view, self._view.refit)  # once the legend has its place


class TintLegend(_Legend):
    """Legend above the zoom chip, visible while layers are tinted. Measured times have a line that says what they were
    measured on, and a link that measures them again."""

    measuring_requested = Signal()

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._scene = view.network_scene
        self._make()
        view.overlays.zoom_chip.installEventFilter(self)
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
        column.addWidget(self._times_line())

    def _times_line(self) -> QWidget:
        """Return the line with the device of the measured times, and the link."""
        self._line = QWidget()
        row = QHBoxLayout(self._line)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(8)
        self.state, self.measure_button = QLabel(), QPushButton("Measure")
        theme.mark(self.state, "role", "help")
        theme.mark(self.measure_button, "role", "link")
        theme.mark(self.measure_button, "flush", True)
        self.measure_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.measure_button.clicked.connect(self.measuring_requested)
        row.addWidget(self.state)
        row.addStretch(1)
        row.addWidget(self.measure_button)
        return self._line

    def show_times_state(self, words: str, link: str) -> None:
        """Show the device of the measured times, or the progress of measuring, and the text of the link."""
        self.state.setText(words)
        self.measure_button.setText(link)
        self._place()

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
        button.clicked.connect(lambda _=False: self._choose(kind))
        self._group.addButton(button)
        self.buttons[kind] = button
        return button

    def _choose(self, kind: Kind) -> None:
        self._scene.show_tint(kind)
        if kind == "time" and not self._scene.times:
            self.measuring_requested.emit()

    def _dress(self) -> None:
        self._close.setIcon(theme.icon("close", "muted"))

    def _on_tint_changed(self, tint: Tint) -> None:
        self.setVisible(bool(tint.kind))
        if tint.kind:
            self.buttons[tint.kind].setChecked(True)
            self.highest.setText(tint.text(tint.highest) or "0")
            self.highest.setToolTip("The slowest layer" if tint.kind == "time" else "The heaviest layer")
            self._line.setVisible(tint.kind == "time")
            self._place()

    def _place(self) -> None:
        self.adjustSize()
        self.move(_MARGIN, max(0, self._view.overlays.zoom_chip.y() - self.height() - _GAP))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the zoom chip."""
        if watched is self._view.overlays.zoom_chip and event.type() == QEvent.Type.Move:
            self._place()
        return super().eventFilter(watched, event)


def next_kind(kind: Kind, *, has_times: bool = False) -> Kind:
    """Switch cyclically between parameters, FLOPs, memory, measured times if there are any, and no tint."""
    order: tuple[Kind, ...] = ("", *(kind for kind in KINDS if kind != "time" or has_times))
    if kind not in order:
        return ""
    return order[(order.index(kind) + 1) % len(order)]


_HEALTH_LEGEND_GAP = 8


class _Sample(QWidget):
    """Shape of one state."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.setFixedSize(QSize(12, 12))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the badge as on a layer."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_badge(painter, self._state, QPointF(6, 6))
        painter.end()


class HealthLegend(_Legend):
    """Legend above the zoom chip, visible while health badges are shown."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        self.at = QLabel()
        self.at.setToolTip("The badges on the layers are of this iteration; their tooltips say why")
        self.at.setFont(theme.figures(self.at.font()))
        column.addWidget(self.at)
        for state in STATES:
            row = QHBoxLayout()
            row.setSpacing(8)
            label = QLabel(WORDS[state])
            theme.mark(label, "role", "help")
            row.addWidget(_Sample(state))
            row.addWidget(label, 1)
            column.addLayout(row)
        self._soon = QTimer(self, singleShot=True, interval=0)  # the legend of tints finds its place first
        self._soon.timeout.connect(self._place)
        view.overlays.zoom_chip.installEventFilter(self)
        view.network_scene.tint_changed.connect(lambda: self._soon.start())
        self.hide()

    def show_at(self, iteration: int) -> None:
        """Show the iteration of the badges."""
        self.at.setText(f"Iteration {iteration:,}")
        self.show()
        self._place()

    def _place(self) -> None:
        self.adjustSize()
        chip, tints = self._view.overlays.zoom_chip, self._view.findChild(TintLegend)
        below = tints if tints is not None and not tints.isHidden() else chip
        self.move(chip.x(), max(0, below.y() - self.height() - _HEALTH_LEGEND_GAP))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the zoom chip."""
        if watched is self._view.overlays.zoom_chip and event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place()
        return super().eventFilter(watched, event)


_STAGE_LEGEND_GAP = 8
_STAGE_LEGEND_MARGIN = 14
_WIDTH = 292
MOST_ROWS = 8


def unused_because(environment: EnvironmentOptions) -> str:
    """Return the reason why these options have no stages."""
    if environment.target not in SEVERAL:
        return f"the execution environment is {environment.target}"
    return f"the strategy is {environment.strategy if environment.strategy != 'auto' else 'data-parallel'}"


class _Chip(QWidget):
    """Number of a stage on its colour, as on a layer."""

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self.setFixedSize(QSize(28, 20))

    def show_number(self, number: int) -> None:
        """Show the number of another stage."""
        self._number = number
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chip left-aligned."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        stage_colours.paint_chip(painter, self._number, QPointF(stage_colours.chip_width(self._number), 2))
        painter.end()


class StageLegend(_Legend):
    """Legend above the zoom chip, visible while stages are shown."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._stages = view.stages
        self.setFixedWidth(_WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 10)
        column.setSpacing(6)
        column.addLayout(self._make_top())
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 4, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[_Chip, QLabel, QLabel]] = []
        column.addLayout(self._grid)
        self.words = QLabel()
        self.words.setWordWrap(True)
        theme.mark(self.words, "role", "help")
        column.addWidget(self.words)
        column.addLayout(self._make_buttons())
        use = QHBoxLayout()
        use.setContentsMargins(0, 2, 4, 0)
        use.addWidget(self.use_button)
        column.addLayout(use)
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._place)
        view.overlays.zoom_chip.installEventFilter(self)
        view.stages.changed.connect(self.refresh)
        theme.changed.connect(self._dress)
        self._dress()
        self.refresh()

    def _make_top(self) -> QHBoxLayout:
        self.title = QLabel("Stages")
        theme.mark(self.title, "role", "strong")
        self.how = QLabel()
        theme.mark(self.how, "role", "help")
        self._close = QToolButton()
        self._close.setToolTip("Show no stages")
        self._close.setAccessibleName("Show no stages")
        self._close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._close.clicked.connect(lambda: self._stages.show(False))
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(self.how)
        row.addStretch(1)
        row.addWidget(self._close)
        return row

    def _make_buttons(self) -> QHBoxLayout:
        self.balance_button = QPushButton("Balance")
        self.balance_menu = QMenu(self)
        self.balance_menu.addAction("By work").triggered.connect(lambda: self._stages.balance("work"))
        self.balance_menu.addAction("By memory").triggered.connect(lambda: self._stages.balance("memory"))
        self.balance_button.setMenu(self.balance_menu)
        self.balance_button.setToolTip("Balance the stages by work or by memory, and keep the result")
        self.clear_button = QPushButton("Automatic")
        self.clear_button.setToolTip("Discard stages set by hand: they are balanced by work when a run begins")
        self.clear_button.clicked.connect(lambda: self._stages.clear())
        self.use_button = QPushButton("Use a pipeline")
        self.use_button.setToolTip("Choose the pipeline strategy, so that a run has these stages")
        self.use_button.clicked.connect(lambda: self._stages.use())
        for button in (self.balance_button, self.clear_button, self.use_button):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 4, 0)
        row.setSpacing(8)
        row.addWidget(self.balance_button, 1)
        row.addWidget(self.clear_button, 1)
        return row

    def _dress(self) -> None:
        self._close.setIcon(theme.icon("close", "muted"))

    def refresh(self) -> None:
        """Update the contents."""
        self.setVisible(self._stages.is_on)
        if not self._stages.is_on:
            return
        state = self._stages.current
        self.how.setText("automatic" if state.is_automatic else "by hand")
        self._show_rows(state.stages)
        sentences = [state.refusal] if state.refusal else []
        rest = (state.stages.count if state.stages else 0) - MOST_ROWS
        if rest > 0:
            sentences.append(f"And {plural(rest, 'stage')} more.")
        if not self._stages.is_used:
            sentences.append(f"Not used: {unused_because(self._view.editor.project.environment)}.")
        elif state.stages and (why := wrong_count(state.stages.count, self._stages.workers)):
            sentences.append(why[:1].upper() + why[1:])
        elif not state.refusal:
            sentences.append("Keys 1 to 9 move what is selected.")
        self.words.setText(" ".join(sentences))
        self.clear_button.setEnabled(not state.is_automatic)
        self.use_button.setVisible(not self._stages.is_used)
        self._place()
        self._soon.start()

    def _show_rows(self, stages: Stages | None) -> None:
        count = min(stages.count, MOST_ROWS) if stages else 0
        while len(self._rows) < count:
            self._add_row()
        bytes = stage_bytes(self._view.editor.project, self._stages.analysis, stages) if stages else []
        for number, (chip, layers, takes) in enumerate(self._rows):
            for widget in (chip, layers, takes):
                widget.setVisible(number < count)
            if stages is None or number >= count:
                continue
            members = sum(stage == number for stage in stages.of.values())
            chip.show_number(number)
            layers.setText(plural(members, "layer") if members else "no layer")
            takes.setText(f"{format_percent(stages.shares[number])} of work, {format_bytes(bytes[number])}")
            takes.setToolTip("Share of the floating-point operations, and memory of the worker in training, about")

    def _add_row(self) -> None:
        chip, layers, takes = _Chip(), QLabel(), QLabel()
        takes.setFont(theme.figures(takes.font()))
        theme.mark(takes, "role", "help")
        takes.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layers.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        line = len(self._rows)
        for index, widget in enumerate((chip, layers, takes)):
            self._grid.addWidget(widget, line, index)
        self._rows.append((chip, layers, takes))

    @property
    def lines(self) -> list[str]:
        """Return the texts of the rows."""
        return [f"{layers.text()}: {takes.text()}" for chip, layers, takes in self._rows if not chip.isHidden()]

    def _place(self) -> None:
        column = self.layout()
        assert column is not None
        self.resize(_WIDTH, column.totalHeightForWidth(_WIDTH))  # of lines that wrap no size hint knows the number
        chip = self._view.overlays.zoom_chip
        self.move(_STAGE_LEGEND_MARGIN, max(0, chip.y() - self.height() - _STAGE_LEGEND_GAP))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the zoom chip."""
        if watched is self._view.overlays.zoom_chip and event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place()
        return super().eventFilter(watched, event)
