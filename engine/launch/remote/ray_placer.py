"""The process that asks a Ray cluster for room and starts agents there as tasks. See `RayPlacer`.

    python -m engine.launch.remote.ray_placer

The first line of its standard input has address, Python and resources per worker; each further one asks for workers.
It answers by lines of JSON: what it waits for, and what failed. Ray ends the tasks when this process ends, which it
does when its input is closed.
"""

import contextlib
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from engine.launch.remote.offer import Offer
from engine.launch.remote.ray_address import address_of_head

POLL_S = 0.1
CHUNK_BYTES = 2**16
CONNECT_S = 5.0
TOGETHER_S = 5.0
"""Seconds that the first rooms of a request wait for the others, so that those of a node share an agent."""
LEAST_VERSION = (2, 52)
"""Older ones let any web page run programs on the cluster (CVE-2025-62593, CVE-2023-48022)."""
LOOK_S = 2.0
"""Seconds between two looks at the head."""
SOON_S = 3.0
"""Seconds after which it is said that there is no room."""
AGENT = "engine.launch.remote.node_agent"


class RefusedError(Exception):
    """Why Ray cannot be used, in words."""


@dataclass
class Request:
    """Workers that were asked for: rooms of one worker each, those not granted yet, and when they were asked for."""

    offer: Offer
    waiting: list[Any]
    granted: list[Any] = field(default_factory=list)
    waited_s: float = 0.0


def run_agent(command: list[str], offer: str) -> tuple[int, str]:
    """Run an agent on a node until it ends; return its exit code and the end of what it said.

    Runs in a process of Ray, which has nothing of Netwright. When that is ended, so is the agent's input.
    """
    import subprocess

    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert agent.stdin is not None
    assert agent.stderr is not None
    agent.stdin.write(offer.encode())
    agent.stdin.flush()
    said = agent.stderr.read()
    return agent.wait(), said.decode(errors="replace").strip()[-600:]


class RayRooms:
    """Room for workers in a Ray cluster, as placement groups of one bundle each, and the agents in it."""

    def __init__(self, python: list[str], per_worker: dict[str, float], say: Callable[..., None]) -> None:
        import ray

        self._ray = ray
        self._command = [*python, "-m", AGENT]
        self._per_worker = per_worker
        self._say = say
        self._requests: list[Request] = []
        self._tasks: dict[Any, tuple[str, str, list[Any]]] = {}
        self._count = 0

    def ask(self, workers: int, offer: Offer) -> None:
        """Ask for room for so many workers. Room that was asked for before and not granted is given up."""
        from ray.util.placement_group import placement_group, remove_placement_group

        for request in self._requests:
            for group in request.waiting:
                remove_placement_group(group)
        groups = [placement_group([self._per_worker], strategy="PACK") for _ in range(workers)]
        self._requests = [Request(offer, groups)]

    @property
    def is_asking(self) -> bool:
        """Return whether room was asked for that is not granted yet. Otherwise the head is not needed."""
        return bool(self._requests)

    def poll(self, passed_s: float) -> None:
        """Start agents where room was granted, and say what has ended."""
        for request in self._requests:
            request.waited_s += passed_s
            granted = [group for group in request.waiting if group.wait(0)]
            request.waiting = [group for group in request.waiting if group not in granted]
            request.granted += granted
            if request.granted and (not request.waiting or request.waited_s > TOGETHER_S):
                self._start_agents(request)
            if request.waiting and request.waited_s > SOON_S:
                num_all = len(request.waiting) + sum(len(groups) for *_, groups in self._tasks.values())
                self._say(waits=f"Ray has no room yet for {len(request.waiting)} of {num_all} workers")
        self._requests = [request for request in self._requests if request.waiting or request.granted]
        if not self._requests:
            self._say(waits="")
        self._find_ended()

    def _start_agents(self, request: Request) -> None:
        """Start an agent per node, or, with GPUs, which Ray assigns to tasks, one per worker."""
        from ray.util.placement_group import placement_group_table
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        by_node: dict[str, list[Any]] = {}
        for number, group in enumerate(request.granted):
            node = next(iter(placement_group_table(group)["bundles_to_node_id"].values()))
            by_node.setdefault(f"{node} {number}" if "GPU" in self._per_worker else node, []).append(group)
        request.granted = []
        for node, groups in by_node.items():
            self._count += 1
            label = f"{os.getpid()}.{self._count}"  # also apart from those of a process before this one
            task = self._ray.remote(run_agent).options(
                num_cpus=self._per_worker.get("CPU", 0),
                num_gpus=self._per_worker.get("GPU", 0),
                max_retries=0,
                scheduling_strategy=PlacementGroupSchedulingStrategy(groups[0], 0),
            )
            offer = replace(request.offer, label=label, slots=len(groups)).write()
            self._tasks[task.remote(self._command, offer)] = (label, node.partition(" ")[0], groups)

    def _find_ended(self) -> None:
        from ray.util.placement_group import remove_placement_group

        tasks = list(self._tasks)
        for task in self._ray.wait(tasks, num_returns=len(tasks), timeout=0)[0] if tasks else []:
            label, node, groups = self._tasks.pop(task)
            for group in groups:
                remove_placement_group(group)
            try:
                code, said = self._ray.get(task)
                words = f"the agent on node {node[:8]} of Ray ended with code {code}{f': {said}' if said else '.'}"
            except self._ray.exceptions.RayError as error:
                words = f"Ray has lost the agent on its node {node[:8]}: {first_line(error)}"
            self._say(failed=words[0].upper() + words[1:], label=label)


def first_line(error: BaseException) -> str:
    """Return what an error of Ray says first."""
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


def refuse_silent(head: str) -> None:
    """Raise `RefusedError` where nothing answers at the address of the head: Ray itself waits for a minute then."""
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise RefusedError(f"The head of the Ray cluster at {head} does not answer: {words}.") from error


def connect(address: str) -> None:
    """Connect this process to the cluster. Raises `RefusedError`."""
    import ray

    version = tuple(int(part) for part in ray.__version__.split(".")[:2])
    if version < LEAST_VERSION:
        raise RefusedError(f"Ray {ray.__version__} is installed, and versions before 2.52 are open to attacks.")
    head = address_of_head(address)
    refuse_silent(head)
    try:
        ray.init(address=address if address.startswith("ray://") else head, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray raises what it likes, also RuntimeError for another version
        raise RefusedError(f"The Ray cluster at {head} refuses: {first_line(error)}") from error


def main() -> int:
    """Serve the coordinator until its end of the pipe is closed; return the exit code."""
    answers = os.dup(1)
    os.dup2(2, 1)  # Ray prints
    last = {"said": ""}

    def say(**values: str) -> None:
        line = json.dumps(values)
        if line != last["said"]:
            os.write(answers, line.encode() + b"\n")
        last["said"] = line if "waits" in values else last["said"]

    rest = b""
    while b"\n" not in rest:
        if not (data := os.read(0, CHUNK_BYTES)):
            return 0
        rest += data
    first, _, rest = rest.partition(b"\n")
    config = json.loads(first)
    try:
        connect(config["address"])
    except RefusedError as refused:
        say(failed=str(refused))
        return 0
    say(waits="")
    rooms = RayRooms(config["python"], config["per_worker"], say)
    head, next_look = address_of_head(config["address"]), 0.0
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            if rooms.is_asking and time.monotonic() >= next_look:
                next_look = time.monotonic() + LOOK_S
                try:
                    refuse_silent(head)
                except RefusedError as refused:
                    say(failed=str(refused))
                    return 0
            *lines, rest = rest.split(b"\n")
            for request in map(json.loads, lines):
                rooms.ask(request["workers"], Offer.read(request["offer"]))
            rooms.poll(POLL_S)
            if select.select([0], [], [], POLL_S)[0]:
                if not (data := os.read(0, CHUNK_BYTES)):
                    return 0
                rest += data
    return 0


if __name__ == "__main__":
    sys.exit(main())
