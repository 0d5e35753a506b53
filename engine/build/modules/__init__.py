"""Small modules and functions where torch has none, a file a family of layers.

The printed source carries along the text of each one that a network uses: each needs `torch`, `from torch import nn`
and `math` alone, and nothing of ours, so that it runs by itself. Names are unique over all files.
"""

import importlib
import inspect
import pkgutil


def names() -> frozenset[str]:
    """Every class and function here, by its name alone, as the printed source uses it."""
    found: set[str] = set()
    for file in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{file.name}")
        found |= {name for name, value in vars(module).items() if inspect.getmodule(value) is module}
    return frozenset(found)
