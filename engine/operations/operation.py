"""A capability of the engine that a user reaches: declared once, shown by every face.

A module of this room declares one: its request and its result as dataclasses, the text of the result for people, and
the name of the function that does the work. From the declaration follow the command and its `--json` with the JSON
Schema (`netwright.engine.cli.operation_command`, `netwright.engine.cli.schema_command`), the request that `serve`
answers for the window, and what the functions of `netwright.engine.api` call. The modules are light, so that the window
can import them: the function lies in a room above, which is imported when the operation runs.

    @dataclass(frozen=True, kw_only=True)
    class PruneRequest(Request):
        run_dir: RunDir
        amount: Annotated[float | None, Argument("share of the weights", metavar="A")] = None

A field without a default is a positional argument, any other one an option. A field of a result that has a default is
left out of the JSON where it equals it; keys that are always there have none.
"""

import contextlib
import importlib
import pkgutil
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from netwright.engine.core.dataclass_json import from_json, to_json
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.part_registry import entries, imported
from netwright.engine.core.progress import Listener, listening
from netwright.engine.core.records import Record
from netwright.engine.project.dataset_info import SPLITS

Face = Literal["command", "window", "api"]
FACES: tuple[Face, ...] = ("command", "window", "api")
WEIGHTS = ("best", "last")
SHARED = ("operation", "projects")
"""Modules of this room that declare no operation."""


@dataclass(frozen=True)
class Argument:
    """Meaning of a field of a request, and its argument on the command line.

    flags: names of an option, such as `-o`, by default the name of the field. read: converts the text of the command
    line, by default the type of the field does. choices: the values that it takes. group: title of the options that it
    is listed with. one_of: name of a set of options, of which one can be given. is_one_text: whether `read` takes all
    values of a tuple out of one text. is_positional: whether it has no name, although it may be left out. record:
    declared options, of which each is an option of the command line; the field is a mapping from their names to their
    texts. reads_input: whether `-` stands for values on standard input, a line each. faces: those that show it.
    """

    help: str
    metavar: str = ""
    flags: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    read: Callable[[str], Any] | None = None
    group: str = ""
    one_of: str = ""
    is_one_text: bool = False
    is_positional: bool = False
    record: type[Record] | None = None
    reads_input: bool = False
    faces: tuple[Face, ...] = FACES


@dataclass(frozen=True)
class Parameter:
    """A field of a request: its name, its type, whether it may be left out, and its argument."""

    name: str
    kind: Any
    is_required: bool
    default: Any
    argument: Argument

    @property
    def is_repeated(self) -> bool:
        """Whether it takes several values."""
        return get_origin(self.kind) is tuple and not self.argument.is_one_text

    @property
    def value_kind(self) -> Any:
        """The type of one value: that of the items of a tuple, and that beside None."""
        kind = get_args(self.kind)[0] if get_origin(self.kind) is tuple else self.kind
        return next((part for part in get_args(kind) if part is not type(None)), kind)

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the option; empty for a positional argument."""
        has_name = not (self.is_required or self.argument.is_positional)
        return self.argument.flags or ((f"--{self.name.replace('_', '-')}",) if has_name else ())


class Request:
    """Base class of requests, which are frozen dataclasses whose fields are annotated with an `Argument`."""

    def check(self) -> None:
        """Raise `UserError` where values do not go together."""


class Result:
    """Base class of results, which are frozen dataclasses. Their JSON leaves out fields that equal their default, and
    those that are `unwritten`, such as notices, which are said beside it."""

    omits_defaults: ClassVar[bool] = True
    unwritten: ClassVar[tuple[str, ...]] = ("notices",)


@dataclass(frozen=True)
class Table:
    """Rows of a result, the first a header where there is one. `right`: indexes of the right-aligned columns."""

    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    has_header: bool = True


@dataclass(frozen=True)
class Document:
    """A text of many lines that is printed as it is, such as CSV."""

    text: str


Line = str | Table | Document
Asked = TypeVar("Asked", bound=Request)
Answer = TypeVar("Answer", bound=Result)


@dataclass(frozen=True)
class Stream(Generic[Answer]):
    """Items of a result that come one by one. The command prints each as it comes, so that memory stays flat, or writes
    it to `-o FILE`: as a line, as JSON, or with `--csv` as a row.

    field: name of the field of the result, an iterator. rows: rows of the table, the first a header.
    """

    field: str
    rows: Callable[[Answer], Iterable[Sequence[Any]]]


def no_lines(*_: object) -> Iterable[Line]:
    """Yield nothing: nothing is said for people."""
    return ()


def own_notices(result: object) -> Iterable[str]:
    """Yield the notices of a result as lines."""
    return (f"note: {notice}" for notice in getattr(result, "notices", ()))


def no_remarks(_: object) -> Iterable[str]:
    """Return no lines: nothing is said after the result."""
    return ()


def done(_: object) -> int:
    """Return the exit code of a command that did what was asked."""
    return EXIT_DONE


def no_failure(_: object) -> Mapping[str, Any]:
    """Return no keys: the result is no failure."""
    return {}


@dataclass(frozen=True)
class Operation(Generic[Asked, Answer]):
    """An operation.

    name: words of its command. request, results: dataclasses of what is asked and what comes of it, of which there may
    be several. function: `module:name` of the function that takes the request and returns the result. description: help
    of the command. text: lines for people. stream: items that come one by one. error_text: what is shown before an
    error. notices: lines that are said before the result, also beside its JSON. remarks: those after it. doing: word
    before its progress. reads_data: whether it may need data from other hosts. waits_for_hosts: whether it may wait for
    other machines, for as long as they are silent. shares: name of the field whose value chooses the process in which
    the window's requests run: one that has loaded the same network goes on; empty: a process of its own. failure: the
    entry `error` of a result with another exit code than 0.
    """

    name: str
    request: type[Asked]
    results: tuple[type[Answer], ...]
    function: str
    description: str
    text: Callable[[Asked, Answer], Iterable[Line]] = no_lines
    stream: Stream[Answer] | None = None
    error_text: Callable[[UserError], Iterable[Line]] = no_lines
    notices: Callable[[Answer], Iterable[str]] = own_notices
    doing: str = ""
    reads_data: bool = False
    waits_for_hosts: bool = False
    shares: str = ""
    faces: tuple[Face, ...] = FACES
    exit_code: Callable[[Answer], int] = done
    failure: Callable[[Answer], Mapping[str, Any]] = no_failure
    remarks: Callable[[Answer], Iterable[str]] = no_remarks

    def run(self, request: Asked, progress: Listener | None = None) -> Answer:
        """Do the work, in this process, and return the result. Raises `UserError`."""
        request.check()
        function = imported(self.function)
        with listening(progress) if progress is not None else contextlib.nullcontext():
            result: Answer = function(request)
            return result

    def answer(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do the work for a request as JSON, and return the result as JSON. Raises `JsonShapeError`, `UserError`."""
        return self.write(self.run(self.read(values)))

    def read(self, values: Mapping[str, Any]) -> Asked:
        """Return a request from JSON. Raises `JsonShapeError`."""
        asked: Asked = from_json(self.request, dict(values))
        return asked

    def write(self, result: Answer) -> Mapping[str, Any]:
        """Return the result as JSON, as the command prints it."""
        written: Mapping[str, Any] = to_json(result)
        return written

    def parameters(self) -> Iterator[Parameter]:
        """Yield the fields of the request. Raises `TypeError` for one without an argument."""
        types = get_type_hints(self.request, include_extras=True)
        for one in fields(self.request):  # type: ignore[arg-type]
            kind = types[one.name]
            arguments = [part for part in get_args(kind)[1:] if isinstance(part, Argument)]
            if get_origin(kind) is not Annotated or not arguments:
                raise TypeError(f"{self.request.__name__}.{one.name} has no Argument.")
            is_required = one.default is MISSING and one.default_factory is MISSING
            yield Parameter(one.name, get_args(kind)[0], is_required, one.default, arguments[-1])


@cache
def operation_names() -> tuple[str, ...]:
    """Return the names of the modules of this room that declare operations."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return tuple(name for name in names if name not in SHARED)


def module_name(name: str) -> str:
    """Return the name of the module of an operation; that of a Python keyword ends in an underscore."""
    plain = name.replace(" ", "_").replace("-", "_")
    return f"{plain}_" if plain == "import" else plain


def operation(name: str) -> Operation[Any, Any] | None:
    """Return an operation by its name; None where there is none. It imports this operation alone."""
    if (target := entries("operations").get(name)) is not None:
        of_part: Operation[Any, Any] = imported(target)
        return of_part
    module = module_name(name)
    if module not in operation_names():
        return None
    declared: Operation[Any, Any] = importlib.import_module(f"netwright.engine.operations.{module}").OPERATION
    return declared


def installed_operation(name: str) -> Operation[Any, Any]:
    """Return an operation. Raises `UserError` where the part that has it is not installed."""
    if (declared := operation(name)) is None:
        raise UserError(f"This installation has no operation '{name}'.", hint="Install Netwright with all its parts.")
    return declared


def run_operation(name: str, **values: Any) -> Any:
    """Return the result of an operation, by the values of its request. Raises `UserError`, also where the part that has
    it is not installed."""
    declared = installed_operation(name)
    return declared.run(declared.request(**values))


def operations() -> Iterator[Operation[Any, Any]]:
    """Yield all operations, with those of parts."""
    yield from map(imported, entries("operations").values())
    for module in operation_names():
        yield importlib.import_module(f"netwright.engine.operations.{module}").OPERATION


# ---- fields of several requests ----


def read_count(text: str) -> int:
    """Return a number from 1 on. Raises `ArgumentTypeError`."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"expected a number from 1 on, received '{text}'")
    return int(text)


RunDir = Annotated[Path, Argument("the folder of a run", metavar="RUN")]
ProjectFile = Annotated[Path, Argument("a project file (*.netwright)", metavar="PROJECT")]
ProjectText = Annotated[str, Argument("the project itself, instead of its file", faces=("window",))]
Settings = Annotated[
    tuple[str, ...],
    Argument(
        "another value for an option, such as training.max_epochs=5; may be given several times",
        metavar="SECTION.OPTION=VALUE",
        flags=("--set",),
    ),
]
ExperimentPath = Annotated[
    Path, Argument("the folder of an experiment; of a project file, its newest one", metavar="EXPERIMENT")
]
Split = Annotated[str, Argument("split of the run's data (default: test, else validation)", choices=SPLITS)]
WeightsKept = Annotated[
    str, Argument("weights of the run (default: its result)", choices=WEIGHTS, flags=("--weights",))
]
Fresh = Annotated[bool, Argument("compute again, even where the result is known")]
Trust = Annotated[
    bool,
    Argument(
        "let the project's own code (custom layers, functions, hooks) run this time, with all your rights",
        flags=("--trust",),
    ),
]
Device = Annotated[
    str,
    Argument(
        "where to compute: auto (a GPU where there is one), cpu, gpu, or such as cuda:1; default auto", metavar="NAME"
    ),
]
