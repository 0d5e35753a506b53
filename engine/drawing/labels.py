"""Names of layers where room is short, and positions of size labels: on no layer, no curve and no other label.

Connections that leave the same port carry the same tensor, so they have one label together. Boxes are left, top, right
and bottom.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache

from netwright.engine.drawing.routes import LANE, Chain, Curve, Point
from netwright.engine.network.layout import Flow
from netwright.engine.network.network import Connection, Network, Port

HEIGHT = 14.0
Area = tuple[float, float, float, float]
_CELL = 96.0
_MANY = 300
_STEPS = 6
_GAP = 5.0
_PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.12, 0.88)
_SHORT = 30.0
_Cell = tuple[int, int]
_EVERYWHERE: _Cell = (2**60, 2**60)
_Segment = tuple[float, float, float, float]


class Room:
    """Curves and labels by cell of a grid, so that a lookup visits only what is near."""

    def __init__(self) -> None:
        self._curves: dict[_Cell, dict[Hashable, list[_Segment]]] = {}
        self._labels: dict[_Cell, dict[Hashable, Area]] = {}
        self._where: dict[Hashable, tuple[_Cell, ...]] = {}
        self._boxes: dict[Hashable, Area] = {}

    def put_curve(self, key: Hashable, curve: Curve) -> None:
        """Add a curve, or replace the one with this key."""
        self.drop_curve(key)
        own: dict[_Cell, list[_Segment]] = {}
        x1, y1 = curve.start
        column, row = x1 // _CELL, y1 // _CELL
        for x2, y2 in _corners(curve):
            segment = x1, y1, x2, y2
            next_column, next_row = x2 // _CELL, y2 // _CELL
            cells: Sequence[_Cell]
            if column == next_column and row == next_row:
                cells = ((int(column), int(row)),)
            else:
                left, right = (x1, x2) if x1 < x2 else (x2, x1)
                top, bottom = (y1, y2) if y1 < y2 else (y2, y1)
                cells = _cells((left, top, right, bottom))
            for cell in cells:
                if cell in own:
                    own[cell].append(segment)
                else:
                    own[cell] = [segment]
            x1, y1, column, row = x2, y2, next_column, next_row
        for cell, segments in own.items():
            if cell in self._curves:
                self._curves[cell][key] = segments
            else:
                self._curves[cell] = {key: segments}
        self._where[key] = tuple(own)

    def drop_curve(self, key: Hashable) -> None:
        """Remove a curve."""
        for cell in self._where.pop(key, ()):
            del self._curves[cell][key]

    def put_label(self, key: Hashable, box: Area) -> None:
        """Add a label, or replace the one with this key."""
        self.drop_label(key)
        self._boxes[key] = box
        for cell in _cells(box):
            self._labels.setdefault(cell, {})[key] = box

    def drop_label(self, key: Hashable) -> None:
        """Remove a label."""
        if (box := self._boxes.pop(key, None)) is not None:
            for cell in _cells(box):
                self._labels[cell].pop(key, None)

    def is_free(self, box: Area) -> bool:
        """Return whether no curve and no label touches an area."""
        left, top, right, bottom = box
        for cell in (*_cells(box), _EVERYWHERE):
            if cell in self._labels:
                for other in self._labels[cell].values():
                    if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                        return False
            if cell in self._curves:
                for segments in self._curves[cell].values():
                    for segment in segments:
                        x1, y1, x2, y2 = segment
                        if (
                            not ((x1 < left and x2 < left) or (x1 > right and x2 > right))
                            and not ((y1 < top and y2 < top) or (y1 > bottom and y2 > bottom))
                            and _touches(segment, box)
                        ):
                            return False
        return True

    def is_open(self, x: float, top: float, bottom: float, port: Port) -> bool:
        """Return whether no connection of another port runs close beside a lane."""
        for cell in _cells((x - LANE, top, x + LANE, bottom)):
            for key, segments in self._curves.get(cell, {}).items():
                if isinstance(key, Connection) and key.source != port:
                    for x1, y1, x2, y2 in segments:
                        if (
                            abs(x1 - x2) < 1
                            and abs(x1 - x) < LANE - 0.01
                            and min(bottom, max(y1, y2)) > max(top, min(y1, y2))
                        ):
                            return False
        return True

    def labels_on(self, key: Hashable) -> set[Hashable]:
        """Return the keys of the labels that a curve touches."""
        labels: set[Hashable] = set()
        if not self._boxes:
            return labels
        for cell in self._where.get(key, ()):
            segments = self._curves[cell].get(key, [])
            near = self._boxes if cell == _EVERYWHERE else self._labels.get(cell, {})
            for label, box in near.items():
                if label not in labels and any(_touches(segment, box) for segment in segments):
                    labels.add(label)
        return labels


def _corners(curve: Curve) -> Iterator[Point]:
    """Yield the corners of the polyline of a curve after its start; a straight piece stays whole."""
    at = curve.start
    for piece in curve.pieces:
        if len(piece) == 1:
            yield piece[0]
        else:
            yield from Curve(at, (piece,)).points(_STEPS)[1:]
        at = piece[-1]


def _cells(box: Area) -> list[_Cell]:
    """Return the cells that an area touches; a single one in common for everything that is very large."""
    left, top = int(box[0] // _CELL), int(box[1] // _CELL)
    right, bottom = int(box[2] // _CELL), int(box[3] // _CELL)
    if left == right and top == bottom:
        return [(left, top)]
    if (right - left + 1) * (bottom - top + 1) > _MANY:
        return [_EVERYWHERE]
    return [(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)]


def _touches(segment: _Segment, box: Area) -> bool:
    """Return whether a segment and a box have a point in common."""
    x1, y1, x2, y2 = segment
    left, top, right, bottom = box
    if max(x1, x2) < left or min(x1, x2) > right or max(y1, y2) < top or min(y1, y2) > bottom:
        return False
    dx, dy = x2 - x1, y2 - y1
    sides = [dx * (y - y1) - dy * (x - x1) for x in (left, right) for y in (top, bottom)]
    return min(sides) <= 0 <= max(sides)


def place(
    curves: Sequence[Curve], width: float, flow: Flow, is_free: Callable[[float, float, float, float], bool]
) -> Point | None:
    """Return the left top corner of the label of connections that leave one port; None where there is no room.

    The shortest curve is preferred. `is_free` decides for left, top, right and bottom of an area.
    """
    for curve in sorted(curves, key=reach):
        for x, y in _spots(curve, width, flow):
            if is_free(x, y, x + width, y + HEIGHT):
                return x, y
    return None


def reach(curve: Curve) -> float:
    """Return the distance between the ends of a curve; of a split the shortest connection has the label."""
    return abs(curve.end[0] - curve.start[0]) + abs(curve.end[1] - curve.start[1])


def _spots(curve: Curve, width: float, flow: Flow) -> Iterator[Point]:
    """Yield positions beside a curve: right and left of steep parts, above and below flat ones, and at both ends."""
    (x1, y1), (x2, y2) = curve.start, curve.end
    middle = (y1 + y2 - HEIGHT) / 2
    if len(curve.pieces) == 1 and len(curve.pieces[0]) == 1:
        if flow == "down":
            yield x2 + _GAP, middle
            yield x2 - _GAP - width, middle
        else:
            yield (x1 + x2 - width) / 2, y1 - HEIGHT - 2
    elif flow == "down" and 0 < abs(y2 - y1) < _SHORT:
        yield from _beside_short(curve, width)
    chain = Chain(curve.points())
    for share in _PLACES:
        (x, y), angle = chain.at(share)
        if 40 < angle < 140:
            yield x + _GAP, y - HEIGHT / 2
            yield x - _GAP - width, y - HEIGHT / 2
        else:
            yield x - width / 2, y - HEIGHT - 2
            yield x - width / 2, y + 2
    # In the gap between two rows: in the fork of branches to both sides, where they meet again, and outside of both.
    if flow == "down":
        yield x1 - width / 2, y2 - HEIGHT - 1
        yield x2 - width / 2, y1 + 1
    else:
        yield x2 - width - 4, (y2 - HEIGHT - 3 if y2 < y1 else y2 + 3)
        yield x1 + 4, (y1 - HEIGHT - 3 if y1 < y2 else y1 + 3)
        yield x2 - width - 4, y1 - HEIGHT / 2
        yield x1 + 4, y2 - HEIGHT / 2


def _beside_short(curve: Curve, width: float) -> Iterator[Point]:
    """Yield positions at the ends of a curve between two rows, on the sides to which it does not go."""
    (x1, y1), (x2, y2) = curve.start, curve.end
    middle = (y1 + y2 - HEIGHT) / 2
    away = (x2 + _GAP, x1 - _GAP - width) if x2 > x1 else (x2 - _GAP - width, x1 + _GAP)
    for x in away:
        yield x, middle


@lru_cache(maxsize=8)
def common_beginning(network: Network) -> str:
    """Return the beginning, up to a separator, that more than half of the names of layers share, such as
    `features/stage1/`; empty without one."""
    names = sorted(layer.name for layer in network.layers.values())
    middle = names[len(names) // 2] if names else ""  # what more than half share, this one begins with
    for separator in reversed([*re.finditer(r"[./:_-]+", middle)]):
        beginning = middle[: separator.end()]
        those = names[bisect_left(names, beginning) : bisect_left(names, f"{beginning}\uffff")]
        if 2 * len(those) > len(names) and all(name[len(beginning) :][:1].isalpha() for name in those):
            return beginning
    return ""


def short_name(name: str, beginning: str, room: float, width: Callable[[str], float]) -> str:
    """Return the name of a layer, at most `room` wide where its last number and what follows is: first without the
    beginning that it shares with others, then cut in the middle. As many of its numbers stay as have room, the last
    ones first: `denselayer13_conv1` is told from its neighbours by the 13."""
    if width(name) <= room:
        return name
    short = name[len(beginning) :] if beginning and name.startswith(beginning) else name
    if short != name and width(f"…{short}") <= room:
        return f"…{short}"
    number = re.search(r"\d+\D{0,6}$", short)
    tail = len(number[0]) if number else 0
    for start in (match.start() for match in re.finditer(r"\d+", short) if number):
        if width(f"…{short[start:]}") <= room:
            tail = len(short) - start
            break
    for kept in range(len(short) - 1, tail, -1):
        back = max(tail, kept // 2)
        cut = f"{short[: kept - back]}…{short[len(short) - back :]}"
        if width(cut) <= room:
            return cut
    return f"…{short[len(short) - tail :]}"
