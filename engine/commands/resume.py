"""`resume RUN`: go on with a run that was paused, stopped, failed, got lost, or finished and is to have more epochs."""

import argparse
from pathlib import Path

from engine.commands.common import Commands, add_trust, read_project
from engine.commands.control import ask
from engine.commands.outcome import add_outcome, leave, refuse_never, requirements_of, see_through
from engine.commands.progress import ProgressPrinter
from engine.commands.train import settings_of
from engine.custom import trust
from engine.errors import RunError
from engine.project.environment import TARGETS
from engine.runs.folder import open_run


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Go on with a run in its own folder, from its last whole checkpoint, as if nothing had happened; one that is "
        "paused goes on where it is. Exit codes are those of train."
    )
    command = commands.add_parser("resume", help="go on with a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    what = "another value for an option, such as training.max_epochs=9; may be given several times"
    command.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="SECTION.OPTION=VALUE", help=what
    )
    command.add_argument("--environment", choices=TARGETS, help="where to train from now on")
    command.add_argument("--workers", type=int, metavar="N", help="how many workers; goes with multi-cpu")
    add_trust(command)
    add_outcome(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Go on, say how it went, return the exit code."""
    folder = open_run(arguments.folder)
    folder = type(folder)(folder.path.absolute())
    settings = settings_of(arguments)
    requirements = requirements_of(arguments)
    if folder.state() == "paused":
        if settings:
            raise RunError("A paused run goes on as it is. Stop it first, then resume it with other options.")
        if requirements or arguments.junit is not None:
            raise RunError(
                "A paused run goes on in the process that it has; --require and --junit go with one that starts here."
            )
        return ask(folder, "resume")
    if requirements:
        refuse_never(requirements, read_project(folder.project, settings)[0], folder.project)
    if arguments.trust:
        trust.grant(folder.path)  # the run has copies of its code
    from engine.training.starting.resuming import prepare_resume

    prepare_resume(folder, settings)
    if arguments.detach:
        return leave(folder, arguments)
    return see_through(folder, ProgressPrinter(), requirements, arguments)
