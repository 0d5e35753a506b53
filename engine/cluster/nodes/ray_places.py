"""The process that asks a Ray cluster for the places of an experiment. See `ClusterPlaces`.

    python -m netwright.engine.core.child netwright.engine.cluster.nodes.ray_places

The first line of its standard input has address, Python, resources of a place and the experiment; further ones say how
many places are wanted and which run begins in which. It answers by lines of JSON. A place is an actor of Ray with a
process beside it (`place_agent`), which outlives its runs; Ray ends the actors when this process ends, which it does
when its input is closed.
"""

import contextlib
import json
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netwright.engine.cluster.nodes.ray_placer import connect, first_line, send_by_value
from netwright.engine.cluster.ray_address import address_of_head, refuse_silent
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.process import MessageReader, keep_output, module_words, readable

POLL_S = 0.1
"""Time between two looks at what has ended in Ray; what the runner asks for is done at once."""
LOOK_S = 2.0
"""Seconds between two looks at the head, and at the nodes of the cluster."""
SOON_S = 3.0
"""Seconds after which it is said that there is no room."""
MOST_FAILED = 3
"""Places that end before they can be used, one after another, before it is given up."""
AGENT = "netwright.engine.cluster.nodes.place_agent"


class Actor:
    """A place. Lives in a process of Ray, which has nothing of Netwright. When that is ended, so is the agent's
    input."""

    def __init__(self, command: list[str], experiment: str) -> None:
        import subprocess
        import tempfile

        self._words = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        pipe = subprocess.PIPE
        self._agent = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._words, text=True)
        self.serve(experiment, is_answered=False)

    def host(self) -> str:
        """Return the name of the host."""
        import socket

        return socket.gethostname()

    def answer(self) -> str:
        """Return the next line that the agent says; empty where it has ended."""
        assert self._agent.stdout is not None
        return self._agent.stdout.readline()

    def serve(self, line: str, *, is_answered: bool = True) -> str:
        """Pass a line on to the agent and return its answer."""
        assert self._agent.stdin is not None
        self._agent.stdin.write(line)
        self._agent.stdin.flush()
        return self.answer() if is_answered else ""

    def end(self) -> str:
        """Return the exit of the agent, once it has ended."""
        code = self._agent.wait()
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip().rpartition("\n")[2][-600:]
        return f"its process ended with code {code}{f': {words}' if words else ''}"


@dataclass(eq=False)
class Place:
    """An actor, where it is, and what is asked of it: calls of Ray by what they tell."""

    number: int
    actor: Any
    calls: dict[Any, str]
    since: float = field(default_factory=time.monotonic)
    host: str = ""
    is_ready: bool = False


class RayPlaces:
    """Places in a Ray cluster, as many as are wanted and have room."""

    def __init__(self, config: Mapping[str, Any], say: Callable[..., None]) -> None:
        import ray

        self._ray, self._say = ray, say
        self._command = [*config["python"], *module_words(AGENT)]
        self._experiment = json.dumps(config["experiment"]) + "\n"
        self._needs: dict[str, float] = config["needs"]
        self._actor = ray.remote(Actor)
        self._places: dict[int, Place] = {}
        self._wanted: dict[str, Any] = {"most": 0, "at_once": 0, "limits": {}, "busy": []}
        self._fitting, self._next_look = 0, 0.0
        self._count = self._failed = 0

    def obey(self, message: Mapping[str, Any]) -> None:
        """Begin a run in a place, or change how many places are wanted."""
        if "offer" not in message:
            self._wanted.update(message)
            self._next_look = 0.0
        elif (place := self._places.get(message["place"])) is not None:
            place.calls[place.actor.serve.remote(message["offer"])] = "serve"

    def poll(self) -> None:
        """Ask for places and give them back, and say what has become of them."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK_S
            self._fitting = self._count_fitting()
            self._adjust()
            self._say(waits=self._waits())
        calls = {call: place for place in self._places.values() for call in place.calls}
        for call in self._ray.wait([*calls], num_returns=len(calls), timeout=0)[0] if calls else []:
            place = calls[call]
            try:
                self._take(place, place.calls.pop(call), self._ray.get(call))
            except self._ray.exceptions.RayError as error:
                self._lose(place, first_line(error))

    def _count_fitting(self) -> int:
        """Return the number of places for which the living nodes have room where nothing else runs."""
        count = 0
        for node in self._ray.nodes():
            if node["Alive"]:
                has = node["Resources"]
                count += min(int(has.get(name, 0.0) / amount + 1e-6) for name, amount in self._needs.items())
        for name, limit in self._wanted["limits"].items():
            count = min(count, int(limit / self._needs[name] + 1e-6)) if limit and name in self._needs else count
        return count

    def _adjust(self) -> None:
        """Ask for missing places, and give back those that are too many and idle, those without room first."""
        goal = min(self._wanted["most"], self._wanted["at_once"] or max(1, self._fitting))
        for _ in range(goal - len(self._places)):
            self._count += 1
            actor = self._actor.options(
                num_cpus=self._needs.get("CPU", 0),
                num_gpus=self._needs.get("GPU", 0),
                memory=self._needs.get("memory"),
                max_concurrency=4,
                max_restarts=0,
            ).remote(self._command, self._experiment)
            calls = {getattr(actor, name).remote(): name for name in ("host", "answer", "end")}
            self._places[self._count] = Place(self._count, actor, calls)
        idle = [place for place in self._places.values() if place.number not in self._wanted["busy"]]
        idle = [place for place in idle if "serve" not in place.calls.values()]
        idle.sort(key=lambda place: (place.is_ready, bool(place.host), -place.number))
        for place in idle[: max(0, len(self._places) - goal)]:
            self._give_back(place)
            self._say(place=place.number, lost="it was not needed any more")

    def _give_back(self, place: Place) -> None:
        del self._places[place.number]
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(place.actor)

    def _waits(self) -> str:
        """Return the reason for waiting, in words; empty for none."""
        needs = ", ".join(f"{name} {amount:g}" for name, amount in self._needs.items())
        if not self._fitting and not any(place.host for place in self._places.values()):
            return f"no node of Ray has room for a trial ({needs})" if self._places else ""
        late = [p for p in self._places.values() if not p.host and time.monotonic() - p.since > SOON_S]
        if not late:
            return ""
        free = self._ray.available_resources()
        if all(free.get(name, 0.0) >= amount for name, amount in self._needs.items()):
            return f"Ray starts the places of {len(late)} of {len(self._places)} trials"
        return f"Ray has no room yet for {len(late)} of {len(self._places)} trials ({needs} each)"

    def _take(self, place: Place, call: str, answer: str) -> None:
        """Take in the answer to a call."""
        if call == "host":
            place.host = answer
        elif call == "end":
            self._lose(place, answer)
        elif call == "serve" and answer:
            self._say(place=place.number, **json.loads(answer))
        elif call == "answer" and answer:
            message = json.loads(answer)
            if "refused" in message:
                self._say(failed=message["refused"])
            else:
                place.is_ready, self._failed = True, 0
                self._say(place=place.number, host=place.host or message["host"])

    def _lose(self, place: Place, why: str) -> None:
        """Forget a place that has ended, in favour of another one."""
        if self._places.get(place.number) is not place:
            return
        self._give_back(place)
        self._next_look = 0.0
        self._say(place=place.number, lost=f"Ray has lost its place: {why}")
        self._failed += not place.is_ready
        if self._failed >= MOST_FAILED:
            self._say(failed=f"Ray has lost {self._failed} places before a trial could begin there: {why}")


def main(arguments: list[str]) -> int:
    """Serve the runner until its end of the pipe is closed; return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, whose runner decides
    answers = keep_output()  # Ray prints
    waits = "connects to Ray"

    def say(**values: Any) -> None:
        nonlocal waits
        if values.get("waits") != waits:
            waits = values.get("waits", waits)
            answers.send(values)

    lines = MessageReader(0)
    if (config := lines.receive()) is None:
        return 0
    messages = lines.read()
    try:
        connect(config["address"])
    except UserError as refused:
        say(refused=str(refused))
        return 0
    send_by_value(__name__)
    say(waits="")
    places, head, next_look = RayPlaces(config, say), address_of_head(config["address"]), 0.0
    while lines.is_open:
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + LOOK_S
            try:
                refuse_silent(head)
            except RunError as refused:
                say(lost=str(refused))
                return 0
        for message in messages:
            places.obey(message)
        places.poll()
        readable([0], POLL_S)
        messages = lines.read()
    return 0
