"""A paused run gives back all its memory: its workers end, and are started again from their checkpoint. Needs no torch.

    worker       pause, checkpoint, `release` offered; waits
    coordinator  puts the checkpoint in place, looks whether it is whole, asks to `leave`, holds all further requests
    worker       `release` again, and does nothing any more; or `refused`, if it was asked for something else meanwhile
    coordinator  ends the workers

So no request is lost between the two.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.runs.checkpoints import all_checkpoints
from engine.runs.events import Event, Refused, Requested
from engine.runs.folder import RunFolder

POLL_S = 0.1
NO_CHECKPOINT = "no checkpoint could be made, so the run waits with its memory"


@dataclass(frozen=True)
class OffloadedRun:
    """A run that waits without workers: after which iteration, and how often it was started again before."""

    iteration: int
    restarts: int = 0


class OffloadHandshake:
    """The coordinator's side."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._offered: Requested | None = None
        self.is_asked = False
        """Whether the workers were asked to leave and have not answered: nothing else may be asked of them."""
        self.released: Requested | None = None
        """Once they only wait to be ended."""

    def handle(self, event: Event) -> bool:
        """Whether this event belongs to this talk, and not into the log."""
        if isinstance(event, Requested) and event.what == "release":
            if self.is_asked:
                self.released = event
            else:
                self._offered = event
            return True
        if isinstance(event, Refused) and event.what == "release":
            self.is_asked = False
        return False

    def answer(self, ask: Callable[[dict[str, Any]], None]) -> Refused | None:
        """Take up an offer, if there is one; what to write where that cannot be."""
        offered, self._offered = self._offered, None
        if offered is None:
            return None
        newest = next(iter(all_checkpoints(self._folder)), None)
        if newest is None or newest.iteration != offered.iteration or newest.damage():
            return Refused(what="release", iteration=offered.iteration, reason=NO_CHECKPOINT)
        self.is_asked = True
        ask({"do": "leave"})
        return None


def wait(
    iteration: int, take: Callable[[], list[dict[str, Any]]], write: Callable[[Event], None]
) -> list[dict[str, Any]]:
    """Wait without workers until `take` gives a request to go on or to stop; what the workers are to be asked then,
    before their first step. What can be said without them is told to `write`."""
    kept: list[dict[str, Any]] = []
    goes_on = False
    while not goes_on:
        time.sleep(POLL_S)
        for request in take():
            match request["do"]:
                case "pause":
                    goes_on = False
                    what = "release" if request.get("release") else "pause"
                    write(Requested(what=what, iteration=iteration))
                case "checkpoint":
                    write(Requested(what="checkpoint", iteration=iteration))
                case "resume":
                    goes_on = True
                    write(Requested(what="resume", iteration=iteration))
                case what:
                    kept.append(request)
                    goes_on |= what == "stop"
    return kept


def lines(requests: list[dict[str, Any]]) -> str:
    """Requests as the first worker reads them."""
    return "".join(f"{json.dumps(request)}\n" for request in requests)
