"""Gradient checkpointing: only the inputs of a network's segments are kept, and each is recomputed in backward.

Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from torch import fx, nn
from torch.utils.checkpoint import checkpoint

from netwright.engine.parallel.sync_batch_norm import Share


@dataclass(frozen=True)
class Segment:
    """Consecutive nodes of a graph: the names of inputs and outputs, and the module in between."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    module: fx.GraphModule
    is_recomputed: bool


class CheckpointedNetwork(nn.Module):
    """Calls a network segment by segment. It shares the layers of the network, and so its weights and state.

    Recomputation draws the same random numbers, and batch normalisation updates its running statistics once, so that
    results equal those of the network called as a whole.
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
        # In a tuple they are no submodules: parameters are those of the network, once.
        self._segments = tuple(_segment(network, run, is_recomputed) for run, is_recomputed in runs)

    @property
    def num_recomputed(self) -> int:
        """Return the number of segments that are recomputed."""
        return sum(segment.is_recomputed for segment in self._segments)

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs of the network."""
        values = dict(zip(self._arguments, inputs, strict=True))
        for segment in self._segments:
            arguments = [values[name] for name in segment.inputs]
            if segment.is_recomputed:
                outputs = checkpoint(segment.module, *arguments, use_reentrant=False, context_fn=self._contexts)
            else:
                outputs = segment.module(*arguments)
            values.update(zip(segment.outputs, outputs, strict=True))
        return fx.node.map_arg(self._output.args[0], lambda node: values[node.name])

    def _contexts(self) -> tuple[Any, Any]:
        """Return the contexts of the first computation and of the recomputation."""
        return contextlib.nullcontext(), self._recomputation()

    @contextlib.contextmanager
    def _recomputation(self) -> Iterator[None]:
        self._share.is_recomputing = True
        try:
            yield
        finally:
            self._share.is_recomputing = False


Run = tuple[Sequence[fx.Node], bool]
"""Consecutive nodes, and whether they are recomputed."""


def _steps(network: fx.GraphModule) -> list[fx.Node]:
    return [node for node in network.graph.nodes if node.op not in ("placeholder", "output")]


def _evenly(network: fx.GraphModule) -> list[Run]:
    """Return about √n segments of similar length, cut where few values cross. The last one is not recomputed, since
    backward needs its values at once."""
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
    """Return for a cut before each node how many values cross it."""
    places = {node: place for place, node in enumerate(steps)}
    crossing = [0] * (len(steps) + 1)
    for node, place in places.items():
        last = max((places.get(user, len(steps)) for user in node.users), default=place)
        for cut in range(place + 1, last + 1):
            crossing[cut] += 1
    return crossing


def _by_block(network: fx.GraphModule) -> list[Run]:
    """Return each outermost block and each of its copies as a segment; the values between them are kept."""
    runs: list[tuple[list[fx.Node], str]] = []
    steps = _steps(network)
    blocks = [_block_of(node) for node in steps]
    for place, node in enumerate(steps):
        block = blocks[place]
        if block is None:  # a function: of the block that continues after it, else of the one it ends
            before = runs[-1][1] if runs else ""
            behind = next((name for name in blocks[place:] if name is not None), "")
            block = before if before in (behind, "") or any(runs[-1][0][-1] is x for x in node.all_input_nodes) else ""
        if runs and runs[-1][1] == block:
            runs[-1][0].append(node)
        else:
            runs.append(([node], block))
    return [(nodes, bool(block)) for nodes, block in runs]


def _block_of(node: fx.Node) -> str | None:
    """Return the outermost block of a module, with the copy's number; empty outside blocks; None for a function."""
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
