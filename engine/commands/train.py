"""`train PROJECT`: train in the foreground (Ctrl-C is a stop request), or detached."""

import argparse
from pathlib import Path

from engine.commands.common import Commands, add_project, add_trust, look_at_code, read_project
from engine.commands.outcome import add_outcome, leave, refuse_never, requirements_of, see_through
from engine.commands.progress import ProgressPrinter
from engine.errors import UserError
from engine.project.environment import TARGETS
from engine.project.project import Project
from engine.runs.origin import origin


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
    add_outcome(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train, say how it went, return the exit code."""
    requirements = requirements_of(arguments)
    project, notices = read_project(arguments.project, settings_of(arguments))
    refuse_workers(arguments.workers, project)
    refuse_never(requirements, project, arguments.project)
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
        return leave(folder, arguments)
    return see_through(folder, printer, requirements, arguments)


def settings_of(arguments: argparse.Namespace) -> list[str]:
    """What `--set` says, and the options that are short for it."""
    settings = [*arguments.settings]
    if arguments.environment:
        settings.append(f"environment.target={arguments.environment}")
    if arguments.workers is not None:
        settings.append(f"environment.num_workers={arguments.workers}")
    return settings


def refuse_workers(num_workers: int | None, project: Project) -> None:
    """Raise `UserError` for a number of workers where it means nothing."""
    target = project.environment.target
    if num_workers is not None and target != "multi-cpu":
        raise UserError(
            f"--workers {num_workers}: the number of workers goes with multi-cpu, "
            f"and the execution environment is {target}. Add --environment multi-cpu."
        )
