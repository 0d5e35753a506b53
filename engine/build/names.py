"""One mapping from layer names to attribute names, for the built module, the printed source and the weights."""

import importlib
import inspect
import pkgutil
from collections.abc import Collection
from functools import cache

from torch import fx, nn

from engine.build import modules
from engine.network.network import Network

# Variables of these names would hide what the forward function and the printed file use.
_USED_IN_SOURCE = {"self", "torch", "nn", "operator", "math", "inf", "nan", "device", "Network", "CLASSES", "NoneType"}


@cache
def own_names() -> frozenset[str]:
    """Every class and function in `engine.build.modules`, by its name alone, as the printed source uses it."""
    found: set[str] = set()
    for file in pkgutil.iter_modules(modules.__path__):
        module = importlib.import_module(f"{modules.__name__}.{file.name}")
        found |= {name for name, value in vars(module).items() if inspect.getmodule(value) is module}
    return frozenset(found)


def _reserved() -> frozenset[str]:
    """What a module has already, so that no layer can be called the same."""
    empty = fx.GraphModule(nn.Module(), fx.Graph())
    return frozenset({*dir(empty), *vars(empty), *own_names(), *_USED_IN_SOURCE})


RESERVED = _reserved()


def safe_name(name: str) -> str:
    """A layer's name as an attribute of the module: itself, unless torch or Python means something else by it."""
    if name.startswith("__"):
        name = f"layer{name}"  # inside a class, Python mangles names with two leading underscores
    return f"{name}_layer" if name in RESERVED else name


def unique(name: str, taken: Collection[str]) -> str:
    """The name, with as many underscores behind it as make it free."""
    while name in taken:
        name += "_"
    return name


def layer_names(network: Network) -> dict[str, str]:
    """The attribute name of every layer by its id. Layers whose own name is safe always keep it."""
    names = {id: layer.name for id, layer in network.layers.items() if safe_name(layer.name) == layer.name}
    for id, layer in network.layers.items():
        if id not in names:
            names[id] = unique(safe_name(layer.name), set(names.values()))
    return names
