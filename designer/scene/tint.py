"""Tints of heavy layers in warm colours: the figure, each layer's level relative to the heaviest, and the colours.

Colour is not the only sign: a tinted layer shows the figure in place of its number of parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from PySide6.QtGui import QColor

from netwright.designer import theme
from netwright.designer.scene import stage_colours
from netwright.engine.core.text import format_bytes
from netwright.engine.network.analysis import LayerShapes
from netwright.engine.network.layer_table import short_count
from netwright.engine.network.memory import activation_bytes

Kind = Literal["", "parameters", "flops", "memory", "time"]
KINDS: tuple[Kind, ...] = ("parameters", "flops", "memory", "time")
LABELS: Mapping[Kind, str] = {
    "": "",
    "parameters": "Parameters",
    "flops": "FLOPs",
    "memory": "Memory",
    "time": "Time",
}
HELP: Mapping[Kind, str] = {
    "": "",
    "parameters": "Learnable numbers of each layer",
    "flops": "Floating-point operations of each layer per sample",
    "memory": "What training keeps of each layer's output, at the mini-batch size",
    "time": "Measured time of each layer per step, forward and backward",
}

STEPS = 10
"""Number of tints: few enough that equal layers share a picture, more than an eye can distinguish."""

_BOX = "heat "
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_GROUND_SHARE = 0.45
_LEAST_SHARE = 0.04


@dataclass(frozen=True)
class Tint:
    """The figure that decides the tint, and its value for the heaviest layer."""

    kind: Kind = ""
    batch: int = 1
    highest: int = 0
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
        """Return a figure as the layer and the legend show it; empty for a layer without any."""
        if not figure:
            return ""
        match self.kind:
            case "memory":
                return format_bytes(figure)
            case "time":
                return format_nanoseconds(figure)
        return short_count(figure)

    def level(self, figure: int) -> int:
        """Return the level from 0, negligible beside the heaviest layer, to `STEPS`, the heaviest."""
        return round(STEPS * figure / self.highest) if self.highest else 0


def tint_by(kind: Kind, facts: Mapping[str, LayerShapes], batch: int, times: Mapping[str, int]) -> Tint:
    """Return the tint of a whole network; `times` are the measured nanoseconds of its layers, if there are any."""
    if not kind:
        return Tint()
    tint = Tint(kind, batch, times=times if kind == "time" else {})
    return replace(tint, highest=max((tint.figure(id, shapes) for id, shapes in facts.items()), default=0))


def format_nanoseconds(count: int) -> str:
    """Return a time as three digits and a unit: 850 ns, 12.4 µs, 1.20 ms, 3.00 s."""
    value, unit = next((count / size, unit) for size, unit in _UNITS if count >= size or size == 1)
    places = 0 if unit == "ns" else max(0, 2 - len(f"{int(value)}") + 1)
    return f"{value:.{places}f} {unit}"


def ground(level: int) -> QColor:
    """Return the background of a layer of this level."""
    palette = theme.current()
    share = _LEAST_SHARE + (_GROUND_SHARE - _LEAST_SHARE) * level / STEPS if level else 0.0
    return palette.mixed(palette.family("Recurrent"), palette.node, share)


def ink(level: int) -> QColor:
    """Return the text colour that is muted on a plain layer and must be readable on a warm one."""
    palette = theme.current()
    return palette.mixed(palette.text, ground(level), 0.85) if level else palette.muted


def box_kind(level: int) -> str:
    """Return the name of a level among the colours of boxes in the overview."""
    return f"{_BOX}{level}"


def box_colour(kind: str) -> QColor:
    """Return the colour of a box in the overview: of a family, of a level, or of a stage."""
    palette = theme.current()
    if (stage := stage_colours.box_stage(kind)) is not None:
        return palette.stage(stage)
    if not kind.startswith(_BOX):
        return palette.family(kind)
    share = int(kind.removeprefix(_BOX)) / STEPS
    return palette.mixed(palette.family("Recurrent"), palette.mixed(palette.muted, palette.node, 0.35), share)
