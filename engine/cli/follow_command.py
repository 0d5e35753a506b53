"""Command `follow RUN`, and the printer of the progress of a run in a terminal."""

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self, TextIO

from netwright.engine.cli.answers import failure, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import is_terminal, say
from netwright.engine.cli.terminal import LINE_EVERY_S, Display
from netwright.engine.core import progress
from netwright.engine.core.errors import EXIT_DONE, EXIT_RUN_FAILED, EXIT_STOPPED, RunError, UserError, plural
from netwright.engine.core.platform import command_line
from netwright.engine.core.platform_files import has_no_reader
from netwright.engine.core.text import format_duration, iso_time
from netwright.engine.runs.checkpoint_files import way_on
from netwright.engine.runs.events import (
    ENDS,
    Best,
    Ended,
    EpochEnded,
    Event,
    Failed,
    Message,
    Points,
    Preparing,
    Progress,
    Refused,
    Requested,
    Resumed,
    SampleSkipped,
    Started,
    StateChanged,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.followed import open_followed
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.requests import done_text
from netwright.engine.runs.summary import achieved_text, format_metric


class RunPosition:
    """How far a run has come, from its events, in texts of a progress line."""

    def __init__(self) -> None:
        self._started: Started | None = None
        self._latest: Progress | None = None
        self._metrics: dict[str, str] = {}

    def take(self, event: Event) -> None:
        """Note what an event says."""
        match event:
            case Started():
                self._started = event
            case Requested(what="epochs") if self._started is not None:
                steps = self._started.steps_per_epoch
                self._started = replace(self._started, epochs=int(event.value), iterations=int(event.value) * steps)
            case Progress():
                self._latest = event
            case Points() if event.split != "test":
                metrics = metrics_text(event)
                self._metrics[event.split] = metrics if event.split == "training" else f"{event.split}: {metrics}"

    @property
    def share(self) -> float:
        """Share of the iterations that are done, 0 to 1."""
        done, total = self._latest.iteration if self._latest else 0, self._started.iterations if self._started else 0
        return done / total if total else 0.0

    @property
    def position(self) -> str:
        """Epoch and iteration, such as `epoch 2/9  1,500/3,000`; empty before the first progress."""
        if self._latest is None:
            return ""
        total = self._started.iterations if self._started else 0
        epochs = self._started.epochs if self._started else 0
        return f"epoch {self._latest.epoch}/{epochs}  {self._latest.iteration:,}/{total:,}"

    @property
    def speed(self) -> tuple[str, ...]:
        """Samples and FLOPs per second, and time left."""
        if self._latest is None:
            return ()
        left = format_duration(self._latest.remaining_s)
        achieved = [text] if (text := achieved_text(self._latest)) else []
        return f"{self._latest.samples_per_second:,.0f} samples/s", *achieved, f"{left} left"

    @property
    def metrics(self) -> str:
        """Newest losses and metrics of training and validation."""
        return "  ".join(self._metrics.values())


def metrics_text(points: Points) -> str:
    """Return the newest value of each curve."""
    return ", ".join(format_metric(name, values[-1]) for name, values in points.values.items() if values)


class ProgressPrinter:
    """Prints the events of a run: a progress bar on a terminal, else a line every `LINE_EVERY_S` seconds.

    As a context it removes the bar at the end.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._display = Display(self._stream) if not self._stream.closed and is_terminal(self._stream) else None
        self._at = RunPosition()
        self._next_line = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._display is not None:
            self._display.close()

    def wait(self, text: str) -> None:
        """Show what is waited for, on a terminal."""
        if self._display is not None:
            self._display.show(text)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Context in which the progress of reading data is shown."""
        is_live = self._display is not None
        every_s, after_s = (progress.TOLD_S, 0.0) if is_live else (LINE_EVERY_S, LINE_EVERY_S)
        with progress.listening(progress.Throttle(self._prepared, every_s, after_s)):
            yield

    def _prepared(self, done: int, total: int, unit: str) -> None:
        text = f"reads the data: {progress.in_words(done, total, unit)}"
        self._display.show(text) if self._display is not None else self.say(text)

    def __call__(self, event: Event) -> None:
        """Print an event."""
        self._at.take(event)
        match event:
            case Started():
                samples = ", ".join(f"{count:,} {part}" for part, count in event.samples.items() if count)
                for sentence in (event.hardware, event.sentence, event.arithmetic):
                    if sentence:
                        self.say(sentence)
                self.say(
                    f"{event.parameters:,} parameters; samples: {samples}; "
                    f"{plural(event.epochs, 'epoch')}, {plural(event.iterations, 'iteration')}"
                )
            case Points(split="test"):
                self.say(f"test: {metrics_text(event)}")
            case Preparing():
                if self._display is not None or self._is_due():
                    self._prepared(event.done, event.total, event.unit)
            case Progress():
                self._progress()
            case Best() | EpochEnded() | Points():
                pass
            case Message():
                self.say(*f"{event.severity}: {event.text}".split("\n"))
            case SampleSkipped():
                self.say(f"warning: skipped, because it cannot be read: {event.sample}: {event.reason}")
            case Failed():
                self.say(*f"failed: {event.cause}".split("\n"))
            case Resumed():
                self.say(f"continues after iteration {event.iteration:,}: {event.explanation}")
            case Requested(what="epochs" | "rate" | "watch_gradient_norm" | "watch_layers" | "release"):
                self._requested(event)
            case Refused():
                self.say(f"refused: {event.what}: {event.reason}")
            case StateChanged(state="paused"):
                self.say("paused")
            case StateChanged(state="stopping"):
                self.say("stopping ...")
            case Ended():
                self.close()

    def _requested(self, event: Requested) -> None:
        self.say(f"at iteration {event.iteration:,}: {done_text(event)}, as requested")

    def _progress(self) -> None:
        if self._display is None and not self._is_due():
            return
        at = self._at
        if self._display is not None:
            self._display.show_progress(at.position, at.share, at.speed, at.metrics)
        else:
            self.say("  ".join((at.position, at.metrics, *at.speed)))

    def _is_due(self) -> bool:
        """Return whether a line of progress is due."""
        now = time.monotonic()
        if now < self._next_line:
            return False
        self._next_line = now + LINE_EVERY_S
        return True

    def say(self, *lines: str) -> None:
        """Print lines, above the progress bar if it is shown. Errors are ignored, so that a closed terminal does not
        end the training."""
        if self._display is not None:
            self._display.say(*lines)
            return
        with contextlib.suppress(OSError, ValueError):
            say(*lines, to=self._stream, flush=True)


def tell_silence(folder: RunFolder, before: str, say: Callable[[str], None]) -> str:
    """Say that the coordinator of a run does not respond, once, and that it responds again. Returns the reason."""
    try:
        reason = folder.why_silent()
    except UserError:
        reason = ""
    if reason and not before:
        say(f"not responding: {reason}")
    elif before and not reason and folder.state() not in ENDS:
        say("the run responds again")
    return reason


POLL_S = 0.1
LOST = "lost: the engine of this run is gone without having ended it."


def register(commands: Commands) -> None:
    """Add the command `follow`."""
    text = (
        "Show the progress of a run until it ends. Exits 0 if it finished, 3 if it failed, 130 if it was stopped. "
        "Ctrl-C, or closing the output, ends the command and not the run."
    )
    command = commands.add_parser("follow", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    what = "print one JSON object per event, as in events.jsonl, and one with the state at the end"
    command.add_argument("--json", action="store_true", help=what)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print events until the run has ended, its coordinator is gone, or nobody reads the output. Returns the exit
    code."""
    folder = open_followed(arguments.folder)
    with ProgressPrinter(sys.stderr if arguments.json else sys.stdout) as printer:
        return _follow(folder, printer, arguments)


def _follow(folder: RunFolder, printer: ProgressPrinter, arguments: argparse.Namespace) -> int:
    reader = EventReader(folder)
    state = silence = code = reason = ""
    while not has_no_reader(sys.stdout):
        silence = tell_silence(folder, silence, printer.say)
        ended_before = folder.state() in ENDS  # queried before reading, so that the last events are read afterwards
        events = reader.read()
        for event in events:
            if arguments.json:
                print_json(arguments, {"event": {**event.write(), "time": iso_time(event.time)}})
                sys.stdout.flush()
            else:
                printer(event)
            code = event.code if isinstance(event, Failed) else code
            reason = event.reason if isinstance(event, Ended) else reason
            state = event.state if isinstance(event, Ended) else ""  # the log of a resumed run continues after `Ended`
        if ended_before and not events:
            break
        if not events:
            time.sleep(POLL_S)
    else:
        return EXIT_DONE
    state = state or folder.state()
    printer.close()
    command = f"netwright-engine resume {command_line(str(arguments.folder))}"
    hint = way_on(folder, command) if state != "finished" else ""
    if arguments.json:
        codes = {"lost": "lost", "failed": code or RunError.default_code}
        error = failure(codes.get(state, "stopped"), LOST if state == "lost" else reason or state, hint)
        told = {"run_dir": str(folder.path.absolute()), "state": state, **({} if state == "finished" else error)}
        print_json(arguments, told)
    else:
        say(f"{LOST} {hint}" if state == "lost" else state)
    return {"finished": EXIT_DONE, "stopped": EXIT_STOPPED}.get(state, EXIT_RUN_FAILED)
