"""What is known here about code of the user's: the files of the project at hand, and what their layers were measured
to do.

A network is a pure value; the file behind one of its layers is not. So a process keeps beside its networks what it
knows about files, by their path in the project, and about sizes, by everything that decides them (`Question`). Sizes
are remembered on disk under the hash of the file, so that what was measured once is known the next time, by the window
without torch too.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.core.errors import UserError
from engine.core.fields import JSON, quoted
from engine.core.files import write_json
from engine.core.folders import cache_folder
from engine.core.types import Size, Sizes, Symbol, TensorType
from engine.user_code import trust
from engine.user_code.signature import Named, Signature, parse, read_functions, signatures_in

LIMIT_BYTES = 2**20
EXPRESSION = "expression"


@dataclass(frozen=True)
class CodeFile:
    """A file of code as it is now: where it really lies, its hash, what is in it, and what is wrong with it."""

    path: Path
    sha256: str = ""
    signatures: tuple[Signature, ...] = ()
    functions: Mapping[str, Named] = field(default_factory=dict)
    error: str = ""
    stamp: tuple[int, int] = (0, 0)

    @property
    def is_trusted(self) -> bool:
        """Whether it may run."""
        return trust.is_trusted(self.path)


@dataclass(frozen=True)
class Question:
    """What is asked of a throw-away process. Everything that decides the answer is in it.

    `file` is the path in the project, `name` the class or function, or the expression itself; `values` is JSON.
    """

    sha256: str
    kind: str
    name: str
    values: str
    inputs: tuple[TensorType, ...]
    layout: str
    file: str = field(default="", compare=False)

    def write(self) -> dict[str, JSON]:
        """As JSON, for the process that answers."""
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
        """From JSON that `write` gave."""
        inputs = tuple(read_type(x) for x in data["inputs"])
        return cls(data["sha256"], data["kind"], data["name"], data["values"], inputs, data["layout"])


@dataclass(frozen=True)
class Measured:
    """What a layer was found to do with inputs of some types."""

    outputs: tuple[TensorType, ...]
    weights: Mapping[str, Sizes]
    flops: int

    def write(self) -> dict[str, JSON]:
        """As JSON."""
        weights = {name: list(sizes) for name, sizes in self.weights.items()}
        return {"outputs": [write_type(x) for x in self.outputs], "weights": weights, "flops": self.flops}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Measured":
        """From JSON that `write` gave. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        weights = {str(name): tuple(int(size) for size in sizes) for name, sizes in data["weights"].items()}
        return cls(tuple(read_type(x) for x in data["outputs"]), weights, int(data["flops"]))


@dataclass(frozen=True)
class Failed:
    """The code went wrong: where and how, in words. Kept in this process only: another try may go well."""

    message: str


def write_type(x: TensorType) -> JSON:
    """A tensor type as JSON; a size that is not known by its name."""
    return [list(x.axes), [size if isinstance(size, int) else size.name for size in x.sizes], x.kind]


def read_type(data: JSON) -> TensorType:
    """A tensor type from JSON."""
    axes, sizes, kind = data
    known: list[Size] = [size if isinstance(size, int) else Symbol(str(size)) for size in sizes]
    if kind not in ("real", "index", "complex") or len(axes) != len(known):
        raise ValueError(kind)
    return TensorType(tuple(map(str, axes)), tuple(known), kind)


_base = Path()
_files: dict[str, CodeFile] = {}
_answers: dict[Question, Measured | Failed] = {}
_loaded: set[str] = set()
_being_measured: frozenset[Question] = frozenset()


def look(files: Iterable[str], base: Path, frozen: Mapping[str, Path] | None = None) -> bool:
    """Read the text of these files (paths in a project of the folder `base`); nothing of it runs.

    `frozen` says where the copies of a run are. What this process knew of other files is forgotten. Returns whether
    anything is known otherwise than before.
    """
    global _base
    found = {}
    for file in dict.fromkeys(files):
        path = (frozen or {}).get(file) or base / file
        found[file] = _read(path, file, _files.get(file))
    if found == _files and base == _base:
        return False
    _files.clear()
    _files.update(found)
    _base = base
    return True


def file(name: str) -> CodeFile | None:
    """What is known about a file, by its path in the project."""
    return _files.get(name)


def peek(name: str, base: Path) -> CodeFile:
    """A file as it is now, by its path in a project of that folder, for who asks about a file that no project names
    yet. Nothing is remembered."""
    return _read(base / name, name, _files.get(name))


def base() -> Path:
    """The folder of the project at hand, which the expressions in it belong to."""
    return _base


def may_run(name: str) -> bool:
    """Whether the code of this file, or the expressions of the project where the name is empty, may run."""
    if not name:
        return trust.is_trusted(_base)
    code = _files.get(name)
    return code is not None and code.is_trusted


def answer(question: Question) -> Measured | Failed | None:
    """What was measured, in this process or an earlier one."""
    if question.sha256 not in _loaded:
        _loaded.add(question.sha256)
        for known, measured in _from_disk(question.sha256).items():
            _answers.setdefault(known, measured)
    return _answers.get(question)


def is_being_measured(question: Question) -> bool:
    """Whether another process is at work on this question now."""
    return question in _being_measured


def set_being_measured(questions: Iterable[Question]) -> None:
    """These questions and no others are being measured now."""
    global _being_measured
    _being_measured = frozenset(questions)


def learn(answers: Mapping[Question, Measured | Failed]) -> None:
    """Take up what was measured, and remember it on disk, without what failed. A cache that cannot be written is no
    reason to fail."""
    _answers.update(answers)
    for sha256 in {question.sha256 for question, found in answers.items() if isinstance(found, Measured)}:
        known = _from_disk(sha256)
        known |= {q: a for q, a in answers.items() if q.sha256 == sha256 and isinstance(a, Measured)}
        rows = [{"question": q.write(), "answer": a.write()} for q, a in list(known.items())[-200:]]
        with contextlib.suppress(OSError, RuntimeError):
            path = _cache(sha256)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_json(path, rows)


def answers(asked: Iterable[Question]) -> list[JSON]:
    """What is known about questions, as JSON, for a process that shows it."""
    rows: list[JSON] = []
    for question in asked:
        found = _answers.get(question)
        if found is not None:
            told = {"failed": found.message} if isinstance(found, Failed) else {"answer": found.write()}
            rows.append({"question": question.write(), **told})
    return rows


def learn_answers(rows: Iterable[Mapping[str, Any]]) -> None:
    """Take up what another process measured and wrote to disk, and what failed there."""
    for row in rows:
        question = Question.read(row["question"])
        _answers[question] = Failed(str(row["failed"])) if "failed" in row else Measured.read(row["answer"])


def forget_failures() -> None:
    """Let what failed be tried again."""
    for question in [q for q, found in _answers.items() if isinstance(found, Failed)]:
        del _answers[question]


def forget() -> None:
    """Know nothing, as a fresh process: for tests."""
    global _base
    _base = Path()
    set_being_measured(())
    for store in (_files, _answers, _loaded):
        store.clear()


def values_text(values: Mapping[str, Any]) -> str:
    """Field values as JSON that is the same for the same values."""
    return json.dumps(values, sort_keys=True)


def hash_of(text: str) -> str:
    """The SHA-256 of a text."""
    return hash_of_bytes(text.encode("utf-8", "surrogatepass"))


def hash_of_bytes(data: bytes) -> str:
    """The SHA-256 of the bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def read_code(path: Path, name: str) -> bytes:
    """The bytes of a file of code. Raises `UserError`."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{quoted(name)} is not a file. Choose a Python file (*.py).")
        with open(path, "rb") as opened:
            data = opened.read(LIMIT_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"There is no file {quoted(name)} in the project's folder. Choose a Python file.") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{quoted(name)} cannot be read: {words}.") from None
    if len(data) > LIMIT_BYTES:
        raise UserError(f"{quoted(name)} is larger than {LIMIT_BYTES // 2**20} MiB. Choose a Python file.")
    return data


def _read(path: Path, name: str, before: CodeFile | None) -> CodeFile:
    """The file as it is now; what has not changed since `before` is not read again."""
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
    """What earlier processes measured; a damaged cache is an empty one."""
    try:
        rows = json.loads(_cache(sha256).read_text(encoding="utf-8"))
        return {Question.read(row["question"]): Measured.read(row["answer"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, RecursionError):
        return {}
