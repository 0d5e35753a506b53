"""`check PROJECT`: problems, sizes, parameters, work and memory, without torch."""

import importlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict, cast
from urllib.parse import quote

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from netwright.engine.core.progress import notice
from netwright.engine.core.text import format_bytes
from netwright.engine.core.version import VERSION
from netwright.engine.network.block import Block
from netwright.engine.network.layer_table import table_rows
from netwright.engine.network.memory import activation_bytes
from netwright.engine.network.problems import Problem
from netwright.engine.operations.operation import (
    FORMS,
    Argument,
    Document,
    Line,
    Operation,
    Request,
    Result,
    Settings,
    Table,
    Trust,
)
from netwright.engine.operations.projects import divided_for_starter, facts_of, look_at_code, read_project
from netwright.engine.project.check import CheckResult, check, describe, memory_of
from netwright.engine.project.check_inputs import FIT, fitted
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import save
from netwright.engine.project.pipeline_stages import Stages
from netwright.engine.project.project import Project
from netwright.engine.project.stage_edits import asked_workers, has_stages, shown_stages, stage_bytes
from netwright.engine.project.starter import MAKE, starter
from netwright.engine.project.teacher import teacher_problem
from netwright.engine.project.user_code import measure
from netwright.engine.project.weights import weights_problem
from netwright.engine.runs.folder import origin

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LOOK = "`netwright-engine data inspect PROJECT` does."
MOST_NAMES = 8
"""So many layers of a stage are named."""


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """Show the problems, sizes, parameters, FLOPs and memory of projects. Exits 2 if one has errors, with --strict also
    for warnings. GitHub Actions shows the lines of --format github at the files; SARIF is read by code scanning
    services."""

    project: Annotated[tuple[Path, ...], Argument("a project file (*.netwright)", metavar="PROJECT")]
    settings: Settings = ()
    trusted: Trust = False
    strict: Annotated[bool, Argument("exit 2 for warnings, too")] = False
    fit: Annotated[
        bool,
        Argument(
            "set inputs and outputs of the network from the data, or make one where there is none, and save the "
            "project",
            is_for_people=True,
        ),
    ] = False
    format: Annotated[
        str, Argument("what to print (default: text)", choices=("text", "json", "github", "sarif"), one_of=FORMS)
    ] = "text"


class FoundProblem(TypedDict):
    """Problem of a project."""

    severity: Literal["error", "warning", "note"]
    layer: str
    """Name of the layer, empty for the whole network or an option; `block/layer` inside a block."""
    field: str
    """Field of the layer, or path of the option."""
    message: str


class LayerRow(TypedDict):
    """A layer, with sizes that are null where they are unknown."""

    name: str
    type: str
    output: list[int | str] | None
    """Sizes of the first output without the batch; a text is a symbol."""
    parameters: int | None
    flops: int | None
    """Floating-point operations per sample; a multiply-add counts two."""
    activation_bytes: int | None
    repeat: NotRequired[int]
    stage: NotRequired[int]
    """Stage of a pipeline, from 1."""


@dataclass(frozen=True, kw_only=True)
class UnreadableProject(Result):
    """A project among several that cannot be read."""

    unwritten: ClassVar[tuple[str, ...]] = ("file", "found")

    path: str
    problems: list[FoundProblem]
    file: Path
    found: Sequence[Problem]


@dataclass(frozen=True, kw_only=True)
class Check(UnreadableProject):
    """Problems, sizes and costs of one project."""

    unwritten: ClassVar[tuple[str, ...]] = ("file", "found", "project", "result", "strict")

    path: str
    problems: list[FoundProblem]
    layers: list[LayerRow]
    parameters: int
    flops: int
    memory_bytes: int
    """Estimated memory of a training step."""
    project: Project
    result: CheckResult
    strict: bool


@dataclass(frozen=True, kw_only=True)
class Checks(Result):
    """Several projects."""

    unwritten = ("strict",)

    projects: list[Check | UnreadableProject]
    strict: bool


def checked_projects(result: Check | Checks) -> Sequence[Check | UnreadableProject]:
    """Return the projects of a result."""
    return result.projects if isinstance(result, Checks) else [result]


def check_projects(request: CheckRequest) -> Check | Checks:
    """Check projects. Raises `UserError`."""
    projects = [_checked(path, request) for path in request.project]
    if len(projects) == 1 and isinstance(projects[0], Check):
        return projects[0]
    return Checks(projects=projects, strict=request.strict)


def _local_facts(project: Project, base: Path) -> DatasetInfo | None:
    """Return the dataset info, or None for data that is read over the network, which `check` leaves alone."""
    source = project.data.source_type
    if source is not None and source.is_remote(project.data):
        notice(f"The data is read over the network, and was not looked at. {LOOK}")
        return None
    if source is not None:
        _import_numpy()
    return facts_of(project, base)


def _import_numpy() -> None:
    """Import NumPy, which reads the data, without the threads for products of matrices: these are started with it, take
    as long as all of the import, and have nothing to do here. Processes started later have the environment of before.
    """
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        return
    os.environ[name] = "1"
    try:
        importlib.import_module("numpy")
    finally:
        del os.environ[name]


def _checked(path: Path, request: CheckRequest) -> Check | UnreadableProject:
    """Check a project. Raises `UserError` if it is the only one and cannot be read."""
    try:
        project, notices = read_project(path, request.settings)
        known = origin(path)
        look_at_code(project, known.code_base, known.code, trusted=request.trusted)
        measure(project.network)
    except UserError as error:
        if len(request.project) == 1 and request.format in ("text", "json"):
            raise
        found = [Problem("error", "", "", "", str(error))]
        return UnreadableProject(path=str(path.absolute()), problems=_written(found), file=path, found=found)
    facts = None
    try:
        facts = _local_facts(project, known.base)
        if request.fit:
            if not project.network.layers:
                project, facts = divided_for_starter(project, facts, known.base)
            project = _fit(path, project, facts)
        result = check(project, facts)
    except UserError as error:  # bad data is one problem among others here
        if request.fit:
            raise
        result = check(project, refusal=str(error))
    missing = [weights_problem(project.weights, known.base), teacher_problem(project, facts, known.base)]
    notes = [Problem("note", "", "", "", notice) for notice in notices]
    return _check_of(path, project, result, request.strict, [*filter(None, missing), *notes, *result.problems])


def _written(problems: Sequence[Problem]) -> list[FoundProblem]:
    return [cast(FoundProblem, problem.write()) for problem in problems]


def _fit(path: Path, project: Project, facts: DatasetInfo | None) -> Project:
    """Save the project with inputs and outputs of the network set from the data, and return it. Raises `UserError`."""
    if facts is None:
        raise UserError(
            f"{path}: the network cannot be fitted, since there is no data to fit it to.",
            hint="Name the data with --set data.path=PATH.",
        )
    made = None if project.network.layers else starter(facts, project.data)
    after = made.edit(project) if made else fitted(project, facts)
    is_changed = after.network != project.network
    save(after, path)
    notice(f"{path}: the network was {'fitted to the data' if is_changed else 'not changed: it fits the data'}.")
    return after


def _line_of(path: Path, problem: Problem) -> int:
    """Return the line of a project file that has the layer of a problem, which stands on a line of its own; else 1."""
    name = f'"name": {json.dumps(problem.name.rpartition("/")[2], ensure_ascii=False)}'
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if problem.name else []
    except (OSError, ValueError):
        lines = []
    return next((number for number, line in enumerate(lines, start=1) if name in line), 1)


def _github_line(path: Path, problem: Problem) -> str:
    """Return a problem as a workflow command of GitHub Actions."""

    def escaped(text: str, more: str = "") -> str:
        return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)

    kind = {"error": "error", "warning": "warning", "note": "notice"}[problem.severity]
    title = ", ".join(part for part in (problem.name, problem.field) if part) or "project"
    where = f"file={escaped(str(path), ':,')},line={_line_of(path, problem)},title={escaped(title, ':,')}"
    return f"::{kind} {where}::{escaped(problem.message)}"


def _as_sarif(found: Sequence[Check | UnreadableProject]) -> dict[str, Any]:
    """Return the problems in SARIF 2.1.0, the format of OASIS for results of static analysis."""
    results = [
        {
            "ruleId": problem.field or "network",
            "level": problem.severity,
            "message": {"text": describe(problem)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(checked.file.as_posix())},
                        "region": {"startLine": _line_of(checked.file, problem)},
                    },
                    **({"logicalLocations": [{"fullyQualifiedName": problem.name}]} if problem.name else {}),
                }
            ],
        }
        for checked in found
        for problem in checked.found
    ]
    rules = [{"id": rule} for rule in dict.fromkeys(str(result["ruleId"]) for result in results)]
    driver = {"name": "netwright", "version": VERSION, "rules": rules}
    return {"version": "2.1.0", "$schema": SARIF_SCHEMA, "runs": [{"tool": {"driver": driver}, "results": results}]}


def _check_of(path: Path, project: Project, result: CheckResult, strict: bool, problems: Sequence[Problem]) -> Check:
    """Return the result for a project. Memory is `netwright.engine.network.memory`'s estimate in bytes."""
    layers: list[LayerRow] = []
    stages = _stages(project, result)
    memory = memory_of(project, result.analysis, result.facts)
    for row in table_rows(project.network, result.analysis):
        facts = row.shapes
        sizes = [s if isinstance(s, int) else str(s) for s in facts.output.sizes] if facts else None
        layer: LayerRow = {
            "name": row.path,
            "type": row.layer.type_key,
            "output": sizes,
            "parameters": facts.parameters if facts else None,
            "flops": facts.flops if facts else None,
            "activation_bytes": activation_bytes(facts, memory.batch) if facts else None,
        }
        if isinstance(row.layer.type, Block):
            layer["repeat"] = row.layer.type.repeat
        if stages and row.layer.id in stages.of and row.path == row.layer.name:
            layer["stage"] = stages.of[row.layer.id] + 1
        layers.append(layer)
    return Check(
        path=str(path.absolute()),
        problems=_written(problems),
        layers=layers,
        parameters=result.analysis.parameters,
        flops=result.analysis.flops,
        memory_bytes=memory.total,
        file=path,
        found=problems,
        project=project,
        result=result,
        strict=strict,
    )


def _stages(project: Project, result: CheckResult) -> Stages | None:
    """Return the pipeline stages of a run, or None if not a pipeline or the number of workers is unknown."""
    workers = asked_workers(project.environment)
    if not has_stages(project.environment) or not (workers or project.environment.stages.strip()):
        return None
    return shown_stages(project, result.analysis, workers).stages


def _stage_lines(project: Project, result: CheckResult) -> Iterator[str]:
    """Yield a line per pipeline stage."""
    stages = _stages(project, result)
    if stages is None:
        return
    memory = stage_bytes(project, result.analysis, stages)
    for number, (share, held) in enumerate(zip(stages.shares, memory, strict=True)):
        names = [layer.name for id, layer in project.network.layers.items() if stages.of.get(id) == number]
        shown = ", ".join(names) if len(names) <= MOST_NAMES else f"{', '.join(names[:MOST_NAMES])}, ..."
        work = f"{100 * share:.0f} % of the work, about {format_bytes(held)} per worker"
        yield f"stage {number + 1}: {plural(len(names), 'layer')}, {work}{f': {shown}' if names else ''}"


def _lines(project: Project, result: CheckResult, problems: Sequence[Problem]) -> Iterator[Line]:
    """Yield the table of a project, and its problems."""
    memory = memory_of(project, result.analysis, result.facts)
    rows = [("layer", "type", "output", "parameters", "FLOPs", "activations")]
    for row in table_rows(project.network, result.analysis):
        facts = row.shapes
        numbers = ("?", "?", "?", "?")
        if facts:
            kept = activation_bytes(facts, memory.batch)
            kept_words = "?" if kept is None else format_bytes(kept)
            numbers = (facts.output.short(), f"{facts.parameters:,}", f"{facts.flops:,}", kept_words)
        rows.append((row.path, row.label, *numbers))
    sums = (f"{result.analysis.parameters:,}", f"{result.analysis.flops:,}", format_bytes(memory.activations))
    rows.append(("total", "", "", *sums))
    yield Table(rows, right=(3, 4, 5))
    yield f"memory: {memory.describe()} with {project.training.solver}, estimated"
    yield from _stage_lines(project, result)
    for problem in problems:
        yield f"{problem.severity}: {describe(problem)}"
    if any(problem.fix is not None and problem.fix.label in (FIT, MAKE) for problem in problems):
        yield "`check PROJECT --fit` sets them in the project."
    if not problems:
        yield "No problems."


def text(request: CheckRequest, result: Check | Checks) -> Iterator[Line]:
    """Yield the results in the format that was asked for."""
    projects = checked_projects(result)
    if request.format == "sarif":
        yield Document(f"{json.dumps(_as_sarif(projects), allow_nan=False)}\n")
    for checked in projects if request.format != "sarif" else ():
        if request.format == "github":
            yield from (_github_line(checked.file, problem) for problem in checked.found)
            continue
        if len(request.project) > 1:
            yield f"{checked.file!s}:"
        if isinstance(checked, Check):
            yield from _lines(checked.project, checked.result, checked.found)
        else:
            yield from (f"{problem.severity}: {problem.message}" for problem in checked.found)
        if len(request.project) > 1:
            yield ""


def counts(result: Check | Checks) -> Counter[str]:
    """Return the number of problems by severity."""
    return Counter(problem.severity for checked in checked_projects(result) for problem in checked.found)


def is_refused(result: Check | Checks) -> bool:
    """Return whether a project has errors, or with `--strict` warnings."""
    return counts(result)["error"] > 0 or (result.strict and counts(result)["warning"] > 0)


def failure(result: Check | Checks) -> Mapping[str, Any]:
    """Return the error of refused projects."""
    if not is_refused(result):
        return {}
    found = counts(result)
    message = f"{plural(found['error'], 'error')}, {plural(found['warning'], 'warning')}"
    return {"error": {"code": "invalid_project", "message": message}}


OPERATION = Operation(
    name="check",
    effect="reads",
    function=check_projects,
    text=text,
    exit_code=lambda result: EXIT_INPUT if is_refused(result) else EXIT_DONE,
    failure=failure,
    doing="reading",
    json_help="print one JSON object; of several projects, with a list `projects`",
    faces=("command",),
)
