"""Command `queue add | list | run | start | move | remove`: manage and run the queue of runs."""

import argparse
import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

from netwright.engine.cli.answers import add_json, failure, note, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_project, add_trust
from netwright.engine.cli.follow_command import RunPosition
from netwright.engine.cli.printing import is_terminal, say
from netwright.engine.cli.terminal import LINE_EVERY_S, Display, print_table
from netwright.engine.core.errors import EXIT_DONE, EXIT_RUN_FAILED, EXIT_STOPPED, UserError, plural
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project.environment import TARGETS
from netwright.engine.runs.folder import RunFolder, origin
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.machine_shares import EXPERIMENT, holdings
from netwright.engine.runs.queue import Entry, Queue, start_entry, start_work
from netwright.engine.runs.queued_answers import read_queued_result
from netwright.engine.runs.queued_answers import stop as stop_entry
from netwright.engine.runs.summary import read_summary, result_text

if TYPE_CHECKING:
    from rich.text import Text

NO_ERROR: Mapping[str, Any] = {}
WORDS = {"waiting": "waits", "starting": "starts", "running": "trains"}


def register(commands: Commands) -> None:
    """Add the command `queue`."""
    text = (
        "Queue runs and train them one after the other. The queue is kept in your state folder and shared with the "
        "window; each entry is trained once, even if a process is killed meanwhile."
    )
    command = commands.add_parser("queue", description=text)
    command.set_defaults(run=partial(_help, command))
    subcommands = command.add_subparsers(dest="way", metavar="WHAT")
    _register_add(subcommands.add_parser("add", description="Add a project at the end of the queue."))
    listed = subcommands.add_parser("list", description="Show the queue.")
    add_json(listed)
    listed.set_defaults(run=_list)
    _register_run(subcommands.add_parser("run", description="Train what waits, in its order."))
    for name, function, text in (
        ("start", _start, "train one now, in the background, even while others train"),
        ("move", _move, "move one up or down"),
        ("show", _show, "show the state of one, and the result of an operation that has finished"),
        ("stop", _stop, "stop one that trains or computes"),
        ("remove", _remove, "remove some; their runs stay"),
    ):
        subcommand = subcommands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        nargs = "*" if name == "remove" else None
        subcommand.add_argument("id", type=int, nargs=nargs, metavar="NUMBER", help="as `queue list` shows it")
        if name == "move":
            subcommand.add_argument("--to", type=int, default=1, metavar="PLACE", help="1: the next one (default)")
        if name == "remove":
            subcommand.add_argument("--done", action="store_true", help="all that have ended")
        add_json(subcommand)
        subcommand.set_defaults(run=function)


def _help(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Print the list of subcommands."""
    command.print_help()
    return EXIT_DONE


def _register_add(command: argparse.ArgumentParser) -> None:
    add_project(command)
    add_trust(command)
    add_allow_host(command)
    command.add_argument("--environment", choices=TARGETS, help="where to train, instead of what the project says")
    command.add_argument("--workers", type=int, metavar="N", help="the number of workers, with multi-cpu")
    command.add_argument("--after", type=Path, metavar="RUN", help="start after the run in this folder has ended")
    add_json(command)
    command.set_defaults(run=_add)


def _register_run(command: argparse.ArgumentParser) -> None:
    description = "the number of runs at the same time; default: one per GPU that can be used, at least one"
    command.add_argument("--at-once", type=int, default=0, metavar="N", help=description)
    command.add_argument("--detach", action="store_true", help="run in the background")
    add_json(command)
    command.set_defaults(run=_run)


def _add(arguments: argparse.Namespace) -> int:
    from netwright.engine.cli.train_command import refuse_workers, settings_of

    project, _ = read_project(arguments.project, settings_of(arguments))
    refuse_workers(arguments.workers, project)
    source = origin(arguments.project)
    look_at_code(project, source.code_base, source.code, trusted=arguments.trust)
    entry = Queue().add_project(project, arguments.project, arguments.after, is_trusted=arguments.trust)
    print_json(arguments, entry.as_json()) if arguments.json else say(entry.id)
    return EXIT_DONE


def _list(arguments: argparse.Namespace) -> int:
    queue = Queue()
    _note_damage(queue)
    entries = queue.entries()
    is_worked = queue.is_worked()
    if arguments.json:
        print_json(arguments, {"is_worked": is_worked, "entries": [entry.as_json() for entry in entries]})
        return EXIT_DONE
    if not entries:
        say("The queue is empty. `netwright-engine queue add PROJECT` puts a project in.")
        return EXIT_DONE
    rows = [("", "project", "state", "run"), *((str(e.id), e.title, _state(e), e.run_dir) for e in entries)]
    print_table(rows, right=(0,))
    for share in holdings():
        if share.kind == EXPERIMENT and any(entry.is_waiting for entry in entries):
            say(f"It shares the machine with {share.text}.")
    if any(entry.is_waiting for entry in entries) and not is_worked:
        say("Nobody trains what waits: `netwright-engine queue run` does.")
    return EXIT_DONE


def _note_damage(queue: Queue) -> None:
    note(f"{file} is damaged: its entry is neither shown nor trained" for file in queue.damaged())


def _state(entry: Entry) -> str:
    description = WORDS.get(entry.state, entry.state)
    if entry.operation and entry.state == "running":
        description = "computes"
    beside = entry.reason if entry.is_over else entry.progress
    return f"{description}: {beside}" if beside else description


def _run(arguments: argparse.Namespace) -> int:
    """Train the waiting entries. Ctrl-C requests the active runs to stop; their learned weights are kept."""
    if arguments.at_once < 0:
        raise UserError(f"--at-once {arguments.at_once}: expected 1 or more runs, or 0 for one a GPU.")
    queue = Queue()
    _note_damage(queue)
    if arguments.detach:
        start_work(queue, str(arguments.at_once))
        _tell(arguments, queue.entries())
        return EXIT_DONE
    from netwright.engine.launch.queue_runner import Worker

    with QueueProgress(sys.stderr if arguments.json else sys.stdout) as progress:
        watching = () if arguments.json else (progress.tell, progress.watch)
        worker = Worker(queue, arguments.at_once, *watching)
        try:
            ended = worker.run()
        except KeyboardInterrupt:
            progress.say("stopping ...")
            worker.stop()
            stopped = worker.run()
            _tell(arguments, stopped, failure("stopped", "stopped on request"))
            return EXIT_STOPPED
    failed = [entry for entry in ended if entry.state in ("failed", "lost", "refused")]
    if not failed:
        _tell(arguments, ended)
        return EXIT_DONE
    message = "; ".join(f"{entry.id} {entry.title}: {_state(entry)}" for entry in failed)
    _tell(arguments, ended, failure("run_failed", message))
    return EXIT_RUN_FAILED


def _tell(arguments: argparse.Namespace, entries: Sequence[Entry], error: Mapping[str, Any] = NO_ERROR) -> None:
    """Print entries as JSON, if asked for."""
    if arguments.json:
        print_json(arguments, {"entries": [entry.as_json() for entry in entries], **error})


class QueueProgress:
    """Prints a line per change of an entry. Of the runs that train it shows progress and metrics: on a terminal below
    these lines, else as a line per run every `LINE_EVERY_S` seconds. As a context it removes what is below at the end.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._display = Display(stream) if is_terminal(stream) else None
        self._runs: dict[str, tuple[EventReader, RunPosition]] = {}
        self._next_line = time.monotonic() + LINE_EVERY_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.close()

    def say(self, line: str) -> None:
        """Print a line."""
        if self._display is not None:
            self._display.say(line)
        else:
            say(line, flush=True, to=self._stream)

    def tell(self, entry: Entry) -> None:
        """Print the state of an entry, and at its end what it has reached."""
        reached = ""
        if entry.is_over and entry.run_dir:
            with contextlib.suppress(OSError):
                reached = result_text(read_summary(Path(entry.run_dir)))
        place = f" ({entry.run_dir})" if entry.run_dir else ""
        self.say(f"{entry.id} {entry.title}: {': '.join(filter(None, (_state(entry), reached)))}{place}")

    def watch(self, entries: Sequence[Entry]) -> None:
        """Show how far the runs of these entries have come."""
        now = time.monotonic()
        is_due = self._display is not None or now >= self._next_line
        self._next_line = now + LINE_EVERY_S if is_due else self._next_line
        lines: list[Text | str] = []
        for entry in entries:
            if not entry.run_dir or entry.is_over:
                continue
            folder = RunFolder(Path(entry.run_dir))
            reader, at = self._runs.setdefault(entry.run_dir, (EventReader(folder), RunPosition()))
            for event in reader.read():
                at.take(event)
            if not is_due or not at.position:
                continue
            position = f"{entry.id} {entry.title}  {at.position}"
            if self._display is None:
                self.say("  ".join((position, at.metrics, *at.speed)))
            else:
                lines += self._display.progress_lines(position, at.share, at.speed, at.metrics)
        if self._display is not None:
            self._display.show(*lines)


def _start(arguments: argparse.Namespace) -> int:
    queue = Queue()
    with queue.claimed(arguments.id) as claim:
        if not claim.entry.is_waiting:
            raise UserError(f"Entry {arguments.id} does not wait: it is {claim.entry.state}.")
    start_entry(queue, arguments.id)
    _tell(arguments, queue.entries())
    return EXIT_DONE


def _show(arguments: argparse.Namespace) -> int:
    """Print an entry; of an answer its result, as the command of its operation does."""
    queue = Queue()
    if (entry := queue.entry(arguments.id)) is None:
        raise UserError(
            f"There is no entry {arguments.id} in the queue.", hint="`netwright-engine queue list` shows them."
        )
    answer = read_queued_result(queue, entry.id) if entry.operation and entry.state == "finished" else None
    note(answer.notices if answer is not None else ())
    if arguments.json:
        print_json(arguments, {"entry": entry.as_json(), "result": answer.result if answer is not None else None})
    else:
        say(*(answer.text.splitlines() if answer is not None else (f"{entry.title}: {_state(entry)}",)))
    return EXIT_DONE


def _stop(arguments: argparse.Namespace) -> int:
    queue = Queue()
    stop_entry(queue, arguments.id)
    _tell(arguments, queue.entries())
    return EXIT_DONE


def _move(arguments: argparse.Namespace) -> int:
    queue = Queue()
    queue.move(arguments.id, arguments.to)
    _tell(arguments, queue.entries())
    return EXIT_DONE


def _remove(arguments: argparse.Namespace) -> int:
    queue = Queue()
    if not (arguments.id or arguments.done):
        raise UserError("Name the entries to remove by their numbers, or all that have ended with --done.")
    for id in arguments.id:
        queue.remove(id)
    if arguments.done:
        removed = plural(queue.remove_over(), "run")
        if not arguments.json:
            say(f"{removed} removed from the queue")
    _tell(arguments, queue.entries())
    return EXIT_DONE
