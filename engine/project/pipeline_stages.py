"""Pipeline stages: which worker computes which layer, as set in the options or balanced by cost.

A layer that is not named is in the latest stage of its sources, so naming the first layer of each stage is enough.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.text import format_percent
from netwright.engine.network.analysis import Analysis, is_frozen, type_at
from netwright.engine.network.network import Network

Cost = Callable[[str], int]
"""Cost of a layer, by its id."""
_BYTES = {"real": 4, "index": 8, "complex": 8}
_NEVER = (float("inf"), 0)


@dataclass(frozen=True)
class Stages:
    """Stage of each layer by id, from 0; `shares` of the work add up to 1."""

    of: Mapping[str, int]
    shares: tuple[float, ...]

    @property
    def count(self) -> int:
        """Return the number of stages."""
        return len(self.shares)

    @property
    def sentence(self) -> str:
        """Return a sentence such as `2 stages: 3 and 4 layers (40 % and 60 % of the work).`"""
        sizes = [sum(stage == number for stage in self.of.values()) for number in range(self.count)]
        layers, work = (
            _listed([f"{n:,}" for n in sizes]),
            _listed([format_percent(share) for share in self.shares]),
        )
        return f"{plural(self.count, 'stage')}: {layers} layers ({work} of the work)."


@dataclass(frozen=True)
class Fault:
    """Reason why a network cannot be divided into these stages. `layer` is the id of the layer concerned, if any, and
    `stage`, from 0, the stage in which that layer would be valid."""

    message: str
    layer: str = ""
    stage: int | None = None


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def read_stages(text: str) -> dict[str, int]:
    """Return numbers by name from `conv_2: 2, fc: 3`, as written (from 1). Raises `UserError`."""
    numbers: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\w+)(/[\w/]+)?\s*:\s*([1-9]\d{0,3})", part)
        if match is None:
            raise UserError(f"expected layers with the numbers of their stages, such as conv_2: 2, received {part}.")
        name, inner, number = match.groups()
        if inner:
            raise UserError(
                f"{name}{inner} is inside a block, and a block is in one stage as a whole: name {name}, or ungroup it."
            )
        numbers[name] = int(number)
    return numbers


def assigned(network: Network, numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the stage of each layer by id, from 0, given these numbers by name; `faults` checks whether they are
    valid. Layers on a cycle are missing."""
    stage_of: dict[str, int] = {}
    for id in network.order:
        name = network.layers[id].name
        stage_of[id] = numbers[name] - 1 if name in numbers else _latest(network, id, stage_of)
    return stage_of


def _latest(network: Network, id: str, stage_of: Mapping[str, int]) -> int:
    """Return the latest stage among the sources of a layer."""
    return max((stage_of[port.layer] for port in network.incoming[id].values()), default=0)


def written(network: Network, of: Mapping[str, int]) -> str:
    """Return the text that `assigned` reads as these stages, with as few names as possible. A layer that is not in
    `of` is in the latest stage of its sources."""
    stage_of: dict[str, int] = {}
    parts: list[str] = []
    for id in network.order:
        latest = _latest(network, id, stage_of)
        stage_of[id] = of.get(id, latest)
        if stage_of[id] != latest:
            parts.append(f"{network.layers[id].name}: {stage_of[id] + 1}")
    if not parts and network.order:
        parts.append(f"{network.layers[network.order[0]].name}: 1")  # nothing at all means: whatever is best
    return ", ".join(parts)


def faults(network: Network, analysis: Analysis, numbers: Mapping[str, int]) -> Iterator[Fault]:
    """Return the reasons why a network cannot be divided as written: a layer does not exist, a connection would lead
    backwards, a stage has no layer or no learnable weights."""
    for name in numbers:
        if name not in network.by_name:
            yield Fault(f"there is no layer '{name}' to be in a stage.{did_you_mean(name, network.by_name)}")
    stage_of = assigned(network, numbers)
    for id in network.order:
        yield from _backwards(network, id, stage_of)
    count = max(stage_of.values(), default=0) + 1
    learning = learning_layers(network, analysis)
    for number in range(count):
        members = [id for id, stage in stage_of.items() if stage == number]
        if not members:
            yield Fault(f"stage {number + 1} of {count} has no layer. Number the stages without gaps.")
        elif not any(id in learning for id in members):
            yield Fault(
                f"stage {number + 1} has no layer whose weights learn. Move one into it, or use fewer stages.",
                members[0] if number else "",
            )


def _backwards(network: Network, id: str, stage_of: Mapping[str, int]) -> Iterator[Fault]:
    """Return a fault for a connection to a layer from a later stage."""
    latest, name = _latest(network, id, stage_of), network.layers[id].name
    if stage_of[id] < latest:
        feeds = (port.layer for port in network.incoming[id].values())
        source = next(network.layers[feed].name for feed in feeds if stage_of[feed] == latest)
        message = (
            f"{name} is in stage {stage_of[id] + 1} and takes what {source} of stage {latest + 1} gives. "
            f"A connection leads to the same stage or a later one: put {name} into stage {latest + 1}."
        )
        yield Fault(message, id, latest)


def stages_by_hand(network: Network, analysis: Analysis, text: str) -> Stages:
    """Return the stages as written, such as `conv_2: 2, fc: 3`. Raises `UserError` with the first of the faults."""
    numbers = read_stages(text)
    for fault in faults(network, analysis, numbers):
        raise UserError(fault.message)
    return stages(assigned(network, numbers), lambda id: work(analysis, id))


def stages(stage_of: Mapping[str, int], cost: Callable[[str], int]) -> Stages:
    """Return stages with their shares of the layers' cost."""
    sums = [0] * (max(stage_of.values(), default=0) + 1)
    for id, stage in stage_of.items():
        sums[stage] += cost(id)
    whole = sum(sums) or 1
    return Stages(dict(stage_of), tuple(part / whole for part in sums))


def work(analysis: Analysis, id: str) -> int:
    """Return the FLOPs of a layer per sample; 0 where they are not known."""
    shapes = analysis.shapes.get(id)
    return shapes.flops if shapes else 0


def learning_layers(network: Network, analysis: Analysis) -> set[str]:
    """Return the layers with learnable weights, a block counted as one layer."""
    paths = ((path, shapes.parameters) for path, shapes in analysis.all_shapes() if shapes.parameters)
    return {path.partition("/")[0] for path, _ in paths if not is_frozen(type_at(network, path))}


def balanced_stages(network: Network, analysis: Analysis, count: int, cost: Cost | None = None) -> Stages:
    """Return this number of stages of about equal cost: FLOPs, unless a layer's cost is given otherwise; the shares
    are always those of FLOPs. Raises `UserError` where there are not enough layers."""
    cost = cost or partial(work, analysis)
    order = network.order
    learning = enough_learning(network, analysis, count)
    costs = [0, *accumulate(cost(id) for id in order)]
    learns = [0, *accumulate(id in learning for id in order)]
    crossing = crossing_bytes(network, analysis, {id: place for place, id in enumerate(order)})
    # First what the largest stage must at least cost, then of all cuts that keep to it those with the fewest bytes.
    most = _least_most(costs, learns, count)
    cuts, _ = _cheapest_cuts(costs, learns, crossing, count, most)
    stage_of: dict[str, int] = {}
    for number, (begin, end) in enumerate(pairwise((0, *cuts, len(order)))):
        stage_of |= dict.fromkeys(order[begin:end], number)
    return stages(stage_of, partial(work, analysis))


def enough_learning(network: Network, analysis: Analysis, count: int) -> set[str]:
    """Return the layers with learnable weights. Raises `UserError` where they are too few for the number of stages."""
    learning = learning_layers(network, analysis)
    if len(learning) < count:
        fewer = f"{plural(len(learning), 'worker')} at most, or " if len(learning) > 1 else ""
        raise UserError(
            f"{count:,} stages need as many layers whose weights learn; the network has {len(learning):,} outside of "
            f"blocks, each block counted as one.",
            hint=f"Use {fewer}another strategy.",
        )
    return learning


def _least_most(costs: Sequence[int], learns: Sequence[int], count: int) -> int:
    """Return the least possible cost of the largest stage, by bisection; the sums of all layers before each position
    are given. Each stage has a layer with learnable weights: there are as many of those as stages."""
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
    """Return for each position the latest begin of a stage that ends there and has a layer with learnable weights; -1:
    none."""
    begins, begin = [], -1
    for end, number in enumerate(learns):
        while begin + 1 < end and learns[begin + 1] < number:
            begin += 1
        begins.append(begin)
    return begins


def _earliest_begins(costs: Sequence[int], most: int) -> list[int]:
    """Return for each position the earliest begin of a stage that ends there and costs no more than this."""
    begins, begin = [], 0
    for cost in costs:
        while cost - costs[begin] > most:
            begin += 1
        begins.append(begin)
    return begins


def _can_be(earliest: Sequence[int], latest: Sequence[int], count: int) -> bool:
    """Return whether this number of stages in sequence can end at the last position."""
    ends_there = [1] + [0] * (len(earliest) - 1)
    for _ in range(count):
        before = [0, *accumulate(ends_there)]
        spans = zip(earliest, latest, strict=True)
        ends_there = [int(last >= first and before[last + 1] > before[first]) for first, last in spans]
    return bool(ends_there[-1])


def _cheapest_cuts(
    costs: Sequence[int], learns: Sequence[int], crossing: Sequence[int], count: int, most: int
) -> tuple[list[int], float]:
    """Return the cuts, and their number, such that no stage costs more than this and the fewest bytes cross. Dynamic
    programming over the layers before each cut; the best begin of a stage is the minimum in a sliding window."""
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
    """Return for each position the fewest bytes with one more stage that ends there, and the begin of that stage."""
    table: list[tuple[float, int]] = []
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
        table.append(window[0] if window else _NEVER)
    return table


def crossing_bytes(network: Network, analysis: Analysis, at: Mapping[str, int]) -> list[int]:
    """Return the bytes per sample sent from worker to worker at each cut; `at` is the place or stage of a layer by id.

    Every worker reads the data itself; what a later stage needs passes through all stages between.
    """
    bytes_at = [0] * (max(at.values(), default=0) + 2)
    reach: dict[tuple[str, str], int] = {}
    for connection in network.connections:
        source = (connection.source.layer, connection.source.name)
        if source[0] in at and connection.target.layer in at and not network.layers[source[0]].type.is_input:
            reach[source] = max(reach.get(source, 0), at[connection.target.layer])
    for (id, port), last in reach.items():
        shapes = analysis.shapes.get(id)
        type = shapes.at(port) if shapes and shapes.ports else None
        size = (type.count or 0) * _BYTES[type.kind] if type else 0
        if last > at[id]:
            bytes_at[at[id] + 1] += size
            bytes_at[last + 1] -= size
    return list(accumulate(bytes_at))
