"""Stages of a pipeline that all cost about as much.

The layers in their order are cut where the largest stage is least, by floating-point operations or by another cost, and
of the cuts that are as good where the fewest bytes cross. The largest stage decides how fast a pipeline is.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise

from engine.errors import UserError, plural
from engine.network.analysis import Analysis
from engine.network.network import Network
from engine.network.stages import Stages, learning_layers, stages, work

Cost = Callable[[str], int]
"""What a layer costs, by its id."""

_BYTES = {"real": 4, "index": 8, "complex": 8}
_NEVER = (float("inf"), 0)


def balanced_stages(network: Network, analysis: Analysis, count: int, cost: Cost | None = None) -> Stages:
    """So many stages that all cost about as much: have as much to do, unless a layer's cost is given otherwise; the
    shares are always those of the work. Raises `UserError` where there are not enough layers."""
    cost = cost or partial(work, analysis)
    order = network.order
    learning = enough_learning(network, analysis, count)
    costs = [0, *accumulate(cost(id) for id in order)]
    learns = [0, *accumulate(id in learning for id in order)]
    crossing = crossing_bytes(network, analysis, {id: place for place, id in enumerate(order)})
    # Of all ways to cut the first layers, first what the largest stage must at least have, then the fewest bytes.
    most = _best_cuts(costs, learns, [0] * len(crossing), count, None)[1]
    cuts, _ = _best_cuts(costs, learns, crossing, count, most)
    found: dict[str, int] = {}
    for number, (begin, end) in enumerate(pairwise((0, *cuts, len(order)))):
        found |= dict.fromkeys(order[begin:end], number)
    return stages(found, partial(work, analysis))


def enough_learning(network: Network, analysis: Analysis, count: int) -> set[str]:
    """The layers of which some weight learns. Raises `UserError` where they are too few for so many stages."""
    learning = learning_layers(network, analysis)
    if len(learning) < count:
        raise UserError(
            f"{count:,} stages need as many layers whose weights learn; the network has {len(learning):,} outside of "
            f"blocks, each block counted as one. Use {plural(max(1, len(learning)), 'worker')} at most, or another "
            "strategy."
        )
    return learning


def _best_cuts(
    costs: Sequence[int], learns: Sequence[int], crossing: Sequence[int], count: int, most: float | None
) -> tuple[list[int], float]:
    """Where to cut, and what that costs: the cost of the largest stage, or with `most`, which no stage may pass, the
    bytes that cross. By dynamic programming over the layers that are left of each cut."""
    size = len(costs) - 1
    best: list[tuple[float, int]] = [(0.0, 0)] + [_NEVER] * size
    ways = []
    for _ in range(count):
        now = [_NEVER] * (size + 1)
        for end in range(1, size + 1):
            for begin in range(end - 1, -1, -1):
                own = costs[end] - costs[begin]
                if own > (now[end][0] if most is None else most):
                    break  # a longer stage costs more
                if learns[end] == learns[begin] or best[begin] == _NEVER:
                    continue
                cost = max(best[begin][0], own) if most is None else best[begin][0] + crossing[begin]
                now[end] = min(now[end], (cost, begin), key=lambda way: way[0])
        ways.append(now)
        best = now
    cuts: list[int] = []
    end = size
    for now in reversed(ways[1:]):
        end = now[end][1]
        cuts.append(end)
    return cuts[::-1], best[size][0]


def crossing_bytes(network: Network, analysis: Analysis, at: Mapping[str, int]) -> list[int]:
    """Bytes a sample that go from worker to worker if layers are cut before each of these places, or stages, which the
    layers have by id. Every worker has the data by itself; what is needed by a later stage passes through all
    between."""
    bytes_at = [0] * (max(at.values(), default=0) + 2)
    reach: dict[tuple[str, str], int] = {}
    for connection in network.connections:
        source = (connection.source.layer, connection.source.name)
        if source[0] in at and connection.target.layer in at and not network.layers[source[0]].type.is_input:
            reach[source] = max(reach.get(source, 0), at[connection.target.layer])
    for (id, port), last in reach.items():
        facts = analysis.facts.get(id)
        type = facts.at(port) if facts and facts.ports else None
        size = (type.count or 0) * _BYTES[type.kind] if type else 0
        for cut in range(at[id] + 1, last + 1):
            bytes_at[cut] += size
    return bytes_at
