"""`stop`, `pause`, `checkpoint`, `validate`, `set` and `watch RUN`: ask a run for something and wait for it."""

import argparse
import time
from functools import partial
from pathlib import Path

from engine.cli.common import Commands
from engine.core.errors import EXIT_DONE, RunError, UserError
from engine.runs.events import ENDS, Refused, Requested
from engine.runs.folder import RunFolder, open_run
from engine.runs.log import EventReader


def register_stop(commands: Commands) -> None:
    """Add the command."""
    text = "Ask a run to stop and wait until it has. What was learned is kept."
    command = commands.add_parser("stop", help="stop a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("--after-epoch", action="store_true", help="let it complete the epoch first")
    command.add_argument("--wait", type=float, default=30.0, metavar="SECONDS", help="how long to wait (30)")
    command.set_defaults(run=run_stop)


def run_stop(arguments: argparse.Namespace) -> int:
    """Put the request into the run's folder and watch its state."""
    folder = open_run(arguments.folder)
    state = folder.state()
    if state in ENDS:
        raise UserError(f"The run in {folder.path} has already ended: {state}.")
    folder.request("stop_after_epoch" if arguments.after_epoch else "stop")
    deadline = time.monotonic() + max(0.0, arguments.wait)
    while (state := folder.state()) not in ENDS:
        if time.monotonic() >= deadline:
            raise RunError(
                f"The run in {folder.path} has not stopped within {arguments.wait:g} s; it is {state}. "
                "The request stays; `follow` shows when it is done."
            )
        time.sleep(0.05)
    print(state)
    return EXIT_DONE


WAIT_S = 60.0
WITHOUT_WORKERS = ("pause", "resume", "checkpoint")
"""What a run does at once that has given back its memory."""


def register(commands: Commands) -> None:
    """Add the commands."""
    register_stop(commands)
    for name, what, text in (
        ("pause", "let a run wait", "Let a run wait where it is, without using the processor; `resume` lets it go on."),
        ("checkpoint", "save all of a run now", "Save the complete state of a run now, to go on from."),
        ("validate", "judge a run's network now", "Judge the network of a run on the validation split now."),
    ):
        command = commands.add_parser(name, help=what, description=text)
        command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
        if name == "pause":
            what = "give back all memory: the run waits as a checkpoint on disk, and resume starts its workers again"
            command.add_argument("--release", action="store_true", help=what)
        command.set_defaults(run=partial(_run, name))
    text = "Give a run another learn rate or number of epochs while it trains."
    command = commands.add_parser("set", help="another rate or number of epochs", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    rates = command.add_mutually_exclusive_group()
    rates.add_argument("--rate", type=float, metavar="R", help="the learn rate now; the schedule goes on from there")
    rates.add_argument("--rate-factor", type=float, metavar="F", help="multiply the learn rate, and all that follow")
    command.add_argument("--epochs", type=int, metavar="N", help="how many epochs the run is to have")
    command.set_defaults(run=_set)
    text = "Watch something in a run while it trains, or no more. What it learns stays the same."
    command = commands.add_parser("watch", help="watch gradients or layers of a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    for name, what in (("gradient-norm", "the norm of all gradients"), ("layers", "how each layer does")):
        command.add_argument(f"--{name}", choices=("on", "off"), help=f"{what}, from now on or no more")
    command.set_defaults(run=_watch)


def _run(what: str, arguments: argparse.Namespace) -> int:
    folder = open_run(arguments.folder)
    return ask(folder, what, release=1) if getattr(arguments, "release", False) else ask(folder, what)


def _set(arguments: argparse.Namespace) -> int:
    given = {"rate": arguments.rate, "rate_factor": arguments.rate_factor, "epochs": arguments.epochs}
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        raise UserError("Say what to set: --rate, --rate-factor or --epochs.")
    for name, value in chosen.items():
        if not 0 < value < 1e9:
            raise UserError(f"--{name.replace('_', '-')} {value:g}: expected a number above 0, and below 1e9.")
    return ask(open_run(arguments.folder), "set", **chosen)


def _watch(arguments: argparse.Namespace) -> int:
    given = {"gradient_norm": arguments.gradient_norm, "layers": arguments.layers}
    chosen = {name: float(value == "on") for name, value in given.items() if value is not None}
    if not chosen:
        raise UserError("Say what to watch: --gradient-norm on or --layers on; off to watch it no more.")
    return ask(open_run(arguments.folder), "watch", **chosen)


def ask(folder: RunFolder, what: str, **given: float) -> int:
    """Put the request into the run's folder, wait until it is done, and say so. Raises `UserError`, `RunError`."""
    if (state := folder.state()) in ENDS:
        raise UserError(
            f"The run in {folder.path} has already ended: {state}. `netwright-engine resume` goes on with it."
        )
    reader = EventReader(folder)
    while reader.read():
        pass  # only what comes from now on answers
    folder.request(what, **given)
    answers = {f"watch_{name}" if what == "watch" else name.removesuffix("_factor") for name in given} or {what}
    if what not in WITHOUT_WORKERS and folder.has_released():
        print(f"{what}: done when the run goes on; it is paused and has given back its memory")
        return EXIT_DONE
    deadline = time.monotonic() + WAIT_S
    while answers:
        for event in reader.read():
            if isinstance(event, Requested) and event.what in answers:
                answers.discard(event.what)
                print(f"{event.what}{_value(event)}: done at iteration {event.iteration:,}")
            elif isinstance(event, Refused) and event.what in answers:
                raise RunError(f"{event.what} was refused at iteration {event.iteration:,}: {event.reason}.")
        if answers and folder.state() in ENDS:
            raise RunError(f"The run in {folder.path} ended before it could {what}.")
        if time.monotonic() >= deadline:
            raise RunError(
                f"The run in {folder.path} has not answered within {WAIT_S:g} s; it is {folder.state()}. "
                "The request stays; `follow` shows when it is done."
            )
        if answers:
            time.sleep(0.05)
    return EXIT_DONE


def _value(event: Requested) -> str:
    """What was asked for, where that has one."""
    if event.what in ("rate", "epochs"):
        return f" {event.value:g}"
    return (" on" if event.value else " off") if event.what.startswith("watch_") else ""
