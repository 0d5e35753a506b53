"""The coordinator's side of nodes, with agents that do as a test says."""

import contextlib
import errno
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from netwright.engine.cluster.nodes import node_agent, stream
from netwright.engine.cluster.nodes import nodes as module
from netwright.engine.cluster.nodes.nodes import Nodes
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.nodes.stream import Frame, FrameKind, Stream, StreamLostError, connect, tls_of_run
from netwright.engine.launch.worker_process import EXIT_BROKEN
from tests.runs import wait_for

TOKEN = bytes(32)
PATIENCE_S = 60.0
Connect = Callable[[str], socket.socket]


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
    assert nodes.wait_for(lambda: bool(late.why_lost()), PATIENCE_S), "a worker that is started on a lost node is lost"
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


@pytest.fixture
def stranger(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Connect from an address, and begin a greeting that never ends."""
    monkeypatch.setattr(stream, "HANDSHAKE_S", 10 * PATIENCE_S)
    with contextlib.ExitStack() as stack:

        def connect(address: str) -> socket.socket:
            made = socket.create_connection(("127.0.0.1", nodes.port), source_address=(address, 0))
            made.sendall(b"n")
            return stack.enter_context(made)

        yield connect


def is_dropped(connection: socket.socket) -> bool:
    """Wait for the end of a connection."""
    connection.settimeout(PATIENCE_S)
    try:
        while connection.recv(2**16):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("addresses", [["127.0.0.1"], [f"127.0.0.{number}" for number in range(2, 10)]])
def test_slow_strangers_keep_no_node_out(nodes: Nodes, addresses: list[str], stranger: Connect) -> None:
    """Who says little at a time, from one address or many. They would hold all places for as long as they like; and
    what waited at the port was looked for all the time."""
    crowd = [stranger(address) for _ in range(200 // len(addresses)) for address in addresses]
    assert is_dropped(crowd[0])
    agent = Agent(nodes)
    assert nodes.wait_for(lambda: len(nodes.live) == 1, PATIENCE_S)
    agent.stream.close()


def test_one_address_holds_up_no_other_one(nodes: Nodes, stranger: Connect) -> None:
    slow = stranger("127.0.0.2")
    crowd = [stranger("127.0.0.1") for _ in range(module.MOST_PER_ADDRESS + 20)]
    assert all(map(is_dropped, crowd[:20]))
    assert nodes.wait_for(lambda: len(nodes._strangers) == module.MOST_PER_ADDRESS + 1, PATIENCE_S)
    slow.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while slow.recv(2**16):
            pass
        pytest.fail("it was dropped for others")


@pytest.mark.parametrize("encrypted", [False, True])
def test_the_whole_proof_has_one_deadline(encrypted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the stranger divides it: here into bytes, each of which comes before it would be missed."""
    monkeypatch.setattr(stream, "HANDSHAKE_S", 0.5)
    found = Nodes("127.0.0.1", TOKEN, tls_of_run()[0] if encrypted else None, lambda _: None)
    words = b"\x16\x03\x01\x02\x00" if encrypted else stream.GREETING
    sent = 0
    with socket.create_connection(("127.0.0.1", found.port)) as connection, contextlib.suppress(ConnectionError):
        connection.settimeout(0.1)
        for number in range(600):  # a minute, if nobody ends it
            connection.sendall(words[number : number + 1] or b"\0")
            sent += 1
            with contextlib.suppress(TimeoutError):
                if not connection.recv(2**16):
                    break
    assert sent < 80, "it was ended before it could have been whole"
    found.close()


def test_a_port_without_room_is_left_alone_for_a_while(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the process has no more descriptors: it is not tried again at once, and then it works."""
    tried: list[None] = []
    monkeypatch.setattr(module, "DEAF_S", 0.3)
    let_in = nodes._let_in

    def fail(connection: socket.socket, address: str) -> None:
        tried.append(None)
        if len(tried) == 1:
            connection.close()
            raise OSError(errno.EMFILE, "Too many open files")
        let_in(connection, address)

    monkeypatch.setattr(nodes, "_let_in", fail)
    with socket.create_connection(("127.0.0.1", nodes.port)) as first:
        assert is_dropped(first)
        assert nodes.wait_for(lambda: nodes._deaf_until > 0, PATIENCE_S)
    agent = Agent(nodes)
    assert nodes.wait_for(lambda: len(nodes.live) == 1, PATIENCE_S)
    assert len(tried) == 2
    agent.stream.close()


def test_an_agent_that_proves_itself_as_the_run_ends_is_closed(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    has_proved, may_go_on, streams = threading.Event(), threading.Event(), list[Stream]()

    def accept_late(*arguments: Any) -> Stream:
        streams.append(stream.accept(*arguments))
        has_proved.set()
        may_go_on.wait(PATIENCE_S)
        return streams[0]

    monkeypatch.setattr("netwright.engine.cluster.nodes.nodes.accept", accept_late)
    connect(("127.0.0.1", nodes.port), TOKEN, "").close()
    assert has_proved.wait(PATIENCE_S)
    nodes.close()
    may_go_on.set()
    wait_for(lambda: streams[0]._connection.fileno() == -1, "the end of the connection")


def test_an_agent_that_was_dropped_comes_again(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among too many others, before it had proved itself."""
    offer = Offer("127.0.0.1", nodes.port, TOKEN.hex(), "", "", "")
    tried: list[Offer] = []

    def connect_to(offer: Offer) -> Stream:
        tried.append(offer)
        if len(tried) == 1:
            raise StreamLostError("the connection was closed")
        return connect((offer.host, offer.port), TOKEN, "")

    monkeypatch.setattr(node_agent, "connect_to", connect_to)
    node_agent._connect_soon(offer).close()
