"""Run the user's own classes, functions and expressions. No other module of a process runs user code.

A file is run once per process, from the bytes whose hash was checked, and only where its folder is trusted. Its errors
are reported with file and line.
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

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.user_code import registry, trust
from netwright.engine.user_code.expression import is_expression, parsed, split_code, split_expression, tensor_names

_modules: dict[str, ModuleType] = {}
_names: dict[str, str] = {}
"""Name of each file that was run, as shown to the user, by its path in a traceback."""


def find(target: str) -> Callable[..., Any]:
    """Return the user's class, function or expression of a target. Runs its file if necessary. Raises `UserError`."""
    if is_expression(target):
        return _expression(*split_expression(target))
    file, name = split_code(target)
    value = getattr(_module(file), name, None)
    if not callable(value):
        raise UserError(f"{file} has no '{name}' once it has run.")
    function: Callable[..., Any] = value
    return function


def defined(file: str, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """Return the callables of a file among `names`. Runs the file if necessary. Raises `UserError`."""
    module = _module(file)
    values = {name: getattr(module, name, None) for name in names}
    return {name: value for name, value in values.items() if callable(value)}


def construct(target: str, kwargs: Mapping[str, Any]) -> nn.Module:
    """Return an instance of the user's module class. Raises `UserError`, with file and line, for errors in its code."""
    file, name = split_code(target)
    make = find(target)
    with in_words(file):
        module = make(**kwargs)
    if not isinstance(module, nn.Module):
        raise UserError(f"{file}: {name} is not an nn.Module but a {type(module).__name__}.")
    return module


@contextlib.contextmanager
def in_words(file: str) -> Iterator[None]:
    """Turn an exception in the code of a file into a `UserError` with the line."""
    try:
        yield
    except UserError:
        raise
    except SystemExit as error:
        raise UserError(f"{blame(error) or file}: it ended the program.") from None
    except Exception as error:
        raise UserError(blame(error) or f"{file}: {_words(error)}") from None


def blame(error: BaseException) -> str:
    """Return `swish.py, line 12: ValueError: ...` if the error was raised in user code, or by its calls, else ''."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in _names:
            return f"{_names[frame.filename]}, line {frame.lineno}: {_words(error)}"
    return ""


def in_running_words(error: BaseException, file: str) -> str:
    """Return the message of a run for an error that user code raised or caused."""
    ended = " It ended the program." if isinstance(error, SystemExit) else ""
    return f"The project's own code went wrong: {blame(error) or f'{file}: {_words(error)}'}{ended}"


def _words(error: BaseException) -> str:
    message = " ".join(str(error).strip().split())
    text = message if len(message) <= 400 else message[:397] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _module(file: str) -> ModuleType:
    """Return the file as a module, run once. Raises `UserError` if it is not trusted, has changed, or fails."""
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
    module.__file__ = filename = str(code.path)
    _names[filename] = file
    # Registered before it runs: dataclasses, and torch, look up the module of a class.
    sys.modules[name] = module
    text = data.decode("utf-8-sig")
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    try:
        with in_words(file):
            exec(compile(text, filename, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    _modules[code.sha256] = module
    return module


def _expression(text: str, count: int) -> Callable[..., Any]:
    """Return the expression as a function of `count` tensors. Raises `UserError`."""
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
        filename = f"<{name}>"
        _names[filename] = f"expression {text}"
        exec(
            compile(f"def {name}({', '.join(tensor_names(count))}):\n    return {text.strip()}\n", filename, "exec"),
            module.__dict__,
        )
        sys.modules[module.__name__] = _modules[key] = module
    function: Callable[..., Any] = getattr(module, name)
    return function
