"""`check PROJECT`: problems, sizes, parameters, work and memory, without torch."""

import argparse
from collections.abc import Iterator
from typing import Any

from engine.cli.common import Commands, add_project, add_trust, facts_of, look_at_code, print_json, read_project, table
from engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from engine.core.text import format_bytes
from engine.network.block import Block
from engine.network.memory import activation_bytes
from engine.network.problems import Problem
from engine.network.table import table_rows
from engine.project.check import CheckResult, check, describe, memory_of
from engine.project.pipeline_stages import Stages
from engine.project.project import Project
from engine.project.stage_edits import asked_workers, has_stages, shown_stages, stage_bytes
from engine.project.user_code import measure
from engine.runs.folder import origin

MOST_NAMES = 8
"""So many layers of a stage are named."""


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Show the problems, sizes, parameters, FLOPs and memory of a project. Exits 2 if it has errors."
    what = "show problems, sizes, parameters, FLOPs and memory of a project"
    command = commands.add_parser("check", help=what, description=text)
    add_project(command)
    add_trust(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check a project and print the result. Return 2 if it has an error."""
    project, notices = read_project(arguments.project, arguments.settings)
    known = origin(arguments.project)
    look_at_code(project, known.code_base, known.code, trusted=arguments.trust)
    measure(project.network)
    result = _result(project, arguments)
    problems = [*(Problem("note", "", "", "", notice) for notice in notices), *result.problems]
    if arguments.json:
        print_json(as_json(project, result, problems))
    else:
        _print(project, result, problems)
    return EXIT_INPUT if any(p.severity == "error" for p in problems) else EXIT_DONE


def _result(project: Project, arguments: argparse.Namespace) -> CheckResult:
    try:
        return check(project, facts_of(project, origin(arguments.project).base))
    except UserError as error:  # bad data is one problem among others here
        return check(project, refusal=str(error))


def as_json(project: Project, result: CheckResult, problems: list[Problem]) -> dict[str, Any]:
    """The object that `check --json` prints: a contract. Memory is `engine.network.memory`'s estimate in bytes."""
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


def _print(project: Project, result: CheckResult, problems: list[Problem]) -> None:
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
    print("\n".join(table(rows, right=(3, 4, 5))))
    print(f"memory: {memory.describe()} with {project.training.solver}, estimated")
    for line in _stage_lines(project, result):
        print(line)
    for problem in problems:
        print(f"{problem.severity}: {describe(problem)}")
    if not problems:
        print("No problems.")
