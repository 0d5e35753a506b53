"""The coordinator of a run: starts the workers, keeps its log and its state, and writes the end whatever happens.

It never imports torch for itself, only to fork workers that have it already. It must be called from a thread that lives
as long as the run, the main one best: workers die with the thread that started them.
"""

import contextlib
import importlib
import os
import secrets
import selectors
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from engine.environments import launch
from engine.environments.threads import calm_threads
from engine.errors import EXIT_RUN_FAILED, RunError, UserError
from engine.files import write_json
from engine.runs.events import Ended, Event, Started, State, StateChanged, read_event
from engine.runs.folder import EventLog, RunFolder, update_info
from engine.training import endings
from engine.training.channel import Lines
from engine.training.endings import Ending, Tally
from engine.training.preparing import lock_of
from engine.training.vigil import SILENCE_S, Vigil

POLL_S = 0.1
GRACE_S = 10.0
"""How long a failed run waits for workers that have not said yet how it goes with them: the first one may be saving."""
DEATH_GRACE_S = 1.5
"""So long where a worker has died: that is the cause, whatever the others say of it."""
LEAVING_S = 10.0
"""How long a complete run waits for its workers to end."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OnEvent = Callable[[Event], None]


def _tell_nobody(event: Event) -> None:
    """Nobody listens but who reads the log."""


def _never() -> bool:
    """Nobody asks for a stop but by signal or by a file in the run's folder."""
    return False


def coordinate(
    folder: RunFolder,
    *,
    on_event: OnEvent = _tell_nobody,
    stop: Callable[[], bool] = _never,
    strategy: str = "",
    patience_s: float = SILENCE_S,
) -> dict[str, Any]:
    """Run a prepared run to its end and return what `result.json` holds.

    `on_event` gets every event after it was written. `stop` is asked a few times a second. Ctrl-C and SIGTERM are stop
    requests, a second one ends the workers at once. `strategy` and `patience_s`, how long a worker may be silent, are
    for tests. Raises `RunError` if another engine is at
    work on the run; anything else that goes wrong is an end of the run, with `exit_code` in `run.json`.
    """
    lock = lock_of(folder)
    try:
        return _Coordinator(folder, lock, on_event, stop, strategy, patience_s).run()
    finally:
        os.close(lock)


def exit_code(folder: RunFolder) -> int:
    """The exit code that belongs to the end of a run: failed, if a full disk took not even that."""
    return int(folder.read_info().get("exit_code", EXIT_RUN_FAILED))


class _Coordinator:
    """One run from the first to the last line of its log."""

    def __init__(
        self,
        folder: RunFolder,
        lock: int,
        on_event: OnEvent = _tell_nobody,
        stop: Callable[[], bool] = _never,
        strategy: str = "",
        patience_s: float = SILENCE_S,
    ) -> None:
        self._folder = folder
        self._lock = lock
        self._on_event = on_event
        self._stop = stop
        self._strategy = strategy
        self._info = folder.read_info()
        self._log = EventLog(folder)
        self._tally = Tally()
        self._vigil = Vigil(patience_s)
        self._workers: list[launch.Worker] = []
        self._lines: dict[int, Lines] = {}
        self._outcome: dict[str, Any] | None = None
        self._errors: list[tuple[int, dict[str, Any]]] = []
        self._silent: list[int] = []
        self._told: set[int] = set()
        self._is_running = False
        self._done_at = 0.0
        self._stop_requests = 0
        self._signals = 0
        self._kills_before = endings.out_of_memory_kills()

    def run(self) -> dict[str, Any]:
        """Start, watch, end."""
        try:
            with self._listening_to_signals():
                ending = self._try()
                return self._end(ending)
        finally:
            self._log.close()

    def _try(self) -> Ending:
        meeting = self._folder.path / f".meeting-{secrets.token_hex(4)}"
        try:
            meeting.mkdir(0o700)
            return self._train(meeting / "store")
        except RunError as error:
            return endings.failed(str(error))
        except OSError as error:
            return endings.failed(f"The run folder {self._folder.path} cannot be written: {error.strerror or error}.")
        except Exception:  # the run's log is to know a defect of ours as well
            detail = traceback.format_exc()
            with contextlib.suppress(OSError), open(self._folder.log, "a", encoding="utf-8") as log:
                log.write(detail)
            last = detail.strip().rpartition("\n")[2]
            return endings.failed(f"A defect of Netwright: {last}", detail=detail, defect=True)
        finally:
            for worker in self._workers:
                worker.kill()
                worker.close()
            shutil.rmtree(meeting, ignore_errors=True)

    def _train(self, meeting: Path) -> Ending:
        update_info(self._folder, coordinator=os.getpid())  # another process may have prepared the run
        self._change_state("starting")
        self._start_workers(meeting)
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.reports, selectors.EVENT_READ, worker.rank)
            return self._watch(selector)

    def _start_workers(self, meeting: Path) -> None:
        work = preload()
        for rank in range(len(self._info["places"])):
            private = [self._lock]
            private += [d for worker in self._workers for d in (worker.reports, worker.requests)]
            worker = launch.start(
                self._folder.path, rank, meeting, work, private=private, log=self._folder.log, strategy=self._strategy
            )
            self._workers.append(worker)
            self._lines[rank] = Lines(worker.reports)
        update_info(self._folder, workers=[worker.pid for worker in self._workers])

    def _watch(self, selector: selectors.BaseSelector) -> Ending:
        """Until all workers have ended, or the run has to."""
        failed_at: float | None = None
        while True:
            self._vigil.turn()
            for key, _ in selector.select(POLL_S):
                self._hear(key.data)
                if not self._lines[key.data].is_open:
                    selector.unregister(key.fileobj)
            if (ending := self._obey()) is not None:
                return ending
            if self._outcome is not None:
                # All took part in its last sum, so nothing that happens to the others now can do it harm.
                all_ended = all(worker.poll() is not None for worker in self._workers) and not selector.get_map()
                if all_ended or time.monotonic() - self._done_at > LEAVING_S:
                    return endings.well(self._outcome)
                continue
            self._look_for_ends()
            if (ending := self._find_hung()) is not None:
                return ending
            if failed_at is None and (self._errors or self._silent):
                failed_at = time.monotonic()
            if failed_at is not None and (self._all_are_known or time.monotonic() - failed_at > self._grace_s):
                return self._cause()

    def _hear(self, rank: int) -> None:
        """Take what a worker reports."""
        for message in self._lines[rank].read():
            self._vigil.heard(rank)
            if "event" in message:
                self._write(read_event(message["event"]))
            elif "error" in message:
                self._told.add(rank)
                self._errors.append((rank, message["error"]))
            elif "done" in message:
                self._told.add(rank)
                if rank == 0:
                    self._outcome = message["done"]
                    self._done_at = time.monotonic()

    @property
    def _all_are_known(self) -> bool:
        """Whether of every worker it is known how it ends."""
        return len(self._told.union(self._silent)) == len(self._workers)

    @property
    def _grace_s(self) -> float:
        return DEATH_GRACE_S if self._silent else GRACE_S

    def _look_for_ends(self) -> None:
        """Find workers that have ended without a word."""
        for worker in self._workers:
            known = worker.rank in self._told or worker.rank in self._silent
            if not known and worker.poll() is not None and not self._lines[worker.rank].is_open:
                self._silent.append(worker.rank)

    def _find_hung(self) -> Ending | None:
        """The end that a worker brings about which is there but gives no sign of life."""
        for rank in self._vigil.silent():
            worker = self._workers[rank]
            if rank not in self._told and worker.poll() is None:
                return endings.hung(rank, worker.pid, self._folder.log)
        return None

    def _obey(self) -> Ending | None:
        """Pass requests on. One before training began ends the run here, a second signal wherever it is."""
        requests = self._folder.take_requests()
        if self._stop() and not self._stop_requests:
            requests.append("stop")
        if self._signals > 1 and self._outcome is None:
            return endings.stopped("ended at once on a second request; what was saved before is kept")
        if self._signals and not self._stop_requests:
            requests.append("stop")
        if "stop" in requests:
            self._stop_requests += 1
        if self._stop_requests and not self._is_running:
            return endings.stopped("stopped on request, before training began")
        for what in requests:
            self._workers[0].ask(what)
        if requests and self._outcome is None:
            if "stop" in requests:
                self._change_state("stopping", "stop was requested")
            else:
                self._change_state("stopping", "stop after this epoch was requested")
        return None

    def _cause(self) -> Ending:
        """Why it failed: a worker that died, else an error of a worker's own, else a lost connection."""
        ran_out = endings.out_of_memory_kills() > self._kills_before
        for rank in self._silent:
            code = self._workers[rank].poll()
            if code is not None:
                return endings.death(rank, code, self._folder.log, memory_ran_out=ran_out)
        rank, error = next(((r, e) for r, e in self._errors if not e["is_lost_peer"]), self._errors[0])
        return endings.failed(
            error["cause"],
            worker=rank,
            detail=error["detail"],
            defect=error["defect"],
            exit_code=error["exit_code"],
        )

    def _write(self, event: Event) -> None:
        """Append to the log, and tell. The first worker's announcement is the moment when the run is running."""
        event = self._log.append(event)
        self._tally.add(event)
        with contextlib.suppress(OSError):  # a terminal that was closed ends no run
            self._on_event(event)
        if isinstance(event, Started):
            self._is_running = True
            self._change_state("running")

    def _change_state(self, state: State, reason: str = "") -> None:
        update_info(self._folder, state=state)
        self._write(StateChanged(state=state, reason=reason))

    def _end(self, ending: Ending) -> dict[str, Any]:
        """Write the end: the result, the last events, and then the state, so that who sees an end finds all of it.

        On a full disk as much of it as can be.
        """
        self._clean_up()
        result = endings.result(self._folder, self._info, ending, self._tally)
        kept = ending.outcome["kept"] if ending.outcome else "best" if self._folder.best.is_dir() else "last"
        with contextlib.suppress(OSError):
            write_json(self._folder.result, result)
        last = Ended(state=ending.state, reason=ending.reason, result=endings.short_result(result))
        for event in (ending.failure, last):
            if event is not None:
                with contextlib.suppress(OSError):
                    self._write(event)
        with contextlib.suppress(OSError, UserError):
            update_info(self._folder, state=ending.state, exit_code=ending.exit_code, kept=kept)
        return result

    def _clean_up(self) -> None:
        """Remove what a worker that was killed left half written."""
        for left in self._folder.path.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    @contextlib.contextmanager
    def _listening_to_signals(self) -> Iterator[None]:
        """Count stop signals instead of dying of them. Only the main thread may."""

        def count(number: int, frame: FrameType | None) -> None:
            self._signals += 1

        before = {}
        with contextlib.suppress(ValueError):
            heeded = [number for number in STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
            before = {number: signal.signal(number, count) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def preload() -> Callable[[launch.Seat], int]:
    """What a forked worker runs, with all it imports, so that a run starts at once when this was called before.

    Where workers are not forked they import it themselves.
    """
    if sys.platform != "linux":
        return lambda seat: launch.EXIT_BROKEN
    calm_threads()
    importlib.import_module("torch._dynamo")  # torch's optimizers import it at their first step
    work: Callable[[launch.Seat], int] = importlib.import_module("engine.training.worker").work
    return work
