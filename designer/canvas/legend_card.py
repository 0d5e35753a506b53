"""The legend of the lens, in the lower left corner of the canvas: a scale with ticks, words, and where to look next."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QLinearGradient, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.language import named, tr, translation
from netwright.designer.scene import health_badges, stage_colours, tint
from netwright.designer.scene.health_badges import HIGH, LOW, VANISHING
from netwright.designer.scene.lens import LABELS, Lens, Lenses, Remark
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.designer.scene.scene import Scene
from netwright.designer.scene.tint import KINDS, Kind
from netwright.designer.segment_row import SegmentRow
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.drawing.colour_maps import colours
from netwright.engine.project.check_strategies import wrong_count
from netwright.engine.project.environment import SEVERAL, EnvironmentOptions
from netwright.engine.project.pipeline_stages import Stages
from netwright.engine.project.stage_edits import stage_bytes

WIDTH, _LEAST = 276, 132
_BESIDE = 184
"""Room for the overview and the zoom; a narrow view has a narrow legend, with fewer words."""
_BAR = 12
_TICKS = 16
_SIZE, _APART = 11, 4
_MARGIN = 14
MOST_ROWS = 8


@dataclass(frozen=True)
class Steps:
    """A scale: its colours from low to high, and the texts at its ends and between its steps."""

    colours: tuple[QColor, ...]
    ticks: tuple[str, ...]
    is_smooth: bool = False


class Scale(QWidget):
    """Paints the colours of a lens as a bar, with ticks below."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = Steps((), ())

    def sizeHint(self) -> QSize:
        """Return the room for the bar and its ticks."""
        return QSize(WIDTH - 32, _BAR + 4 + _TICKS)

    def show_steps(self, steps: Steps | None) -> None:
        """Show another scale, or none."""
        self.steps = steps or Steps((), ())
        self.setVisible(steps is not None)
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bar, a line at each tick, and the texts, those at the ends within the bar."""
        palette, steps = theme.current(), self.steps
        if not steps.colours:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        width = self.width() / len(steps.colours)
        for number, colour in enumerate(steps.colours):
            painter.fillRect(QRectF(number * width, 0, width + 1, _BAR), colour)
        if steps.is_smooth:
            gradient = QLinearGradient(0, 0, self.width(), 0)
            for number, colour in enumerate(steps.colours):
                gradient.setColorAt(number / (len(steps.colours) - 1), colour)
            painter.fillRect(QRectF(0, 0, self.width(), _BAR), gradient)
        painter.setPen(palette.edge)
        painter.drawRect(QRectF(0, 0, self.width() - 1, _BAR))
        font = theme.figures(QFont(self.font()))
        font.setPixelSize(_SIZE)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        last = len(steps.ticks) - 1
        taken: list[tuple[float, float]] = []
        for number in sorted(range(last + 1), key=lambda number: 0 < number < last):  # the ends first
            x, text = number / last * (self.width() - 1), steps.ticks[number]
            long = metrics.horizontalAdvance(text)
            left = min(max(0.0, x - long / 2), self.width() - long)
            painter.setPen(palette.edge)
            painter.drawLine(QPointF(x, _BAR), QPointF(x, _BAR + 3))
            if all(left > end + _APART or left + long < begin - _APART for begin, end in taken):
                taken.append((left, left + long))
                painter.setPen(palette.muted)
                painter.drawText(QPointF(left, _BAR + 4 + metrics.ascent()), text)
        painter.end()


def unused_because(environment: EnvironmentOptions) -> str:
    """Return the sentence that says why these options have no stages."""
    if environment.target not in SEVERAL:
        return tr("Not used: the execution environment is {target}.", target=environment.target)
    strategy = environment.strategy if environment.strategy != "auto" else "data-parallel"
    return tr("Not used: the strategy is {strategy}.", strategy=strategy)


class _Chip(QWidget):
    """Number of a stage on its colour, as on a layer."""

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self.setFixedSize(28, 20)

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


class StageRows(QWidget):
    """A row per stage, a sentence, and buttons to balance the stages, to leave them to the engine and to use them."""

    def __init__(self, stages: PipelineStages, editor: Editor) -> None:
        super().__init__()
        self._stages, self._editor = stages, editor
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[_Chip, QLabel, QLabel]] = []
        self.words = QLabel()
        self.words.setWordWrap(True)
        theme.mark(self.words, "role", "help")
        column.addLayout(self._grid)
        column.addWidget(self.words)
        column.addLayout(self._make_buttons())
        column.addWidget(self.use_button)

    def _make_buttons(self) -> QHBoxLayout:
        self.balance_button = QPushButton(tr("Balance"))
        self.balance_menu = QMenu(self)
        self.balance_menu.addAction(tr("By work")).triggered.connect(lambda: self._stages.balance("work"))
        self.balance_menu.addAction(tr("By memory")).triggered.connect(lambda: self._stages.balance("memory"))
        self.balance_button.setMenu(self.balance_menu)
        self.balance_button.setToolTip(tr("Balance the stages by work or by memory, and keep the result"))
        self.clear_button = QPushButton(tr("Automatic"))
        self.clear_button.setToolTip(tr("Discard stages set by hand: they are balanced by work when a run begins"))
        self.clear_button.clicked.connect(lambda: self._stages.clear())
        self.use_button = QPushButton(tr("Use a pipeline"))
        self.use_button.setToolTip(tr("Choose the pipeline strategy, so that a run has these stages"))
        self.use_button.clicked.connect(lambda: self._stages.use())
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.balance_button, 1)
        row.addWidget(self.clear_button, 1)
        return row

    @property
    def caption(self) -> str:
        """Whether the stages are automatic or set by hand, in words."""
        return tr("automatic") if self._stages.current.is_automatic else tr("by hand")

    def refresh(self) -> None:
        """Update the contents, where stages are shown."""
        if not self._stages.is_on:
            return
        state = self._stages.current
        self._show_rows(state.stages)
        sentences = [state.refusal] if state.refusal else []
        rest = (state.stages.count if state.stages else 0) - MOST_ROWS
        if rest > 0:
            sentences.append(tr("And %n stage(s) more.", "", rest))
        if not self._stages.is_used:
            sentences.append(unused_because(self._editor.project.environment))
        elif state.stages and (why := wrong_count(state.stages.count, self._stages.workers)):
            sentences.append(why[:1].upper() + why[1:])
        elif not state.refusal:
            sentences.append(tr("Keys 1 to 9 move what is selected."))
        self.words.setText(" ".join(sentences))
        self.clear_button.setEnabled(not state.is_automatic)
        self.use_button.setVisible(not self._stages.is_used)

    def _show_rows(self, stages: Stages | None) -> None:
        count = min(stages.count, MOST_ROWS) if stages else 0
        while len(self._rows) < count:
            self._add_row()
        bytes = stage_bytes(self._editor.project, self._stages.analysis, stages) if stages else []
        for number, (chip, layers, takes) in enumerate(self._rows):
            for widget in (chip, layers, takes):
                widget.setVisible(number < count)
            if stages is None or number >= count:
                continue
            members = sum(stage == number for stage in stages.of.values())
            chip.show_number(number)
            layers.setText(tr("%n layer(s)", "", members) if members else tr("no layer"))
            takes.setText(
                tr(
                    "{share} of work, {memory}",
                    share=format_percent(stages.shares[number]),
                    memory=format_bytes(bytes[number]),
                )
            )
            takes.setToolTip(tr("Share of the floating-point operations, and memory of the worker in training, about"))

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
        return [named(layers.text(), takes.text()) for chip, layers, takes in self._rows if not chip.isHidden()]


class LegendCard(QFrame):
    """Shown while the lens has a scale, stages or texts, or layers are frozen."""

    frozen_clicked = Signal()
    appeared = Signal()
    """The card was hidden and is shown."""

    def __init__(
        self, lenses: Lenses, scene: Scene, stages: PipelineStages, go_to: Callable[[str], object], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._lenses, self._scene, self._go_to = lenses, scene, go_to
        theme.mark(self, "role", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(self._make_heading())
        column.addWidget(self._make_costs())
        self.scale = Scale()
        column.addWidget(self.scale)
        column.addWidget(self._make_ends())
        self.rows = StageRows(stages, scene.editor)
        column.addWidget(self.rows)
        self.foot, self.note, self.link = _foot()
        self.frozen_foot, self.frozen, self._change = _foot()
        self._change.setText(tr("Change…"))
        self._change.setToolTip(tr("Layers with a lock keep their weights while the network trains"))
        column.addWidget(self.foot)
        column.addWidget(self.frozen_foot)
        self.link.clicked.connect(self._follow_link)
        self._change.clicked.connect(self.frozen_clicked)
        for signal in (lenses.changed, lenses.remarked, scene.tint_changed, scene.health_changed, stages.changed):
            signal.connect(self.refresh)
        scene.editor.project_changed.connect(self.refresh)
        theme.changed.connect(self.refresh)

    def showEvent(self, event: QShowEvent) -> None:
        """Tell that the card is shown."""
        super().showEvent(event)
        self.appeared.emit()

    def _make_heading(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.title, self.caption = QLabel(), QLabel()
        theme.mark(self.title, "role", "strong")
        theme.mark(self.caption, "role", "help")
        row.addWidget(self.title)
        row.addWidget(self.caption, 1)
        return row

    def _make_costs(self) -> QWidget:
        """Return the figures of the cost as segments."""
        self._costs = SegmentRow(margin=2, spacing=0)
        self.costs: dict[Kind, QPushButton] = {}
        for kind in KINDS:
            button = self._costs.add(translation(tint.LABELS[kind]), translation(tint.HELP[kind]), padding=11)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, kind=kind: self._lenses.choose_cost(kind))
            self.costs[kind] = button
            self._costs.row.setStretchFactor(button, 1)
        return self._costs

    def _make_ends(self) -> QWidget:
        """Return the words below the scale: for its ends and its middle."""
        self._ends = QWidget()
        row = QHBoxLayout(self._ends)
        row.setContentsMargins(0, 0, 0, 0)
        for text in (tr("{mark} vanishes", mark=LOW), tr("healthy"), tr("broken {mark}", mark=HIGH)):
            label = QLabel(text)
            theme.mark(label, "role", "help")
            row.addWidget(label)
            if HIGH not in text:
                row.addStretch(1)
        return self._ends

    # ---- showing ----

    def refresh(self, _change: object = None) -> None:
        """Show the legend of the lens, or hide."""
        lens = self._lenses.current
        remark = self._lenses.remarks.get(lens, Remark())
        caption, steps = self._scale_of(lens)
        note, link = self._texts_of(lens, remark)
        frozen = len(self._scene.frozen)
        over = self.parentWidget()
        assert over is not None
        room = over.width() - _BESIDE
        is_compact = room < WIDTH and lens != "stages"
        self.setFixedWidth(max(_LEAST, room) if is_compact else WIDTH)
        self.title.setText(translation(LABELS[lens]) if lens != "structure" else tr("Frozen"))
        self.caption.setText(caption)
        self.caption.setVisible(not is_compact)
        self._costs.setVisible(lens == "cost" and not is_compact)
        for kind, button in self.costs.items():
            button.setChecked(kind == self._lenses.cost)
        self.scale.show_steps(steps)
        self._ends.setVisible(lens == "health" and not is_compact)
        self.rows.setVisible(lens == "stages")
        self.note.setText(note)
        self.link.setText(link)
        self.link.setVisible(bool(link))
        self.foot.setVisible(bool(note or link))
        self.frozen.setText(tr("%n layer(s) frozen", "", frozen))
        self.frozen_foot.setVisible(bool(frozen))
        is_shown = self._scene.editor.network.layers and (lens != "structure" or frozen)
        if is_shown:
            self.rows.refresh()
            self.place()
            self.raise_()
        self.setVisible(bool(is_shown))

    def _scale_of(self, lens: Lens) -> tuple[str, Steps | None]:
        """Return the caption of the scale of a lens, and the scale."""
        if lens in ("cost", "time"):
            shown = self._scene.tint
            grounds = tuple(tint.ground(level) for level in range(1, tint.STEPS + 1))
            caption = tr("forward and backward, per step") if lens == "time" else tr("of each layer")
            return caption, Steps(grounds, tuple(shown.ticks())) if shown.limits else None
        if lens == "health":
            low, good, high = (health_badges.ground(tone) for tone in ("low", "good", "high"))
            ticks = ("0", f"{100 * VANISHING:g} %", "0.1 %", "1 %", "10 %", "100 %", "∞")
            return tr("gradient, of the largest"), Steps((low, good, good, good, good, high), ticks)
        if lens in ("activations", "attribution"):
            sequence = colours("sequential")
            stops = tuple(QColor(*sequence[number]) for number in range(0, len(sequence), 15))
            return tr("each layer by itself"), Steps(stops, (tr("lowest"), tr("highest")), is_smooth=True)
        return self.rows.caption if lens == "stages" else "", None

    def _texts_of(self, lens: Lens, remark: Remark) -> tuple[str, str]:
        """Return the line below the scale, and its link."""
        if lens == "health" and self._scene.health:
            doubtful = len(self._doubtful())
            text = tr(
                "{healthy:,} healthy · {doubtful:,} to look at",
                healthy=len(self._scene.health) - doubtful,
                doubtful=doubtful,
            )
            return text, tr("Next") if doubtful else ""
        if lens == "cost" and (heaviest := self._heaviest()):
            shown = self._scene.tint
            share = shown.share(shown.highest) or shown.text(shown.highest)
            return named(self._scene.editor.network.layers[heaviest].name, share), tr("Show")
        return remark.note, remark.link

    def _heaviest(self) -> str:
        """Return the layer with the highest figure."""
        shown, facts = self._scene.tint, self._scene.editor.analysis.shapes
        ids = (id for id in self._scene.nodes.nodes if shown.figure(id, facts.get(id)) == shown.highest)
        return next(ids, "") if shown.highest else ""

    def _doubtful(self) -> list[str]:
        """Return the layers that are worth a look, in the order of the network."""
        order = self._scene.editor.network.order
        return [id for id in order if id in self._scene.health and self._scene.health[id].rank]

    def _follow_link(self) -> None:
        """Go to the heaviest layer, or to the next one that is worth a look; other links are of the lens."""
        lens = self._lenses.current
        if lens == "cost":
            self._go_to(self._heaviest())
        elif lens == "health" and (doubtful := self._doubtful()):
            selection = self._scene.editor.selection
            last = max((doubtful.index(id) for id in selection if id in doubtful), default=-1)
            self._go_to(doubtful[(last + 1) % len(doubtful)])
        else:
            self._lenses.link_clicked.emit(lens)

    def place(self) -> None:
        """Stand in the lower left corner."""
        over, column = self.parentWidget(), self.layout()
        if over is not None and column is not None:
            column.activate()
            height = (
                column.totalHeightForWidth(WIDTH) if column.hasHeightForWidth() else column.totalSizeHint().height()
            )
            self.resize(WIDTH, height)  # of lines that wrap no size hint knows the number
            self.move(_MARGIN, max(_MARGIN, over.height() - self.height() - _MARGIN))


def _foot() -> tuple[QWidget, QLabel, QPushButton]:
    """Return a line with a text and a link."""
    line, text, link = QWidget(), QLabel(), QPushButton()
    text.setWordWrap(True)
    theme.mark(text, "role", "help")
    theme.mark(link, "role", "link")
    link.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    link.setCursor(Qt.CursorShape.PointingHandCursor)
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addWidget(text, 1)
    row.addWidget(link, 0, Qt.AlignmentFlag.AlignTop)
    return line, text, link
