"""The stages of a pipeline: which layer is computed by which worker, as it is written down by hand.

A layer that is not named is in the latest stage of those that feed it, so that naming the first layer of each stage is
enough. `engine.network.balancing` finds stages that have equally much to do.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.errors import UserError, did_you_mean, plural
from engine.network.analysis import Analysis
from engine.network.freezing import is_frozen, type_at
from engine.network.network import Network
from engine.words import format_percent


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
    """Floating-point operations of a layer, a sample; 0 where nothing is known of it."""
    facts = analysis.facts.get(id)
    return facts.flops if facts else 0


def learning_layers(network: Network, analysis: Analysis) -> set[str]:
    """The layers, a block counted as one, of which some weight learns."""
    paths = ((path, facts.parameters) for path, facts in analysis.all_facts() if facts.parameters)
    return {path.partition("/")[0] for path, _ in paths if not is_frozen(type_at(network, path))}
