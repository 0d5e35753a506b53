"""Columns for a graph whose rows are in order: main paths upright, everything else near what it is connected to."""

from collections import defaultdict
from itertools import pairwise

from engine.network.rows import Graph

_ROUNDS = 6
_MAIN = 40.0
_PLAIN = 1.0
_WAY = 0.08
_LANE = 12.0


def columns(graph: Graph, column: float) -> list[float]:
    """The middle of each layer and way-point from left to right."""
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
    """The least distances between neighbours of a row: a lane for a connection fits between two layers."""
    found = []
    for left, right in pairwise(row):
        layers = (left < graph.real) + (right < graph.real)
        found.append((_LANE, column / 2, column)[layers])
    return found


def _main_steps(graph: Graph) -> set[tuple[int, int]]:
    """The connections on the ways through most layers: where two ways are equal, both count."""
    count = len(graph.row)
    height = [0] * count
    depth = [0] * count
    for row in reversed(graph.rows):
        for v in row:
            height[v] = (v < graph.real) + max((height[u] for u in graph.down[v]), default=0)
    for row in graph.rows:
        for v in row:
            depth[v] = (v < graph.real) + max((depth[u] for u in graph.up[v]), default=0)
    found = set()
    for v in range(graph.real):
        deepest = max((height[u] for u in graph.down[v]), default=0)
        for below in graph.down[v]:
            if below < graph.real and height[below] == deepest:
                longest = max(depth[u] for u in graph.up[below])
                if depth[v] == longest:
                    found.add((v, below))
    return found


def _main_paths(steps: set[tuple[int, int]]) -> dict[int, int]:
    """For each layer the one below it on a main path; where a path forks or joins, it ends."""
    below: dict[int, list[int]] = defaultdict(list)
    above: dict[int, list[int]] = defaultdict(list)
    for v, u in steps:
        below[v].append(u)
        above[u].append(v)
    return {v: found[0] for v, found in below.items() if len(found) == 1 and len(above[found[0]]) == 1}


def _settle(
    graph: Graph,
    row: list[int],
    gaps: list[float],
    sides: tuple[list[list[int]], ...],
    steps: set[tuple[int, int]],
    xs: list[float],
) -> None:
    """Moves a row towards what it is connected to."""
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
    """The places nearest to the wishes (by weighted squares) that keep the gaps: neighbours in conflict are pooled."""
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
    """Puts each main path exactly upright where its neighbours leave room."""
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
