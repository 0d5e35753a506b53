"""`train PROJECT`: train in the foreground (Ctrl-C is a stop request), or detached."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from engine.commands.common import Commands, add_project, add_trust, facts_of, look_at_code, print_json, read_project
from engine.commands.junit import write_junit
from engine.commands.progress import ProgressPrinter
from engine.commands.require import Requirement, parse, refuse_impossible
from engine.errors import EXIT_DONE, EXIT_REQUIREMENT, UserError, plural
from engine.project.environment import TARGETS
from engine.project.project import Project
from engine.project.targets import in_order
from engine.runs.folder import RunFolder
from engine.runs.origin import origin
from engine.runs.words import duration, metric_value


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Train the network of a project in a run folder of its own. Progress goes to standard error. "
        "Ctrl-C asks the run to stop; what was learned is kept."
    )
    command = commands.add_parser("train", help="train a network", description=text)
    add_project(command)
    add_trust(command)
    command.add_argument("--environment", choices=TARGETS, help="where to train, instead of what the project says")
    command.add_argument("--workers", type=int, metavar="N", help="how many workers; goes with multi-cpu")
    where = "folder of the run: absent or empty; default: runs/<time>_<name> beside the project"
    command.add_argument("--run-dir", type=Path, metavar="DIR", help=where)
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
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train, say how it went, return the exit code."""
    requirements = [parse(text) for text in arguments.requirements]
    _refuse_pointless(arguments)
    project, notices = read_project(arguments.project, settings_of(arguments))
    refuse_workers(arguments.workers, project)
    if requirements:
        _refuse_impossible(requirements, project, arguments.project)
    known = origin(arguments.project)
    look_at_code(project, known.code_base, known.code, trusted=arguments.trust)
    from engine.training.starting.preparing import prepare

    folder = prepare(project, arguments.project.resolve(), arguments.run_dir)
    printer = ProgressPrinter()
    for notice in notices:
        printer.say(f"note: {notice}")
    for warning in folder.read_info()["warnings"]:
        printer.say(f"warning: {warning}")
    if arguments.detach:
        return _detach(folder, arguments.json)
    return _in_foreground(folder, printer, requirements, arguments)


def settings_of(arguments: argparse.Namespace) -> list[str]:
    """What `--set` says, and the options that are short for it."""
    settings = [*arguments.settings]
    if arguments.environment:
        settings.append(f"environment.target={arguments.environment}")
    if arguments.workers is not None:
        settings.append(f"environment.num_workers={arguments.workers}")
    return settings


def _refuse_pointless(arguments: argparse.Namespace) -> None:
    """Raise `UserError` for what could not be done at the end of the run."""
    if arguments.detach and (arguments.requirements or arguments.junit is not None):
        raise UserError("--require and --junit need the end of the run, and --detach leaves before it. Leave one out.")
    if arguments.junit is not None and not arguments.junit.resolve().parent.is_dir():
        raise UserError(f"--junit {arguments.junit}: there is no folder {arguments.junit.resolve().parent}.")


def refuse_workers(num_workers: int | None, project: Project) -> None:
    """Raise `UserError` for a number of workers where it means nothing."""
    target = project.environment.target
    if num_workers is not None and target != "multi-cpu":
        raise UserError(
            f"--workers {num_workers}: the number of workers goes with multi-cpu, "
            f"and the execution environment is {target}. Add --environment multi-cpu."
        )


def _refuse_impossible(requirements: list[Requirement], project: Project, path: Path) -> None:
    facts = facts_of(project, origin(path).base)
    if facts is not None:
        refuse_impossible(requirements, facts, project.training.metrics_for(in_order(project.network, facts).task))


def _detach(folder: RunFolder, as_json: bool) -> int:
    from engine.training.starting.detached import start_detached

    start_detached(folder)
    if as_json:
        print_json({"run_dir": str(folder.path)})
    else:
        print(folder.path)
    return EXIT_DONE


def _in_foreground(
    folder: RunFolder, printer: ProgressPrinter, requirements: list[Requirement], arguments: argparse.Namespace
) -> int:
    from engine.training.supervision.coordinator import coordinate, exit_code

    result = coordinate(folder, on_event=printer)
    missed = [r for r in requirements if not r.holds(result)] if result["state"] == "finished" else []
    if arguments.junit is not None:
        write_junit(arguments.junit, result, requirements)
    if arguments.json:
        print_json(result)
    else:
        summary(result)
    for requirement in missed:
        printer.say(requirement.verdict(result))
    return EXIT_REQUIREMENT if missed else exit_code(folder)


def summary(result: dict[str, Any]) -> None:
    """The outcome, for a person."""
    print(f"{result['state']}{': ' + result['reason'] if result['reason'] else ''}")
    done = f"{plural(result['epochs'], 'epoch')}, {plural(result['iterations'], 'iteration')}"
    print(f"{done} in {duration(result['seconds'])}, {result['samples_per_second']:,.0f} samples/s")
    for part in ("validation", "test"):
        if result.get(part):
            print(f"{part}: " + ", ".join(metric_value(name, float(v)) for name, v in result[part].items()))
    if result.get("held_back_by"):
        print(result["held_back_by"])
    print(f"run: {result['run_dir']}")
    if offer := result.get("offer"):
        print(f"to go on with less memory: netwright-engine resume {shlex.quote(result['run_dir'])} --set {offer}")
