"""All layer types, by key and by family. A new family is a new file in this package; nothing else lists it."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

import engine.layers
from engine.errors import UserError, did_you_mean
from engine.layers.base import FAMILIES, REGISTRY, LayerType

_NOT_FAMILIES = {"base", "catalog", "names", "placeholder", "reference", "types", "weighted", "windows"}


@cache
def built_in() -> dict[str, type[LayerType]]:
    """The layer types of Netwright itself by their keys, in the order of families and then of declaration."""
    for found in pkgutil.iter_modules(engine.layers.__path__):
        if found.name not in _NOT_FAMILIES:
            importlib.import_module(f"engine.layers.{found.name}")
    ours = {key: type for key, type in REGISTRY.items() if type.__module__.startswith(f"{engine.layers.__name__}.")}
    return in_order(ours)


def in_order(types: Mapping[str, type[LayerType]]) -> dict[str, type[LayerType]]:
    """Layer types in the order of families and then as they were."""
    return dict(sorted(types.items(), key=lambda item: FAMILIES.index(item[1].family)))


def catalog() -> dict[str, type[LayerType]]:
    """Every layer type by its key, in the order of families and then of declaration."""
    return built_in()


def layer_type(key: str) -> type[LayerType]:
    """The layer type with this key. Raises `UserError`, which offers the nearest one."""
    found = catalog().get(key)
    if found is None:
        raise UserError(f"There is no layer type '{key}'.{did_you_mean(key, catalog())}")
    return found
