"""Holds the first worker of a run where a test wants it, so that what the test does meanwhile cannot come too late."""

import threading
from pathlib import Path

from netwright.engine.launch.channel import ReportPipe
from netwright.engine.runs.events import Checkpointed, Event


def hold(iteration: int, go: Path) -> None:
    """Workers that are forked from this process wait, once they have told of a checkpoint of this iteration or a later
    one, until the file `go` is there. They say meanwhile that they live."""
    put, pause = ReportPipe.put, threading.Event()

    def held(self: ReportPipe, *events: Event) -> None:
        put(self, *events)
        if any(isinstance(event, Checkpointed) and event.iteration >= iteration for event in events):
            while not go.exists():
                pause.wait(0.005)

    ReportPipe.put = held  # type: ignore[method-assign]  # in this process and what it forks
