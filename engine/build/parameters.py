"""What a network's layers say about the parameters of the built module."""

from collections.abc import Callable, Iterator, Mapping

from torch import nn

from engine.layers.base import LayerType
from engine.layers.weighted import ParameterOptions, Weighted

Prefixes = Mapping[str, tuple[str, ...]]
"""For each layer's id path, the attributes of the module that hold its weights (`engine.build.module.prefixes`)."""


def parameter_options(
    module: nn.Module, prefixes: Prefixes, type_at: Callable[[str], LayerType]
) -> dict[str, ParameterOptions]:
    """What is said about each parameter, by its name in the module. A layer that says nothing is left out."""
    return {
        f"{prefix}.{name}": type.parameter_options(name)
        for prefix, type in _weighted(prefixes, type_at)
        for name, _ in module.get_submodule(prefix).named_parameters()
    }


def frozen_modules(module: nn.Module, prefixes: Prefixes, type_at: Callable[[str], LayerType]) -> tuple[nn.Module, ...]:
    """The modules of the layers that training leaves as they are."""
    return tuple(module.get_submodule(prefix) for prefix, type in _weighted(prefixes, type_at) if type.frozen)


def _weighted(prefixes: Prefixes, type_at: Callable[[str], LayerType]) -> Iterator[tuple[str, Weighted]]:
    for path, attributes in prefixes.items():
        type = type_at(path)
        if isinstance(type, Weighted):
            yield from ((attribute, type) for attribute in attributes)
