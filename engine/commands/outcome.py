"""What `train` and `resume` share: how the end of a run is told, what is required of it, and leaving before it."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from engine.commands.common import facts_of, print_json
from engine.commands.junit import write_junit
from engine.commands.progress import ProgressPrinter
from engine.commands.require import Requirement, parse, refuse_impossible
from engine.errors import EXIT_DONE, EXIT_REQUIREMENT, UserError, plural
from engine.project.project import Project
from engine.project.targets import in_order
from engine.runs.folder import RunFolder
from engine.runs.origin import origin
from engine.runs.summary import format_metric
from engine.words import format_duration


def add_outcome(command: argparse.ArgumentParser) -> None:
    """The options about the end of a run."""
    command.add_argument(
        "--require",
        dest="requirements",
        action="append",
        default=[],
        metavar="CONDITION",
        help='exit 4 if this does not hold in the end, such as "accuracy>=0.95"; may be given several times',
    )
    command.add_argument("--json", action="store_true", help="print one JSON object at the end")
    command.add_argument("--junit", type=Path, metavar="FILE", help="write the outcome as JUnit XML")
    command.add_argument("--detach", action="store_true", help="train in the background and print the run's folder")


def requirements_of(arguments: argparse.Namespace) -> list[Requirement]:
    """What is required. Raises `UserError` for what cannot be understood, or could not be done at the end."""
    requirements = [parse(text) for text in arguments.requirements]
    if arguments.detach and (requirements or arguments.junit is not None):
        raise UserError("--require and --junit need the end of the run, and --detach leaves before it. Leave one out.")
    if arguments.junit is not None:
        path = arguments.junit.resolve()
        if not path.parent.is_dir():
            raise UserError(f"--junit {arguments.junit}: there is no folder {path.parent}.")
        if path.is_dir():
            raise UserError(f"--junit {arguments.junit}: this is a folder. Name a file in it, such as outcome.xml.")
    return requirements


def refuse_never(requirements: list[Requirement], project: Project, path: Path) -> None:
    """Raise `UserError` for a condition on something that a run of this project, in this file, will never give."""
    facts = facts_of(project, origin(path).base) if requirements else None
    if facts is not None:
        refuse_impossible(requirements, facts, project.training.metrics_for(in_order(project.network, facts).task))


def leave(folder: RunFolder, arguments: argparse.Namespace) -> int:
    """Train in the background."""
    from engine.training.starting.detached import start_detached

    start_detached(folder)
    print_json({"run_dir": str(folder.path)}) if arguments.json else print(folder.path)
    return EXIT_DONE


def see_through(
    folder: RunFolder, printer: ProgressPrinter, requirements: list[Requirement], arguments: argparse.Namespace
) -> int:
    """Train here, say how it went, return the exit code. The file comes last: what it is told of is on screen if it
    cannot be written."""
    from engine.training.supervision.coordinator import coordinate, exit_code

    result = coordinate(folder, on_event=printer)
    missed = [r for r in requirements if not r.holds(result)] if result["state"] == "finished" else []
    print_json(result) if arguments.json else _summary(result)
    for requirement in missed:
        printer.say(requirement.verdict(result))
    if arguments.junit is not None:
        write_junit(arguments.junit, result, requirements)
    return EXIT_REQUIREMENT if missed else exit_code(folder)


def _summary(result: dict[str, Any]) -> None:
    """The outcome, for a person."""
    print(f"{result['state']}{': ' + result['reason'] if result['reason'] else ''}")
    done = f"{plural(result['epochs'], 'epoch')}, {plural(result['iterations'], 'iteration')}"
    print(f"{done} in {format_duration(result['seconds'])}, {result['samples_per_second']:,.0f} samples/s")
    for part in ("validation", "test"):
        if result.get(part):
            print(f"{part}: " + ", ".join(format_metric(name, float(v)) for name, v in result[part].items()))
    if result.get("held_back_by"):
        print(result["held_back_by"])
    print(f"run: {result['run_dir']}")
    if offer := result.get("offer"):
        print(f"to go on with less memory: netwright-engine resume {shlex.quote(result['run_dir'])} --set {offer}")
