"""Layered layout (Sugiyama): rows with few crossings, then columns with straight main paths."""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

_SWEEPS = 10
_PATIENCE = 3
_ROUNDS = 6
_MAIN = 40.0
_PLAIN = 1.0
_WAY = 0.08
_LANE = 12.0


class Graph:
    """Graph of layers as numbers, in rows; numbers from `real` on are way-points of long connections."""

    def __init__(self, names: list[str], row: list[int], hint: list[float]) -> None:
        self.names = names
        self.real = len(names)
        self.row = row
        self.hint = hint
        """Positions from left to right in the previous layout."""
        self.down: list[list[int]] = [[] for _ in names]
        self.up: list[list[int]] = [[] for _ in names]
        self.rows: list[list[int]] = []

    def way_point(self, above: int, row: int) -> int:
        """Return a new way-point of a connection, below its previous way-point or its layer."""
        v = len(self.row)
        self.row.append(row)
        self.hint.append(self.hint[above])
        self.down.append([])
        self.up.append([])
        self.join(above, v)
        return v

    def join(self, above: int, below: int) -> None:
        """Connect two nodes in neighbouring rows."""
        self.down[above].append(below)
        self.up[below].append(above)


def ordered(graph: Graph) -> None:
    """Fill `graph.rows`: sort each row by its neighbours, downwards and upwards, and keep the order with the fewest
    crossings."""
    starts: tuple[Callable[[], list[int]], ...] = (
        lambda: sorted(range(len(graph.row)), key=lambda v: graph.hint[v]),
        lambda: _depth_first(graph, others_left=False),
        lambda: _depth_first(graph, others_left=True),
    )
    best: tuple[int, list[list[int]]] | None = None
    for start in starts:
        if best is None or best[0]:
            candidate = _swept(graph, _rows(graph, start()))
            best = candidate if best is None else min(best, candidate, key=lambda pair: pair[0])
    graph.rows = best[1] if best else []


def _rows(graph: Graph, order: list[int]) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(max(graph.row, default=-1) + 1)]
    for v in order:
        rows[graph.row[v]].append(v)
    return rows


def _depth_first(graph: Graph, *, others_left: bool) -> list[int]:
    """Return the nodes in depth-first order from the first row, so that neighbours stay together.

    Long connections come last, so they are right of the layers they pass. With `others_left` the connections of the
    other inputs, such as a mask for many layers, are left of everything.
    """
    visited = [False] * len(graph.row)
    order = []
    roots = [v for v in range(graph.real) if not graph.up[v]]
    others = set(roots[1:])
    waiting = roots if others_left else roots[::-1]
    while waiting:
        v = waiting.pop()
        if not visited[v]:
            visited[v] = True
            order.append(v)
            below = sorted(graph.down[v], key=lambda u: u >= graph.real)
            waiting += below if others_left and (v in others or v >= graph.real) else below[::-1]
    return order


def _swept(graph: Graph, rows: list[list[int]]) -> tuple[int, list[list[int]]]:
    """Return the fewest crossings that sorting each row by its neighbours gives, and the rows."""
    place = [0.0] * len(graph.row)
    for row in rows:
        for index, v in enumerate(row):
            place[v] = index
    best = crossings(graph, rows)
    best_rows = [list(row) for row in rows]
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
            best, best_rows, failures = count, [list(row) for row in rows], 0
        else:
            failures += 1
    return best, best_rows


def _sort(row: list[int], near: list[list[int]], place: list[float]) -> None:
    """Sort a row by the mean position of each node's neighbours; a node without connections keeps its position."""
    width = len(row)
    keys = {}
    for index, v in enumerate(row):
        neighbours = near[v]
        keys[v] = sum(place[u] for u in neighbours) / len(neighbours) if neighbours else place[v]
        place[v] = index / width  # makes ties stable below
    row.sort(key=lambda v: (keys[v], place[v]))
    for index, v in enumerate(row):
        place[v] = index


def _swap(graph: Graph, rows: list[list[int]], place: list[float]) -> None:
    """Exchange neighbours in a row wherever that reduces the crossings."""
    for row in rows:
        for index in range(len(row) - 1):
            a, b = row[index], row[index + 1]
            now = _between(graph.up, place, a, b) + _between(graph.down, place, a, b)
            if now and _between(graph.up, place, b, a) + _between(graph.down, place, b, a) < now:
                row[index], row[index + 1] = b, a
                place[a], place[b] = place[b], place[a]


def _between(near: list[list[int]], place: list[float], left: int, right: int) -> int:
    """Return the crossings of the connections of two neighbouring nodes, in this order."""
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
    """Return the number of crossing pairs of connections."""
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


def columns(graph: Graph, column: float) -> list[float]:
    """Return the centre of each layer and way-point from left to right."""
    xs = [0.0] * len(graph.row)
    for row in graph.rows:
        for v, x in zip(row, _spread([0.0] * len(row), [1.0] * len(row), _gaps(graph, row, column)), strict=True):
            xs[v] = x
    steps = _main_steps(graph)
    gaps = [_gaps(graph, row, column) for row in graph.rows]
    order = range(len(graph.rows))
    for round_ in range(_ROUNDS):
        for numbers, sides in ((order, (graph.up,)), (order[::-1], (graph.down,)), (order, (graph.up, graph.down))):
            if round_ < _ROUNDS - 1 or len(sides) == 2:
                for number in numbers:
                    _settle(graph, graph.rows[number], gaps[number], sides, steps, xs)
    _straighten(graph, _main_paths(steps), column, xs)
    return xs


def _gaps(graph: Graph, row: list[int], column: float) -> list[float]:
    """Return the least distances between neighbours of a row: a lane for a connection fits between two layers."""
    gaps = []
    for left, right in pairwise(row):
        layers = (left < graph.real) + (right < graph.real)
        gaps.append((_LANE, column / 2, column)[layers])
    return gaps


def _main_steps(graph: Graph) -> set[tuple[int, int]]:
    """Return the connections on the longest paths: where two paths are equally long, both count."""
    count = len(graph.row)
    height = [0] * count
    depth = [0] * count
    for row in reversed(graph.rows):
        for v in row:
            height[v] = (v < graph.real) + max((height[u] for u in graph.down[v]), default=0)
    for row in graph.rows:
        for v in row:
            depth[v] = (v < graph.real) + max((depth[u] for u in graph.up[v]), default=0)
    steps = set()
    for v in range(graph.real):
        deepest = max((height[u] for u in graph.down[v]), default=0)
        for below in graph.down[v]:
            if below < graph.real and height[below] == deepest:
                longest = max(depth[u] for u in graph.up[below])
                if depth[v] == longest:
                    steps.add((v, below))
    return steps


def _main_paths(steps: set[tuple[int, int]]) -> dict[int, int]:
    """Return for each layer the next one on a main path; a path ends where it forks or joins."""
    below: dict[int, list[int]] = defaultdict(list)
    above: dict[int, list[int]] = defaultdict(list)
    for v, u in steps:
        below[v].append(u)
        above[u].append(v)
    return {v: targets[0] for v, targets in below.items() if len(targets) == 1 and len(above[targets[0]]) == 1}


def _settle(
    graph: Graph,
    row: list[int],
    gaps: list[float],
    sides: tuple[list[list[int]], ...],
    steps: set[tuple[int, int]],
    xs: list[float],
) -> None:
    """Move the nodes of a row towards their neighbours in the other rows."""
    wishes, weights = [], []
    for v in row:
        total = weight = 0.0
        for side in sides:
            for u in side[v]:
                pull = _WAY if v >= graph.real or u >= graph.real else _PLAIN
                if (u, v) in steps or (v, u) in steps:
                    pull = _MAIN
                total += pull * xs[u]
                weight += pull
        wishes.append(total / weight if weight else xs[v])
        weights.append(weight or 0.01)
    if len(row) == 1:
        xs[row[0]] = wishes[0]
        return
    for v, x in zip(row, _spread(wishes, weights, gaps), strict=True):
        xs[v] = x


def _spread(wishes: list[float], weights: list[float], gaps: list[float]) -> list[float]:
    """Return the positions nearest to the desired ones (weighted least squares) that keep the gaps, by pooling
    neighbours in conflict."""
    shift = 0.0
    shifts = []
    pools: list[tuple[float, float, int]] = []  # weight, mean, how many
    for index, (wish, weight) in enumerate(zip(wishes, weights, strict=True)):
        shift += gaps[index - 1] if index else 0.0
        shifts.append(shift)
        pool = (weight, wish - shift, 1)
        while pools and pools[-1][1] > pool[1]:
            w, mean, count = pools.pop()
            pool = (w + pool[0], (w * mean + pool[0] * pool[1]) / (w + pool[0]), count + pool[2])
        pools.append(pool)
    flat = [mean for _, mean, count in pools for _ in range(count)]
    return [x + shift for x, shift in zip(flat, shifts, strict=True)]


def _straighten(graph: Graph, main: dict[int, int], column: float, xs: list[float]) -> None:
    """Straighten each main path where its neighbours leave room."""
    room: list[tuple[float, float]] = [(float("-inf"), float("inf"))] * len(xs)
    heads = set(main) - set(main.values())
    for head in sorted(heads, key=lambda v: graph.row[v]):
        path = [head]
        while path[-1] in main:
            path.append(main[path[-1]])
        _find_room(graph, path, column, xs, room)
        low = max(room[v][0] for v in path)
        high = min(room[v][1] for v in path)
        middle = sorted(xs[v] for v in path)[len(path) // 2]
        if low <= high:
            for v in path:
                xs[v] = min(max(middle, low), high)


def _find_room(graph: Graph, path: list[int], column: float, xs: list[float], room: list[tuple[float, float]]) -> None:
    for v in path:
        row = graph.rows[graph.row[v]]
        index = row.index(v)
        low, high = float("-inf"), float("inf")
        if index:
            low = xs[row[index - 1]] + _gaps(graph, [row[index - 1], v], column)[0]
        if index + 1 < len(row):
            high = xs[row[index + 1]] - _gaps(graph, [v, row[index + 1]], column)[0]
        # A neighbour that is itself out of its place leaves this one where it is.
        room[v] = (min(low, xs[v]), max(high, xs[v]))
