"""`compare A B`: what is different between two models, as text; also as the external diff of git."""

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict

from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, UserError
from netwright.engine.core.files import read_file
from netwright.engine.operations.operation import Argument, Operation, Request, Result
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.project_differences import Comparison, compare
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.model_files import expected, model_files

GIT_CHANGED = 7
"""Number of arguments of an external diff of git: path, then file, hash and mode of the old and the new side."""
GIT_RENAMED = 9
"""For a renamed file its new path and a few lines about that follow."""
LARGEST_BYTES = 2**26
"""Maximum size of a file that is compared by lines."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """Two models; or the arguments of git."""

    projects: Annotated[tuple[Path, ...], Argument(f"two of these: {expected()}", metavar="MODEL")]
    layout: Annotated[bool, Argument("also show layers that were moved on the canvas")] = False
    git: Annotated[bool, Argument("work as git's external diff: take its arguments, exit 0", faces=("command",))] = (
        False
    )

    def check(self) -> None:
        """Refuse another number of arguments."""
        count = len(self.projects)
        if not self.git and count != 2:
            raise UserError(f"compare takes two project files, received {count}.")
        if self.git and count not in (1, GIT_CHANGED, GIT_RENAMED):
            raise UserError(
                f"--git expects the {GIT_CHANGED} arguments of an external diff driver, received {count}.",
                hint="Set it up with: git config diff.netwright.command 'netwright-engine compare --git'",
            )


class ProjectDifference(TypedDict):
    """Difference between two projects."""

    kind: str
    name: str
    before: str
    after: str


class DataComparison(TypedDict):
    """Whether two runs had the same data."""

    equal: bool | None
    """Null where a run has no record of its data."""
    differences: list[str]


@dataclass(frozen=True, kw_only=True)
class CompareResult(Result):
    """Differences between two projects, or the projects of two runs."""

    unwritten: ClassVar[tuple[str, ...]] = ("lines", "difference")

    equal: bool
    counts: Mapping[str, int]
    """Number of differences by kind."""
    differences: list[ProjectDifference]
    data: DataComparison | None = None
    """Of two runs."""
    lines: Sequence[str]
    difference: str = ""
    """What differs, in words; empty for git, which stops where an exit code is not 0."""


def compare_projects(request: CompareRequest) -> CompareResult:
    """Compare two models. Raises `UserError`."""
    if request.git:
        return _for_git([str(path) for path in request.projects], with_layout=request.layout)
    models = [model_files(path) for path in request.projects]
    folders = [files.path for files in models if files.run is not None]
    before, after = (load(files.project).project for files in models)
    comparison = compare(before, after, with_layout=request.layout)
    words = "the projects differ" if comparison else ""
    if len(folders) != 2:
        return _result(comparison, _as_text(comparison), difference=words)
    records = [read_record(folder) for folder in folders]
    if records[0] is None or records[1] is None:
        lines = ["Whether the data is the same is not known: a run has no data.json, as one of an older version."]
        data: DataComparison = {"equal": None, "differences": []}
    else:
        differences = records[0].against(records[1])
        same = "The data is the same: the same files or contents, the same samples in each split."
        lines = [f"data: {text}" for text in differences] or [same]
        data = {"equal": not differences, "differences": list(differences)}
        words = words or ("the data differs" if differences else "")
    return _result(comparison, [*_as_text(comparison), *lines], data=data, difference=words)


def _result(comparison: Comparison, lines: Sequence[str], **more: Any) -> CompareResult:
    differences: list[Any] = [difference.write() for difference in comparison.differences]
    return CompareResult(equal=not comparison, counts=comparison.counts(), differences=differences, lines=lines, **more)


def _as_text(comparison: Comparison) -> list[str]:
    """Return a line per difference."""
    return [str(difference) for difference in comparison.differences] or ["The projects are equal."]


def _for_git(words: Sequence[str], *, with_layout: bool) -> CompareResult:
    """Return differences below a head of their own. Whatever the files are, git gets an answer: it stops at any
    failure."""
    comparison = Comparison((), {})
    if len(words) == 1:
        return _result(comparison, [f"netwright: {words[0]} is unmerged"])
    path, old, new = words[0], Path(words[1]), Path(words[4])
    head = f"netwright {_head(path, words[7] if len(words) == GIT_RENAMED else '', old, new)}"
    try:
        comparison = compare(_project(old), _project(new), with_layout=with_layout)
    except UserError as error:
        return _result(comparison, [head, f"shown as text: {error}", *_as_lines(old, new, path)])
    is_same = not comparison and not with_layout
    lines = ["no difference but in the layout, or in how it is written"] if is_same else _as_text(comparison)
    return _result(comparison, [head, *lines])


def _head(path: str, renamed_to: str, old: Path, new: Path) -> str:
    if renamed_to:
        return f"{path} -> {renamed_to}"
    what = " (new file)" if _is_nothing(old) else " (deleted)" if _is_nothing(new) else ""
    return path + what


def _is_nothing(path: Path) -> bool:
    """Return whether the path is the null device, which git passes for a missing side."""
    return str(path) == os.devnull


def _project(path: Path) -> Project:
    return Project() if _is_nothing(path) else load(path).project


def _as_lines(old: Path, new: Path, path: str) -> list[str]:
    """Return a unified diff, for a file that is not a valid project."""
    texts: list[list[str]] = []
    for side in (old, new):
        try:
            texts.append(
                [] if _is_nothing(side) else read_file(side, LARGEST_BYTES).decode("utf-8", "replace").splitlines()
            )
        except OSError as error:
            texts.append([f"({error.strerror})"])
    return list(difflib.unified_diff(texts[0], texts[1], f"a/{path}", f"b/{path}", lineterm=""))


def failure(result: CompareResult) -> Mapping[str, Any]:
    """Return the entry `error` of a difference."""
    return {"error": {"code": "different", "message": result.difference}} if result.difference else {}


def text(_: CompareRequest, result: CompareResult) -> Iterable[str]:
    """Return a line per difference."""
    return result.lines


OPERATION = Operation(
    name="compare",
    effect="reads",
    request=CompareRequest,
    results=(CompareResult,),
    function=f"{__name__}:compare_projects",
    description=(
        "Show the differences between two models: layers, fields, connections, options; for the folders of two runs "
        f"also whether they had the same data. Exits 0 where they are equal, {EXIT_REQUIREMENT} where they differ."
    ),
    text=text,
    exit_code=lambda result: EXIT_REQUIREMENT if result.difference else EXIT_DONE,
    failure=failure,
    faces=("command",),
)
