"""Landscape: the objective over two values, a cell of colour per trial."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QWidget

from netwright.app.experiments.plots.chart import WAITING, Findings, TrialChart
from netwright.app.experiments.plots.frame import WHOLE, Frame, Part, Spots, shares
from netwright.app.experiments.plots.marks import label_font, set_lines
from netwright.app.experiments.plots.scatter import BELOW, LEFT, TOP, axis_choice, fill_choice
from netwright.app.experiments.trial_texts import state_words
from netwright.app.plots.axes import TickAxis
from netwright.app.plots.heat_map import ColourBar, Texts
from netwright.app.plots.plot_items import Line
from netwright.app.plots.series import Floats
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.ticks import round_ticks
from netwright.engine.drawing.colour_maps import colours
from netwright.engine.runs.trial_axes import TrialAxis
from netwright.engine.runs.trial_log import Trial
from netwright.engine.runs.trial_rows import ranked

CELLS = 240
"""Pixels per side of a picture whose cells are not a grid."""
MOST_PLACES, LEAST_FILLED = 16, 0.5
"""A grid has at most so many values per axis, and trials in at least such a share of its cells."""
FENCE = 1.5
"""Scores that are worse than the lower quartile by more than so many interquartile ranges (Tukey, 1977) have the last
colour, so that one that diverged leaves the others theirs."""
CATEGORY_APART = 50.0
"""Distance of a text on an axis relative to that of numbers: cells of one text end where those of the next begin."""
RIGHT = 92.0
APART = 14.0
"""Pixels that the lowest text of the scale needs."""
WIDE_CELL, HIGH_CELL, TEXT_HEIGHT = 46.0, 38.0, 16.0
"""Pixels from which on a cell has its score as text."""
MARK_ABOVE = 8.0
DARK, LIGHT = QColor("#10131a"), QColor("#ffffff")
LUMINANCE = (0.299, 0.587, 0.114)


def nearest(places: Floats, cells: int = CELLS, parts: tuple[Part, Part] = (WHOLE, WHOLE)) -> NDArray[np.int64]:
    """Return for each pixel of parts of the unit square, `(cells, cells)` with rows from the bottom up, which of
    `places`, `(N, 2)`, is nearest: by jump flooding (Rong, Tan, 2006), in as many passes as `cells` has digits of two,
    however many places there are."""
    middles = (np.arange(cells) + 0.5) / cells
    x, y = (low + middles * (high - low) for low, high in parts)
    owners = np.full((cells, cells), -1, dtype=np.int64)
    (left, right), (low, high) = parts
    columns = np.clip((places[:, 0] - left) / (right - left) * cells, 0, cells - 1).astype(np.int64)
    rows = np.clip((places[:, 1] - low) / (high - low) * cells, 0, cells - 1).astype(np.int64)
    owners[rows, columns] = np.arange(len(places))
    apart = _apart(owners, places, x, y)
    steps = [2**power for power in reversed(range(max(1, math.ceil(math.log2(cells)))))]
    for step in (*steps, 1):
        for down in (-step, 0, step):
            for across in (-step, 0, step):
                others = _shifted(owners, down, across)
                distance = _apart(others, places, x, y)
                is_nearer = distance < apart
                owners[is_nearer], apart[is_nearer] = others[is_nearer], distance[is_nearer]
    return owners


def _shifted(values: NDArray[np.int64], down: int, across: int) -> NDArray[np.int64]:
    """Return an array moved by rows and columns, with -1 where nothing came from."""
    moved = np.full_like(values, -1)
    rows, columns = values.shape
    to = slice(max(0, down), rows + min(0, down)), slice(max(0, across), columns + min(0, across))
    come = slice(max(0, -down), rows - max(0, down)), slice(max(0, -across), columns - max(0, across))
    moved[to] = values[come]
    return moved


def _apart(owners: NDArray[np.int64], places: Floats, x: Floats, y: Floats) -> Floats:
    """Return the squared distance of each pixel to the place that owns it."""
    spots = places[owners]
    squares: Floats = (spots[..., 0] - x[None, :]) ** 2 + (spots[..., 1] - y[:, None]) ** 2
    return np.where(owners < 0, np.inf, squares)


@dataclass(frozen=True)
class Surface:
    """Two values and the trials that have both. `is_grid`: each pair of values is a cell, and the axes have a place per
    value; `cells` are the trials by their places, of several the best one."""

    x: TrialAxis
    y: TrialAxis
    is_grid: bool
    cells: Mapping[tuple[float, float], int]

    @classmethod
    def of(cls, findings: Findings, x: TrialAxis, y: TrialAxis) -> "Surface":
        """Return the surface over two values: a grid where they repeat."""
        order = [trial.number for trial in reversed(_best_first(findings))]
        columns, rows = (sorted(set(axis.places.values())) for axis in (x, y))
        pairs = {(x.places[n], y.places[n]) for n in order if n in x.places and n in y.places}
        is_few = max(len(columns), len(rows)) <= MOST_PLACES
        is_grid = is_few and len(pairs) >= LEAST_FILLED * len(columns) * len(rows)
        if is_grid:
            x, y = _in_places(x, columns), _in_places(y, rows)
        numbers = (n for n in order if n in x.places and n in y.places)
        return cls(x, y, is_grid, {(x.places[n], y.places[n]): n for n in numbers})


def _best_first(findings: Findings) -> list[Trial]:
    """Return the trials by the first objective, then those without a value."""
    order = ranked(findings.trials, findings.objectives[0]) if findings.objectives else []
    scored = {trial.number for trial in order}
    return [*order, *(trial for trial in findings.trials if trial.number not in scored)]


def _in_places(axis: TrialAxis, values: Sequence[float]) -> TrialAxis:
    """Return an axis with a place per value, evenly apart."""
    if axis.categories:
        return axis
    at = {value: float(place) for place, value in enumerate(values)}
    texts = tuple(axis.said(value) for value in values)
    return replace(axis, places={n: at[value] for n, value in axis.places.items()}, categories=texts, is_log=False)


@dataclass(frozen=True)
class Scale:
    """The scores that the colours stand for: `worst` for the first, `best` for the last. Beyond `worst` are outliers
    where `has_outliers`."""

    worst: float
    best: float
    has_outliers: bool

    @classmethod
    def of(cls, score: TrialAxis) -> "Scale":
        """Return the scale of the scores of trials."""
        values = np.array(list(score.places.values()))
        best, worst = (values.min(), values.max()) if score.is_low_better else (values.max(), values.min())
        quarter, rest = np.percentile(values, (75, 25) if score.is_low_better else (25, 75))
        fence = quarter + FENCE * (quarter - rest)
        inside = values[values <= fence] if score.is_low_better else values[values >= fence]
        is_cut = len(inside) < len(values)
        end = float((inside.max() if score.is_low_better else inside.min()) if is_cut else worst)
        return cls(end, float(best), is_cut)

    def share(self, scores: Floats) -> Floats:
        """Return where scores are on the scale, from 0 to 1."""
        span = self.best - self.worst
        return np.clip((scores - self.worst) / span, 0, 1) if span else np.ones_like(scores)


class LandscapePlot(TrialChart):
    """The objective over two values: a cell of colour per trial. Where values repeat the cells are a grid, else each
    has the places that are nearer to its trial than to any other."""

    key, name, title = "landscape", noop("Landscape", "plot"), noop("Landscape")
    help = noop("The objective over two values, a cell per trial. Of several trials in a cell the best one counts.")

    def __init__(self, parent: QWidget | None = None) -> None:
        self.x_choice, self.y_choice = axis_choice(tr("Value to the right")), axis_choice(tr("Value upwards"))
        self.objective = axis_choice(tr("Objective"))
        self._image = pg.ImageItem(axisOrder="row-major", levels=(0, 255))
        self._gaps, self._round = Line(), Line()
        self._surface: tuple[object, Surface] | None = None
        super().__init__(parent)
        self._scale, self._texts = ColourBar(self.scene()), Texts()
        self._texts.setZValue(9)
        self.scene().addItem(self._texts)
        for choice in self._choices:
            choice.activated.connect(self.refresh)

    @property
    def _choices(self) -> tuple[QComboBox, ...]:
        return self.x_choice, self.y_choice, self.objective

    def controls(self) -> Sequence[QWidget]:
        """Return the choices of both values and of the objective."""
        return self._choices

    def prepare(self) -> None:
        """Offer the values and the objectives."""
        values = self.findings.values
        numbers = [place for place, axis in enumerate(values) if not axis.categories] + list(range(len(values)))
        # The finest value lies to the right, where there is more room.
        order = sorted(dict.fromkeys(numbers[:2]), key=lambda place: -len(set(values[place].places.values())))
        fill_choice(self.x_choice, values, order[0] if order else 0)
        fill_choice(self.y_choice, values, order[1] if len(order) > 1 else 0)
        fill_choice(self.objective, self.findings.scores)
        self.objective.setVisible(len(self.findings.scores) > 1)
        for choice in (self.x_choice, self.y_choice):
            choice.setVisible(not self.empty and len(values) > 2)

    def why_empty(self) -> str:
        """It needs two values that differ."""
        if super().why_empty():
            return translation(WAITING)
        return (
            "" if len(self.findings.values) > 1 else tr("A landscape needs two values that differ between the trials.")
        )

    @property
    def score(self) -> TrialAxis:
        """The objective that is shown."""
        return self.findings.scores[max(0, self.objective.currentIndex())]

    @property
    def surface(self) -> Surface:
        """The values that are shown, with the trials in their cells."""
        chosen = max(0, self.x_choice.currentIndex()), max(0, self.y_choice.currentIndex())
        key = id(self.findings), chosen
        if self._surface is None or self._surface[0] != key:
            values = self.findings.values
            self._surface = key, Surface.of(self.findings, *(values[at] for at in chosen))
        return self._surface[1]

    def frame(self) -> Frame:
        """Return the axes."""
        area = QRectF(LEFT, TOP, self.width() - LEFT - RIGHT, self.height() - TOP - BELOW)
        return self.framed(area, self.surface.x, self.surface.y)

    def frames(self) -> Sequence[Frame]:
        """Return the only pair of axes."""
        return () if self.empty else (self.frame(),)

    def axes(self) -> list[TickAxis]:
        """Return the axes, and that of the scale."""
        return [*super().axes(), self._scale.axis]

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return labels and names of both axes."""
        return {**super().parts_of(frame, frames), "has_name": True}

    # ---- drawing ----

    def lay(self) -> None:
        """Cells, their scores, the best one framed, and the scale of the colours."""
        frame, panel = self.frame(), self.panels[0]
        spots = frame.points(self.surface.cells.values())
        if self.surface.is_grid:  # above the score
            height = frame.area.height() / len(frame.y.categories) / (frame.y_part[1] - frame.y_part[0])
            spots = Spots(spots.numbers, spots.at - ((0, MARK_ABOVE) if height >= HIGH_CELL else (0, 0)))
        self.set_spots([spots])
        if self._image.parentItem() is None:
            for height, item in enumerate((self._image, self._gaps, self._round)):
                panel.view.addItem(item, ignoreBounds=True)
                item.setZValue(height)
        self._texts.clear(QRectF(self.rect()), label_font())
        for item in (self._gaps, self._round):
            item.setVisible(self.surface.is_grid)
        if self.surface.is_grid:
            self._lay_grid(frame)
        else:
            self._lay_nearest(frame)
        self._lay_scale(frame.area)

    def colours_of(self, numbers: Sequence[int]) -> NDArray[np.uint8]:
        """Return the colours of trials, `(N, 3)`; without a score that of a field."""
        score, ground = self.score, theme.current().raised
        places = np.array([score.places.get(n, math.nan) for n in numbers], dtype=float)
        table = np.array(colours("sequential"), np.uint8)
        at = np.nan_to_num(Scale.of(score).share(places), nan=0.0)
        shades = table[(at * (len(table) - 1)).round().astype(np.int64)]
        shades[np.isnan(places)] = ground.red(), ground.green(), ground.blue()
        return shades

    def _lay_grid(self, frame: Frame) -> None:
        numbers = list(self.surface.cells.values())
        shades = self.colours_of(numbers)
        columns, rows = len(frame.x.categories), len(frame.y.categories)
        ground = theme.current().panel
        cells = np.full((rows, columns, 3), (ground.red(), ground.green(), ground.blue()), np.uint8)
        for (x, y), shade in zip(self.surface.cells, shades, strict=True):
            cells[int(y), int(x)] = shade
        self._image.setImage(cells, autoLevels=False)
        self._image.setRect(QRectF(0, 0, 1, 1))
        self._lay_edges(frame, columns, rows)
        for number, shade in zip(numbers, shades.tolist(), strict=True):
            box, colour = self.cell_of(frame, number), _contrast(QColor(*shade))
            if not frame.area.contains(box.center()) or box.width() < WIDE_CELL or box.height() < HIGH_CELL:
                continue
            place = self.score.places.get(number)
            text = (
                self.score.said(place) if place is not None else state_words(self.findings.by_number[number].state)[0]
            )
            below = QRectF(box.left(), box.center().y() + 1, box.width(), TEXT_HEIGHT)
            self._texts.add(below, Qt.AlignmentFlag.AlignCenter, text, colour)
        self._lay_marks(dict(zip(numbers, shades.tolist(), strict=True)))

    def _lay_edges(self, frame: Frame, columns: int, rows: int) -> None:
        """Lines between the cells, and one around the best."""
        ends = np.array([0.0, 1.0])
        upright = [(np.full(2, column / columns), ends) for column in range(1, columns)]
        level = [(ends, np.full(2, row / rows)) for row in range(1, rows)]
        self._gaps.setPen(pg.mkPen(theme.current().panel, width=3))
        set_lines(self._gaps, [*upright, *level])
        inset = np.array([6.0 / frame.area.width(), 6.0 / frame.area.height()])
        rounds = []
        for (x, y), number in self.surface.cells.items():
            if number in self.findings.marked:
                left, low = np.array([x / columns, y / rows]) + inset
                right, high = np.array([(x + 1) / columns, (y + 1) / rows]) - inset
                rounds.append((np.array([left, right, right, left, left]), np.array([low, low, high, high, low])))
        self._round.setPen(pg.mkPen(DARK, width=1.6))
        set_lines(self._round, rounds)

    def cell_of(self, frame: Frame, number: int) -> QRectF:
        """Return the pixels of the cell of a trial in a grid."""
        x, y = frame.x.places[number], frame.y.places[number]
        left, right = frame.across(np.array([x - 0.5, x + 0.5])).tolist()
        bottom, top = frame.down(np.array([y - 0.5, y + 0.5])).tolist()
        return QRectF(left, top, right - left, bottom - top)

    def _lay_nearest(self, frame: Frame) -> None:
        numbers = list(self.surface.cells.values())
        places = np.column_stack(
            [shares(axis, np.array([axis.places[n] for n in numbers])) for axis in (frame.x, frame.y)]
        )
        wide = np.array([CATEGORY_APART if axis.categories else 1.0 for axis in (frame.x, frame.y)])
        parts = [(low * at, high * at) for (low, high), at in zip((frame.x_part, frame.y_part), wide, strict=True)]
        owners = nearest(places * wide, parts=(parts[0], parts[1]))
        shades = self.colours_of(numbers)
        self._image.setImage(shades[owners], autoLevels=False)
        (left, right), (low, high) = frame.x_part, frame.y_part
        self._image.setRect(QRectF(left, low, right - left, high - low))
        self._lay_marks(dict(zip(numbers, shades.tolist(), strict=True)))

    def _lay_marks(self, shades: Mapping[int, Sequence[int]]) -> None:
        """A ring per trial, and a star for the best, in what can be seen on the colour of its cell."""
        for number, spot in zip(self.laid[0].numbers.tolist(), self.laid[0].at.tolist(), strict=True):
            place, colour = QPointF(*spot), _contrast(QColor(*shades[number]))
            if number in self.findings.marked:
                self.points.add_stars([place], colour, colour, 6)
            else:
                self.points.add_ring(place, colour, 3.0)

    def mark_at(self, at: QPointF) -> int | None:
        """Return the trial whose cell is at a position."""
        frame = self.frame()
        if not frame.area.contains(at):
            return None
        if not self.surface.is_grid:
            apart = np.hypot(self.laid[0].at[:, 0] - at.x(), self.laid[0].at[:, 1] - at.y())
            return int(self.laid[0].numbers[apart.argmin()]) if len(apart) else None
        cells = self.surface.cells.values()
        return next((number for number in cells if self.cell_of(frame, number).contains(at)), None)

    def show_items(self, is_shown: bool) -> None:
        """Show the scale beside the trials."""
        super().show_items(is_shown)
        self._scale.set_visible(is_shown)
        self._texts.setVisible(is_shown)

    def _lay_scale(self, area: QRectF) -> None:
        """Show the colours with the scores that they stand for, the best at the top."""
        score, scale = self.score, Scale.of(self.score)
        self._scale.show(0, np.array(colours("sequential"), np.uint8)[:, None])
        low, high = sorted((scale.worst, scale.best))
        ticks = round_ticks(low, high, max(2, int(area.height() / 40)))
        texts = [(float(scale.share(np.array(tick))), score.said(tick)) for tick in ticks] if low < high else []
        if scale.has_outliers:
            sign = "≥" if score.is_low_better else "≤"
            texts = [
                (0.0, f"{sign} {score.said(scale.worst)}"),
                *(tick for tick in texts if tick[0] * area.height() > APART),
            ]
        self._scale.lay(area.right() + 12, area, texts or [(1.0, score.said(scale.best))], RIGHT - 26)


def _contrast(colour: QColor) -> QColor:
    """Return the colour of texts on a ground."""
    red, green, blue = LUMINANCE
    luminance = red * colour.red() + green * colour.green() + blue * colour.blue()
    return DARK if luminance > 128 else LIGHT
