"""The user's own classes, functions and expressions, made to run. Only here does a process run code of theirs.

A file is run once a process, from the bytes whose hash is known, and only where its folder is trusted. What goes wrong
in it is told with its file and line.
"""

import contextlib
import linecache
import math
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import nn

from engine.core.errors import FieldError, UserError
from engine.user_code import registry, trust
from engine.user_code.expression import is_expression, parsed, split_code, split_expression, tensor_names

_modules: dict[str, ModuleType] = {}
_names: dict[str, str] = {}
"""How the user calls each file that was run, by the path that stands in a traceback."""


def find(target: str) -> Callable[..., Any]:
    """The class or function of the user's that a call names. Runs its file if need be. Raises `UserError`."""
    if is_expression(target):
        return _expression(*split_expression(target))
    file, name = split_code(target)
    found = getattr(_module(file), name, None)
    if not callable(found):
        raise UserError(f"{file} has no '{name}' once it has run.")
    made: Callable[..., Any] = found
    return made


def defined(file: str, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """Those of the names that a file defines as something to call. Runs the file if need be. Raises `UserError`."""
    module = _module(file)
    found = {name: getattr(module, name, None) for name in names}
    return {name: made for name, made in found.items() if callable(made)}


def construct(target: str, kwargs: Mapping[str, Any]) -> nn.Module:
    """A module of the user's class. Raises `UserError`, with file and line, for what goes wrong in it."""
    file, name = split_code(target)
    made = find(target)
    with in_words(file):
        built = made(**kwargs)
    if not isinstance(built, nn.Module):
        raise UserError(f"{file}: {name} is not an nn.Module but a {type(built).__name__}.")
    return built


@contextlib.contextmanager
def in_words(file: str) -> Iterator[None]:
    """Turn what goes wrong in code of this file into a `UserError` with the line."""
    try:
        yield
    except UserError:
        raise
    except SystemExit as error:
        raise UserError(f"{blame(error) or file}: it ended the program.") from None
    except Exception as error:
        raise UserError(blame(error) or f"{file}: {_words(error)}") from None


def blame(error: BaseException) -> str:
    """`swish.py, line 12: ValueError: ...` where the error came up in code of the user's, else nothing."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in _names:
            return f"{_names[frame.filename]}, line {frame.lineno}: {_words(error)}"
    return ""


def in_running_words(error: BaseException, file: str) -> str:
    """What a run says of an error that came up in code of the user's, or was brought about by it."""
    ended = " It ended the program." if isinstance(error, SystemExit) else ""
    return f"The project's own code went wrong: {blame(error) or f'{file}: {_words(error)}'}{ended}"


def _words(error: BaseException) -> str:
    words = " ".join(str(error).strip().split())
    shown = words if len(words) <= 400 else words[:397] + "..."
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def _module(file: str) -> ModuleType:
    """The file as a module, run once. Raises `UserError` where it may not run, or goes wrong."""
    code = registry.file(file)
    if code is None or code.error:
        raise UserError(code.error if code is not None else f"Nothing is known about the file {file}.")
    if code.sha256 in _modules:
        return _modules[code.sha256]
    if not trust.is_trusted(code.path):
        raise UserError(trust.refusal([file], code.path.parent))
    data = registry.read_code(code.path, file)
    if registry.hash_of_bytes(data) != code.sha256:
        raise UserError(f"{file} was changed just now. Try again.")
    name = f"netwright_code_{code.sha256[:16]}"
    module = ModuleType(name)
    module.__file__ = where = str(code.path)
    _names[where] = file
    # Known before it runs: dataclasses, and what torch looks up by a class's module, want to find it.
    sys.modules[name] = module
    text = data.decode("utf-8-sig")
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    try:
        with in_words(file):
            exec(compile(text, where, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    _modules[code.sha256] = module
    return module


def _expression(text: str, count: int) -> Callable[..., Any]:
    """A function of so many tensors. Raises `UserError`."""
    if not registry.may_run(""):
        raise UserError(trust.refusal([text], registry.base()))
    key = registry.hash_of(f"{count} {text}")
    name = f"expression_{key[:16]}"
    module = _modules.get(key)
    if module is None:
        try:
            parsed(text, count)
        except FieldError as error:
            raise UserError(str(error)) from None
        module = ModuleType(f"netwright_{name}")
        module.__dict__.update(torch=torch, math=math)
        where = f"<{name}>"
        _names[where] = f"expression {text}"
        exec(
            compile(f"def {name}({', '.join(tensor_names(count))}):\n    return {text.strip()}\n", where, "exec"),
            module.__dict__,
        )
        sys.modules[module.__name__] = _modules[key] = module
    made: Callable[..., Any] = getattr(module, name)
    return made
