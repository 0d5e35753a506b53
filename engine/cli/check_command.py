"""`check PROJECT`: problems, sizes, parameters, work and memory, without torch."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from netwright.engine.cli.answers import failure, note, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_project, add_trust, facts_of
from netwright.engine.cli.printing import say, say_json
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from netwright.engine.core.text import format_bytes
from netwright.engine.core.version import VERSION
from netwright.engine.network.block import Block
from netwright.engine.network.layer_table import table_rows
from netwright.engine.network.memory import activation_bytes
from netwright.engine.network.problems import Problem
from netwright.engine.operations.projects import look_at_code, read_project
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

FORMATS = ("text", "json", "github", "sarif")
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LOOK = "`netwright-engine data inspect PROJECT` does."
MOST_NAMES = 8
"""So many layers of a stage are named."""


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Show the problems, sizes, parameters, FLOPs and memory of projects. Exits 2 if one has errors, with --strict "
        "also for warnings. GitHub Actions shows the lines of --format github at the files; SARIF is read by code "
        "scanning services."
    )
    command = commands.add_parser("check", description=text)
    add_project(command, nargs="+")
    add_trust(command)
    command.add_argument("--strict", action="store_true", help="exit 2 for warnings, too")
    what = "set inputs and outputs of the network from the data, or make one where there is none, and save the project"
    command.add_argument("--fit", action="store_true", help=what)
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--format", choices=FORMATS, default="text", help="what to print (default: text)")
    what = "print one JSON object; of several projects, with a list `projects`"
    formats.add_argument("--json", dest="format", action="store_const", const="json", help=what)
    command.set_defaults(run=run)


@dataclass(frozen=True)
class Checked:
    """A project file and its problems. `project` and `result` are None if it cannot be read."""

    path: Path
    problems: Sequence[Problem]
    project: Project | None = None
    result: CheckResult | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what `check --json` prints of a project."""
        path = {"path": str(self.path.absolute())}
        if self.project is None or self.result is None:
            return {**path, "problems": [problem.write() for problem in self.problems]}
        return {**path, **as_json(self.project, self.result, self.problems)}


def run(arguments: argparse.Namespace) -> int:
    """Check projects and print the results. Return 2 if one has an error."""
    found = [_checked(path, arguments) for path in arguments.project]
    counts = Counter(problem.severity for checked in found for problem in checked.problems)
    is_refused = counts["error"] > 0 or (arguments.strict and counts["warning"] > 0)
    if arguments.format == "json":
        several = {"projects": [checked.as_json() for checked in found]}
        told = found[0].as_json() if len(found) == 1 else several
        message = f"{plural(counts['error'], 'error')}, {plural(counts['warning'], 'warning')}"
        print_json(arguments, {**told, **(failure("invalid_project", message) if is_refused else {})})
    elif arguments.format == "sarif":
        say_json(_as_sarif(found))
    elif arguments.format == "github":
        for checked in found:
            say(*(_github_line(checked.path, problem) for problem in checked.problems))
    else:
        for checked in found:
            _print_checked(checked, with_name=len(found) > 1)
    return EXIT_INPUT if is_refused else EXIT_DONE


def _local_facts(project: Project, base: Path) -> DatasetInfo | None:
    """Return the dataset info, or None for data that is read over the network, which `check` leaves alone."""
    source = project.data.source_type
    if source is not None and source.is_remote(project.data):
        note([f"The data is read over the network, and was not looked at. {LOOK}"])
        return None
    if source is not None:
        _import_numpy()
    with showing("reading"):
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
        import numpy  # noqa: F401
    finally:
        del os.environ[name]


def _checked(path: Path, arguments: argparse.Namespace) -> Checked:
    """Check a project. Raises `UserError` if it is the only one and cannot be read."""
    try:
        project, notices = read_project(path, arguments.settings)
        known = origin(path)
        look_at_code(project, known.code_base, known.code, trusted=arguments.trust)
        measure(project.network)
    except UserError as error:
        if len(arguments.project) == 1 and arguments.format in ("text", "json"):
            raise
        return Checked(path, [Problem("error", "", "", "", str(error))])
    facts = None
    try:
        facts = _local_facts(project, known.base)
        if arguments.fit:
            project = _fit(path, project, facts)
        result = check(project, facts)
    except UserError as error:  # bad data is one problem among others here
        if arguments.fit:
            raise
        result = check(project, refusal=str(error))
    missing = [weights_problem(project.weights, known.base), teacher_problem(project, facts, known.base)]
    notes = [Problem("note", "", "", "", notice) for notice in notices]
    return Checked(path, [*filter(None, missing), *notes, *result.problems], project, result)


def _fit(path: Path, project: Project, facts: DatasetInfo | None) -> Project:
    """Save the project with inputs and outputs of the network set from the data, and return it. Raises `UserError`."""
    if facts is None:
        raise UserError(
            f"{path}: the network cannot be fitted, since there is no data to fit it to.",
            hint="Name the data with --set data.path=PATH.",
        )
    made = None if project.network.layers else starter(facts)
    after = made.edit(project) if made else fitted(project, facts)
    is_changed = after.network != project.network
    save(after, path)
    note([f"{path}: the network was {'fitted to the data' if is_changed else 'not changed: it fits the data'}."])
    return after


def _print_checked(checked: Checked, *, with_name: bool) -> None:
    if with_name:
        say(f"{checked.path!s}:")
    if checked.project is None or checked.result is None:
        say(*(f"{problem.severity}: {problem.message}" for problem in checked.problems))
    else:
        _print(checked.project, checked.result, checked.problems)
    if with_name:
        say("")


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


def _as_sarif(found: Sequence[Checked]) -> dict[str, Any]:
    """Return the problems in SARIF 2.1.0, the format of OASIS for results of static analysis."""
    results = [
        {
            "ruleId": problem.field or "network",
            "level": problem.severity,
            "message": {"text": describe(problem)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(checked.path.as_posix())},
                        "region": {"startLine": _line_of(checked.path, problem)},
                    },
                    **({"logicalLocations": [{"fullyQualifiedName": problem.name}]} if problem.name else {}),
                }
            ],
        }
        for checked in found
        for problem in checked.problems
    ]
    rules = [{"id": rule} for rule in dict.fromkeys(str(result["ruleId"]) for result in results)]
    driver = {"name": "netwright", "version": VERSION, "rules": rules}
    return {"version": "2.1.0", "$schema": SARIF_SCHEMA, "runs": [{"tool": {"driver": driver}, "results": results}]}


def as_json(project: Project, result: CheckResult, problems: Sequence[Problem]) -> dict[str, Any]:
    """The object that `check --json` prints: a contract. Memory is `netwright.engine.network.memory`'s estimate in
    bytes."""
    layers = []
    stages = _stages(project, result)
    memory = memory_of(project, result.analysis, result.facts)
    for row in table_rows(project.network, result.analysis):
        facts = row.shapes
        sizes = [s if isinstance(s, int) else str(s) for s in facts.output.sizes] if facts else None
        layers.append(
            {
                "name": row.path,
                "type": row.layer.type_key,
                "output": sizes,
                "parameters": facts.parameters if facts else None,
                "flops": facts.flops if facts else None,
                "activation_bytes": activation_bytes(facts, memory.batch) if facts else None,
                **({"repeat": row.layer.type.repeat} if isinstance(row.layer.type, Block) else {}),
                **(
                    {"stage": stages.of[row.layer.id] + 1}
                    if stages and row.layer.id in stages.of and row.path == row.layer.name
                    else {}
                ),
            }
        )
    return {
        "problems": [problem.write() for problem in problems],
        "layers": layers,
        "parameters": result.analysis.parameters,
        "flops": result.analysis.flops,
        "memory_bytes": memory.total,
    }


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


def _print(project: Project, result: CheckResult, problems: Sequence[Problem]) -> None:
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
    print_table(rows, right=(3, 4, 5))
    say(f"memory: {memory.describe()} with {project.training.solver}, estimated")
    for line in _stage_lines(project, result):
        say(line)
    for problem in problems:
        say(f"{problem.severity}: {describe(problem)}")
    if any(problem.fix is not None and problem.fix.label in (FIT, MAKE) for problem in problems):
        say("`check PROJECT --fit` sets them in the project.")
    if not problems:
        say("No problems.")
