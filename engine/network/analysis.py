"""What can be said about a network without torch: types on every connection, problems, parameters, work.

`analyse` runs at every keystroke. Each layer's rules are remembered for (layer type with values, input types), so an
edit recomputes what it changed and what lies behind it, and the rest is looked up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.errors import MisfitError
from engine.layers.base import LayerType
from engine.layers.types import Sizes, TensorType
from engine.network.network import Layer, Network, Port
from engine.network.problems import Problem


@dataclass(frozen=True)
class Facts:
    """What the rules say about one layer with these inputs."""

    inputs: tuple[TensorType, ...]
    output: TensorType
    weights: Mapping[str, Sizes]
    parameters: int
    flops: int


@dataclass(frozen=True)
class Analysis:
    """Facts by layer id, where they could be had, and problems. Only the first layer of a broken chain complains."""

    facts: Mapping[str, Facts]
    problems: tuple[Problem, ...]

    @property
    def parameters(self) -> int:
        """Learnable numbers of the whole network."""
        return sum(f.parameters for f in self.facts.values())

    @property
    def flops(self) -> int:
        """Floating-point operations a sample, forward."""
        return sum(f.flops for f in self.facts.values())

    @property
    def has_errors(self) -> bool:
        """Whether any problem keeps the network from being built."""
        return any(p.severity == "error" for p in self.problems)

    def type_at(self, port: Port) -> TensorType | None:
        """What leaves this output port, where it is known."""
        facts = self.facts.get(port.layer)
        return facts.output if facts else None

    def problems_of(self, layer: str) -> tuple[Problem, ...]:
        """The problems of one layer, by its id."""
        return tuple(p for p in self.problems if p.layer == layer)


@lru_cache(maxsize=20_000)
def _facts(type: LayerType, inputs: tuple[TensorType, ...]) -> Facts | MisfitError:
    """The rules' answer, or what does not fit. Values in, values out: safe to remember."""
    try:
        output = type.output(*inputs)
        weights = type.weights(*inputs)
        flops = type.flops(*inputs)
    except MisfitError as misfit:
        return misfit
    return Facts(inputs, output, weights, sum(math.prod(sizes) for sizes in weights.values()), flops)


def analyse(network: Network) -> Analysis:
    """Types, parameters, work and problems of the network by itself; `engine.project.check` adds data and options."""
    facts: dict[str, Facts] = {}
    problems = _cycle_problems(network)
    for id in network.order:
        layer = network.layers[id]
        sources = network.incoming[id]
        missing = [port for port in layer.type.input_ports() if port not in sources]
        if missing:
            problems.append(_unconnected(layer, missing))
            continue
        feeds = [facts.get(sources[port].layer) for port in layer.type.input_ports()]
        if any(feed is None for feed in feeds):
            continue  # a layer upstream has already complained
        found = _facts(layer.acting, tuple(feed.output for feed in feeds if feed is not None))
        if isinstance(found, MisfitError):
            problems.append(Problem("error", id, layer.name, found.field or found.port or "", str(found)))
        else:
            facts[id] = found
    return Analysis(facts, (*problems, *_whole_problems(network)))


def _unconnected(layer: Layer, missing: list[str]) -> Problem:
    which = "The input is" if layer.type.input_ports() == ("in",) else f"Input {', '.join(missing)} is"
    if len(missing) > 1:
        which = f"Inputs {', '.join(missing)} are"
    return Problem("error", layer.id, layer.name, missing[0], f"{which} not connected. Connect a layer to it.")


def _cycle_problems(network: Network) -> list[Problem]:
    """One problem for all layers of a cycle, at the first of them."""
    cycle = [network.layers[id] for id in network.layers if id in network.cyclic]
    if not cycle:
        return []
    names = ", ".join(layer.name for layer in cycle[:6]) + (", ..." if len(cycle) > 6 else "")
    message = f"The connections form a cycle through {names}. Cut one of them: data flows one way."
    return [Problem("error", cycle[0].id, cycle[0].name, "", message)]


def _whole_problems(network: Network) -> list[Problem]:
    """What is wrong with the network as a whole."""
    if not network.layers:
        return [Problem("error", "", "", "", "The network has no layers. Add an input layer first.")]
    if not network.inputs:
        return [Problem("error", "", "", "", "The network has no input layer. Add one and connect it.")]
    return []
