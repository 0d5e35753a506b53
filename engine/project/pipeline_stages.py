"""Pipeline stages: which worker computes which layer, as written in the options or balanced by cost.

A layer that is not named is in the latest stage of those that feed it, so naming the first layer of each stage is
enough.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

from engine.core.errors import UserError, did_you_mean, plural
from engine.core.text import format_percent
from engine.network.analysis import Analysis, is_frozen, type_at
from engine.network.network import Network

Cost = Callable[[str], int]
"""What a layer costs, by its id."""
_BYTES = {"real": 4, "index": 8, "complex": 8}
_NEVER = (float("inf"), 0)


@dataclass(frozen=True)
class Stages:
    """For each layer by id its stage, from 0; `shares` of the work, 1 together."""

    of: Mapping[str, int]
    shares: tuple[float, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.shares)

    @property
    def sentence(self) -> str:
        """Such as `2 stages: 3 and 4 layers (40 % and 60 % of the work).`"""
        sizes = [sum(stage == number for stage in self.of.values()) for number in range(self.count)]
        layers, work = (
            _listed([f"{n:,}" for n in sizes]),
            _listed([format_percent(share) for share in self.shares]),
        )
        return f"{plural(self.count, 'stage')}: {layers} layers ({work} of the work)."


@dataclass(frozen=True)
class Fault:
    """Why a network cannot be cut so, in words. `layer` is the one it is about, by id, where it is about one, and
    `stage`, from 0, the one in which that layer would do no harm."""

    message: str
    layer: str = ""
    stage: int | None = None


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def read_stages(text: str) -> dict[str, int]:
    """From `conv_2: 2, fc: 3` to numbers by name, as they were written (from 1). Raises `UserError`."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\w+)(/[\w/]+)?\s*:\s*([1-9]\d{0,3})", part)
        if match is None:
            raise UserError(f"expected layers with the numbers of their stages, such as conv_2: 2, received {part}.")
        name, inner, number = match.groups()
        if inner:
            raise UserError(
                f"{name}{inner} is inside a block, and a block is in one stage as a whole: name {name}, or ungroup it."
            )
        found[name] = int(number)
    return found


def assigned(network: Network, said: Mapping[str, int]) -> dict[str, int]:
    """The stage of each layer by id, from 0, where these numbers are written down by name; whether they can be meant
    is what `faults` says. Layers on a cycle are missing."""
    found: dict[str, int] = {}
    for id in network.order:
        name = network.layers[id].name
        found[id] = said[name] - 1 if name in said else _latest(network, id, found)
    return found


def _latest(network: Network, id: str, found: Mapping[str, int]) -> int:
    """The latest stage of those that feed a layer."""
    return max((found[port.layer] for port in network.incoming[id].values()), default=0)


def written(network: Network, of: Mapping[str, int]) -> str:
    """What `assigned` reads as these stages, with as few names as can be. A layer that has none in `of` is where the
    latest is that feeds it."""
    found: dict[str, int] = {}
    parts: list[str] = []
    for id in network.order:
        latest = _latest(network, id, found)
        found[id] = of.get(id, latest)
        if found[id] != latest:
            parts.append(f"{network.layers[id].name}: {found[id] + 1}")
    if not parts and network.order:
        parts.append(f"{network.layers[network.order[0]].name}: 1")  # nothing at all means: whatever is best
    return ", ".join(parts)


def faults(network: Network, analysis: Analysis, said: Mapping[str, int]) -> Iterator[Fault]:
    """Why a network cannot be cut as it is written down: a layer is not there, a connection would lead backwards, a
    stage has no layer or nothing to learn."""
    for name in said:
        if name not in network.by_name:
            yield Fault(f"there is no layer '{name}' to be in a stage.{did_you_mean(name, network.by_name)}")
    found = assigned(network, said)
    for id in network.order:
        yield from _backwards(network, id, found)
    count = max(found.values(), default=0) + 1
    learning = learning_layers(network, analysis)
    for number in range(count):
        members = [id for id, stage in found.items() if stage == number]
        if not members:
            yield Fault(f"stage {number + 1} of {count} has no layer. Number the stages without gaps.")
        elif not any(id in learning for id in members):
            yield Fault(
                f"stage {number + 1} has no layer whose weights learn. Move one into it, or use fewer stages.",
                members[0] if number else "",
            )


def _backwards(network: Network, id: str, found: Mapping[str, int]) -> Iterator[Fault]:
    """A connection to a layer from a later stage."""
    latest, name = _latest(network, id, found), network.layers[id].name
    if found[id] < latest:
        feeds = (port.layer for port in network.incoming[id].values())
        source = next(network.layers[feed].name for feed in feeds if found[feed] == latest)
        message = (
            f"{name} is in stage {found[id] + 1} and takes what {source} of stage {latest + 1} gives. "
            f"A connection leads to the same stage or a later one: put {name} into stage {latest + 1}."
        )
        yield Fault(message, id, latest)


def stages_by_hand(network: Network, analysis: Analysis, text: str) -> Stages:
    """The stages that are written down, such as `conv_2: 2, fc: 3`. Raises `UserError` with the first of the faults."""
    said = read_stages(text)
    for fault in faults(network, analysis, said):
        raise UserError(fault.message)
    return stages(assigned(network, said), lambda id: work(analysis, id))


def stages(found: Mapping[str, int], cost: Callable[[str], int]) -> Stages:
    """Stages with their shares of what the layers cost."""
    sums = [0] * (max(found.values(), default=0) + 1)
    for id, stage in found.items():
        sums[stage] += cost(id)
    whole = sum(sums) or 1
    return Stages(dict(found), tuple(part / whole for part in sums))


def work(analysis: Analysis, id: str) -> int:
    """FLOPs of a layer per sample; 0 where nothing is known of it."""
    shapes = analysis.shapes.get(id)
    return shapes.flops if shapes else 0


def learning_layers(network: Network, analysis: Analysis) -> set[str]:
    """The layers, a block counted as one, of which some weight learns."""
    paths = ((path, shapes.parameters) for path, shapes in analysis.all_shapes() if shapes.parameters)
    return {path.partition("/")[0] for path, _ in paths if not is_frozen(type_at(network, path))}


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
