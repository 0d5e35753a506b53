"""Tints of layers by a figure, in five logarithmic steps of viridis: the figure, its step, and the colours.

Colour is not the only sign: a tinted layer shows the figure in place of its number of parameters, and its share of the
whole network where that is more than a twentieth.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import Literal

from PySide6.QtGui import QColor

from netwright.designer import theme
from netwright.designer.language import noop
from netwright.designer.scene import health_badges, stage_colours
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.drawing.colour_maps import colours
from netwright.engine.network.analysis import LayerShapes
from netwright.engine.network.layer_table import short_count
from netwright.engine.network.memory import activation_bytes

Kind = Literal["", "parameters", "flops", "memory", "time"]
KINDS: tuple[Kind, ...] = ("parameters", "flops", "memory")
"""The figures of the cost."""
LABELS: Mapping[Kind, str] = {
    "": "",
    "parameters": noop("Parameters"),
    "flops": "FLOPs",
    "memory": noop("Memory"),
    "time": noop("Time"),
}
HELP: Mapping[Kind, str] = {
    "": "",
    "parameters": noop("Learnable numbers of each layer"),
    "flops": noop("Floating-point operations of each layer per sample"),
    "memory": noop("What training keeps of each layer's output, at the mini-batch size"),
    "time": noop("Measured time of each layer per step, forward and backward"),
}

STEPS = 5
TOLD_SHARE = 0.05
"""A layer with a larger share of the whole network shows it."""

_BOX = "heat "
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_FIRST, _LAST = 0.12, 0.95
"""Part of viridis that is used."""
_SHARES = {True: (0.6, 0.55, 0.5, 0.38, 0.29), False: (0.55, 0.5, 0.5, 0.5, 0.42)}
"""Share of the colour in the ground of a layer, by dark and step, so that its texts are readable."""


@dataclass(frozen=True)
class Tint:
    """The figure that decides the tint, its value for the heaviest layer and for all of them, and the limits of the
    steps."""

    kind: Kind = ""
    batch: int = 1
    highest: int = 0
    total: int = 0
    limits: tuple[int, ...] = ()
    """`STEPS` + 1 figures from the least to the highest; empty without any figure."""
    times: Mapping[str, int] = field(default_factory=dict)
    """Measured nanoseconds of layers by id."""

    def figure(self, id: str, facts: LayerShapes | None) -> int:
        """Return the figure of a layer; 0 where it is not known."""
        if self.kind == "time":
            return self.times.get(id, 0)
        if facts is None:
            return 0
        match self.kind:
            case "parameters":
                return facts.parameters
            case "flops":
                return facts.flops
            case "memory":
                return activation_bytes(facts, self.batch) or 0
        return 0

    def text(self, figure: int) -> str:
        """Return a figure in words; empty for a layer without any."""
        if not figure:
            return ""
        match self.kind:
            case "memory":
                return format_bytes(figure)
            case "time":
                return format_nanoseconds(figure)
        return short_count(figure)

    def share(self, figure: int) -> str:
        """Return the share of a layer in the whole network, where it is large enough to be told."""
        is_told = self.total and figure > TOLD_SHARE * self.total
        return format_percent(figure / self.total) if is_told else ""

    def label(self, figure: int) -> str:
        """Return a figure as a layer shows it, with its share."""
        return " · ".join(filter(None, (self.text(figure), self.share(figure))))

    def level(self, figure: int) -> int:
        """Return the step of a figure, from 1 to `STEPS`; 0 for none."""
        return 1 + bisect_right(self.limits[1:-1], figure) if figure and self.limits else 0

    def ticks(self) -> list[str]:
        """Return the limits in words, without decimals that are zero."""
        return [re.sub(r"[.]0+(?= |$)", "", self.text(limit)) for limit in self.limits]


def tint_by(kind: Kind, facts: Mapping[str, LayerShapes], batch: int, times: Mapping[str, int]) -> Tint:
    """Return the tint of a whole network; `times` are the measured nanoseconds of its layers, if there are any."""
    if not kind:
        return Tint()
    tint = Tint(kind, batch, times=times if kind == "time" else {})
    figures = [figure for id, shapes in facts.items() if (figure := tint.figure(id, shapes))]
    if not figures:
        return tint
    return replace(tint, highest=max(figures), total=sum(figures), limits=_limits(figures, is_binary=kind == "memory"))


def _limits(figures: list[int], *, is_binary: bool) -> tuple[int, ...]:
    """Return round limits of five equal logarithmic steps: fine ones where they reach to the least figure."""
    for is_fine in (True, False):
        series = _series(is_binary, is_fine, max(figures))
        last = max(STEPS, bisect_left(series, max(figures)))
        limits = tuple(series[last - STEPS : last + 1])
        if limits[0] <= min(figures):
            break
    return limits


def _series(is_binary: bool, is_fine: bool, highest: int) -> list[int]:
    """Return round numbers from 1 to beyond a figure: 1, 3, 10, 30 or 1, 10, 100; binary 1, 4, 16 or 1, 8, 64."""
    series: list[int] = []
    for power in count():
        if is_binary:
            series.append((4 if is_fine else 8) ** power)
        else:
            series += [10**power, 3 * 10**power] if is_fine else [10**power]
        if len(series) > STEPS and series[-1] >= highest:
            return series
    raise AssertionError


def format_nanoseconds(count: int) -> str:
    """Return a time as three digits and a unit: 850 ns, 12.4 µs, 1.20 ms, 3.00 s."""
    value, unit = next((count / size, unit) for size, unit in _UNITS if count >= size or size == 1)
    places = 0 if unit == "ns" else max(0, 2 - len(f"{int(value)}") + 1)
    return f"{value:.{places}f} {unit}"


@cache
def _viridis(level: int, is_dark: bool) -> QColor:
    """Return the colour of a step: on a light ground more is darker."""
    place = _FIRST + (_LAST - _FIRST) * (level - 1) / (STEPS - 1)
    sequence = colours("sequential")
    return QColor(*sequence[round((place if is_dark else 1 - place) * (len(sequence) - 1))])


def ground(level: int) -> QColor:
    """Return the background of a layer of this step."""
    palette = theme.current()
    if not level:
        return palette.node
    return palette.mixed(_viridis(level, palette.is_dark), palette.node, _SHARES[palette.is_dark][level - 1])


def ink(level: int) -> QColor:
    """Return the text colour that is muted on a plain layer and must be readable on a tinted one."""
    palette = theme.current()
    return palette.mixed(palette.text, ground(level), 0.85) if level else palette.muted


def box_kind(level: int) -> str:
    """Return the name of a step among the colours of boxes in the overview."""
    return f"{_BOX}{level}"


def box_colour(kind: str) -> QColor:
    """Return the colour of a box in the overview: of a family, of a step, of a stage, or of a state of health."""
    palette = theme.current()
    if (stage := stage_colours.box_stage(kind)) is not None:
        return palette.stage(stage)
    if (tone := health_badges.box_tone(kind)) is not None:
        return health_badges.colour(tone)
    if not kind.startswith(_BOX):
        return palette.family(kind)
    level = int(kind.removeprefix(_BOX))
    return _viridis(level, palette.is_dark) if level else palette.mixed(palette.muted, palette.node, 0.35)
