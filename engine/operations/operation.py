"""A capability of the engine that a user reaches: declared once, shown by every face.

A module of this room declares one, or all of a family: its request as a dataclass, whose docstring is the help of the
command, its result as a dataclass or typed dictionary, the text of the result for people, and the function that does
the work. From the declaration follow the command and its `--json` with the JSON
Schema (`netwright.engine.cli.operation_command`, `netwright.engine.cli.schema_command`), the request that `serve`
answers for the window, and what the functions of `netwright.engine.api` call. The modules are light, so that the window
can import them: a function that lies in a room above is named, and imported when the operation runs.

    @dataclass(frozen=True, kw_only=True)
    class PruneRequest(Request):
        run_dir: RunDir
        amount: Annotated[float | None, Argument("share of the weights", metavar="A")] = None

A field without a default is a positional argument, any other one an option. A field of a result that has a default is
left out of the JSON where it equals it; keys that are always there have none.
"""

import contextlib
import importlib
import inspect
import math
import pkgutil
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from netwright.engine.core.dataclass_json import from_json, to_json
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.part_registry import entries, imported, required
from netwright.engine.core.progress import Listener, listening
from netwright.engine.core.records import Record

Face = Literal["command", "window", "api"]
FACES: tuple[Face, ...] = ("command", "window", "api")
Effect = Literal["reads", "writes", "acts"]
WEIGHTS = ("best", "last")
SHARED = ("operation", "model_request", "projects")
"""Modules of this room that declare no operation."""
MODULES = {
    "check": "check_project",
    "import": "import_network",
    "templates": "new",
    **dict.fromkeys(("facts", "guess", "preview", "first_samples", "check_data", "data_changes"), "data_requests"),
    **dict.fromkeys(("weights match", "weights list", "weights fetch"), "weights_files"),
    **dict.fromkeys(("train", "resume", "alive", "inventory"), "started_runs"),
    "show": "runs",
    **dict.fromkeys(("note", "tag", "delete", "curves"), "run_files"),
}
"""Modules of this room by the operation, where they have another name; those of a family have the first word's."""
FORMS = "forms"
"""Name of the set of options that say what is printed."""


@dataclass(frozen=True)
class Argument:
    """Meaning of a field of a request, and its argument on the command line.

    flags: names of an option, such as `-o`, by default the name of the field. read: converts the text of the command
    line, by default the type of the field does. choices: the values that it takes. group: title of the options that it
    is listed with. one_of: name of a set of options, of which one can be given; `--json` is in that of `FORMS`, and
    the value `json` of a field in it stands for `--json`. is_one_text: whether `read` takes all
    values of a tuple out of one text. is_positional: whether it has no name, although it may be left out. record:
    declared options, of which each is an option of the command line; the field is a mapping from their names to their
    texts. reads_input: whether `-` stands for values on standard input, a line each. writes: whether it names a file
    that is written. is_for_people: whether only a person decides on it, such as that code may run or a file is
    replaced; an assistant never sets it. faces: those that show it.
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
    writes: bool = False
    is_for_people: bool = False
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

    shares: ClassVar[str] = ""
    """Name of the field with the trained network that it is about, if any."""

    def check(self) -> None:
        """Raise `UserError` where values do not go together."""

    @property
    def subject(self) -> str:
        """What is done, for messages, such as `reading pets/`; empty where the name of the operation says it."""
        return ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is about, as JSON that begins with `data` or `network`: the process of the window's requests that has
        loaded the same goes on. Empty: it takes a process of its own."""
        return ("network", str(getattr(self, self.shares))) if self.shares else ()

    @property
    def work_limit_s(self) -> float:
        """Seconds of computing after which it is given up, where it reads a file of another program."""
        return math.inf


class Result:
    """Base class of results that are frozen dataclasses. Their JSON leaves out fields that equal their default, and
    those that are `unwritten`."""

    omits_defaults: ClassVar[bool] = True
    unwritten: ClassVar[tuple[str, ...]] = ()


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


@dataclass(frozen=True)
class Shaded:
    """Words in a row, each with a share from -1 to 1: on a terminal in colour, red above zero and blue below."""

    words: Sequence[tuple[str, float]]


Line = str | Table | Document | Shaded
Asked = TypeVar("Asked", bound=Request)
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Stream(Generic[Answer]):
    """Items of a result that come one by one. The command prints each as it comes, so that memory stays flat: as a
    line, as JSON, or with `--csv` as a row. A result without the field is printed as one of any other operation.

    field: name of the field of the result, an iterator. rows: rows of the table, the first a header.
    """

    field: str
    rows: Callable[[Answer], Iterable[Sequence[Any]]]


def no_lines(*_: object) -> Iterable[Line]:
    """Yield nothing: nothing is said for people."""
    return ()


def nothing_said(_: object) -> Iterable[str]:
    """Return no lines: nothing is said beside the result."""
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

    name: words of its command. function: takes the request and returns the result; for one in a room above the text
    `module:name`, and then `request` and `results` have the types of what it takes and of what may come of it.
    description: help of the command, by default the docstring of the request. text: lines for people. stream: items
    that come one by one. error_text: what is shown before an error. notices: lines that are said before the result,
    also beside its JSON, after those of `netwright.engine.core.progress.notice`. remarks: those after it. doing: word
    before its progress. json_help: help of `--json`. reads_data: whether it may need data from other hosts.
    is_foreign: whether it reads a file of another program, which may ask for far more memory and work than its size
    accounts for: the command has a child process do it, within limits, as the window does. starts_run: whether a run
    comes of it, which goes before other requests and is not cancelled once begun. may_wait: whether it may be computed
    in the background, as an entry of the queue; its request has a `model`. waits_for_hosts: whether it may wait
    for other machines, for as long as they are silent. effect: what assistants may ask of it: it `reads` files, and
    writes one only where a field that `writes` has a value; it always `writes` such a file; or it `acts` otherwise, on
    runs, settings or other machines, which is left to people. failure: the entry `error` of a result with another exit
    code than 0.
    """

    name: str
    function: str | Callable[[Asked], Answer]
    request: type[Asked] = None  # type: ignore[assignment]  # from the function
    results: tuple[Any, ...] = ()
    description: str = ""
    text: Callable[[Asked, Answer], Iterable[Line]] = no_lines
    stream: Stream[Answer] | None = None
    error_text: Callable[[UserError], Iterable[Line]] = no_lines
    notices: Callable[[Answer], Iterable[str]] = nothing_said
    remarks: Callable[[Answer], Iterable[str]] = nothing_said
    doing: str = ""
    json_help: str = "print one JSON object"
    reads_data: bool = False
    is_foreign: bool = False
    starts_run: bool = False
    may_wait: bool = False
    waits_for_hosts: bool = False
    effect: Effect = "acts"
    faces: tuple[Face, ...] = FACES
    exit_code: Callable[[Answer], int] = done
    failure: Callable[[Answer], Mapping[str, Any]] = no_failure

    def __post_init__(self) -> None:
        if not isinstance(self.function, str):
            types = get_type_hints(self.function)
            gives = types.pop("return")
            object.__setattr__(self, "request", next(iter(types.values())))
            object.__setattr__(self, "results", get_args(gives) if isinstance(gives, UnionType) else (gives,))
        if not self.description:
            object.__setattr__(self, "description", " ".join((inspect.getdoc(self.request) or "").split()))

    def run(self, request: Asked, progress: Listener | None = None) -> Answer:
        """Do the work, in this process, and return the result. Raises `UserError`."""
        request.check()
        if getattr(request, "profile", ""):
            answered: Answer = required("functions", "answer_as_job")(self, request)
            return answered
        function = imported(self.function) if isinstance(self.function, str) else self.function
        with listening(progress) if progress is not None else contextlib.nullcontext():
            result: Answer = function(request)
            return result

    def answer(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do the work for a request as JSON, and return the result as JSON. Raises `JsonShapeError`, `UserError`."""
        return self.write(self.run(self.read(values)))

    def whole(self, result: Answer) -> Answer:
        """Return the result with all items of its stream, where it has one."""
        if self.stream is None or not hasattr(result, self.stream.field):
            return result
        return replace(result, **{self.stream.field: [*getattr(result, self.stream.field)]})  # type: ignore[type-var]

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


def of_window(name: str, request: type[Asked], function: str, *, starts_run: bool = False) -> Operation[Any, Any]:
    """Return an operation that the window alone asks for; its result is JSON."""
    return Operation(name=name, request=request, function=function, starts_run=starts_run, faces=("window",))


@cache
def operation_names() -> tuple[str, ...]:
    """Return the names of the modules of this room that declare operations."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return tuple(name for name in names if name not in SHARED)


def module_name(name: str) -> str:
    """Return the name of the module of an operation: that of its words, else that of the first, which has a family."""
    whole, first = (words.replace(" ", "_").replace("-", "_") for words in (name, name.partition(" ")[0]))
    return MODULES.get(name) or (whole if whole in operation_names() else first)


def operation(name: str) -> Operation[Any, Any] | None:
    """Return an operation by its name; None where there is none. It imports the module of this operation alone."""
    if (target := entries("operations").get(name)) is not None:
        of_part: Operation[Any, Any] = imported(target)
        return of_part
    module = module_name(name)
    if module not in operation_names():
        return None
    return next((declared for declared in _declared(module) if declared.name == name), None)


def _declared(module: str) -> Iterator[Operation[Any, Any]]:
    """Yield the operations of a module of this room."""
    for value in vars(importlib.import_module(f"netwright.engine.operations.{module}")).values():
        if isinstance(value, Operation):
            yield value


def installed_operation(name: str) -> Operation[Any, Any]:
    """Return an operation. Raises `UserError` where the part that has it is not installed."""
    if (declared := operation(name)) is None:
        raise UserError(f"This installation has no operation '{name}'.", hint="Install Netwright with all its parts.")
    return declared


def run_operation(name: str, /, **values: Any) -> Any:
    """Return the result of an operation, by the values of its request. Raises `UserError`, also where the part that has
    it is not installed."""
    declared = installed_operation(name)
    return declared.run(declared.request(**values))


def operations() -> Iterator[Operation[Any, Any]]:
    """Yield all operations, with those of parts."""
    yield from map(imported, entries("operations").values())
    for module in operation_names():
        yield from _declared(module)


# ---- fields of several requests ----


def read_count(text: str) -> int:
    """Return a number from 1 on. Raises `ArgumentTypeError`."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"expected a number from 1 on, received '{text}'")
    return int(text)


RunDir = Annotated[Path, Argument("the folder of a run", metavar="RUN")]
ProjectFile = Annotated[Path, Argument("a project file (*.netwright)", metavar="PROJECT")]
ProjectText = Annotated[str, Argument("the project itself, instead of its file", faces=("window",))]
SET_DATA = Argument(
    "another value for an option, such as data.response=price; may be given several times",
    metavar="SECTION.OPTION=VALUE",
    flags=("--set",),
)
Settings = Annotated[
    tuple[str, ...],
    Argument(
        "another value for an option, such as training.max_epochs=5; may be given several times",
        metavar="SECTION.OPTION=VALUE",
        flags=("--set",),
    ),
]
DataSettings = Annotated[Settings, SET_DATA]
ExperimentPath = Annotated[
    Path, Argument("the folder of an experiment; of a project file, its newest one", metavar="EXPERIMENT")
]
WeightsKept = Annotated[
    str, Argument("weights of the run (default: its result)", choices=WEIGHTS, flags=("--weights",))
]
Fresh = Annotated[bool, Argument("compute again, even where the result is known")]
Trust = Annotated[
    bool,
    Argument(
        "let the project's own code (custom layers, functions, hooks) run this time, with all your rights",
        flags=("--trust",),
        is_for_people=True,
    ),
]
Device = Annotated[
    str,
    Argument(
        "where to compute: auto (a GPU where there is one), cpu, gpu, such as cuda:1, or batches divided among "
        "multi-gpu (all GPUs) or multi-cpu (a core each); default auto",
        metavar="NAME",
    ),
]
Profile = Annotated[
    str,
    Argument(
        "cluster profile: compute as a job there, and bring answer and files back; this machine stays on until then",
        metavar="NAME",
        is_for_people=True,
        faces=("command", "api"),
    ),
]
Base = Annotated[Path | None, Argument("folder that its files lie in, if not the project's own", metavar="DIR")]


@dataclass(frozen=True, kw_only=True)
class ProjectRequest(Request):
    """A project file, with other values for options."""

    project: ProjectFile
    settings: Settings = ()
