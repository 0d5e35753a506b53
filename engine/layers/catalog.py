"""All layer types, by key and by family. A new family is a new file in this package; nothing else lists it."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

import engine.layers
from engine.errors import UserError, did_you_mean
from engine.layers import addons
from engine.layers.addons import AddOn
from engine.layers.base import FAMILIES, REGISTRY, LayerType

_NOT_FAMILIES = {"addons", "base", "catalog", "names", "placeholder", "reference", "types", "weighted", "windows"}


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


@cache
def add_ons() -> tuple[AddOn, ...]:
    """The installed packages that bring layer types, loaded; those that could not be say why."""
    built_in()  # before them: a key that both have is refused to the add-on
    return addons.load()


@cache
def catalog() -> dict[str, type[LayerType]]:
    """Every layer type by its key, those of add-ons too, in the order of families and then of declaration."""
    theirs = {key: REGISTRY[key] for add_on in add_ons() for key in add_on.types}
    return in_order({**built_in(), **theirs})


def add_on_of(target: str) -> AddOn | None:
    """The add-on whose package a qualified name lies in, if there is one."""
    package = target.partition(".")[0]
    return next((add_on for add_on in add_ons() if add_on.types and package in add_on.packages), None)


def layer_type(key: str) -> type[LayerType]:
    """The layer type with this key. Raises `UserError`, which offers the nearest one."""
    found = catalog().get(key)
    if found is None:
        raise UserError(f"There is no layer type '{key}'.{did_you_mean(key, catalog())}")
    return found
