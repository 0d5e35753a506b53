"""Automatic arrangement beside other engines: time and crossings, as ratios to fast-sugiyama.

Over a residual network and a transformer as an export to ONNX would have it, with a mask that every block takes and
long ways around. Crossings are those of straight lines from layer to layer, counted the same way for every engine,
and of all connections: of ours also without those that the canvas shows as a name at the input, not as a line. Ours
shares way-points, so that what is seen crosses less than straight lines do.

    pip install fast-sugiyama igraph numpy      # in an environment of their own; what is missing is left out
    PYTHONPATH=. python -m benchmarks.arrangement [LAYERS ...]
"""

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from netwright.engine.network.arrangement import arrange, repeated
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import Position
from netwright.engine.network.network import Connection, Layer, Network, Port

Edge = tuple[int, int]
Places = dict[int, Position]
LIMIT = 60.0


class _Drawn:
    """Layers and connections as they are added."""

    def __init__(self, count: int) -> None:
        self.edges: list[Edge] = []
        self.count = count

    def chain(self, start: int, steps: int) -> int:
        for _ in range(steps):
            self.edges.append((start, self.count))
            start = self.count
            self.count += 1
        return start

    def join(self, *feeds: int) -> int:
        self.edges += [(feed, self.count) for feed in feeds]
        self.count += 1
        return self.count - 1


def residual(count: int) -> list[Edge]:
    """Blocks of five layers and an addition; every fourth has two layers on the way around."""
    drawn = _Drawn(1)
    last, block = drawn.chain(0, 3), 0
    while drawn.count < count:
        main = drawn.chain(last, 5)
        around = drawn.chain(last, 2) if block % 4 == 0 else last
        last = drawn.chain(drawn.join(main, around), 1)
        block += 1
    return drawn.edges


def transformer(count: int) -> list[Edge]:
    """Blocks of attention in single steps, one mask for all, a feed-forward part, and ways around both."""
    drawn = _Drawn(3)
    drawn.edges = [(0, 1), (0, 2)]
    last = 1
    while drawn.count < count:
        normal = drawn.chain(last, 2)
        query, key, value = drawn.chain(normal, 4), drawn.chain(normal, 5), drawn.chain(normal, 4)
        soft = drawn.chain(drawn.join(query, key, 2), 2)
        added = drawn.join(drawn.chain(drawn.join(soft, value), 4), last)
        last = drawn.join(drawn.chain(added, 6), added)
    return drawn.edges


def masked(count: int) -> list[Edge]:
    """The same, but the mask is an input of its own, as in a network that a person draws."""
    return [edge for edge in transformer(count) if edge != (0, 2)]


def network(edges: list[Edge]) -> Network:
    """The graph as a network; only its shape matters."""
    relu = layer_type("relu")()
    count = max(map(max, edges)) + 1
    connections = (Connection(Port(str(a), "out"), Port(str(b), f"in{n}")) for n, (a, b) in enumerate(edges))
    return Network({str(v): Layer(str(v), f"l{v}", relu) for v in range(count)}, tuple(connections))


def ours(edges: list[Edge]) -> Callable[[], Places]:
    """Our own arrangement of a network that is there already."""
    value = network(edges)
    assert len(value.order) == len(value.outgoing)  # both are remembered by the value, and not what is measured
    return lambda: {int(id): at for id, at in arrange(value).positions.items()}


def fast_sugiyama(edges: list[Edge]) -> Callable[[], Places]:
    """The engine in Rust that the budget names."""
    from fast_sugiyama import from_edges

    count = max(map(max, edges)) + 1

    def act() -> Places:
        parts = from_edges(edges, minimum_length=1, vertex_spacing=1.0)
        return {v: at for part in parts for v, at in part[0] if v < count}

    return act


def igraph(edges: list[Edge]) -> Callable[[], Places]:
    """The engine in C of igraph."""
    import igraph as library

    def act() -> Places:
        graph = library.Graph(max(map(max, edges)) + 1, edges, directed=True)
        return dict(enumerate(map(tuple, graph.layout_sugiyama(hgap=1, vgap=1))))

    return act


def crossings(places: Places, edges: list[Edge]) -> int:
    """How many pairs of straight lines cross that share no end."""
    at = np.array([places[v] for v in range(len(places))], float)
    ends = np.array(edges)
    a, b = at[ends[:, 0]], at[ends[:, 1]]
    low, high = np.minimum(a[:, 1], b[:, 1]), np.maximum(a[:, 1], b[:, 1])

    def side(o: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return (p[..., 0] - o[..., 0]) * (q[..., 1] - o[..., 1]) - (p[..., 1] - o[..., 1]) * (q[..., 0] - o[..., 0])

    total = 0
    for i in range(len(edges) - 1):
        j = np.arange(i + 1, len(edges))
        j = j[(low[j] < high[i]) & (high[j] > low[i])]
        for one, other in ((0, 0), (1, 1), (0, 1), (1, 0)):
            j = j[ends[j, one] != ends[i, other]]
        if len(j):
            apart = side(a[i], b[i], a[j]) * side(a[i], b[i], b[j]) < -1e-9
            total += int((apart & (side(a[j], b[j], a[i]) * side(a[j], b[j], b[i]) < -1e-9)).sum())
    return total


def seconds(act: Callable[[], Places]) -> tuple[float, Places]:
    """The median time of an engine, and what it made."""
    taken = []
    while True:
        begin = time.perf_counter()
        places = act()
        taken.append(time.perf_counter() - begin)
        if len(taken) == 3 or taken[-1] > 2:
            return statistics.median(taken), places


def main() -> None:
    """Measure and print a table of Markdown."""
    sizes = [int(word) for word in sys.argv[1:]] or [100, 1000, 5000]
    engines = {"fast-sugiyama": fast_sugiyama, "igraph": igraph, "ours": ours}
    known = {name: make for name, make in engines.items() if importlib.util.find_spec(name.replace("-", "_"))}
    known["ours"] = ours
    print("| network | layers | engine | time | crossings | time, times fast-sugiyama | crossings, times |")
    print("|---|---|---|---|---|---|---|")
    last: dict[str, float] = {}
    for name, make in (("residual", residual), ("transformer", transformer), ("with a mask as input", masked)):
        for size in sizes:
            edges = make(size)
            base: tuple[float, int] | None = None
            for engine, prepare in known.items():
                if last.get(engine, 0.0) * (size / 100) > LIMIT * 10:
                    continue
                taken, places = seconds(prepare(edges))
                last[engine] = taken if size < 5000 else 0.0
                count = crossings(places, edges)
                base = (taken, count) if engine == "fast-sugiyama" else base
                row = [name, f"{len(places):,}", engine, f"{taken:.3f} s", f"{count:,}"]
                row += [f"{taken / base[0]:.2f}", _ratio(count, base[1])] if base else ["", ""]
                print("| " + " | ".join(row) + " |", flush=True)
                if engine == "ours" and (hidden := repeated(network(edges))):
                    gone = {(int(c.source.layer), int(c.target.layer)) for c in hidden}
                    seen = crossings(places, [edge for edge in edges if edge not in gone])
                    rest = ["", _ratio(seen, base[1]) if base else ""]
                    cells = [name, f"{len(places):,}", "ours, as shown", "", f"{seen:,}", *rest]
                    print("| " + " | ".join(cells) + " |", flush=True)


def _ratio(count: int, base: int) -> str:
    return f"{count / base:.2f}" if base else ("equal" if not count else "more")


if __name__ == "__main__":
    main()
