"""A cluster that gives places to experiments, of this machine: stands for the process that is connected to Ray.

The agents in its places are real ones, forked from a process that has torch. Their number is that of trials at once.
"""

import json
import os
import select
from dataclasses import dataclass
from typing import Any

from netwright.engine.cluster.nodes import place_agent
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.fork import fork
from netwright.engine.core.process import MessageProcess, MessageReader

RUN = """
from netwright.engine.cluster.nodes import cluster_places
from netwright.engine.cli.main import program
from tests.places import start_client
cluster_places.start_client = start_client
program()
"""
"""Code of a process that runs an experiment on this cluster."""


class Forked:
    """The process, as a `Popen`."""

    def __init__(self, pid: int, stdin: int, stdout: int) -> None:
        self.pid = pid
        self.stdin = os.fdopen(stdin, "wb")
        self.stdout = os.fdopen(stdout, "rb", buffering=0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        return os.waitpid(self.pid, 0)[1]


class Client(MessageProcess):
    """What a runner holds of the process."""

    def __init__(self, process: Forked) -> None:
        self.process = process  # type: ignore[assignment]
        self._reader, self._errors, self._words = MessageReader(process.stdout.fileno()), None, b""

    def end(self, patience_s: float = 0.0) -> bool:
        """End it."""
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]
        return True


def start_client(profile: ClusterProfile) -> Client:
    """Fork the process."""
    (asked, asking), (answered, answering) = os.pipe(), os.pipe()

    def work() -> int:
        for target, source in ((0, asked), (1, answering)):
            os.dup2(source, target)
        return serve()

    pid = fork(work, keep=(asked, answering))
    os.close(asked)
    os.close(answering)
    return Client(Forked(pid, asking, answered))


@dataclass
class Place:
    """An agent, the pipe to it, and what it says."""

    pid: int
    asking: int
    answers: MessageReader

    def say(self, line: str) -> None:
        os.write(self.asking, line.encode())


def _start(experiment: dict[str, str]) -> Place:
    (asked, asking), (answered, answering) = os.pipe(), os.pipe()

    def work() -> int:
        for target, source in ((0, asked), (1, answering)):
            os.dup2(source, target)
        return place_agent.main()

    pid = fork(work, keep=(asked, answering))
    os.close(asked)
    os.close(answering)
    place = Place(pid, asking, MessageReader(answered))
    place.say(json.dumps(experiment) + "\n")
    return place


def serve() -> int:
    """Give places until the runner is gone; in place of one that is lost, another one."""
    requests, places, wanted, count = MessageReader(0), dict[int, Place](), 0, 0
    experiment: dict[str, str] = {}

    def say(**values: Any) -> None:
        os.write(1, json.dumps(values).encode() + b"\n")

    while requests.is_open:
        select.select([0, *(place.answers.descriptor for place in places.values())], [], [])
        for message in requests.read():
            experiment = message.get("experiment", experiment)
            if "most" in message:
                wanted = min(message["most"], message["at_once"] or 1)
            elif "offer" in message:
                places[message["place"]].say(message["offer"])
        for number, place in list(places.items()):
            for answer in place.answers.read():
                say(**({"failed": answer["refused"]} if "refused" in answer else {"place": number, **answer}))
            if not place.answers.is_open:
                os.waitpid(place.pid, 0)
                del places[number]
                say(place=number, lost="it was killed")
        while len(places) < wanted:
            count += 1
            places[count] = _start(experiment)
    return 0
