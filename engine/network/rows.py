"""A graph in rows, and an order in each row with few crossings between them."""

from bisect import bisect_right, insort
from collections.abc import Callable
from itertools import pairwise

_SWEEPS = 10
_PATIENCE = 3


class Graph:
    """Layers as numbers, in rows; numbers from `real` on are way-points of long connections."""

    def __init__(self, names: list[str], row: list[int], hint: list[float]) -> None:
        self.names = names
        self.real = len(names)
        self.row = row
        self.hint = hint
        """Where each one stood from left to right before."""
        self.down: list[list[int]] = [[] for _ in names]
        self.up: list[list[int]] = [[] for _ in names]
        self.rows: list[list[int]] = []

    def way_point(self, above: int, row: int) -> int:
        """A point that a connection passes, below one of its points or its layer."""
        v = len(self.row)
        self.row.append(row)
        self.hint.append(self.hint[above])
        self.down.append([])
        self.up.append([])
        self.join(above, v)
        return v

    def join(self, above: int, below: int) -> None:
        """Connect two that are in neighbouring rows."""
        self.down[above].append(below)
        self.up[below].append(above)


def ordered(graph: Graph) -> None:
    """Fill `graph.rows`: sorts each row by what it is connected to, back and forth, and keeps the best of it."""
    starts: tuple[Callable[[], list[int]], ...] = (
        lambda: sorted(range(len(graph.row)), key=lambda v: graph.hint[v]),
        lambda: _depth_first(graph, others_left=False),
        lambda: _depth_first(graph, others_left=True),
    )
    best: tuple[int, list[list[int]]] | None = None
    for start in starts:
        if best is None or best[0]:
            found = _swept(graph, _rows(graph, start()))
            best = found if best is None else min(best, found, key=lambda one: one[0])
    graph.rows = best[1] if best else []


def _rows(graph: Graph, order: list[int]) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(max(graph.row, default=-1) + 1)]
    for v in order:
        rows[graph.row[v]].append(v)
    return rows


def _depth_first(graph: Graph, *, others_left: bool) -> list[int]:
    """Everything in the order in which one walks down from the first row: neighbours stay together.

    Long ways come last, so they stand right of what they go around. With `others_left` what leaves the other inputs,
    such as a mask for many layers, goes down on the left of everything.
    """
    seen = [False] * len(graph.row)
    found = []
    roots = [v for v in range(graph.real) if not graph.up[v]]
    others = set(roots[1:])
    waiting = roots if others_left else roots[::-1]
    while waiting:
        v = waiting.pop()
        if not seen[v]:
            seen[v] = True
            found.append(v)
            below = sorted(graph.down[v], key=lambda u: u >= graph.real)
            waiting += below if others_left and (v in others or v >= graph.real) else below[::-1]
    return found


def _swept(graph: Graph, rows: list[list[int]]) -> tuple[int, list[list[int]]]:
    """The fewest crossings that sorting each row after its neighbours gives, and the rows."""
    place = [0.0] * len(graph.row)
    for row in rows:
        for index, v in enumerate(row):
            place[v] = index
    best = crossings(graph, rows)
    kept = [list(row) for row in rows]
    failures = 0
    for sweep in range(_SWEEPS):
        if not best or failures == _PATIENCE:
            break
        downwards = sweep % 2 == 0
        near = graph.up if downwards else graph.down
        for row in rows if downwards else reversed(rows):
            if len(row) > 1:
                _sort(row, near, place)
        _swap(graph, rows, place)
        count = crossings(graph, rows)
        if count < best:
            best, kept, failures = count, [list(row) for row in rows], 0
        else:
            failures += 1
    return best, kept


def _sort(row: list[int], near: list[list[int]], place: list[float]) -> None:
    """Sorts a row by the middle of what each one is connected to; one without connections keeps its place."""
    width = len(row)
    keys = {}
    for index, v in enumerate(row):
        found = near[v]
        keys[v] = sum(place[u] for u in found) / len(found) if found else place[v]
        place[v] = index / width  # makes ties stable below
    row.sort(key=lambda v: (keys[v], place[v]))
    for index, v in enumerate(row):
        place[v] = index


def _swap(graph: Graph, rows: list[list[int]], place: list[float]) -> None:
    """Exchanges neighbours in a row wherever that takes crossings away."""
    for row in rows:
        for index in range(len(row) - 1):
            a, b = row[index], row[index + 1]
            now = _between(graph.up, place, a, b) + _between(graph.down, place, a, b)
            if now and _between(graph.up, place, b, a) + _between(graph.down, place, b, a) < now:
                row[index], row[index + 1] = b, a
                place[a], place[b] = place[b], place[a]


def _between(near: list[list[int]], place: list[float], left: int, right: int) -> int:
    """Crossings of the connections of two neighbours, in this order."""
    if not near[left] or not near[right]:
        return 0
    if len(near[left]) == len(near[right]) == 1:
        return int(place[near[left][0]] > place[near[right][0]])
    ends = sorted(place[u] for u in near[right])
    count = 0
    for u in near[left]:
        at = place[u]
        for end in ends:
            if end >= at:
                break
            count += 1
    return count


def crossings(graph: Graph, rows: list[list[int]]) -> int:
    """How many pairs of connections cross."""
    place = {v: index for row in rows for index, v in enumerate(row)}
    total = 0
    for row, below in pairwise(rows):
        if len(row) < 2 or len(below) < 2:
            continue
        ends: list[int] = []
        for v in row:
            targets = sorted(place[u] for u in graph.down[v])
            for target in targets:
                total += len(ends) - bisect_right(ends, target)
            for target in targets:
                insort(ends, target)
    return total
