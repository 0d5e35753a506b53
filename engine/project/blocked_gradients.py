"""Warnings about layers that cannot learn, because an imported ONNX operator stops their gradients."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from netwright.engine.core.errors import plural
from netwright.engine.layers.onnx_operator import OnnxOperator
from netwright.engine.network.analysis import Analysis, is_frozen
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project import check_fixes
from netwright.engine.project.constants import operators

NAMED = 8
"""Most layers that a message names."""
GRADIENTS = "gradients"
"""Field of the operator that the warnings are about."""


@dataclass
class _Flat:
    """The network without blocks: the sources of each layer, by id paths."""

    sources: dict[str, list[str]] = field(default_factory=dict)
    """Where a gradient passes back to."""
    names: dict[str, str] = field(default_factory=dict)
    learning: list[str] = field(default_factory=list)
    stops: dict[str, list[str]] = field(default_factory=dict)
    """ONNX operators, and what they are computed from and pass no gradient to."""

    def behind(self, starts: Iterable[str]) -> set[str]:
        """Return these layers and those that they are computed from, as far as gradients pass back."""
        paths: set[str] = set()
        waiting = list(starts)
        while waiting:
            path = waiting.pop()
            if path not in paths:
                paths.add(path)
                waiting += self.sources.get(path, [])
        return paths


def blocked_gradients(network: Network, analysis: Analysis, *, has_data: bool = True) -> Iterator[Problem]:
    """Yield a warning at each ONNX operator behind layers with weights, which its inputs get no gradient for; an error
    where no layer of the network can learn from the data, if there is some."""
    if not any(True for _ in operators(network)):
        return
    flat = _Flat()
    _flatten(flat, network, analysis, "", "", is_in_frozen=False)
    ends = (end for port in network.output_ports for end in _ends(network, port.layer, port.name, ""))
    learned = flat.behind(ends)
    for stop, sources in flat.stops.items():
        before = flat.behind(sources)
        blocked = [path for path in flat.learning if path in before]
        if not blocked:
            continue
        dead = [path for path in blocked if path not in learned]
        is_all = bool(dead) and not any(path in learned for path in flat.learning)
        yield _problem(flat, stop, blocked, dead, is_all=is_all and has_data)


def _problem(flat: _Flat, stop: str, blocked: list[str], dead: list[str], *, is_all: bool) -> Problem:
    sentences = []
    if is_all:
        sentences.append("Nothing in the network can learn.")
    if dead:
        sentences.append(f"Its inputs get no gradient, so {_listed(flat, dead)} cannot learn.")
    partly = [path for path in blocked if path not in dead]
    if partly:
        sentences.append(f"{_listed(flat, partly)} learn only along paths that do not lead through it.")
    sentences.append("Freeze what is before it, train what is behind it, or replace it by layers that learn.")
    fixable = {path: {"frozen": True} for path in dead if "/" not in path}
    fix = check_fixes.fields(f"Freeze {plural(len(fixable), 'layer')}", fixable) if fixable and not is_all else None
    return Problem("error" if is_all else "warning", stop, flat.names[stop], GRADIENTS, " ".join(sentences), fix)


def _listed(flat: _Flat, paths: list[str]) -> str:
    names = [f"'{flat.names[path]}'" for path in paths]
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _flatten(flat: _Flat, network: Network, analysis: Analysis, path: str, name: str, *, is_in_frozen: bool) -> None:
    for id, layer in network.layers.items():
        type, here = layer.effective_type, path + id
        sources = {port: _ends(network, end.layer, end.name, path) for port, end in network.incoming[id].items()}
        if isinstance(type, Block):
            copies = analysis.inside[id].copies if id in analysis.inside else ()
            if copies:
                frozen = is_in_frozen or type.frozen
                _flatten(flat, type.network, copies[0], f"{here}/", f"{name}{layer.name}/", is_in_frozen=frozen)
            outs = [f"{here}/{out}" for out in type.ids(BlockOutput)]
            for number, inner in enumerate(type.ids(BlockInput)):
                source = network.incoming[id].get(type.network.layers[inner].name)
                ends = _ends(network, source.layer, source.name, path) if source else []
                flat.sources[f"{here}/{inner}"] = [*ends, *(outs[number : number + 1] if type.repeat > 1 else [])]
            continue
        if isinstance(type, BlockInput):
            continue  # what feeds it is said by the block around it
        passing = type.gradients if isinstance(type, OnnxOperator) else tuple(sources)
        flat.sources[here] = [end for port, ends in sources.items() if port in passing for end in ends]
        flat.names[here] = name + layer.name
        if isinstance(type, OnnxOperator):
            if stopped := [end for port, ends in sources.items() if port not in passing for end in ends]:
                flat.stops[here] = stopped
        elif id in analysis.shapes and analysis.shapes[id].parameters and not is_in_frozen and not is_frozen(type):
            flat.learning.append(here)


def _ends(network: Network, id: str, port: str, path: str) -> list[str]:
    """Return the path of the layer that computes an output; inside a block that of its output."""
    type = network.layers[id].effective_type
    if not isinstance(type, Block):
        return [path + id]
    outs = (out for out in type.ids(BlockOutput) if type.network.layers[out].name == port)
    return [f"{path}{id}/{out}" for out in outs]
