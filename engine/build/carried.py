"""The classes and functions of ours that a printed file carries along, so that it runs without Netwright."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from engine.build.module import resolve
from engine.build.printing import OWN


def carried(targets: Iterable[str]) -> list[list[str]]:
    """The source text of each of these that is ours, as lines, and before it of what it uses of ours; each once."""
    found: dict[Any, None] = {}
    for target in targets:
        if target.startswith(OWN):
            _gather(resolve(target), found)
    return [inspect.getsource(part).rstrip().split("\n") for part in found]


def _gather(part: Any, found: dict[Any, None]) -> None:
    if part not in found:
        for used in _used(part):
            _gather(used, found)
        found[part] = None


def _used(part: Any) -> Iterator[Any]:
    """The classes and functions of ours that the text of one names, itself left out."""
    names = vars(sys.modules[part.__module__])
    tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    for name in dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
        named = names.get(name)
        if named is not part and inspect.isroutine(named) | inspect.isclass(named) and _is_ours(named):
            yield named


def _is_ours(named: Any) -> bool:
    return getattr(named, "__module__", None) is not None and named.__module__.startswith(OWN)
