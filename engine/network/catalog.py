"""Catalog of layer types by key and family, and placeholders for unknown types."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

import netwright.engine.layers
from netwright.engine.core.errors import ShapeError, UserError, did_you_mean
from netwright.engine.core.types import TensorType
from netwright.engine.layers import addons
from netwright.engine.layers.addons import AddOn
from netwright.engine.layers.base import FAMILIES, REGISTRY, LayerType, Lowered

_NOT_FAMILIES = {"addons", "base", "catalog", "names", "placeholder", "reference", "types", "weighted", "windows"}


@cache
def built_in() -> dict[str, type[LayerType]]:
    """Return Netwright's own layer types by key, in the order of families, then of modules, then of declaration."""
    for module in pkgutil.iter_modules(netwright.engine.layers.__path__):
        if module.name not in _NOT_FAMILIES:
            importlib.import_module(f"netwright.engine.layers.{module.name}")
    importlib.import_module("netwright.engine.network.block")  # blocks hold a network, so they are declared beside it
    ours = {key: type for key, type in REGISTRY.items() if type.__module__.startswith("netwright.")}
    # Not the order of the registry, which is that of the imports.
    return in_order(dict(sorted(ours.items(), key=lambda item: item[1].__module__)))


def in_order(types: Mapping[str, type[LayerType]]) -> dict[str, type[LayerType]]:
    """Return layer types ordered by family, in stable order within a family."""
    return dict(sorted(types.items(), key=lambda item: FAMILIES.index(item[1].family)))


@cache
def add_ons() -> tuple[AddOn, ...]:
    """Load the installed packages that provide layer types; those that cannot be loaded hold the reason."""
    built_in()  # before them: a key that both have is refused to the add-on
    return addons.load()


@cache
def catalog() -> dict[str, type[LayerType]]:
    """Return all layer types by key, including those of add-ons, in the order of families and then of declaration."""
    theirs = {key: REGISTRY[key] for add_on in add_ons() for key in add_on.types}
    return in_order({**built_in(), **theirs})


def add_on_of(target: str) -> AddOn | None:
    """Return the add-on whose package contains a qualified name, or None."""
    package = target.partition(".")[0]
    return next((add_on for add_on in add_ons() if add_on.types and package in add_on.packages), None)


def layer_type(key: str) -> type[LayerType]:
    """Return the layer type with this key. Raises `UserError`, which suggests the nearest key."""
    layer_class = catalog().get(key)
    if layer_class is None:
        raise UserError(f"There is no layer type '{key}'.{did_you_mean(key, catalog())}")
    return layer_class


class Passing(LayerType):
    """Passes its input on. It has no calls: nothing of it is in the built module or the source."""

    label = "Bypassed layer"
    family = "Utility"

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return ()


class Placeholder(LayerType):
    """Stands in for a layer type that is not installed. It keeps its fields and ports, so that saving loses nothing."""

    label = "Unknown layer"
    family = "Utility"

    def __init__(self, type_key: str, raw: dict[str, Any], inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        super().__init__()
        self.type_key = type_key
        self.raw = raw
        self._inputs = inputs
        self._outputs = outputs
        self._key = (type(self), (("type", type_key), ("raw", repr(raw)), ("ports", (inputs, outputs))))
        self._hash = hash(self._key)

    def input_ports(self) -> tuple[str, ...]:
        return self._inputs

    def output_ports(self) -> tuple[str, ...]:
        return self._outputs

    def short_value(self) -> str:
        return self.type_key

    def output(self, *x: TensorType) -> TensorType:
        broken = " ".join(add_on.refusal for add_on in add_ons() if add_on.error)
        raise ShapeError(
            f"This version of Netwright has no layer type '{self.type_key}'. "
            f"Install the add-on or the version that brings it, or replace the layer.{f' {broken}' if broken else ''}"
        )

    def write(self) -> dict[str, Any]:
        return self.raw
