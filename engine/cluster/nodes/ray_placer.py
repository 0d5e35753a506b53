"""The process that asks a Ray cluster for room and starts agents there as tasks. See `RayPlacer`.

    python -m netwright.engine.core.child netwright.engine.cluster.nodes.ray_placer

The first line of its standard input has address, Python and resources per worker; each further one asks for workers.
It answers by lines of JSON: what it waits for, and what failed. Ray ends the tasks when this process ends, which it
does when its input is closed.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.ray_address import address_of_head, refuse_silent
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.process import MessageReader, keep_output, module_words, readable

POLL_S = 0.1
ASKING_POLL_S = 0.01
"""The same while room is asked for, which Ray grants at once where there is some."""
CHUNK_BYTES = 2**16
LEAST_VERSION = (2, 52)
"""Older ones let any web page run programs on the cluster (CVE-2025-62593, CVE-2023-48022)."""
LOOK_S = 0.5
"""Seconds between two looks at the head."""
HEAD_S = 5.0
"""Seconds that a head may not answer while room is asked for."""
SOON_S = 3.0
"""Seconds after which it is said that there is no room."""
DIVIDE_S = 0.25
"""Seconds without an answer after which room for several workers on one node is asked for in two halves."""
AGENT = "netwright.engine.cluster.nodes.node_agent"


@dataclass(frozen=True)
class Room:
    """Room for some workers on one node: a placement group of one bundle, and when it was asked for."""

    group: Any
    workers: int
    asked_s: float


@dataclass
class Placed:
    """An agent that was started as a task: its label, its node, and its rooms."""

    label: str
    node: str
    rooms: list[Room]


def run_agent(command: list[str], offer: str) -> str:
    """Run an agent on a node until it ends; return the end of what it said.

    Runs in a process of Ray, which has nothing of Netwright. The agent is no child of that, which Ray would end with
    it: the coordinator decides whether the agent goes on.
    """
    import subprocess
    import sys

    apart = "import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\nos.execvp(sys.argv[1], sys.argv[1:])"
    starter = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", apart, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert starter.stdin is not None
    assert starter.stderr is not None
    starter.stdin.write(offer.encode())
    starter.stdin.flush()
    starter.wait()
    return starter.stderr.read().decode(errors="replace").strip()[-600:]  # to the end of the agent


class RayRooms:
    """Room for workers in a Ray cluster, on as few nodes as possible, and the agents in it.

    Workers on one node share its memory and one import of torch. What no node has room for is asked for in halves.
    """

    def __init__(self, python: list[str], per_worker: dict[str, float], say: Callable[..., None]) -> None:
        import ray

        self._ray = ray
        self._command = [*python, *module_words(AGENT)]
        self._per_worker = per_worker
        self._say = say
        self._offer: Offer | None = None
        self._waiting: list[Room] = []
        self._asked_s = 0.0
        self.is_asking = False
        """Whether room was asked for that is not granted yet; otherwise the head is not needed."""
        self._tasks: dict[Any, Placed] = {}
        self._count = 0

    def ask(self, workers: int, offer: Offer) -> None:
        """Ask for room for so many workers. Room that was asked for before and not granted is given up."""
        self.is_asking = True  # every call waits where the head is gone
        self._give_back(self._waiting)
        self._waiting = [self._room(workers)] if workers else []
        self._offer, self._asked_s = offer, time.monotonic()

    def _room(self, workers: int) -> Room:
        from ray.util.placement_group import placement_group

        bundle = {name: amount * workers for name, amount in self._per_worker.items()}
        return Room(placement_group([bundle]), workers, time.monotonic())

    @staticmethod
    def _give_back(rooms: Iterable[Room]) -> None:
        from ray.util.placement_group import remove_placement_group

        for room in rooms:
            remove_placement_group(room.group)

    @property
    def is_new(self) -> bool:
        """Whether room was asked for just now and is not granted yet."""
        return self.is_asking and time.monotonic() - self._asked_s < SOON_S

    def poll(self) -> None:
        """Start agents where room was granted, and say what has ended."""
        self._find_ended()
        granted = [room for room in self._waiting if room.group.wait(0)]
        self._waiting = [part for room in self._waiting if room not in granted for part in self._divided(room)]
        if granted and self._offer is not None:
            self._use(granted, self._offer)
        self.is_asking = bool(self._waiting)
        if not self._waiting:
            self._say(waits="")
        elif not self.is_new:
            num_missing = sum(room.workers for room in self._waiting)
            num_all = num_missing + sum(room.workers for placed in self._tasks.values() for room in placed.rooms)
            self._say(waits=f"Ray has no room yet for {num_missing:,} of {num_all:,} workers")

    def _divided(self, room: Room) -> list[Room]:
        """Return room that is waited for, as two halves where no node has granted it in time."""
        if room.workers == 1 or time.monotonic() - room.asked_s < DIVIDE_S:
            return [room]
        self._give_back([room])
        half = room.workers // 2
        return [self._room(room.workers - half), self._room(half)]

    def _use(self, granted: list[Room], offer: Offer) -> None:
        """Let agents take more workers on the nodes that have one, and start one on the others.

        With GPUs, which Ray assigns to a task when it starts, there is an agent per room.
        """
        from ray.util.placement_group import placement_group_table
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        with_gpus = "GPU" in self._per_worker
        by_node: dict[str, list[Room]] = {}
        for number, room in enumerate(granted):
            node = next(iter(placement_group_table(room.group)["bundles_to_node_id"].values()))
            by_node.setdefault(f"{node} {number}" if with_gpus else node, []).append(room)
        for key, rooms in by_node.items():
            node, workers = key.partition(" ")[0], sum(room.workers for room in rooms)
            there = next((each for each in self._tasks.values() if each.node == node and not with_gpus), None)
            if there is not None:
                there.rooms += rooms
                self._say(label=there.label, more=workers)
                continue
            self._count += 1
            label = f"{os.getpid()}.{self._count}"  # also apart from those of a process before this one
            task = self._ray.remote(run_agent).options(
                num_cpus=self._per_worker.get("CPU", 0) * rooms[0].workers,
                num_gpus=self._per_worker.get("GPU", 0) * rooms[0].workers,
                max_retries=0,
                scheduling_strategy=PlacementGroupSchedulingStrategy(rooms[0].group, 0),
            )
            offer_text = replace(offer, label=label, slots=workers).write()
            self._tasks[task.remote(self._command, offer_text)] = Placed(label, node, rooms)

    def _find_ended(self) -> None:
        tasks = list(self._tasks)
        for task in self._ray.wait(tasks, num_returns=len(tasks), timeout=0)[0] if tasks else []:
            placed = self._tasks.pop(task)
            self._give_back(placed.rooms)
            try:
                message = self._ray.get(task)
                words = f"The agent on node {placed.node[:8]} of Ray ended{f': {message}' if message else '.'}"
                self._say(failed=words, label=placed.label)
            except self._ray.exceptions.RayError as error:
                words = f"Ray has lost the agent on its node {placed.node[:8]}: {first_line(error)}"
                self._say(failed=words, label=placed.label, lost=True)


def first_line(error: BaseException) -> str:
    """Return the first line of an error of Ray."""
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


def send_by_value(*modules: str) -> None:
    """Let Ray take functions and classes of these modules along: its own Python has nothing of Netwright."""
    import ray

    for module in modules:
        ray.cloudpickle.register_pickle_by_value(sys.modules[module])


def connect(address: str) -> None:
    """Connect this process to the cluster. Raises `RunError`, and `UnavailableError` where none is meant."""
    import ray

    version = tuple(int(part) for part in ray.__version__.split(".")[:2])
    if version < LEAST_VERSION:
        raise RunError(f"Ray {ray.__version__} is installed, and versions before 2.52 are open to attacks.")
    head = address_of_head(address)
    refuse_silent(head)
    try:
        ray.init(address=address if address.startswith("ray://") else head, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray raises what it likes, also RuntimeError for another version
        raise RunError(f"The Ray cluster at {head} refuses: {first_line(error)}") from error


def _look_at_head(head: str, rooms: RayRooms, say: Callable[..., None]) -> None:
    """End this process where room is asked for and the head is gone: every call of Ray waits for that then."""
    answered_s = time.monotonic()
    while True:
        time.sleep(LOOK_S)
        try:
            if rooms.is_asking:
                refuse_silent(head)
            answered_s = time.monotonic()
        except RunError as refused:
            if time.monotonic() - answered_s > HEAD_S:
                say(failed=str(refused))
                os._exit(0)


def main(arguments: list[str]) -> int:
    """Serve the coordinator until its end of the pipe is closed; return the exit code."""
    answers = keep_output()  # Ray prints
    last = {"said": ""}

    def say(**values: Any) -> None:
        line = json.dumps(values)
        if line != last["said"]:
            answers.send(values)
        last["said"] = line if "waits" in values else last["said"]

    requests = MessageReader(0)
    if (config := requests.receive()) is None:
        return 0
    try:
        connect(config["address"])
    except UserError as refused:
        say(failed=str(refused).removesuffix(refused.hint).strip(), hint=refused.hint)
        return 0
    send_by_value(__name__)
    say(waits="")
    rooms = RayRooms(config["python"], config["per_worker"], say)
    look = partial(_look_at_head, address_of_head(config["address"]), rooms, say)
    threading.Thread(target=look, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        while requests.is_open:
            for request in requests.read():
                rooms.ask(request["workers"], Offer.read(request["offer"]))
            rooms.poll()
            readable([0], ASKING_POLL_S if rooms.is_new else POLL_S)
    return 0
