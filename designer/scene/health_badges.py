"""Health badges of layers in training: good, worth a look, or broken, with the reason as text.

Each state has a shape as well as a colour: a disc, a triangle, a diamond.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen, QPolygonF

from netwright.designer import theme
from netwright.engine.core.text import format_number, format_percent
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network

State = Literal["good", "warning", "error"]
STATES: tuple[State, ...] = ("good", "warning", "error")
WORDS: Mapping[State, str] = {"good": "healthy", "warning": "check", "error": "failing"}
RADIUS = 4.0

MANY_DEAD = 0.5
"""Share of units that are zero for every sample above which a layer is worth a look."""
VANISHING = 1e-4
"""Share of the largest gradient below which a layer's gradient is worth a look."""


@dataclass(frozen=True)
class HealthBadge:
    """The health of a layer in training."""

    state: State
    words: str

    @property
    def rank(self) -> int:
        """Return the severity: 0 for good."""
        return STATES.index(self.state)


def badge_for(figures: Sequence[float], largest: float) -> HealthBadge:
    """Return the badge for the figures of a layer (`netwright.engine.runs.events.Health`), relative to the largest
    gradient of all layers."""
    gradient, size, dead = figures
    parts = [
        f"output {format_number(size)}" if size >= 0 else "",
        f"gradient {format_number(gradient)}" if gradient >= 0 else "",
    ]
    words = " · ".join(filter(None, parts))
    if not math.isfinite(size) or not math.isfinite(gradient):
        noun = "output" if not math.isfinite(size) else "gradient"
        return HealthBadge("error", f"Its {noun} is {'infinite' if math.inf in (size, gradient) else 'no number'}")
    if dead >= 1:
        return HealthBadge("error", f"All its units give zero for every sample · {words}")
    if dead >= MANY_DEAD:
        return HealthBadge("warning", f"{format_percent(dead)} of its units give zero for every sample · {words}")
    if gradient == 0:
        return HealthBadge("warning", f"No gradient reaches it · {words}")
    if 0 < gradient < VANISHING * largest:
        return HealthBadge(
            "warning",
            f"Next to no gradient reaches it, {format_number(gradient / largest, 1)} of the largest · {words}",
        )
    share = f" · {format_percent(dead)} of units zero" if dead > 0 else ""
    return HealthBadge("good", words[:1].upper() + words[1:] + share)


def badges(layers: Mapping[str, Sequence[float]], network: Network, scope: Sequence[str]) -> dict[str, HealthBadge]:
    """Return the badges of the layers that are visible inside the block at a path of ids, or at the top level.
    `network` is the whole one. A block, and a layer with several copies, has the worst badge of its contents."""
    largest = max((figures[0] for figures in layers.values() if math.isfinite(figures[0])), default=0.0)
    badges_by_id: dict[str, HealthBadge] = {}
    for path, figures in layers.items():
        ids, names = without_copies(path.split("/"), network)
        if len(figures) != 3 or len(ids) <= len(scope) or ids[: len(scope)] != list(scope):
            continue
        badge = badge_for(figures, largest)
        if len(ids) > len(scope) + 1:
            badge = HealthBadge(badge.state, f"{' / '.join(names[len(scope) + 1 :])}: {badge.words}")
        id = ids[len(scope)]
        if id not in badges_by_id or badge.rank > badges_by_id[id].rank:
            badges_by_id[id] = badge
    return badges_by_id


def without_copies(path: list[str], network: Network) -> tuple[list[str], list[str]]:
    """Return the ids along a path, and the names of their layers; empty where the network no longer has them."""
    ids: list[str] = []
    names: list[str] = []
    rest = list(path)
    while rest:
        id = rest.pop(0)
        if id not in network.layers:
            return [], []
        layer = network.layers[id]
        ids.append(id)
        names.append(layer.name)
        if isinstance(layer.type, Block):
            if layer.type.repeat > 1 and rest:
                rest.pop(0)
            network = layer.type.network
    return ids, names


def paint_badge(painter: QPainter, state: str, at: QPointF) -> None:
    """Paint the shape of a state."""
    palette = theme.current()
    painter.setPen(QPen(palette.node, 1.0))
    painter.setBrush({"good": palette.good, "warning": palette.warning}.get(state, palette.error))
    r = RADIUS
    if state == "good":
        painter.drawEllipse(at, r - 0.5, r - 0.5)
    elif state == "warning":
        painter.drawPolygon(QPolygonF([at + QPointF(0, -r), at + QPointF(r + 0.5, r), at + QPointF(-r - 0.5, r)]))
    else:
        wide = r + 1
        painter.drawPolygon(QPolygonF([at + QPointF(*d) for d in ((0, -wide), (wide, 0), (0, wide), (-wide, 0))]))
