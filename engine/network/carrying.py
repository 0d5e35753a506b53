"""Frames and comments follow the layers to which they belong when all of them get new places."""

from collections.abc import Mapping
from dataclasses import replace

from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Comment, Frame, Layout, Position

_Box = tuple[float, float, float, float]


def carried(old: Layout, places: Mapping[str, Position]) -> tuple[tuple[Frame, ...], tuple[Comment, ...]]:
    """The frames around the same layers as before, and the comments beside the layer that they were nearest to."""
    known = {id: at for id, at in old.positions.items() if id in places}
    if not known:
        return old.frames, old.comments
    return (
        tuple(_framed(frame, known, places) for frame in old.frames),
        tuple(_beside(comment, known, places) for comment in old.comments),
    )


def _framed(frame: Frame, was: Mapping[str, Position], places: Mapping[str, Position]) -> Frame:
    """As far around its layers as it was; an empty one goes with the nearest layer."""
    left, top = frame.at
    right, bottom = left + frame.size[0], top + frame.size[1]
    inside = [
        id for id, (x, y) in was.items() if left <= x + NODE_WIDTH / 2 <= right and top <= y + NODE_HEIGHT / 2 <= bottom
    ]
    if not inside:
        dx, dy = _way(_middle(frame.at, frame.size), was, places)
        return replace(frame, at=(left + dx, top + dy))
    before, now = _around(was, inside), _around(places, inside)
    corner = now[0] - (before[0] - left), now[1] - (before[1] - top)
    far = now[2] + (right - before[2]), now[3] + (bottom - before[3])
    return replace(frame, at=corner, size=(max(far[0] - corner[0], NODE_WIDTH), max(far[1] - corner[1], NODE_HEIGHT)))


def _beside(comment: Comment, was: Mapping[str, Position], places: Mapping[str, Position]) -> Comment:
    dx, dy = _way(_middle(comment.at, comment.size), was, places)
    return replace(comment, at=(comment.at[0] + dx, comment.at[1] + dy))


def _way(middle: Position, was: Mapping[str, Position], places: Mapping[str, Position]) -> Position:
    """How far the layer goes that is nearest to a point."""

    def distance(id: str) -> float:
        x, y = was[id]
        return (x + NODE_WIDTH / 2 - middle[0]) ** 2 + (y + NODE_HEIGHT / 2 - middle[1]) ** 2

    nearest = min(was, key=distance)
    return places[nearest][0] - was[nearest][0], places[nearest][1] - was[nearest][1]


def _middle(at: Position, size: tuple[float, float]) -> Position:
    return at[0] + size[0] / 2, at[1] + size[1] / 2


def _around(places: Mapping[str, Position], ids: list[str]) -> _Box:
    xs, ys = zip(*(places[id] for id in ids), strict=True)
    return min(xs), min(ys), max(xs) + NODE_WIDTH, max(ys) + NODE_HEIGHT
