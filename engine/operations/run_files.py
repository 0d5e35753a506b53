"""`note`, `tag`, `delete` and `curves`: what a user does with runs that there are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError
from netwright.engine.core.part_registry import imported
from netwright.engine.core.progress import notice
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result, RunDir
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.notes import read_notes, write_notes
from netwright.engine.runs.summary import RunSummary, read_summary
from netwright.engine.runs.trash import move_run_to_trash

FORMATS = ("csv", "tensorboard", "mlflow", "weights-csv")
RunDirs = Annotated[tuple[Path, ...], Argument("the folder of a run", metavar="RUN")]


@dataclass(frozen=True, kw_only=True)
class NoteRequest(Request):
    """Set the note of a run; an empty text removes it. Without a text, print the note."""

    run_dir: RunDir
    text: Annotated[str | None, Argument("the note", metavar="TEXT", is_positional=True, is_for_people=True)] = None


class Note(TypedDict):
    """Note of a run."""

    run_dir: str
    note: str


def note(request: NoteRequest) -> Note:
    """Write or read the note. Raises `UserError`."""
    folder = open_run(request.run_dir)
    if request.text is not None:
        write_notes(folder, note=request.text)
    return {"run_dir": str(folder.path.absolute()), "note": _summary_noticed(folder).notes.note}


def note_text(request: NoteRequest, result: Note) -> Iterator[Line]:
    """Yield the note, if it was asked for."""
    if result["note"] and request.text is None:
        yield from result["note"].split("\n")


def _summary_noticed(folder: RunFolder) -> RunSummary:
    """Return the summary of a run, and say which of its files is damaged."""
    run = read_summary(folder.path.absolute())
    notice(*filter(None, [run.damage]))
    return run


NOTE = Operation(name="note", effect="reads", function=note, text=note_text, faces=("command",))


@dataclass(frozen=True, kw_only=True)
class TagRequest(Request):
    """Add tags to a run or remove them, and print its tags."""

    run_dir: RunDir
    tags: Annotated[tuple[str, ...], Argument("a tag, one word", metavar="TAG", is_positional=True)] = ()
    remove: Annotated[bool, Argument("remove these tags")] = False


class Tags(TypedDict):
    """Tags of a run."""

    run_dir: str
    tags: list[str]


def tag(request: TagRequest) -> Tags:
    """Write and read the tags. Raises `UserError`."""
    folder = open_run(request.run_dir)
    known = _summary_noticed(folder).notes.tags
    if request.tags:
        others = tuple(tag for tag in known if tag not in request.tags)
        write_notes(folder, tags=others if request.remove else (*known, *request.tags))
    return {"run_dir": str(folder.path.absolute()), "tags": list(read_notes(folder).tags)}


def tag_text(_: TagRequest, result: Tags) -> Iterator[Line]:
    """Yield a line per tag."""
    yield from result["tags"]


TAG = Operation(name="tag", function=tag, text=tag_text, faces=("command",))


@dataclass(frozen=True, kw_only=True)
class DeleteRequest(Request):
    """Move runs to the trash, from where the desktop restores them. A run that still trains is refused."""

    run_dirs: RunDirs


@dataclass(frozen=True, kw_only=True)
class Deleted(Result):
    """Runs that are in the trash now."""

    unwritten: ClassVar[tuple[str, ...]] = ("refused",)

    deleted: list[str]
    refused: tuple[UserError, ...]
    """Why others are not."""


def delete(request: DeleteRequest) -> Deleted:
    """Move to the trash what can be moved."""
    deleted, refused = [], []
    for path in request.run_dirs:
        try:
            move_run_to_trash(open_run(path))
            deleted.append(str(path.absolute()))
        except UserError as error:
            refused.append(error)
    return Deleted(deleted=deleted, refused=tuple(refused))


def delete_text(request: DeleteRequest, result: Deleted) -> Iterator[Line]:
    """Yield a line per run."""
    yield from (f"moved to the trash: {path}" for path in request.run_dirs if str(path.absolute()) in result.deleted)


def delete_failure(result: Deleted) -> Mapping[str, Any]:
    """Return the entry `error` where some are refused, and none where all are deleted."""
    if not result.refused:
        return {}
    lines = [line for error in result.refused for line in error.lines]
    first = result.refused[0]
    return {"error": {"code": first.code, "message": "\n".join(lines), **({"hint": first.hint} if first.hint else {})}}


def delete_remarks(result: Deleted) -> Iterator[str]:
    """Yield why others are not deleted."""
    lines = [line for error in result.refused for line in error.lines]
    yield from (f"netwright-engine: {line}" if number == 0 else line for number, line in enumerate(lines))


DELETE = Operation(
    name="delete",
    function=delete,
    text=delete_text,
    remarks=delete_remarks,
    failure=delete_failure,
    exit_code=lambda result: EXIT_INPUT if result.refused else EXIT_DONE,
    faces=("command",),
)


@dataclass(frozen=True, kw_only=True)
class CurvesRequest(Request):
    """Write every curve of runs: as one CSV table (run, curve, split, step, value), into a folder that `tensorboard
    --logdir` shows, or, with options, state, note and tags, into a folder that `mlflow ui --backend-store-uri` shows.
    Distributions of layers (training.watch_weights) go with those for TensorBoard, or into a CSV table of their own
    (weights-csv). TensorBoard and MLflow are extras: pip install "netwright[tensorboard]" or "netwright[mlflow]".
    MLflow 3 reads such a folder where MLFLOW_ALLOW_FILE_STORE=true is set."""

    run_dirs: RunDirs
    format: Annotated[str, Argument("the format to write (default: csv)", choices=FORMATS)] = "csv"
    output: Annotated[Path, Argument("where to write it", metavar="FILE|DIR", flags=("-o", "--output"), writes=True)]


class Files(TypedDict):
    """Files that were written."""

    files: list[str]


def curves(request: CurvesRequest) -> Files:
    """Write the curves. Raises `UserError`."""
    folders = [open_run(path) for path in request.run_dirs]
    paths = imported("netwright.engine.runs.curve_files:write_curves")(folders, request.format, request.output)
    return {"files": [str(path.absolute()) for path in paths]}


def curves_text(request: CurvesRequest, result: Files) -> Iterator[Line]:
    """Yield a line per file."""
    place = request.output
    yield from (f"wrote {place / Path(path).relative_to(place.absolute())}" for path in result["files"])


CURVES = Operation(name="curves", effect="writes", function=curves, text=curves_text, faces=("command",))
