"""The seam between a coordinator and where its workers run: on this machine, or on the nodes of a cluster.

Needs no torch. A coordinator supervises the workers through these protocols alone, wherever they are.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from netwright.engine.placement.cluster_part import cluster_function, has_clusters
from netwright.engine.project.environment import EnvironmentOptions


@dataclass(frozen=True)
class StartPoint:
    """Start of an attempt.

    checkpoint: iteration of the checkpoint; negative if there is none. rate_factor: multiplies its learn rates.
    pending_requests: requests to handle before the first step, one per line, for the first worker.
    """

    checkpoint: int = -1
    rate_factor: float = 1.0
    pending_requests: str = ""


class Worker(Protocol):
    """A started worker: its process, the stream of its reports, and requests to it."""

    @property
    def rank(self) -> int:
        """Return the number of the worker, from 0."""

    @property
    def pid(self) -> int:
        """Return its process id, on its own host."""

    @property
    def host(self) -> str:
        """Return the name of the host that it runs on; empty for this machine."""

    @property
    def reports(self) -> int:
        """Return the descriptor that its reports are read from, as bytes of `netwright.engine.launch.channel`."""

    @property
    def memory_ran_out(self) -> bool:
        """Return whether its host has killed a process for lack of memory meanwhile; this machine is asked directly."""

    def poll(self) -> int | None:
        """Return the exit code (negative: the signal that killed it), or None while the worker runs."""

    def why_lost(self) -> str:
        """Return why the worker cannot be reached any more, in words; empty for one that ended by itself."""

    def why_silent(self) -> str:
        """Return why the worker, which has not ended, gives no sign of life."""

    def send_request(self, request: Mapping[str, Any]) -> None:
        """Send a request. Does nothing if the worker has ended."""

    def kill(self) -> None:
        """Kill the process and wait until it has ended."""

    def close(self) -> None:
        """Give back what the coordinator holds of it."""


class Launcher(Protocol):
    """Starts the workers of a run, attempt by attempt."""

    def begin(self) -> None:
        """Begin an attempt, where workers find each other in a place of its own. Raises `RunError`."""

    def is_ready(self) -> bool:
        """Return whether workers can be started now. Waits a moment at most; `run.json` may have other places then.

        Raises `RunError` where they never can.
        """

    def start(self, rank: int, start: StartPoint) -> Worker:
        """Start one worker, which may have no process yet. Raises `RunError`."""

    def await_started(self) -> None:
        """Wait until the workers that were started have processes. Raises `RunError` where one cannot start."""

    def watch(self) -> None:
        """Notice what happens beside the workers. Called a few times per second while they run."""

    def end(self) -> None:
        """End an attempt, whose workers are gone."""

    def close(self) -> None:
        """Give back everything, at the end of the run."""


class Placer(Protocol):
    """Starter of the agents of a run on the hosts of a cluster, which the launcher of that uses."""

    @property
    def is_of_profile(self) -> bool:
        """Return whether any process could make another one, from the cluster profile."""


def begun_placer(environment: EnvironmentOptions) -> AbstractContextManager[Placer | None]:
    """Return a context that connects to the cluster of a run while the run is still being prepared; it gives None where
    there is nothing to begin."""
    if environment.target != "parallel" or not has_clusters():
        return nullcontext()
    placer: AbstractContextManager[Placer | None] = cluster_function("begun_placer")(environment)
    return placer
