"""Runs and experiments of the API: each has a process of its own, and is followed by its folder."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.finite_json import to_json
from netwright.engine.runs import events
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder, start_runner
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.trial_log import Trial
from netwright.engine.scripting.results import Trained, load_run

POLL_S = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a training has come. `metrics` has the newest losses and metrics by split and name, such as
    `validation.accuracy`; `remaining_s` is NaN where it is not known."""

    epoch: int
    iteration: int
    iterations: int
    elapsed_s: float
    remaining_s: float
    samples_per_second: float
    metrics: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {name: to_json(value) for name, value in vars(self).items()}


class Training:
    """A training under way: iterate over it for its `Progress`, then ask for the `result`.

    It has a process of its own and goes on if nobody looks. As a context it is stopped where its body raises:

        with nw.start(project) as training:
            for progress in training:
                print(progress.epoch, progress.metrics)
        run = training.result()
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._reader = EventReader(folder)
        self._iterations = 0
        self._metrics: dict[str, float] = {}

    @property
    def run(self) -> Path:
        """The run's folder."""
        return self._folder.path

    def stop(self, *, after_epoch: bool = False) -> None:
        """Ask the training to stop now, or after this epoch. What was learned is kept, and can be resumed."""
        self._folder.request("stop_after_epoch" if after_epoch else "stop")

    def result(self) -> Trained:
        """Wait for the end and return the outcome. Raises `RunError` if the training failed. Ctrl-C stops it: it then
        ends with the state `stopped`, as after `stop`; a second one raises `KeyboardInterrupt`."""
        try:
            for _ in self:
                pass
        except KeyboardInterrupt:
            self._stop_and_wait()
        return self._outcome()

    def _outcome(self) -> Trained:
        run = load_run(self.run)
        if run.state in ("failed", "lost"):
            found = RunError(
                f"The run failed: {run.reason or 'its process is gone'}", hint=f"Its log is {self._folder.log}."
            )
            found.data = run.result
            raise found
        return run

    def _stop_and_wait(self) -> None:
        if self._folder.state() not in ENDS:
            with contextlib.suppress(UserError):
                self.stop()
        for _ in self:
            pass

    def __iter__(self) -> Iterator[Progress]:
        while True:
            is_over = self._folder.state() in ENDS  # before reading, so that the last events are read
            found = self._reader.read()
            for event in found:
                if isinstance(event, events.Started):
                    self._iterations = event.iterations
                elif isinstance(event, events.Points):
                    last = {f"{event.split}.{name}": values[-1] for name, values in event.values.items() if values}
                    self._metrics = {**self._metrics, **last}
                elif isinstance(event, events.Progress):
                    yield self._progress(event)
            if is_over and not found:
                return
            if not found:
                time.sleep(POLL_S)

    def _progress(self, event: events.Progress) -> Progress:
        return Progress(
            event.epoch,
            event.iteration,
            self._iterations,
            event.elapsed_s,
            event.remaining_s,
            event.samples_per_second,
            self._metrics,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._stop_and_wait()

    def __repr__(self) -> str:
        return f"Training({self._folder.state()}, {str(self.run)!r})"


def follow_experiment(folder: ExperimentFolder, callback: Callable[[Trial], object] | None) -> None:
    """Run an experiment in a process of its own until it ends; tell each trial that has ended since."""
    told = {trial.number for trial in folder.read_trials() if trial.is_over}
    process = start_runner(folder)
    is_stopping = False
    while True:
        try:
            is_over = process.poll() is not None
            if callback is not None:
                for trial in folder.read_trials():
                    if trial.is_over and trial.number not in told:
                        told.add(trial.number)
                        callback(trial)
            if is_over:
                return
            time.sleep(POLL_S)
        except BaseException as error:
            if is_stopping:
                raise
            is_stopping = True
            folder.request("stop")
            if not isinstance(error, KeyboardInterrupt):
                process.wait()
                raise
