"""The lifts by operator; how to write one is in the docstring of `netwright.engine.exchange.importing.lifts`."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.values import Headed, Held

if TYPE_CHECKING:
    from netwright.engine.exchange.importing.context import Context

Values = Held | Headed | tuple[Held | Headed | None, ...]
LiftFunction = Callable[["Context", Node], Values]


@dataclass(frozen=True)
class Lift:
    """How operators of one name become layers: the function, the layer types it makes, and limits in words."""

    op: str
    domain: str
    function: LiftFunction
    becomes: tuple[str, ...]
    note: str = ""


_REGISTRY: dict[tuple[str, str], Lift] = {}


def lift(
    *ops: str, becomes: tuple[str, ...] = (), note: str = "", domain: str = ""
) -> Callable[[LiftFunction], LiftFunction]:
    """Register a function for operators of a domain (ONNX's own by default). `becomes` are keys of layer types, empty
    for an operator that needs no layer."""

    def register(function: LiftFunction) -> LiftFunction:
        for op in ops:
            key = (domain, op)
            if key in _REGISTRY:
                raise TypeError(
                    f"There are two lifts for {op}: {_REGISTRY[key].function.__name__} and {function.__name__}."
                )
            _REGISTRY[key] = Lift(op, domain, function, becomes, note)
        return function

    return register


@cache
def lifts() -> dict[tuple[str, str], Lift]:
    """Return all lifts by domain and operator: those of every module beside this one."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")
    return dict(sorted(_REGISTRY.items()))
