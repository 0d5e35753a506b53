"""Layers that sequences of different lengths enter, padded at their ends: what they become, or why they cannot."""

from collections.abc import Iterator

from engine.errors import MisfitError
from engine.layers.base import LayerType, Lowered
from engine.layers.block import Block
from engine.layers.types import Symbol
from engine.network.analysis import Analysis, Facts
from engine.network.network import Layer, Network
from engine.network.problems import Problem

WAY_OUT = "Give the sequence input a length, cut or fill all sequences to one length, or use another layer."


def lowered(layer: Layer, facts: Facts) -> Lowered:
    """The calls of a layer that some sequence of any length enters. Raises `MisfitError` where it cannot be padded."""
    type = layer.acting
    try:
        if not type.__module__.startswith("engine.") and not _says(type):
            raise MisfitError(f"The layer type '{type.key}' does not say what it does with padded sequences.")
        for out in facts.outputs:
            if any(isinstance(size, Symbol) and axis != "T" for axis, size in zip(out.axes, out.sizes, strict=True)):
                raise MisfitError(f"The steps do not stay the steps of a sequence: {out} leaves it.")
        calls: Lowered = type.lower_padded(*facts.inputs)
    except MisfitError as misfit:
        raise MisfitError(f"Sequences of different lengths cannot be padded here. {misfit} {WAY_OUT}") from misfit
    return calls


def _says(type: LayerType) -> bool:
    return any("lower_padded" in vars(base) for base in type.__class__.__mro__ if base is not LayerType)


def is_padded(facts: Facts) -> bool:
    """Whether some sequence of any length enters."""
    return any(x.is_open for x in facts.inputs)


def problems(network: Network, analysis: Analysis) -> Iterator[Problem]:
    """An error for each layer, in blocks too, that cannot take sequences of different lengths."""
    for id, facts in analysis.facts.items():
        layer = network.layers[id]
        if isinstance(layer.acting, Block):
            for copy in analysis.inside[id].copies[:1]:
                yield from (found.lifted(id, layer.name) for found in problems(layer.acting.network, copy))
        elif is_padded(facts):
            try:
                lowered(layer, facts)
            except MisfitError as misfit:
                yield Problem("error", id, layer.name, "", str(misfit))
