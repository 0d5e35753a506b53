"""`resume RUN`: go on with a run that was paused, stopped, failed, got lost, or finished and is to have more epochs."""

import argparse
from pathlib import Path

from engine.commands.common import Commands, add_trust, print_json
from engine.commands.control import ask
from engine.commands.progress import ProgressPrinter
from engine.custom import trust
from engine.errors import EXIT_DONE, RunError
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
    command.add_argument("--json", action="store_true", help="print one JSON object at the end")
    command.add_argument("--detach", action="store_true", help="train in the background and print the run's folder")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Go on, say how it went, return the exit code."""
    folder = open_run(arguments.folder)
    folder = type(folder)(folder.path.absolute())
    settings = [*arguments.settings]
    if arguments.environment:
        settings.append(f"environment.target={arguments.environment}")
    if arguments.workers is not None:
        settings.append(f"environment.num_workers={arguments.workers}")
    state = folder.state()
    if state == "paused":
        if settings:
            raise RunError("A paused run goes on as it is. Stop it first, then resume it with other options.")
        return ask(folder, "resume")
    if arguments.trust:
        trust.grant(folder.path)  # the run has copies of its code
    from engine.training.starting.resuming import prepare_resume

    prepare_resume(folder, settings)
    if arguments.detach:
        from engine.training.starting.detached import start_detached

        start_detached(folder)
        print_json({"run_dir": str(folder.path)}) if arguments.json else print(folder.path)
        return EXIT_DONE
    from engine.commands.train import summary
    from engine.training.supervision.coordinator import coordinate, exit_code

    result = coordinate(folder, on_event=ProgressPrinter())
    print_json(result) if arguments.json else summary(result)
    return exit_code(folder)
