"""`serve`: answer the window's requests on standard input and output, several at once.

The server itself reads no data and computes nothing, so that it answers at once: all but the lightest requests go to
child processes (`netwright.engine.cli.readers`), which it forks with torch imported, where the system can fork. It has
no threads, for that reason. So many of them work at a time (`Limits`); other requests wait in their order, trainings
before others.

A line `{"id", "do", "with"}` is answered by lines `{"id", "progress": {"done", "total", "unit"}}` and one line with
`result` or `error` (`{"message", "defect"}`). A line of another shape (`netwright.engine.cli.serve_job`) is
refused. `{"do": "cancel", "with": {"id"}}` ends a request: its error has `cancelled`, and the process that worked on it
is killed. With `only_waiting` it ends only if no process works on it.
"""

import argparse
import contextlib
import importlib
import time
from typing import Any

from netwright.engine.cli.commands import Commands
from netwright.engine.cli.limits import Limits
from netwright.engine.cli.readers import WATCH_S, Reader, start
from netwright.engine.cli.request_handlers import QUICK_S
from netwright.engine.cli.serve_job import Cancellation, Job, read_job
from netwright.engine.core.dataclass_json import from_json
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.platform import collect_ended, collect_orphans
from netwright.engine.core.process import MessageReader, MessageWriter, keep_output, readable
from netwright.engine.hardware.threads import calm_threads

REQUEST_LIMIT_BYTES = 128 * 2**20
IDLE_S = 0.2
CANCELLED = "Cancelled."
ENDED = "The process has ended."
DEFAULT_LIMITS = Limits()
ENDS_AT_ONCE = True
WARM = (
    "numpy.ma",
    "netwright.engine.data.loading.load",
    "netwright.engine.launch.prepare",
    "netwright.engine.runs.history",
)
"""Modules that requests use, imported once nothing is asked; telling classes apart asks for the first."""


def serve() -> int:
    """Serve until the input closes. Returns the exit code."""
    output = keep_output()
    calm_threads()
    import torch  # noqa: F401  # the point of a warm process: it is here before it is asked for

    return Server(0, output).run()


def _warm_up() -> None:
    """Import in advance what a run takes, and what else comes in on the way to its first step."""
    from netwright.engine.launch.local_launcher import preload
    from netwright.engine.network.catalog import catalog

    preload()
    catalog()
    for module in WARM:
        importlib.import_module(module)


class Server:
    """The requests that were read from `source` and not answered on `sink` yet, and the processes that answer them."""

    def __init__(
        self, source: int, sink: MessageWriter, limits: Limits = DEFAULT_LIMITS, *, warms_up: bool = True
    ) -> None:
        self._requests = MessageReader(source, limit_bytes=REQUEST_LIMIT_BYTES)
        self._send, self._limits = sink.send, limits
        self._is_warm = not warms_up
        self._readers: list[Reader] = []
        self._waiting: list[Job] = []
        """Requests that no process works on yet, in the order in which they are taken up."""
        self._inventory: dict[str, Any] | None = None

    def run(self) -> int:
        """Serve until the source is closed or nobody reads the sink. Returns the exit code."""
        collect_orphans()  # of coordinators whose parent ends: so that they are collected when they end
        try:
            self._send({"ready": True})
            while True:
                ready = self._wait()
                for reader in [reader for reader in self._readers if reader.pipe in ready]:
                    self._read(reader)
                if self._requests.descriptor in ready:
                    for line in filter(bytes.strip, self._requests.read_lines()):
                        self._take(read_job(line))
                        self._proceed()
                    if not self._requests.is_open:
                        return EXIT_DONE
                self._look_after()
                self._proceed()
        except BrokenPipeError:  # a window that has gone is no reason to fail
            return EXIT_DONE
        finally:
            for reader in self._readers:
                reader.kill()
                reader.ended()

    def _wait(self) -> list[int]:
        """Return what can be read, after the time to the next look at the processes at most."""
        patience = WATCH_S if any(reader.current for reader in self._readers) else None
        if self._readers and patience is None:
            patience = max(1.0, min(self._limits.idle_s, 60.0))
        watched = [self._requests.descriptor, *(reader.pipe for reader in self._readers)]
        if not self._is_warm:
            if ready := readable(watched, IDLE_S):
                return ready
            _warm_up()
            self._is_warm = True
            self._look_after()
        return readable(watched, patience)

    def _fail(self, id: Any, message: str, **more: object) -> None:
        self._send({"id": id, "error": {"message": message, "defect": False, **more}})

    # ---- requests ----

    def _take(self, job: Job) -> None:
        if job.fault:
            self._fail(job.id, job.fault, defect=True)
        elif job.do == "cancel":
            is_known = self._cancel(from_json(Cancellation, job.values))
            self._send({"id": job.id, "result": {"cancelled": is_known}})
        elif job.do == "alive":
            self._tell_alive(job)
        elif job.do == "inventory" and self._inventory is not None:
            self._send({"id": job.id, "result": self._inventory})
        else:
            self._enqueue(job)

    def _tell_alive(self, job: Job) -> None:
        try:
            self._send({"id": job.id, "result": job.operation.run(job.request)})
        except (UserError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            self._fail(job.id, str(error))

    def _enqueue(self, job: Job) -> None:
        """Let a request wait for a process: behind those before it, but a training before other requests."""
        place = len(self._waiting)
        if job.operation.starts_run:
            others = (number for number, other in enumerate(self._waiting) if not other.operation.starts_run)
            place = next(others, place)
        self._waiting.insert(place, job)

    def _proceed(self) -> None:
        """Give what waits to processes, as many as may work at the same time."""
        num_working = sum(reader.current is not None for reader in self._readers)
        for job in list(self._waiting) if num_working < self._limits.most_working else ():
            if num_working >= self._limits.most_working:
                return
            reader = self._reader_of(job)
            if reader is not None and reader.current is not None:
                continue  # it has read this data, and is asked next
            self._waiting = [other for other in self._waiting if other is not job]
            if job.operation.starts_run:
                job = job.with_inventory(self._inventory)
            (reader or self._start(job)).ask(job)
            num_working += 1

    def _reader_of(self, job: Job) -> Reader | None:
        """Return the process that has read this data set, or loaded this network."""
        alike = (reader for reader in self._readers if reader.key == job.key and not reader.stopped_because)
        return next(alike, None) if job.key else None

    def _start(self, job: Job) -> Reader:
        """Start a process for a request."""
        reader = start(job, self._limits, _warm_up if job.is_about_data and not self._is_warm else None)
        self._readers.append(reader)
        return reader

    def _cancel(self, cancellation: Cancellation) -> bool:
        """Cancel a request; with `only_waiting` unless a process works on it, which would lose what it has read."""
        id = cancellation.id
        if any(job.id == id for job in self._waiting):
            self._waiting = [job for job in self._waiting if job.id != id]
            self._fail(id, CANCELLED, cancelled=True)
            return True
        for reader in list(self._readers):
            if reader.current is not None and reader.current.id == id:
                if cancellation.only_waiting or reader.current.operation.starts_run:
                    return False  # the run may have begun; a request to it stops it
                reader.kill(CANCELLED)
                self._give_up(reader)
                return True
        return False

    # ---- processes ----

    def _read(self, reader: Reader) -> None:
        messages = reader.read()
        if messages is None:
            self._on_ended(reader)
            return
        for message in messages:
            is_answer = "progress" not in message
            if is_answer and reader.current is not None:
                if reader.current.do == "inventory" and "result" in message:
                    self._inventory = message["result"]
                reader.finish()
            self._send({name: value for name, value in message.items() if name != "over_limit"})
            if "over_limit" in message:
                reader.stopped_because = ENDED
                self._give_up(reader)
        if reader.current is None and not reader.stopped_because and not reader.key:
            reader.ask_no_more()  # it was for this request alone

    def _on_ended(self, reader: Reader) -> None:
        """Say why the process ended, if it was asked something."""
        self._readers.remove(reader)
        reader.stopped_because = reader.ended() or ENDED
        self._give_up(reader)

    def _give_up(self, reader: Reader) -> None:
        """Refuse what a process that was stopped was asked."""
        if reader.current is not None:
            more = {"cancelled": True} if reader.stopped_because == CANCELLED else {}
            self._fail(reader.current.id, reader.stopped_because, **more)
        reader.current = None

    def _look_after(self) -> None:
        """Watch the limits of the processes that work, and end those that are not needed."""
        now = time.monotonic()
        for reader in [reader for reader in self._readers if reader.watch(self._limits)]:
            self._give_up(reader)
        idle = sorted((r for r in self._readers if r.current is None and r.key), key=lambda r: -r.active_at)
        for place, reader in enumerate(idle):
            is_poor = self._is_warm and reader.is_cold and reader.spent_s < QUICK_S
            if is_poor or place >= self._limits.kept or now - reader.active_at > self._limits.idle_s:
                reader.kill(ENDED)
        with contextlib.suppress(ChildProcessError):
            while self._collect():
                pass

    def _collect(self) -> bool:
        """Collect one process that has ended and is not a reader: a coordinator whose parent has ended."""
        return collect_ended({reader.pid for reader in self._readers})


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Answer requests as JSON lines on standard input and output. The window starts this by itself."
    command = commands.add_parser("serve", description=text)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input closes."""
    return serve()


def main(arguments: list[str]) -> int:
    """Serve as a process of its own; return the exit code."""
    return serve()
