"""Stages of a pipeline that all cost about as much.

The layers in their order are cut where the largest stage is least, by floating-point operations or by another cost, and
of the cuts that are as good where the fewest bytes cross. The largest stage decides how fast a pipeline is.
"""

from collections import deque
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
    # First what the largest stage must at least cost, then of all cuts that keep to it those with the fewest bytes.
    most = _least_most(costs, learns, count)
    cuts, _ = _cheapest_cuts(costs, learns, crossing, count, most)
    found: dict[str, int] = {}
    for number, (begin, end) in enumerate(pairwise((0, *cuts, len(order)))):
        found |= dict.fromkeys(order[begin:end], number)
    return stages(found, partial(work, analysis))


def enough_learning(network: Network, analysis: Analysis, count: int) -> set[str]:
    """The layers of which some weight learns. Raises `UserError` where they are too few for so many stages."""
    learning = learning_layers(network, analysis)
    if len(learning) < count:
        fewer = f"{plural(len(learning), 'worker')} at most, or " if len(learning) > 1 else ""
        raise UserError(
            f"{count:,} stages need as many layers whose weights learn; the network has {len(learning):,} outside of "
            f"blocks, each block counted as one. Use {fewer}another strategy."
        )
    return learning


def _least_most(costs: Sequence[int], learns: Sequence[int], count: int) -> int:
    """What the largest of so many stages must at least cost, by halving; the sums of all layers before each place are
    given. Each stage has a layer that learns: there are as many of those as stages."""
    own = [after - before for before, after in pairwise(costs)]
    low, high = max(-(-costs[-1] // count), *own), costs[-1]
    latest = _latest_begins(learns)
    while low < high:
        middle = (low + high) // 2
        if _can_be(_earliest_begins(costs, middle), latest, count):
            high = middle
        else:
            low = middle + 1
    return low


def _latest_begins(learns: Sequence[int]) -> list[int]:
    """Where a stage that ends at each place must at the latest begin to have a layer that learns; -1: nowhere."""
    found, begin = [], -1
    for end, number in enumerate(learns):
        while begin + 1 < end and learns[begin + 1] < number:
            begin += 1
        found.append(begin)
    return found


def _earliest_begins(costs: Sequence[int], most: int) -> list[int]:
    """Where a stage that ends at each place may at the earliest begin to cost no more than this."""
    found, begin = [], 0
    for cost in costs:
        while cost - costs[begin] > most:
            begin += 1
        found.append(begin)
    return found


def _can_be(earliest: Sequence[int], latest: Sequence[int], count: int) -> bool:
    """Whether so many stages in a row end at the last place."""
    ends_there = [1] + [0] * (len(earliest) - 1)
    for _ in range(count):
        before = [0, *accumulate(ends_there)]
        spans = zip(earliest, latest, strict=True)
        ends_there = [int(last >= first and before[last + 1] > before[first]) for first, last in spans]
    return bool(ends_there[-1])


def _cheapest_cuts(
    costs: Sequence[int], learns: Sequence[int], crossing: Sequence[int], count: int, most: int
) -> tuple[list[int], float]:
    """Where to cut so that no stage costs more than this and the fewest bytes cross, and how many. By dynamic
    programming over the layers that are left of each cut; the best begin of a stage is the least in a window that only
    moves on."""
    earliest, latest = _earliest_begins(costs, most), _latest_begins(learns)
    best: list[tuple[float, int]] = [(0.0, 0)] + [_NEVER] * (len(costs) - 1)
    ways = []
    for _ in range(count):
        best = _with_one_more(best, crossing, earliest, latest)
        ways.append(best)
    cuts: list[int] = []
    end = len(costs) - 1
    for way in reversed(ways[1:]):
        end = way[end][1]
        cuts.append(end)
    return cuts[::-1], best[-1][0]


def _with_one_more(
    best: Sequence[tuple[float, int]], crossing: Sequence[int], earliest: Sequence[int], latest: Sequence[int]
) -> list[tuple[float, int]]:
    """For each place the fewest bytes of so many stages and one that ends there, and where that one begins."""
    found: list[tuple[float, int]] = []
    window: deque[tuple[float, int]] = deque()
    entered = 0
    for first, last in zip(earliest, latest, strict=True):
        for begin in range(entered, last + 1):
            cost = best[begin][0] + crossing[begin]
            while window and window[-1][0] >= cost:
                window.pop()
            window.append((cost, begin))
        entered = max(entered, last + 1)
        while window and window[0][1] < first:
            window.popleft()
        found.append(window[0] if window else _NEVER)
    return found


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
        if last > at[id]:
            bytes_at[at[id] + 1] += size
            bytes_at[last + 1] -= size
    return list(accumulate(bytes_at))
