"""Coordinator of a run: starts the workers, keeps the log and the state, and records the end of the run in any case.

It never uses torch itself and imports it only to fork workers that have it already. Call it from a thread that lives as
long as the run, preferably the main thread: workers die with the thread that started them.
"""

import contextlib
import os
import platform
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

from netwright.engine.core.errors import EXIT_RUN_FAILED, RunError, UserError, code_of
from netwright.engine.core.files import remove, write_checked_json
from netwright.engine.core.platform import STOP_SIGNALS, boot_id, hold_stop_signals, release_stop_signals
from netwright.engine.launch import outcome
from netwright.engine.launch.channel import SILENCE_S
from netwright.engine.launch.launcher import Launcher, Placer, StartPoint
from netwright.engine.launch.local_launcher import LocalLauncher, preload_for
from netwright.engine.launch.notification import announce
from netwright.engine.launch.offload import OffloadedRun, OffloadHandshake, encode_requests, wait_for_resume
from netwright.engine.launch.outcome import AttemptOutcome, ResultTally
from netwright.engine.launch.prepare import lock_of
from netwright.engine.launch.worker_attempt import WorkerAttempt
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.runs.checkpoint_files import all_checkpoints, newest_whole, put_in_place
from netwright.engine.runs.events import (
    Checkpointed,
    Ended,
    Event,
    Message,
    Requested,
    Resumed,
    SampleSkipped,
    Started,
    State,
    StateChanged,
    end_of_saved,
    standing,
)
from netwright.engine.runs.folder import RunFolder, release_space, reserve_space, restore_lock, update_info
from netwright.engine.runs.log import EventLog, read_all

OnEvent = Callable[[Event], None]
Shrink = Callable[[RunFolder, int, OffloadedRun], None]


def _ignore(event: Event) -> None:
    """Ignore an event: it is in the log."""


def _never() -> bool:
    """Request no stop, other than by a signal or a file in the run's folder."""
    return False


def coordinate(
    folder: RunFolder,
    *,
    on_event: OnEvent = _ignore,
    stop: Callable[[], bool] = _never,
    strategy: str = "",
    patience_s: float = SILENCE_S,
    shrink: Shrink | None = None,
    released: OffloadedRun | None = None,
    placer: Placer | None = None,
) -> dict[str, Any]:
    """Run a prepared run to its end and return what `result.json` holds.

    `on_event` is called with every event after it was written. `stop` is polled a few times per second; True requests
    a stop. Ctrl-C and SIGTERM are stop requests, and a second one ends the workers at once. `strategy` and
    `patience_s`, the longest silence of a worker, are for tests. `shrink` is called when the run waits without
    workers: it replaces this process by a small one, which receives the state of the wait as `released`, or returns.
    `placer` starts the agents of a run on a cluster, where it has begun already or is not left to the profile.
    Raises `RunError` if another engine is at work on the run, or if its log cannot be opened; any other failure is an
    end of the run, with `exit_code` in `run.json`.
    """
    lock = lock_of(folder)
    try:
        try:
            coordinator = _Coordinator(folder, lock, on_event, stop, strategy, patience_s, shrink, released, placer)
        except OSError as error:  # there is no log to record it in
            with contextlib.suppress(OSError, UserError):
                update_info(folder, state="failed", exit_code=EXIT_RUN_FAILED)
            raise RunError(_not_written(folder, error)) from None
        result = coordinator.run()
    finally:
        os.close(lock)
    if not coordinator.is_of_trial:
        announce(folder.log, "run", str(folder.path.absolute()))
    return result


def exit_code(folder: RunFolder) -> int:
    """Return the exit code of a run that has ended; that of a failure if none could be written, as on a full disk."""
    code = folder.read_info().exit_code
    return EXIT_RUN_FAILED if code is None else code


def _gone(folder: RunFolder) -> str:
    return (
        f"The folder of the run, {folder.path}, or the log in it was moved or deleted while it trained, and nothing "
        "more can be saved. Where it lies elsewhere now, resume it there: it goes on from its last checkpoint, if it "
        "has saved one."
    )


def _not_written(folder: RunFolder, error: OSError) -> str:
    return f"The run folder {folder.path} cannot be written: {error.strerror or error}."


@contextlib.contextmanager
def _noting(errors: list[OSError]) -> Iterator[None]:
    """Append an `OSError` raised in this context to `errors` instead of raising it."""
    try:
        yield
    except OSError as error:
        errors.append(error)


class _Coordinator:
    """State machine of one run, from the first line of its log, or from where it resumes, to the last."""

    def __init__(
        self,
        folder: RunFolder,
        lock: int,
        on_event: OnEvent = _ignore,
        stop: Callable[[], bool] = _never,
        strategy: str = "",
        patience_s: float = SILENCE_S,
        shrink: Shrink | None = None,
        released: OffloadedRun | None = None,
        placer: Placer | None = None,
    ) -> None:
        self._folder = folder
        self._lock = lock
        self._on_event = on_event
        self._stop = stop
        self._strategy = strategy
        self._patience_s = patience_s
        self._shrink, self._released, self._placer = shrink, released, placer
        self._info = folder.read_info()
        self._log = EventLog(folder)
        self._tally = ResultTally()
        self._restarts = released.restarts if released else 0
        self._rate_factor, self._lowered_at = 1.0, -2
        self._is_running = False
        self._launcher: Launcher | None = None
        self._offload = OffloadHandshake(folder)
        self._is_leaving = False
        self._stop_requests = 0
        self._signals = 0

    @property
    def is_of_trial(self) -> bool:
        """Whether the run belongs to a trial of an experiment, which tells of its own end."""
        return bool(self._info.trial)

    def run(self) -> dict[str, Any]:
        """Train, record the end of the run, and return the content of `result.json`."""
        try:
            with self._counting_signals():
                with contextlib.suppress(OSError):  # where it is full already, its first event says so
                    reserve_space(self._folder.path)
                return self._end(self._train_safely())
        finally:
            if self._launcher is not None:
                self._launcher.close()
            self._log.close()

    def _train_safely(self) -> AttemptOutcome:
        """Train, and convert any failure into an outcome."""
        try:
            return self._train()
        except UserError as error:
            return outcome.failed(str(error), exit_code=error.exit_code, code=error.code)
        except OSError as error:
            return outcome.failed(_not_written(self._folder, error), code=code_of(error))
        except Exception:  # a defect of Netwright is recorded in the run's log too
            detail = traceback.format_exc()
            with contextlib.suppress(OSError), open(self._folder.log, "a", encoding="utf-8") as log:
                log.write(detail)
            last = detail.strip().rpartition("\n")[2]
            return outcome.failed(f"A defect of Netwright: {last}", detail=detail, defect=True)

    def _train(self) -> AttemptOutcome:
        """Start the workers, and restart them from the last checkpoint while that may help. Return the outcome."""
        # Another process may have prepared the run, and for a resumed one another host.
        update_info(self._folder, coordinator=os.getpid(), host=platform.node(), boot=boot_id())
        if self._released is not None:  # this is the small process
            start = self._wait_offloaded(self._released.iteration)
            launcher = self._make_launcher()
        else:
            resumes = self._log.last > 0 or bool(all_checkpoints(self._folder))  # the log may have been deleted
            self._clean_up()
            self._change_state("starting")
            launcher = self._make_launcher()
            start = self._resume(self._info.resumed or "resumed on request") if resumes else StartPoint()
        while True:
            ending = WorkerAttempt(
                self._folder,
                launcher,
                start,
                self._write,
                self._forward_requests,
                patience_s=self._patience_s,
            ).run()
            if ending.state == "paused":
                start = self._wait_without_workers(ending.reason)
                continue
            if self._is_leaving and ending.failure is not None:
                return outcome.stopped(f"stopped on request, with its last checkpoint ({ending.reason})")
            if not self._may_try_again(ending):
                return outcome.given_up(ending, self._restarts)
            self._clean_up()
            pending = "" if self._is_running else start.pending_requests
            if self._folder.read_info().state == "paused":
                pending = encode_requests([{"do": "pause"}])  # a worker that died cannot ask for it again
            self._restarts += 1
            if ending.remedy == "lower rate":
                self._lower_rate()
            self._is_running, self._offload = False, OffloadHandshake(self._folder)
            self._change_state("starting", "restarting")
            start = replace(self._resume(ending.reason), pending_requests=pending)

    def _make_launcher(self) -> Launcher:
        """Return the launcher of the workers of this run, closed at its end. Raises `UserError`."""
        if self._info.placement.resolved == "parallel":
            self._launcher = self._make_cluster_launcher()
        else:
            self._launcher = LocalLauncher(self._folder, preload_for(self._folder), self._strategy)
        return self._launcher

    def _make_cluster_launcher(self) -> Launcher:
        def say(text: str) -> None:
            self._write(Message(severity="warning", text=text))

        make = cluster_function("cluster_launcher")
        launcher: Launcher = make(self._folder, say, strategy=self._strategy, placer=self._placer)
        return launcher

    def _may_try_again(self, ending: AttemptOutcome) -> bool:
        """Return whether a restart may succeed and is allowed, and no stop was requested."""
        can_help = ending.remedy == "again" or (ending.remedy == "lower rate" and self._info.go_back > 0)
        return can_help and self._restarts < self._info.max_restarts and not self._stop_requests and not self._signals

    def _lower_rate(self) -> None:
        """Lower the learn rate of the next attempt; cumulatively for repeated attempts from the same checkpoint."""
        newest = next((checkpoint.iteration for checkpoint in all_checkpoints(self._folder)), -1)
        before = self._rate_factor if newest == self._lowered_at else 1.0
        self._rate_factor, self._lowered_at = before * self._info.go_back, newest

    def _resume(self, reason: str) -> StartPoint:
        """Choose the checkpoint to resume from, log it, and return the start point; later events are superseded."""
        checkpoint, refused = newest_whole(self._folder)
        for text in refused:
            self._write(Message(severity="warning", text=text))
        iteration = checkpoint.iteration if checkpoint else 0
        before = read_all(self._folder)
        after = end_of_saved(before, iteration) if checkpoint else 0
        resumed = Resumed(
            iteration=iteration,
            after=after,
            reason=outcome.shorten(reason, 1000),
            restarts=self._restarts,
            repeated=max(0, ResultTally.of(standing(before)).iterations - iteration),
        )
        self._tally = ResultTally.of(standing([*before, replace(resumed, n=self._log.last + 1)]))
        self._write(resumed)
        if (best := self._tally.best) is not None:
            self._write(replace(best, n=0))
        at = checkpoint.iteration if checkpoint else -1
        return StartPoint(at, self._rate_factor if at == self._lowered_at else 1.0)

    def _forward_requests(self, attempt: WorkerAttempt) -> AttemptOutcome | None:
        """Forward requests to the workers. Return an outcome if the run ends here.

        It ends at a stop before training began, at a second signal at any time, or when it is offloaded.
        """
        if self._offload.offloaded is not None:
            return outcome.offloaded(self._offload.offloaded.iteration)
        if (refused := self._offload.answer_offer(attempt.send_request)) is not None:
            self._write(refused)
        requests = [] if self._offload.is_leaving else self._take_requests()
        if self._signals > 1 and not attempt.is_complete:
            return outcome.stopped("ended at once on a second request; what was saved before is kept")
        if self._stop_requests and not (self._is_running or self._is_leaving):
            return outcome.stopped("stopped on request, before training began")
        for request in requests:
            attempt.send_request(request)
        asked_for = {request["do"] for request in requests}
        if not attempt.is_complete and "stop" in asked_for:
            self._change_state("stopping", "stop was requested")
        elif not attempt.is_complete and "stop_after_epoch" in asked_for:
            self._change_state("stopping", "stop after this epoch was requested")
        return None

    def _take_requests(self) -> list[dict[str, Any]]:
        """Return the new requests, from files, signals and the `stop` callback, and count the stop requests.

        Raises `RunError` if the run folder is gone, since further training could not be saved.
        """
        if not self._log.is_in_place:
            raise RunError(_gone(self._folder), code="not_found")
        if restore_lock(self._folder, self._lock):
            text = "run.lock was deleted or replaced while the run trained. It is restored; leave it where it is."
            self._write(Message(severity="warning", text=text))
        requests = self._folder.take_requests()
        if (self._signals or self._stop()) and not self._stop_requests:
            requests.append({"do": "stop"})
        self._stop_requests += any(request["do"] == "stop" for request in requests)
        return requests

    def _wait_without_workers(self, reason: str) -> StartPoint:
        """Wait as a paused run without workers; return the start point of the new workers.

        A request to resume starts workers again, and so does a request to stop, so that the run ends as it would have
        with its workers.
        """
        released, self._offload = self._offload.offloaded, OffloadHandshake(self._folder)
        assert released is not None
        self._clean_up()
        self._is_running, self._lowered_at = False, -2  # the checkpoint contains the lowered rate
        update_info(self._folder, released=True, workers=())
        self._append(released)
        self._change_state("paused", reason)
        if self._shrink is not None:
            hold_stop_signals()  # held back until the new program can count them
            if not (self._stop_requests or self._signals):
                self._shrink(self._folder, self._lock, OffloadedRun(released.iteration, self._restarts))
            release_stop_signals()
        return self._wait_offloaded(released.iteration)

    def _wait_offloaded(self, iteration: int) -> StartPoint:
        """Wait without workers until a request to resume or to stop."""
        pending = wait_for_resume(iteration, self._take_requests, self._append)
        self._is_leaving = self._stop_requests > 0
        why = "new workers, to end as asked for" if self._is_leaving else "continued, with new workers"
        self._change_state("stopping" if self._is_leaving else "starting", why)
        update_info(self._folder, released=False)
        return replace(self._resume(why), pending_requests=encode_requests(pending))

    def _write(self, event: Event) -> None:
        """Append an event to the log and pass it to `on_event`. The first worker's `started` makes the run running."""
        if isinstance(event, SampleSkipped) and event.sample in self._tally.skipped:
            return  # another worker has met it, or this one in an earlier attempt
        if not self._offload.handle(event):
            self._append(event)

    def _append(self, event: Event) -> None:
        if isinstance(event, StateChanged) and event.state != self._folder.read_info().state:
            update_info(self._folder, state=event.state)  # the first worker reports when it pauses and resumes
        if isinstance(event, Requested) and event.what in ("rate", "epochs"):
            changes = self._folder.read_info().live_changes
            update_info(self._folder, live_changes={**changes, event.what: event.value})
        event = self._log.append(event)
        self._tally.add(event)
        if isinstance(event, Checkpointed):
            self._keep(event)
        with contextlib.suppress(OSError):  # a closed terminal does not end the run
            self._on_event(event)
        if isinstance(event, Started):
            # A placement trial may have chosen the environment meanwhile.
            placement = replace(self._info.placement, environment=event.environment)
            self._info = replace(self._info, placement=placement)
            self._is_running = True
            if not self._is_leaving:
                self._change_state("running")

    def _keep(self, checkpoint: Checkpointed) -> None:
        """Put a checkpoint in place, after all events reported before it were logged."""
        try:
            put_in_place(self._folder, checkpoint.iteration, self._info.checkpoints_kept)
        except OSError as error:
            text = f"The checkpoint of iteration {checkpoint.iteration:,} cannot be kept: {error.strerror or error}."
            self._write(Message(severity="warning", text=text))

    def _change_state(self, state: State, reason: str = "") -> None:
        self._write(StateChanged(state=state, reason=reason))

    def _end(self, ending: AttemptOutcome) -> dict[str, Any]:
        """Write the result, the last events, and then the state, so that a reader of the final state finds all of it.

        On a full disk as much as possible is written, and the reason in the result says so. If the folder is gone, only
        its log is written, which is still open: the run is `lost` there, and can be resumed.
        """
        release_space(self._folder.path)
        is_gone = not self._log.is_in_place
        if is_gone:
            ending = outcome.failed(_gone(self._folder), code="not_found")
        self._clean_up()
        result = outcome.result(self._folder, self._info, ending, self._tally)
        weights = ending.outcome["kept"] if ending.outcome else "best" if self._folder.best.is_dir() else "last"
        not_written: list[OSError] = []
        with _noting(not_written):
            if not is_gone:
                write_checked_json(self._folder.result, result, follow_link=False)
        ended = Ended(state=ending.state, reason=ending.reason, result=outcome.short_result(result))
        for event in (ending.failure, ended):
            if event is not None:
                with contextlib.suppress(OSError):
                    self._write(event)
        with _noting(not_written), contextlib.suppress(UserError):
            if not is_gone:
                update_info(self._folder, state=ending.state, exit_code=ending.exit_code, kept=weights)
        if not_written:
            return {**result, "reason": "; ".join((result["reason"], _not_written(self._folder, not_written[-1])))}
        return result

    def _clean_up(self) -> None:
        """Remove incomplete files left by a worker, a coordinator or a sender of requests that was killed."""
        path, models = self._folder.path, (self._folder.best, self._folder.last)
        leftovers = [*path.glob(".*.tmp"), *path.glob(".rendezvous-*"), *self._folder.checkpoints.glob(".*.tmp")]
        leftovers += self._folder.control.glob(".*.tmp")
        leftovers += [weights.with_name(f".{weights.name}.old") for weights in models if weights.is_dir()]
        for leftover in leftovers:
            with contextlib.suppress(OSError):
                remove(leftover)

    @contextlib.contextmanager
    def _counting_signals(self) -> Iterator[None]:
        """Count stop signals in this context instead of ending by them. Has an effect in the main thread only."""

        def count(number: int, frame: FrameType | None) -> None:
            self._signals += 1

        handlers = {}
        with contextlib.suppress(ValueError):
            numbers = [number for number in STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
            handlers = {number: signal.signal(number, count) for number in numbers}
            # Those that arrived while the process was replaced.
            release_stop_signals()
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
