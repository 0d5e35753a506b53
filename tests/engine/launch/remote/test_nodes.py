"""The coordinator's side of nodes, with agents that do as a test says."""

import json
import os
import socket
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from engine.launch.remote import nodes as module
from engine.launch.remote.nodes import Nodes
from engine.launch.remote.stream import Frame, FrameKind, Stream, connect
from engine.launch.worker_process import EXIT_BROKEN

TOKEN = bytes(32)
PATIENCE_S = 60.0


class Agent:
    """An agent, as the stream shows it."""

    def __init__(self, nodes: Nodes, label: str = "1", slots: int = 1) -> None:
        self.stream: Stream = connect(("127.0.0.1", nodes.port), TOKEN, "")
        self.frames: list[Frame] = []
        self.say(FrameKind.HELLO, host=f"host-{label}", slots=slots, label=label)
        self.say(FrameKind.READY)

    def say(self, kind: FrameKind, rank: int = 0, **values: Any) -> None:
        self.put(kind, rank, json.dumps(values).encode())

    def put(self, kind: FrameKind, rank: int, payload: bytes) -> None:
        self.stream.put(kind, rank, payload)
        self.stream.flush()

    def wait_for(self, kind: FrameKind) -> Frame:
        """The next frame of this kind."""
        while not any(frame.kind == kind for frame in self.frames):
            self.frames += self.stream.read()
        found = next(frame for frame in self.frames if frame.kind == kind)
        self.frames.remove(found)
        return found


@pytest.fixture
def printed() -> list[bytes]:
    return []


@pytest.fixture
def nodes(printed: list[bytes]) -> Iterator[Nodes]:
    found = Nodes("127.0.0.1", TOKEN, None, printed.append)
    yield found
    found.close()


def read_all(descriptor: int) -> bytes:
    """What comes out of a pipe until it is closed."""
    data = b""
    while part := os.read(descriptor, 2**16):
        data += part
    return data


def test_a_worker_of_a_node_is_seen_as_one_of_this_machine(nodes: Nodes, printed: list[bytes]) -> None:
    agent = Agent(nodes, slots=2)
    assert nodes.wait_for(lambda: len(nodes.live) == 1, PATIENCE_S)
    (node,) = nodes.live
    assert (node.host, node.slots, node.label) == ("host-1", 2, "1")
    worker = nodes.start(node, 0, {"rank": 0})
    assert json.loads(agent.wait_for(FrameKind.START).payload) == {"rank": 0}
    agent.say(FrameKind.STARTED, 0, pid=4711)
    assert nodes.wait_for(lambda: worker.pid == 4711, PATIENCE_S)
    worker.send_request({"do": "stop"})
    assert json.loads(agent.wait_for(FrameKind.REQUEST).payload) == {"do": "stop"}
    agent.put(FrameKind.OUTPUT, 0, b"printed")
    agent.put(FrameKind.REPORT, 0, b'{"alive"')
    agent.put(FrameKind.REPORT, 0, b":true}\n")
    agent.say(FrameKind.ENDED, 0, code=-9, memory_ran_out=True)
    assert read_all(worker.reports) == b'{"alive":true}\n'
    assert (worker.poll(), worker.memory_ran_out, worker.why_lost()) == (-9, True, "")
    assert printed == [b"printed"]
    worker.kill()  # nothing to do any more
    worker.close()
    agent.stream.close()


def test_reports_wait_for_a_coordinator_that_is_busy(nodes: Nodes) -> None:
    """More of them than a pipe holds, also after the end of the worker; the node is heard meanwhile."""
    agent = Agent(nodes)
    assert nodes.wait_for(lambda: nodes.live, PATIENCE_S)
    worker = nodes.start(nodes.live[0], 0, {})
    agent.wait_for(FrameKind.START)
    data = bytes(3 * 2**20)
    agent.stream.put(FrameKind.REPORT, 0, data)
    agent.stream.put(FrameKind.ENDED, 0, b'{"code": 0}')
    while agent.stream.backlog:
        agent.stream.flush()
    assert nodes.wait_for(lambda: worker.poll() == 0, PATIENCE_S)
    assert read_all(worker.reports) == data
    worker.close()
    agent.stream.close()


def test_a_lost_connection_ends_the_workers_of_its_node(nodes: Nodes) -> None:
    agent, other = Agent(nodes, "1"), Agent(nodes, "2")
    assert nodes.wait_for(lambda: len(nodes.live) == 2, PATIENCE_S)
    workers = [nodes.start(node, rank, {}) for rank, node in enumerate(nodes.live)]
    for each in (agent, other):
        each.wait_for(FrameKind.START)
    agent.stream.close()
    assert read_all(workers[0].reports) == b""
    assert workers[0].poll() == EXIT_BROKEN
    assert workers[0].why_lost() == "its host host-1 cannot be reached: the connection was closed"
    assert workers[1].poll() is None
    assert [node.label for node in nodes.live] == ["2"]
    late = nodes.start(nodes.all[0], 2, {})
    assert late.why_lost(), "a worker that is started on a lost node is lost"
    other.stream.close()
    read_all(workers[1].reports)
    for worker in (*workers, late):
        worker.close()


def test_a_node_that_says_nothing_is_left(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Agent(nodes)
    assert nodes.wait_for(lambda: nodes.live, PATIENCE_S)
    worker = nodes.start(nodes.live[0], 0, {})
    monkeypatch.setattr(module, "LINK_SILENCE_S", 0.2)
    read_all(worker.reports)
    assert "has given no sign of life" in worker.why_lost()
    worker.close()
    agent.stream.close()


def test_a_node_that_does_not_end_its_worker_is_left(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KILL_S", 0.2)
    agent = Agent(nodes)
    assert nodes.wait_for(lambda: nodes.live, PATIENCE_S)
    worker = nodes.start(nodes.live[0], 0, {})
    worker.kill()
    read_all(worker.reports)
    assert "does not end its workers" in worker.why_lost()
    worker.close()
    agent.stream.close()


def test_nothing_listens_on_another_address(nodes: Nodes) -> None:
    own = [each.laddr for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN]
    assert ("127.0.0.1", nodes.port) in [tuple(address) for address in own]
    assert not [address for address in own if address.port == nodes.port and address.ip != "127.0.0.1"]


def test_a_stranger_is_no_node(nodes: Nodes) -> None:
    with socket.create_connection(("127.0.0.1", nodes.port)) as stranger:
        stranger.sendall(b"netwright-node-1\n" + bytes(32 + 32))
        while stranger.recv(2**16):
            pass  # it is left
    assert nodes.all == []
