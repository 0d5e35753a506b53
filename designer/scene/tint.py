"""Tints of heavy layers in warm colours: the figure, each layer's level relative to the heaviest, and the colours.

Colour is not the only sign: a tinted layer shows the figure in place of its number of parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtGui import QColor

from designer import theme
from designer.scene import stage_colours
from engine.core.text import format_bytes
from engine.network.analysis import LayerShapes
from engine.network.memory import activation_bytes
from engine.network.table import short_count

Kind = Literal["", "parameters", "flops", "memory"]
KINDS: tuple[Kind, ...] = ("parameters", "flops", "memory")
LABELS: Mapping[Kind, str] = {"": "", "parameters": "Parameters", "flops": "FLOPs", "memory": "Memory"}
HELP: Mapping[Kind, str] = {
    "": "",
    "parameters": "Learnable numbers of each layer",
    "flops": "Floating-point operations of each layer per sample",
    "memory": "What training keeps of each layer's output, at the mini-batch size",
}

STEPS = 10
"""Number of tints: few enough that equal layers share a picture, more than an eye can distinguish."""

_BOX = "heat "
_GROUND_SHARE = 0.45
_LEAST_SHARE = 0.04


@dataclass(frozen=True)
class Tint:
    """The figure that decides the tint, and its value for the heaviest layer."""

    kind: Kind = ""
    batch: int = 1
    highest: int = 0

    def figure(self, facts: LayerShapes | None) -> int:
        """Return the figure of a layer; 0 where it is not known."""
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
        return format_bytes(figure) if self.kind == "memory" else short_count(figure)

    def level(self, figure: int) -> int:
        """Return the level from 0, negligible beside the heaviest layer, to `STEPS`, the heaviest."""
        return round(STEPS * figure / self.highest) if self.highest else 0


def tint_by(kind: Kind, facts: Mapping[str, LayerShapes], batch: int) -> Tint:
    """Return the tint of a whole network."""
    tint = Tint(kind, batch)
    return Tint(kind, batch, max(map(tint.figure, facts.values()), default=0)) if kind else Tint()


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
