"""Health of layers in training: good, worth a look, or broken, with the reason as text.

A layer is tinted by its gradient: too little, well, or broken. What is worth a look has a sign as well as a colour: a
triangle, a diamond, or an arrow before its figure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from netwright.designer import theme
from netwright.designer.language import named, tr
from netwright.engine.core.text import format_number, format_percent
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network

State = Literal["good", "warning", "error"]
STATES: tuple[State, ...] = ("good", "warning", "error")
Tone = Literal["", "low", "good", "high"]
"""The tint of a layer: none, too little gradient, well, broken."""
RADIUS = 4.0
LOW, HIGH = "▼", "▲"
_BOX = "health "
_COLOURS: Mapping[Tone, tuple[str, str]] = {
    "low": ("#56b4e9", "#0072b2"),
    "good": ("#1fb58a", "#00835f"),
    "high": ("#f0793a", "#c65200"),
}
"""Colours after Okabe and Ito, dark and light, as in the charts."""
_SHARES: Mapping[Tone, float] = {"low": 0.34, "good": 0.14, "high": 0.36}

MANY_DEAD = 0.5
"""Share of units that are zero for every sample above which a layer is worth a look."""
VANISHING = 1e-4
"""Share of the largest gradient below which a layer's gradient is worth a look."""


@dataclass(frozen=True)
class HealthBadge:
    """The health of a layer in training."""

    state: State
    words: str
    tone: Tone = ""
    figure: str = ""
    """The gradient as a share of the largest, in place of the number of parameters."""
    silent: str = ""
    """The share of units that are zero for every sample, in place of the layer's value."""

    @property
    def rank(self) -> int:
        """Return the severity: 0 for good."""
        return STATES.index(self.state)


def badge_for(figures: Sequence[float], largest: float) -> HealthBadge:
    """Return the badge for the figures of a layer (`netwright.engine.runs.events.Health`), relative to the largest
    gradient of all layers."""
    gradient, size, dead = figures
    parts = [
        tr("output {size}", size=format_number(size)) if size >= 0 else "",
        tr("gradient {gradient}", gradient=format_number(gradient)) if gradient >= 0 else "",
    ]
    words = " · ".join(filter(None, parts))
    silent = tr("{share} silent", share=format_percent(min(dead, 1.0))) if dead > 0 else ""
    if not math.isfinite(size) or not math.isfinite(gradient):
        is_infinite = math.inf in (size, gradient)
        kind = tr("infinite") if is_infinite else tr("no number")
        if math.isfinite(size):
            words = tr("Its gradient is infinite") if is_infinite else tr("Its gradient is NaN")
        else:
            words = tr("Its output is infinite") if is_infinite else tr("Its output is NaN")
        return HealthBadge("error", words, "high", f"{HIGH} {kind}")
    share = gradient / largest if largest > 0 else gradient
    tone: Tone = "" if gradient < 0 else "low" if share < VANISHING else "good"
    figure = "" if gradient < 0 else f"{LOW} {share_text(share)}" if tone == "low" else share_text(share)
    state: State = "warning" if tone == "low" else "good"
    if dead >= 1:
        state, words = "error", tr("All its units give zero for every sample · {words}", words=words)
    elif dead >= MANY_DEAD:
        state, words = (
            "warning",
            tr("{share} of its units give zero for every sample · {words}", share=format_percent(dead), words=words),
        )
    elif gradient == 0:
        words = tr("No gradient reaches it · {words}", words=words)
    elif state == "warning":
        words = tr(
            "Next to no gradient reaches it, {share} of the largest · {words}",
            share=format_number(share, 1),
            words=words,
        )
    else:
        words = (
            words[:1].upper()
            + words[1:]
            + (" · " + tr("{share} of units zero", share=format_percent(dead)) if dead > 0 else "")
        )
    return HealthBadge(state, words, tone, figure, silent)


def share_text(share: float) -> str:
    """Return a share in per cent, with at most two digits that count: 0.0021 %, 12 %."""
    if share <= 0:
        return "0 %"
    places = max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{min(places, 6)}f} %"


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
            badge = replace(badge, words=named(" / ".join(names[len(scope) + 1 :]), badge.words))
        id = ids[len(scope)]
        if id not in badges_by_id or badge.rank > badges_by_id[id].rank:
            badges_by_id[id] = badge
    return badges_by_id


def gradients(history: Sequence[tuple[int, Mapping[str, Sequence[float]]]], path: str) -> list[tuple[int, float]]:
    """Return the gradient of a layer by iteration, as a share of the largest; without iterations in which it has none
    that is a number."""
    points = []
    for iteration, layers in history:
        gradient = layers[path][0] if path in layers else -1.0
        if math.isfinite(gradient) and gradient >= 0:
            largest = max(figures[0] for figures in layers.values() if math.isfinite(figures[0]))
            points.append((iteration, gradient / largest if largest > 0 else 0.0))
    return points


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


def colour(tone: Tone) -> QColor:
    """Return the colour of a tone; that of a plain layer in the overview without one."""
    palette = theme.current()
    if not tone:
        return palette.mixed(palette.muted, palette.node, 0.35)
    return QColor(_COLOURS[tone][0 if palette.is_dark else 1])


def ground(tone: Tone) -> QColor:
    """Return the background of a layer of this tone."""
    palette = theme.current()
    return palette.mixed(colour(tone), palette.node, _SHARES[tone]) if tone else palette.node


def ink(tone: Tone) -> QColor:
    """Return the text colour that is muted on a plain layer and must be readable on a tinted one."""
    palette = theme.current()
    return palette.mixed(palette.text, ground(tone), 0.85) if tone else palette.muted


def box_kind(tone: Tone) -> str:
    """Return the name of a tone among the colours of boxes in the overview."""
    return f"{_BOX}{tone}"


def box_tone(kind: str) -> Tone | None:
    """Return the tone of such a name, or None."""
    return kind.removeprefix(_BOX) if kind.startswith(_BOX) else None  # type: ignore[return-value]  # made above


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
