"""The stages of a pipeline: which layer is computed by which worker, by hand or so that all have as much to do.

Balanced: the layers in their order are cut where the largest stage is least by floating-point operations, and of the
cuts that are as good where the fewest bytes cross. The largest stage decides how fast a pipeline is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from engine.errors import UserError, did_you_mean, plural
from engine.network.analysis import Analysis
from engine.network.freezing import is_frozen, type_at
from engine.network.network import Network

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
            _listed([f"{share:.0%}"[:-1] + " %" for share in self.shares]),
        )
        return f"{plural(self.count, 'stage')}: {layers} layers ({work} of the work)."


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def read_stages(text: str) -> dict[str, int]:
    """From `conv_2: 2, fc: 3` to numbers by name, as they were written (from 1). Raises `UserError`."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\w+)\s*:\s*([1-9]\d{0,3})", part)
        if match is None:
            raise UserError(f"expected layers with the numbers of their stages, such as conv_2: 2, received {part}.")
        found[match[1]] = int(match[2])
    return found


def stages_by_hand(network: Network, analysis: Analysis, text: str) -> Stages:
    """The stages that are written down, such as `conv_2: 2, fc: 3`. A layer that is not named is in the latest stage of
    those that feed it. Raises `UserError` where a connection would lead backwards, a stage has nothing to learn, or a
    layer is not there."""
    said = read_stages(text)
    for name in said:
        if name not in network.by_name:
            raise UserError(f"there is no layer '{name}' to be in a stage.{did_you_mean(name, network.by_name)}")
    found: dict[str, int] = {}
    for id in network.order:
        layer = network.layers[id]
        feeds = {port.layer for port in network.incoming[id].values()}
        latest = max((found[feed] for feed in feeds), default=0)
        found[id] = said[layer.name] - 1 if layer.name in said else latest
        if found[id] < latest:
            source = next(network.layers[feed].name for feed in feeds if found[feed] == latest)
            raise UserError(
                f"{layer.name} is in stage {found[id] + 1} and takes what {source} of stage {latest + 1} gives. "
                f"A connection leads to the same stage or a later one: put {layer.name} into stage {latest + 1}."
            )
    count = max(found.values(), default=0) + 1
    learning = _learning(network, analysis)
    for number in range(count):
        members = [id for id, stage in found.items() if stage == number]
        if not members:
            raise UserError(f"stage {number + 1} of {count} has no layer. Number the stages without gaps.")
        if not any(id in learning for id in members):
            raise UserError(
                f"stage {number + 1} has no layer whose weights learn. Move one into it, or use fewer stages."
            )
    return _stages(found, count, analysis)


def balanced_stages(network: Network, analysis: Analysis, count: int) -> Stages:
    """So many stages that all have about as much to do. Raises `UserError` where there are not enough layers."""
    order = network.order
    learning = _learning(network, analysis)
    if len(learning) < count:
        raise UserError(
            f"{count:,} stages need as many layers whose weights learn; the network has {len(learning):,} outside of "
            f"blocks, each block counted as one. Use {plural(max(1, len(learning)), 'worker')} at most, or another "
            "strategy."
        )
    work = [0, *accumulate(_work(analysis, id) for id in order)]
    learns = [0, *accumulate(id in learning for id in order)]
    crossing = _crossing(network, analysis)
    # Of all ways to cut the first layers, first what the largest stage must at least have, then the fewest bytes.
    most = _best_cuts(work, learns, [0] * len(crossing), count, None)[1]
    cuts, _ = _best_cuts(work, learns, crossing, count, most)
    found: dict[str, int] = {}
    for number, (begin, end) in enumerate(pairwise((0, *cuts, len(order)))):
        found |= dict.fromkeys(order[begin:end], number)
    return _stages(found, count, analysis)


def _best_cuts(
    work: Sequence[int], learns: Sequence[int], crossing: Sequence[int], count: int, most: float | None
) -> tuple[list[int], float]:
    """Where to cut, and what that costs: the work of the largest stage, or with `most`, which no stage may pass, the
    bytes that cross. By dynamic programming over the layers that are left of each cut."""
    size = len(work) - 1
    best: list[tuple[float, int]] = [(0.0, 0)] + [_NEVER] * size
    ways = []
    for _ in range(count):
        now = [_NEVER] * (size + 1)
        for end in range(1, size + 1):
            for begin in range(end - 1, -1, -1):
                own = work[end] - work[begin]
                if own > (now[end][0] if most is None else most):
                    break  # a longer stage has more to do
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


def _stages(found: Mapping[str, int], count: int, analysis: Analysis) -> Stages:
    work = [sum(_work(analysis, id) for id, stage in found.items() if stage == number) for number in range(count)]
    whole = sum(work) or 1
    return Stages(dict(found), tuple(part / whole for part in work))


def _work(analysis: Analysis, id: str) -> int:
    facts = analysis.facts.get(id)
    return facts.flops if facts else 0


def _learning(network: Network, analysis: Analysis) -> set[str]:
    """The layers, a block counted as one, of which some weight learns."""
    paths = ((path, facts.parameters) for path, facts in analysis.all_facts() if facts.parameters)
    return {path.partition("/")[0] for path, _ in paths if not is_frozen(type_at(network, path))}


def _crossing(network: Network, analysis: Analysis) -> list[int]:
    """Bytes a sample that go from worker to worker if the layers are cut before this one. Every worker has the data by
    itself; what is needed by a later stage passes through all between."""
    at = {id: number for number, id in enumerate(network.order)}
    bytes_at = [0] * (len(at) + 1)
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
