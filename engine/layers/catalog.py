"""All layer types, by key and by family. A new family is a new file in this package; nothing else lists it."""

import importlib
import pkgutil
from functools import cache

import engine.layers
from engine.errors import UserError, did_you_mean
from engine.layers.base import FAMILIES, REGISTRY, LayerType

_NOT_FAMILIES = {"base", "catalog", "placeholder", "types", "weighted", "windows"}


@cache
def catalog() -> dict[str, type[LayerType]]:
    """Every layer type by its key, in the order of families and then of declaration."""
    for found in pkgutil.iter_modules(engine.layers.__path__):
        if found.name not in _NOT_FAMILIES:
            importlib.import_module(f"engine.layers.{found.name}")
    return dict(sorted(REGISTRY.items(), key=lambda item: FAMILIES.index(item[1].family)))


def layer_type(key: str) -> type[LayerType]:
    """The layer type with this key. Raises `UserError`, which offers the nearest one."""
    found = catalog().get(key)
    if found is None:
        raise UserError(f"There is no layer type '{key}'.{did_you_mean(key, catalog())}")
    return found
