"""The stream between a coordinator and an agent, over connections of loopback."""

import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

import pytest

from netwright.engine.cluster.nodes.stream import (
    GREETING,
    MOST_PAYLOAD,
    FrameKind,
    Stream,
    StreamLostError,
    accept,
    connect,
    tls_of_run,
)

TOKEN = bytes(range(32))


class Port:
    """A port whose first connection is accepted in a thread; `result` is the stream or the error."""

    def __init__(self, take: Callable[[socket.socket], Any]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        self._take = take
        self.result: Any = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        connection, _ = self._listener.accept()
        try:
            self.result = self._take(connection)
        except StreamLostError as error:
            self.result = error

    def wait(self) -> Any:
        self._thread.join()
        self._listener.close()
        return self.result


def ends(tls: ssl.SSLContext | None = None, certificate: str = "") -> tuple[Stream, Stream]:
    """Both ends of a stream: the coordinator's and the agent's."""
    port = Port(lambda connection: accept(connection, TOKEN, tls))
    agent = connect(port.address, TOKEN, certificate)
    return port.wait(), agent


def received(stream: Stream, other: Stream, count: int) -> list[tuple[FrameKind, int, bytes]]:
    """The next frames of a stream, while the other end sends."""
    found: list[tuple[FrameKind, int, bytes]] = []
    while len(found) < count:
        other.flush()
        found += [(frame.kind, frame.rank, frame.payload) for frame in stream.read()]
    return found


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_frames_arrive_in_order_and_whole(is_encrypted: bool) -> None:
    coordinator, agent = ends(*tls_of_run()) if is_encrypted else ends()
    large = bytes(range(256)) * 20_000  # more than one frame holds
    agent.put(FrameKind.HELLO, 0, b"{}")
    agent.put(FrameKind.REPORT, 3, large)
    kinds = received(coordinator, agent, 1 + -(-len(large) // MOST_PAYLOAD))
    assert kinds[0] == (FrameKind.HELLO, 0, b"{}")
    assert b"".join(payload for _, rank, payload in kinds[1:]) == large
    assert {rank for _, rank, _ in kinds[1:]} == {3}
    coordinator.put(FrameKind.KILL, 3)
    assert received(agent, coordinator, 1) == [(FrameKind.KILL, 3, b"")]
    agent.close()
    with pytest.raises(StreamLostError, match="closed"):
        received(coordinator, coordinator, 1)
    coordinator.close()


def test_who_does_not_know_the_token_is_refused_and_learns_nothing() -> None:
    port = Port(lambda connection: accept(connection, TOKEN, None))
    with pytest.raises(StreamLostError, match=r"does not know the token|closed|reset"):
        connect(port.address, b"another token", "").read()
    assert "does not know the token" in str(port.wait())


def test_an_agent_does_not_talk_to_another_coordinator() -> None:
    """One that repeats what it was sent, too."""

    def repeat(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(2**16):
                connection.sendall(data)

    port = Port(repeat)
    with pytest.raises(StreamLostError, match="does not know the token"):
        connect(port.address, TOKEN, "")
    port.wait()


def test_another_certificate_is_refused() -> None:
    tls, _ = tls_of_run()
    _, other = tls_of_run()
    port = Port(lambda connection: accept(connection, TOKEN, tls))
    with pytest.raises(StreamLostError, match=r"(?i)certificate"):
        connect(port.address, TOKEN, other)
    assert isinstance(port.wait(), StreamLostError)


def test_another_program_is_refused() -> None:
    port = Port(lambda connection: accept(connection, TOKEN, None))
    with socket.create_connection(port.address) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n".ljust(len(GREETING), b" "))
        assert "does not speak this protocol" in str(port.wait())


@pytest.mark.parametrize("position", [0, 3, 8, 20])
def test_a_frame_that_was_changed_is_not_read(position: int) -> None:
    """Neither its header, nor its content, nor its tag."""
    coordinator, agent = ends()
    agent.put(FrameKind.REQUEST, 1, b"content")
    agent._outgoing[position] ^= 1
    with pytest.raises(StreamLostError, match=r"changed on the way|no frame"):
        received(coordinator, agent, 1)
    coordinator.close()
    agent.close()


def test_a_frame_that_is_repeated_is_not_read() -> None:
    coordinator, agent = ends()
    agent.put(FrameKind.KILL, 1)
    agent._outgoing *= 2
    with pytest.raises(StreamLostError, match="changed on the way"):
        received(coordinator, agent, 2)
    coordinator.close()
    agent.close()
