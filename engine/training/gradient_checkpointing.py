"""Gradient checkpointing: a network in segments, of which only what enters is held until the backward pass, where each
is computed again. Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from torch import fx, nn
from torch.utils.checkpoint import checkpoint

from engine.parallel.sync_batch_norm import Share


@dataclass(frozen=True)
class Segment:
    """Some nodes of a graph in their order: the names of what enters and of what leaves, and the module in between."""

    entering: tuple[str, ...]
    leaving: tuple[str, ...]
    module: fx.GraphModule
    is_recomputed: bool


class Recomputing(nn.Module):
    """Calls a network segment by segment. It holds the network's own layers, so weights and states are the network's.

    Random numbers are drawn again as they were, and batch normalisation moves its running statistics once, so that the
    numbers are those of the network called as a whole.
    """

    def __init__(self, network: fx.GraphModule, how: str, share: Share) -> None:
        """`how` is the option `gradient_checkpointing`: auto or blocks."""
        super().__init__()
        self.network = network
        self._share = share
        runs = _by_block(network) if how == "blocks" else _evenly(network)
        nodes = list(network.graph.nodes)
        self._arguments = [node.name for node in nodes if node.op == "placeholder"]
        self._output = nodes[-1]
        # In a tuple they are no modules of this one: its parameters are the network's, once.
        self._segments = tuple(_segment(network, run, is_recomputed) for run, is_recomputed in runs)

    @property
    def num_recomputed(self) -> int:
        """How many segments are computed again."""
        return sum(segment.is_recomputed for segment in self._segments)

    def forward(self, *inputs: Any) -> Any:
        """As the network's."""
        values = dict(zip(self._arguments, inputs, strict=True))
        for segment in self._segments:
            given = [values[name] for name in segment.entering]
            if segment.is_recomputed:
                left = checkpoint(segment.module, *given, use_reentrant=False, context_fn=self._contexts)
            else:
                left = segment.module(*given)
            values.update(zip(segment.leaving, left, strict=True))
        return fx.node.map_arg(self._output.args[0], lambda node: values[node.name])

    def _contexts(self) -> tuple[Any, Any]:
        """What is around the first computation and around the second."""
        return contextlib.nullcontext(), self._again()

    @contextlib.contextmanager
    def _again(self) -> Iterator[None]:
        self._share.is_recomputing = True
        try:
            yield
        finally:
            self._share.is_recomputing = False


Run = tuple[Sequence[fx.Node], bool]
"""Nodes that follow each other, and whether they are computed again."""


def _steps(network: fx.GraphModule) -> list[fx.Node]:
    return [node for node in network.graph.nodes if node.op not in ("placeholder", "output")]


def _evenly(network: fx.GraphModule) -> list[Run]:
    """About the root of their number of segments of like length, cut where few values cross. What the last one holds is
    needed at once, so it is not computed again."""
    steps = _steps(network)
    count = max(1, round(math.sqrt(len(steps))))
    crossing = _crossing(steps)
    apart = len(steps) / count
    cuts = {0, len(steps)}
    for number in range(1, count):
        ideal = round(number * apart)
        near = range(max(1, ideal - int(apart // 2)), min(len(steps), ideal + int(apart // 2) + 1))
        cuts.add(min(near, key=lambda at: (crossing[at], abs(at - ideal))))  # called at once
    runs = [steps[start:end] for start, end in pairwise(sorted(cuts))]
    return [(run, run is not runs[-1]) for run in runs]


def _crossing(steps: Sequence[fx.Node]) -> list[int]:
    """For a cut before each step, how many values are made before it and used behind it."""
    places = {node: place for place, node in enumerate(steps)}
    crossing = [0] * (len(steps) + 1)
    for node, place in places.items():
        last = max((places.get(user, len(steps)) for user in node.users), default=place)
        for cut in range(place + 1, last + 1):
            crossing[cut] += 1
    return crossing


def _by_block(network: fx.GraphModule) -> list[Run]:
    """Each outermost block and each of its copies; what stands between them is held."""
    runs: list[tuple[list[fx.Node], str]] = []
    steps = _steps(network)
    blocks = [_block_of(node) for node in steps]
    for place, node in enumerate(steps):
        block = blocks[place]
        if block is None:  # a function: of the block that goes on behind it, else of the one it ends
            before = runs[-1][1] if runs else ""
            behind = next((name for name in blocks[place:] if name is not None), "")
            block = before if before in (behind, "") or any(runs[-1][0][-1] is x for x in node.all_input_nodes) else ""
        if runs and runs[-1][1] == block:
            runs[-1][0].append(node)
        else:
            runs.append(([node], block))
    return [(nodes, bool(block)) for nodes, block in runs]


def _block_of(node: fx.Node) -> str | None:
    """The outermost block that a module is in, with the copy's number; empty outside of blocks; None for a function."""
    if node.op != "call_module":
        return None
    first, *inner = str(node.target).split(".")
    if not inner:
        return ""
    return f"{first}.{inner[0]}" if inner[0].isdigit() and len(inner) > 1 else first


def _segment(network: fx.GraphModule, nodes: Sequence[fx.Node], is_recomputed: bool) -> Segment:
    inside = set(nodes)
    entering = list(dict.fromkeys(x for node in nodes for x in node.all_input_nodes if x not in inside))
    leaving = [node for node in nodes if any(user not in inside for user in node.users)]
    graph = fx.Graph()
    copies = {node: graph.placeholder(node.name) for node in entering}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in leaving))
    module = fx.GraphModule(network, graph, "Segment")
    return Segment(tuple(x.name for x in entering), tuple(x.name for x in leaving), module, is_recomputed)
