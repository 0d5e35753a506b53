"""Offload of a paused run: its workers end, which frees all their memory, and start again from a checkpoint. No torch.

    worker       pauses, saves a checkpoint, offers `release`, waits
    coordinator  puts the checkpoint in place, verifies it, asks to `leave`, holds back all further requests
    worker       answers `release` and stops; or `refused`, if another request arrived meanwhile
    coordinator  ends the workers

So no request is lost between them.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.events import Event, Refused, Requested
from netwright.engine.runs.folder import RunFolder

POLL_S = 0.1
NO_CHECKPOINT = "no checkpoint could be made, so the run waits with its memory"


@dataclass(frozen=True)
class OffloadedRun:
    """A run that waits without workers: the iteration of its checkpoint, and its restarts so far."""

    iteration: int
    restarts: int = 0


class OffloadHandshake:
    """Coordinator's side of the offload handshake."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._offered: Requested | None = None
        self.is_leaving = False
        """True while the workers have been asked to leave and have not answered; they get no other request."""
        self.offloaded: Requested | None = None
        """The workers' consent, once they only wait to be ended."""

    def handle(self, event: Event) -> bool:
        """Handle an event of the handshake. Return True if it must not be written to the log."""
        if isinstance(event, Requested) and event.what == "release":
            if self.is_leaving:
                self.offloaded = event
            else:
                self._offered = event
            return True
        if isinstance(event, Refused) and event.what == "release":
            self.is_leaving = False
        return False

    def answer_offer(self, send_request: Callable[[dict[str, Any]], None]) -> Refused | None:
        """Accept a pending offer. Returns the event to write where there is no whole checkpoint."""
        offered, self._offered = self._offered, None
        if offered is None:
            return None
        newest = next(iter(all_checkpoints(self._folder)), None)
        if newest is None or newest.iteration != offered.iteration or newest.damage():
            return Refused(what="release", iteration=offered.iteration, reason=NO_CHECKPOINT)
        self.is_leaving = True
        send_request({"do": "leave"})
        return None


def wait_for_resume(
    iteration: int, take_requests: Callable[[], list[dict[str, Any]]], write: Callable[[Event], None]
) -> list[dict[str, Any]]:
    """Wait without workers until `take_requests` returns a request to resume or to stop.

    Returns the requests that the workers handle before their first step; the others are answered through `write`.
    """
    pending: list[dict[str, Any]] = []
    is_resumed = False
    while not is_resumed:
        time.sleep(POLL_S)
        for request in take_requests():
            match request["do"]:
                case "pause":
                    is_resumed = False
                    action = "release" if request.get("release") else "pause"
                    write(Requested(what=action, iteration=iteration))
                case "checkpoint":
                    write(Requested(what="checkpoint", iteration=iteration))
                case "resume":
                    is_resumed = True
                    write(Requested(what="resume", iteration=iteration))
                case action:
                    pending.append(request)
                    is_resumed |= action == "stop"
    return pending


def encode_requests(requests: list[dict[str, Any]]) -> str:
    """Return requests as the first worker reads them: JSON, one per line."""
    return "".join(f"{json.dumps(request)}\n" for request in requests)
