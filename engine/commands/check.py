"""`check PROJECT`: problems, sizes, parameters, work and memory, without torch."""

import argparse
from typing import Any

from engine.commands.common import (
    Commands,
    add_project,
    add_trust,
    facts_of,
    look_at_code,
    print_json,
    read_project,
    table,
)
from engine.errors import EXIT_DONE, EXIT_INPUT, UserError
from engine.layers.block import Block
from engine.network.memory import activation_bytes, bytes_in_words
from engine.network.problems import Problem
from engine.network.table import table_rows
from engine.project.check import Report, check, describe, memory_of
from engine.project.code import measure
from engine.project.project import Project
from engine.runs.origin import origin


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Show the problems, sizes, parameters, work and memory of a project. Exits 2 if it has errors."
    what = "problems, sizes, parameters, FLOPs, memory; needs no torch"
    command = commands.add_parser("check", help=what, description=text)
    add_project(command)
    add_trust(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; 2 if there is an error in it."""
    project, notices = read_project(arguments.project, arguments.settings)
    known = origin(arguments.project)
    look_at_code(project, known.code_base, known.code, trusted=arguments.trust)
    measure(project.network)
    report = _report(project, arguments)
    problems = [*(Problem("note", "", "", "", notice) for notice in notices), *report.problems]
    if arguments.json:
        print_json(as_json(project, report, problems))
    else:
        _print(project, report, problems)
    return EXIT_INPUT if any(p.severity == "error" for p in problems) else EXIT_DONE


def _report(project: Project, arguments: argparse.Namespace) -> Report:
    try:
        return check(project, facts_of(project, origin(arguments.project).base))
    except UserError as error:  # bad data is one problem among others here
        return check(project, refusal=str(error))


def as_json(project: Project, report: Report, problems: list[Problem]) -> dict[str, Any]:
    """The object that `check --json` prints: a contract. Memory is `engine.network.memory`'s estimate in bytes."""
    layers = []
    memory = memory_of(project, report.analysis, report.facts)
    for row in table_rows(project.network, report.analysis):
        facts = row.facts
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
            }
        )
    return {
        "problems": [problem.write() for problem in problems],
        "layers": layers,
        "parameters": report.analysis.parameters,
        "flops": report.analysis.flops,
        "memory_bytes": memory.total,
    }


def _print(project: Project, report: Report, problems: list[Problem]) -> None:
    memory = memory_of(project, report.analysis, report.facts)
    rows = [("layer", "type", "output", "parameters", "FLOPs", "activations")]
    for row in table_rows(project.network, report.analysis):
        facts = row.facts
        numbers = ("?", "?", "?", "?")
        if facts:
            kept = activation_bytes(facts, memory.batch)
            kept_words = "?" if kept is None else bytes_in_words(kept)
            numbers = (facts.output.short(), f"{facts.parameters:,}", f"{facts.flops:,}", kept_words)
        rows.append((row.path, row.label, *numbers))
    sums = (f"{report.analysis.parameters:,}", f"{report.analysis.flops:,}", bytes_in_words(memory.activations))
    rows.append(("total", "", "", *sums))
    print("\n".join(table(rows, right=(3, 4, 5))))
    print(f"memory: {memory.in_words()} with {project.training.solver}, estimated")
    for problem in problems:
        print(f"{problem.severity}: {describe(problem)}")
    if not problems:
        print("No problems.")
