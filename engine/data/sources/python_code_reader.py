"""A user's own data set in Python: a class with `__len__` and `__getitem__`, or a function that returns one, or arrays.

    class Noise:                                   def dataset():
        def __len__(self):                             x = numpy.load("x.npy")
            return 1000                                return {"x": x, "y": x.sum(1)}

        def __getitem__(self, index):
            return x, y

A sample is a tuple, inputs first and the target last, or a dictionary of named values, such as `x` and `y`; tensors,
arrays and numbers, of the same shapes in all samples. They are taken as arrays of a file are, with the samples' axis in
front (`netwright.engine.data.sources.arrays_reader`). The targets of all samples are needed at the start: those of an
attribute `targets`, which saves reading every sample, or of the samples.

The code runs where its folder is trusted: for a look in a process of its own, with limits of memory and of time without
progress; then in the workers, or in processes that read for them.
"""

import ast
import json
import signal
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import limit_memory
from netwright.engine.core.process import NO_BYTECODE, MessageProcess, keep_output, module_command
from netwright.engine.core.progress import report
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.array_storage import StoredArray
from netwright.engine.data.sources.arrays_reader import ArrayFile
from netwright.engine.data.sources.source import Array, free_memory, listed
from netwright.engine.project.data import DataOptions
from netwright.engine.user_code import registry, trust

MOST_OF_FREE = 0.75
LEAST_BYTES = 2**30
PATIENCE_S = 120.0
"""Time without progress after which a look at the data is given up, in seconds."""
KEPT = 2
NUMBERS = "biufc"
EXPECTED = "a class with __len__ and __getitem__, or a function that returns such a data set, or arrays"


@dataclass(frozen=True)
class Code:
    """A file of user code: its name in the project, its path, the hash that was read, and the class or function."""

    file: str
    path: Path
    sha256: str
    name: str

    @property
    def what(self) -> str:
        """Description for messages."""
        return f"{self.file}: {self.name}"


@dataclass(frozen=True)
class PythonArray(StoredArray):
    """One value of all samples of a data set, which is made in this process when it is first read."""

    origin: Code = field(default_factory=lambda: Code("", Path(), "", ""))

    def take(self, indices: Array) -> Array:
        """Return the value of the samples with these indices. Raises `UserError` for errors of the user's code."""
        return _dataset(self.origin).take(self.name, indices, self.shape[1:], self.dtype)


@dataclass(frozen=True)
class _Held(StoredArray):
    """Targets that were read at the start."""

    values: Array = field(default_factory=lambda: np.empty(0), repr=False)

    def take(self, indices: Array) -> Array:
        """Return the chosen targets."""
        return self.values[indices]


class PythonData(ArrayFile):
    """Inputs and targets of a user's own data set."""

    @staticmethod
    def _headers(options: DataOptions, path: Path) -> dict[str, StoredArray]:
        return dict(_inspected(code_of(options, path)))


def code_of(options: DataOptions, path: Path) -> Code:
    """Return the code that the options name. Raises `UserError` where it is not trusted or has no such class."""
    file = registry.file(options.path) or registry.include(options.path, path)
    if file.error:
        raise UserError(file.error)
    if not file.is_trusted:
        raise UserError(trust.refusal([options.path], file.path.parent))
    names = _candidates(registry.read_code(file.path, options.path))
    name = options.python_name
    if not name:
        if len(names) != 1:
            there = f"it has {listed(names)}: choose one (data.python_name)" if names else "it has none"
            raise UserError(f"{options.path} is to hold {EXPECTED}; {there}.")
        (name,) = names
    return Code(options.path, file.path, file.sha256, name)


def _candidates(data: bytes) -> list[str]:
    """Return the classes with the two methods, and functions called `dataset`, of a file that compiles."""
    names = []
    for node in ast.parse(data).body:
        if isinstance(node, ast.ClassDef):
            methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            names += [node.name] if {"__len__", "__getitem__"} <= methods else []
        elif isinstance(node, ast.FunctionDef) and node.name == "dataset":
            names.append(node.name)
    return names


# ---- the data set in a process that reads it ----


class _Dataset:
    """A data set of the user's, whose samples are read by one thread at a time."""

    def __init__(self, code: Code) -> None:
        from netwright.engine.lowering.run_user_code import find, in_words

        if registry.file(code.file) is None:
            registry.include(code.file, code.path)
        file = registry.file(code.file)
        if file is None or file.sha256 != code.sha256:
            raise UserError(f"{code.file} was changed just now. Try again.")
        self.code, self._lock, self._in_words = code, threading.Lock(), in_words
        make = find(f"{code.file}:{code.name}")
        with in_words(code.file):
            dataset = make()
            self.arrays = _as_arrays(dataset)
            has_items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
            self.count = len(next(iter(self.arrays.values()))) if self.arrays else len(dataset) if has_items else 0
        if not self.arrays and not has_items:
            raise UserError(f"{code.what} gives a {type(dataset).__name__}. Expected {EXPECTED}.")
        if not self.count:
            raise UserError(f"{code.what} has no samples: its length is 0.")
        self._made = dataset

    def sample(self, index: int) -> dict[str, Array]:
        """Return the values of a sample by name. Raises `UserError`."""
        if self.arrays:
            return {name: array[index] for name, array in self.arrays.items()}
        with self._lock, self._in_words(self.code.file):
            return _named(self._made[index])

    def take(self, name: str, indices: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return one value of the chosen samples. Raises `UserError` where it is not like that of the first sample."""
        if self.arrays:
            return np.asarray(self.arrays[name][indices])
        out = np.empty((len(indices), *shape), dtype)
        for place, index in enumerate(indices.tolist()):
            value = self.sample(index).get(name)
            if value is None or value.shape != shape or not np.can_cast(value.dtype, dtype, "same_kind"):
                got = "nothing" if value is None else _described(value.shape, value.dtype)
                raise UserError(
                    f"{self.code.what}: '{name}' of sample {index:,} is {got}; that of sample 0 is "
                    f"{_described(shape, dtype)}. Expected the same in all samples."
                )
            out[place] = value
        return out

    def targets(self) -> Array | None:
        """Return the attribute `targets` as an array, if there is one for all samples."""
        values = getattr(self._made, "targets", None)
        array = None if values is None or self.arrays else np.asarray(values)
        return array if array is not None and array.ndim and len(array) == self.count else None


@cache
def _lock() -> threading.Lock:
    return threading.Lock()


_made: OrderedDict[Code, _Dataset] = OrderedDict()


def _dataset(code: Code) -> _Dataset:
    with _lock():
        if code not in _made:
            _made[code] = _Dataset(code)
            while len(_made) > KEPT:
                _made.popitem(last=False)
        return _made[code]


def _array(value: Any) -> Array:
    """Return a tensor, an array, a number or a text as an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in f"{NUMBERS}US":
        raise TypeError(f"a value of the type {type(value).__name__} is no array, tensor, number or text")
    return array


def _named(item: Any) -> dict[str, Array]:
    """Return the values of a sample: those of a dictionary, or of a tuple with the target last."""
    if isinstance(item, Mapping):
        return {str(name): _array(value) for name, value in item.items()}
    if not isinstance(item, Sequence) or isinstance(item, str) or len(item) < 2:
        raise TypeError(f"a sample is a {type(item).__name__}; expected a tuple (x, y) or a dictionary of x and y")
    *inputs, target = item
    names = ["x"] if len(inputs) == 1 else [f"x{number}" for number in range(1, len(inputs) + 1)]
    return {**{name: _array(value) for name, value in zip(names, inputs, strict=True)}, "y": _array(target)}


def _as_arrays(result: Any) -> dict[str, Array]:
    """Return the arrays that a function gave, by name; none for a data set of items."""
    if not isinstance(result, Mapping | tuple):
        return {}
    arrays = _named(result)
    if len({array.shape[:1] for array in arrays.values()}) > 1 or not all(array.ndim for array in arrays.values()):
        sizes = ", ".join(f"'{name}' {' × '.join(map(str, array.shape))}" for name, array in arrays.items())
        raise ValueError(f"the arrays differ in their number of samples (the first axis): {sizes}")
    return arrays


def _described(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    return f"{' × '.join(map(str, shape)) or 'one value'} of {dtype}"


# ---- the look at it, in a process of its own ----

_looks: OrderedDict[Code, dict[str, StoredArray]] = OrderedDict()


def _inspected(code: Code) -> dict[str, StoredArray]:
    """Return the values of all samples by name, as a process of its own finds them. Raises `UserError`."""
    if code not in _looks:
        with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
            shapes = _ask(code, Path(folder))
            arrays: dict[str, StoredArray] = {}
            for name, (shape, dtype) in shapes.items():
                file = Path(folder) / f"{len(arrays)}.npy"
                whole = (code.path, name, tuple(shape), np.dtype(dtype))
                values = np.load(file, allow_pickle=False) if file.exists() else None
                arrays[name] = PythonArray(*whole, origin=code) if values is None else _Held(*whole, values=values)
        _looks[code] = arrays
        while len(_looks) > KEPT:
            _looks.popitem(last=False)
    return _looks[code]


def _ask(code: Code, folder: Path) -> dict[str, tuple[list[int], str]]:
    """Return shape and dtype of each value; targets are written to files of the folder. Raises `UserError`."""
    limit = max(LEAST_BYTES, int(MOST_OF_FREE * free_memory()))
    request = {"file": code.file, "path": str(code.path), "sha256": code.sha256, "name": code.name}
    command = module_command(
        "netwright.engine.data.sources.python_code_reader", json.dumps(request), str(folder), str(limit)
    )
    process = MessageProcess(command, folder=code.path.parent, environment=NO_BYTECODE, hears=False)
    try:
        for message in process.messages(PATIENCE_S):
            if "done" in message:
                report(message["done"], message["total"], "samples")
            elif "refused" in message:
                raise UserError(str(message["refused"]))
            else:
                return {str(name): (list(shape), str(kind)) for name, (shape, kind) in message["values"].items()}
        has_ended = process.end(1.0)
    except TimeoutError:
        has_ended = False
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{code.what} wrote into the answer of the process that looks at it.") from None
    finally:
        process.end()
    if not has_ended:
        raise UserError(f"{code.what} made no progress for {PATIENCE_S:.0f} seconds, and was ended.")
    if process.process.returncode < 0:
        raise UserError(f"{code.what} ended the process by {signal.Signals(-process.process.returncode).name}.")
    last = process.last_words()
    raise UserError(
        f"{code.what} ended the process with code {process.process.returncode}{': ' + last if last else ''}."
    )


def look(code: Code, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield progress, and at the end shape and dtype of each value of the data set by name; write the targets, in the
    order of the names, as `0.npy` and so on into the folder. Raises `UserError`."""
    dataset = _dataset(code)
    first = dataset.sample(0)
    names = [name for name in first if name == "y" or name.startswith("y_") or name.endswith("_lengths")]
    targets = dataset.targets()
    arrays: dict[str, Array] = {}
    if dataset.arrays:
        arrays = {name: dataset.arrays[name] for name in names}
    elif targets is not None and names == ["y"] and targets.shape[1:] == first["y"].shape:
        arrays = {"y": targets}
    elif names:
        values: dict[str, list[Array]] = {name: [] for name in names}
        for index in range(dataset.count):
            sample = dataset.sample(index)
            for name in names:
                if name not in sample or sample[name].shape != first[name].shape:
                    got = _described(sample[name].shape, sample[name].dtype) if name in sample else "nothing"
                    raise UserError(
                        f"{code.what}: '{name}' of sample {index:,} is {got}; that of sample 0 is "
                        f"{_described(first[name].shape, first[name].dtype)}. Expected the same in all samples."
                    )
                values[name].append(sample[name])
            yield {"done": index + 1, "total": dataset.count}
        arrays = {name: np.stack(each) for name, each in values.items()}
    for place, name in enumerate(first):
        if name in arrays:
            np.save(folder / f"{place}.npy", arrays[name], allow_pickle=False)
    shapes = {name: (dataset.count, *value.shape) for name, value in first.items()}
    kinds = {name: arrays[name].dtype if name in arrays else first[name].dtype for name in first}
    yield {"values": {name: (shapes[name], kinds[name].str) for name in first}}


def main(arguments: list[str]) -> None:
    """Print what `look` yields as lines of JSON, or `{"refused": "..."}`."""
    request, limit = json.loads(arguments[0]), int(arguments[2])
    answers = keep_output()  # what the user's code prints is not the answer
    code = Code(request["file"], Path(request["path"]), request["sha256"], request["name"])
    last = 0.0

    try:
        import torch  # noqa: F401  # before the limit: it reserves more memory than it uses

        limit_memory(limit)
        for message in look(code, Path(arguments[1])):
            if "done" not in message or time.monotonic() - last > 0.2:
                last = time.monotonic()
                answers.send(message)
    except UserError as error:
        answers.send({"refused": str(error)})
    except MemoryError:
        answers.send({"refused": f"{code.what} took over {format_bytes(limit)} of memory and was ended."})
