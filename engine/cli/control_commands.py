"""`stop`, `pause`, `checkpoint`, `validate`, `set` and `watch RUN`: send a request to a run and wait for its answer.

All but `stop` follow from the table in `netwright.engine.runs.requests`.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.follow_command import tell_silence
from netwright.engine.cli.printing import say
from netwright.engine.core.errors import EXIT_DONE, RunError, UserError
from netwright.engine.runs.checkpoint_files import way_on
from netwright.engine.runs.events import ENDS, Refused, Requested
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.followed import open_followed
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.requests import (
    BY_NAME,
    REQUESTS,
    Flag,
    Number,
    RequestType,
    Switch,
    answers_to,
    request_text,
)

WAIT_S = 60.0
"""How long a run may take to answer."""
POLL_S = 0.05


def register(commands: Commands) -> None:
    """Add the commands."""
    text = "Ask a run to stop and wait until it has. What was learned is kept."
    command = commands.add_parser("stop", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("--after-epoch", action="store_true", help="complete the epoch first")
    command.add_argument("--wait", type=float, default=30.0, metavar="SECONDS", help="how long to wait (default: 30)")
    add_json(command)
    command.set_defaults(run=run_stop)
    for row in REQUESTS:
        if row.command:
            _register_row(commands, row)


def _register_row(commands: Commands, row: RequestType) -> None:
    """Add the command of a row of the table; values that answer with the same event exclude each other."""
    command = commands.add_parser(row.name, description=row.command)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    groups = {what: command.add_mutually_exclusive_group() for what in dict.fromkeys(f.what for f in row.fields)}
    for field in row.fields:
        group = groups[field.what]
        match field:
            case Flag():
                group.add_argument(field.option, action="store_true", help=field.help)
            case Switch():
                group.add_argument(field.option, choices=("on", "off"), help=field.help)
            case Number():
                kind = int if field.is_whole else float
                group.add_argument(field.option, type=kind, metavar=field.metavar, help=field.help)
    add_json(command)
    command.set_defaults(run=partial(_run, row))


def run_stop(arguments: argparse.Namespace) -> int:
    """Send the request and wait until the run has ended."""
    folder = open_followed(arguments.folder)
    state = folder.state()
    if state in ENDS:
        raise UserError(f"The run in {folder.path} has already ended: {state}.")
    folder.request("stop_after_epoch" if arguments.after_epoch else "stop")
    deadline = time.monotonic() + max(0.0, arguments.wait)
    silence = ""
    while (state := folder.state()) not in ENDS:
        silence = tell_silence(folder, silence, _say)
        if time.monotonic() >= deadline:
            raise RunError(
                f"The run in {folder.path} has not stopped within {arguments.wait:g} s; it is {_state_of(folder)}.",
                code="no_answer",
                hint="The request stays; `follow` shows when it is done.",
            )
        time.sleep(POLL_S)
    if arguments.json:
        print_json(arguments, {"run_dir": str(folder.path.absolute()), "state": state})
    else:
        say(state)
    return EXIT_DONE


def _say(text: str) -> None:
    say(text, to=sys.stderr, flush=True)


def _state_of(folder: RunFolder) -> str:
    """Return the state of a run, and that it does not respond."""
    reason = folder.why_silent()
    return f"{folder.state()}, and not responding: {reason}" if reason else folder.state()


def _run(row: RequestType, arguments: argparse.Namespace) -> int:
    """Send the request with the values of the options."""
    values: dict[str, float] = {}
    for field in row.fields:
        value = getattr(arguments, field.name)
        if isinstance(field, Flag):
            if value:
                values[field.name] = 1
        elif value is not None:
            if isinstance(field, Number):
                field.refuse_outside(value)
            values[field.name] = float(value == "on") if isinstance(field, Switch) else value
    if row.has_values and not values:
        *options, last = (field.option for field in row.fields)
        raise UserError(f"Name what to {row.name}: {', '.join(options)} or {last}.")
    return send(arguments, open_followed(arguments.folder), row.name, **values)


def send(arguments: argparse.Namespace, folder: RunFolder, name: str, **values: float) -> int:
    """Send a request to a run, wait until it is done, and say so. Raises `UserError` and `RunError`."""
    done = list(_sent(folder, name, values))
    if arguments.json:
        requests = [{"request": event.what, "value": event.value, "iteration": event.iteration} for event in done]
        told = {"run_dir": str(folder.path.absolute()), "state": folder.state(), "requests": requests}
        print_json(arguments, told)
    elif not done and folder.has_released():
        say(f"{name}: done when the run goes on; it is paused and has released its memory")
    for event in () if arguments.json else done:
        say(f"{request_text(event)}: done at iteration {event.iteration:,}")
    return EXIT_DONE


def _sent(folder: RunFolder, name: str, values: dict[str, float]) -> Iterator[Requested]:
    """Send a request and yield what the run has done; nothing where it waits without workers."""
    if (state := folder.state()) in ENDS:
        raise UserError(f"The run in {folder.path} has already ended: {state}.", hint=way_on(folder))
    reader = EventReader(folder)
    while reader.read():
        pass  # only what comes from now on answers
    folder.request(name, **values)
    answers = answers_to(name, values)
    if BY_NAME[name].needs_workers and folder.has_released():
        return
    deadline, silence = time.monotonic() + WAIT_S, ""
    while answers:
        silence = tell_silence(folder, silence, _say)
        for event in reader.read():
            if isinstance(event, Requested) and event.what in answers:
                answers.discard(event.what)
                yield event
            elif isinstance(event, Refused) and event.what in answers:
                raise RunError(f"{event.what} was refused at iteration {event.iteration:,}: {event.reason}.")
        if answers and folder.state() in ENDS:
            raise RunError(f"The run in {folder.path} ended before it could {name}.")
        if time.monotonic() >= deadline:
            raise RunError(
                f"The run in {folder.path} has not answered within {WAIT_S:g} s; it is {_state_of(folder)}.",
                code="no_answer",
                hint="The request stays; `follow` shows when it is done.",
            )
        if answers:
            time.sleep(POLL_S)
