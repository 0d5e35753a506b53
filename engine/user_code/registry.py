"""Registry of user code: the files of the current project, and the measured sizes of their layers.

A network is an immutable value; the file behind one of its layers is not. So a process keeps, separate from its
networks, a record of files by their path in the project, and of sizes by all that they depend on (`Question`). Sizes
are cached on disk under the hash of the file, so that a measurement is available to later processes, including the
window, which has no torch.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import JSON, quoted
from netwright.engine.core.files import write_json
from netwright.engine.core.folders import cache_folder
from netwright.engine.core.types import Size, Sizes, Symbol, TensorType
from netwright.engine.user_code import trust
from netwright.engine.user_code.signature import Named, Signature, parse, read_functions, read_signatures, signatures_in

LIMIT_BYTES = 2**20
EXPRESSION = "expression"


@dataclass(frozen=True)
class CodeFile:
    """Current state of a file of code: its real path, hash, signatures and functions, and its error, if any."""

    path: Path
    sha256: str = ""
    signatures: tuple[Signature, ...] = ()
    functions: Mapping[str, Named] = field(default_factory=dict)
    error: str = ""
    stamp: tuple[int, int] = (0, 0)

    @property
    def is_trusted(self) -> bool:
        """True if the file may run."""
        return trust.is_trusted(self.path)


@dataclass(frozen=True)
class Question:
    """A question to the measuring process. It contains everything that determines the answer.

    `file` is the path in the project; `name` the class, the function or the expression itself; `values` is JSON.
    """

    sha256: str
    kind: str
    name: str
    values: str
    inputs: tuple[TensorType, ...]
    layout: str
    file: str = field(default="", compare=False)

    def write(self) -> dict[str, JSON]:
        """Return the question as JSON, for the process that answers it."""
        inputs = [write_type(x) for x in self.inputs]
        return {
            "sha256": self.sha256,
            "kind": self.kind,
            "name": self.name,
            "values": self.values,
            "inputs": inputs,
            "layout": self.layout,
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Question":
        """Return the question of JSON from `write`."""
        inputs = tuple(read_type(x) for x in data["inputs"])
        return cls(data["sha256"], data["kind"], data["name"], data["values"], inputs, data["layout"])


@dataclass(frozen=True)
class Measured:
    """Measured types of the outputs, sizes of the weights, and FLOPs per sample of a layer for given input types."""

    outputs: tuple[TensorType, ...]
    weights: Mapping[str, Sizes]
    flops: int

    def write(self) -> dict[str, JSON]:
        """Return the measurement as JSON."""
        weights = {name: list(sizes) for name, sizes in self.weights.items()}
        return {"outputs": [write_type(x) for x in self.outputs], "weights": weights, "flops": self.flops}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Measured":
        """Return the measurement in JSON from `write`. Raises `ValueError`, `KeyError` or `TypeError` otherwise."""
        weights = {str(name): tuple(int(size) for size in sizes) for name, sizes in data["weights"].items()}
        return cls(tuple(read_type(x) for x in data["outputs"]), weights, int(data["flops"]))


@dataclass(frozen=True)
class Failed:
    """An error of user code, with its message. Kept in this process only: another attempt may succeed."""

    message: str


def write_type(x: TensorType) -> JSON:
    """Return a tensor type as JSON; a symbolic size is written as its name."""
    return [list(x.axes), [size if isinstance(size, int) else size.name for size in x.sizes], x.kind]


def read_type(data: JSON) -> TensorType:
    """Return a tensor type from JSON. Raises `ValueError` for an unknown kind or unequal numbers of axes and sizes."""
    axes, sizes, kind = data
    typed_sizes: list[Size] = [size if isinstance(size, int) else Symbol(str(size)) for size in sizes]
    if kind not in ("real", "index", "complex") or len(axes) != len(typed_sizes):
        raise ValueError(kind)
    return TensorType(tuple(map(str, axes)), tuple(typed_sizes), kind)


_base = Path()
_files: dict[str, CodeFile] = {}
_answers: dict[Question, Measured | Failed] = {}
_loaded: set[str] = set()
_being_measured: frozenset[Question] = frozenset()


def look(files: Iterable[str], base: Path, frozen: Mapping[str, Path] | None = None) -> bool:
    """Read these files (paths in a project of the folder `base`) without running them.

    `frozen` has the paths of the copies of a run. Records of other files are removed. Returns whether any record or
    the folder has changed.
    """
    global _base
    files_now = {}
    for file in dict.fromkeys(files):
        path = (frozen or {}).get(file) or base / file
        files_now[file] = _read(path, file, _files.get(file))
    if files_now == _files and base == _base:
        return False
    _files.clear()
    _files.update(files_now)
    _base = base
    return True


def file(name: str) -> CodeFile | None:
    """Return the record of a file by its path in the project, or None."""
    return _files.get(name)


def peek(name: str, base: Path) -> CodeFile:
    """Return the current state of a file, by its path in a project of the folder `base`, without a record of it: for a
    file that no project names yet."""
    return _read(base / name, name, _files.get(name))


def include(name: str, path: Path) -> CodeFile:
    """Read a file and record it beside the others, by its path in the project; `path` is where it lies."""
    _files[name] = _read(path, name, _files.get(name))
    return _files[name]


def base() -> Path:
    """Return the folder of the current project, to which its expressions belong."""
    return _base


def may_run(name: str) -> bool:
    """Return whether the code of a file may run or, if `name` is empty, the expressions of the project."""
    if not name:
        return trust.is_trusted(_base)
    code = _files.get(name)
    return code is not None and code.is_trusted


def answer(question: Question) -> Measured | Failed | None:
    """Return the answer measured in this process or cached on disk, or None."""
    if question.sha256 not in _loaded:
        _loaded.add(question.sha256)
        for cached, measured in _from_disk(question.sha256).items():
            _answers.setdefault(cached, measured)
    return _answers.get(question)


def is_being_measured(question: Question) -> bool:
    """Return whether another process is measuring this question."""
    return question in _being_measured


def set_being_measured(questions: Iterable[Question]) -> None:
    """Set the questions that are being measured; earlier ones are replaced."""
    global _being_measured
    _being_measured = frozenset(questions)


def learn(answers: Mapping[Question, Measured | Failed]) -> None:
    """Record answers, and cache them on disk except failures. A cache that cannot be written is not an error."""
    _answers.update(answers)
    for sha256 in {question.sha256 for question, result in answers.items() if isinstance(result, Measured)}:
        measured = _from_disk(sha256)
        measured |= {q: a for q, a in answers.items() if q.sha256 == sha256 and isinstance(a, Measured)}
        rows = [{"question": q.write(), "answer": a.write()} for q, a in list(measured.items())[-200:]]
        with contextlib.suppress(OSError, RuntimeError):
            path = _cache(sha256)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_json(path, rows)


def answers(questions: Iterable[Question]) -> list[JSON]:
    """Return the recorded answers of questions as JSON, for a process that shows them."""
    rows: list[JSON] = []
    for question in questions:
        result = _answers.get(question)
        if result is not None:
            entry = {"failed": result.message} if isinstance(result, Failed) else {"answer": result.write()}
            rows.append({"question": question.write(), **entry})
    return rows


def learn_answers(rows: Iterable[Mapping[str, Any]]) -> None:
    """Record the answers of another process, from the JSON of `answers`."""
    for row in rows:
        question = Question.read(row["question"])
        _answers[question] = Failed(str(row["failed"])) if "failed" in row else Measured.read(row["answer"])


def forget_failures() -> None:
    """Remove failed answers, so that their questions are measured again."""
    for question in [q for q, result in _answers.items() if isinstance(result, Failed)]:
        del _answers[question]


def forget() -> None:
    """Remove all records, as in a new process; for tests."""
    global _base
    _base = Path()
    set_being_measured(())
    for store in (_files, _answers, _loaded):
        store.clear()


def values_text(values: Mapping[str, Any]) -> str:
    """Return field values as JSON with sorted keys; equal values have equal text."""
    return json.dumps(values, sort_keys=True)


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text as hexadecimal digits."""
    return hash_of_bytes(text.encode("utf-8", "surrogatepass"))


def hash_of_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def read_code(path: Path, name: str) -> bytes:
    """Return the bytes of a file of code. Raises `UserError`."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{quoted(name)} is not a file.", hint="Choose a Python file (*.py).")
        with open(path, "rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(
            f"There is no file {quoted(name)} in the project's folder.", hint="Choose a Python file."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{quoted(name)} cannot be read: {reason}.") from None
    if len(data) > LIMIT_BYTES:
        raise UserError(f"{quoted(name)} is larger than {LIMIT_BYTES // 2**20} MiB.", hint="Choose a Python file.")
    return data


def module_names(path: Path) -> tuple[str, ...]:
    """Return the classes of a file that are an `nn.Module`, by its text alone. Raises `UserError` for an
    invalid Python file."""
    text = read_code(path, path.name).decode(errors="replace")
    return tuple(signature.name for signature in read_signatures(text, path.name) if signature.kind == "class")


def _read(path: Path, name: str, before: CodeFile | None) -> CodeFile:
    """Return the current state of a file; if it has not changed since `before`, it is not read again."""
    real = Path(os.path.realpath(path))
    stamp = (0, 0)
    with contextlib.suppress(OSError, ValueError):
        status = real.stat()
        stamp = (status.st_mtime_ns, status.st_size)
    if before is not None and before.path == real and before.stamp == stamp != (0, 0):
        return before
    sha256 = ""
    try:
        data = read_code(real, name)
        sha256 = hash_of_bytes(data)
        text = data.decode("utf-8-sig")
        tree = parse(text, name)
        return CodeFile(real, sha256, signatures_in(tree, name), read_functions(tree), stamp=stamp)
    except UnicodeDecodeError:
        return CodeFile(real, sha256, error=f"{name} is not UTF-8 text. Choose a Python file.", stamp=stamp)
    except UserError as error:
        return CodeFile(real, sha256, error=str(error), stamp=stamp)


def _cache(sha256: str) -> Path:
    return cache_folder() / "sizes" / f"{sha256}.json"


def _from_disk(sha256: str) -> dict[Question, Measured]:
    """Return the cached measurements of a file; none if the cache is missing or damaged."""
    try:
        rows = json.loads(_cache(sha256).read_text(encoding="utf-8"))
        return {Question.read(row["question"]): Measured.read(row["answer"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, RecursionError):
        return {}
