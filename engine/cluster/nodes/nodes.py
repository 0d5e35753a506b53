"""The coordinator's side of the nodes of a cluster: the port that their agents connect to, and what comes from them.

One thread serves all connections. It writes the reports of each worker into a pipe, so that a coordinator reads them as
those of a worker of its own machine.
"""

import contextlib
import json
import os
import selectors
import socket
import ssl
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netwright.engine.cluster.nodes.offer import LINK_SILENCE_S
from netwright.engine.cluster.nodes.stream import Frame, FrameKind, Stream, StreamLostError, accept
from netwright.engine.core.platform import hold_stop_signals
from netwright.engine.core.platform_files import do_not_wait, widen_pipe
from netwright.engine.launch.channel import HEARTBEAT_S, MAX_TICK_S
from netwright.engine.launch.worker_process import EXIT_BROKEN

TICK_S = 0.1
PREPARATION_S = 180.0
"""Seconds that an agent may take to import torch, perhaps from a slow network disk, and says nothing meanwhile."""
KILL_S = 5.0
"""Seconds in which a node is to confirm the end of a worker; its connection is closed then, which ends it too."""
MOST_STRANGERS = 64
"""Connections at a time that have not proved yet that they belong to the run; the oldest makes room for a new one."""
MOST_PER_ADDRESS = 16
"""The same for those from one address, so that one machine cannot hold up the others."""
MOST_AT_ONCE = 8
"""Connections that are accepted before what has come over others is read."""
DEAF_S = 1.0
"""Seconds in which no connections are accepted after the system had no room for one, such as no descriptors."""


class RemoteWorker:
    """Handle of a worker on a node. Its reports come out of a pipe of this process."""

    memory_ran_out = False

    def __init__(self, rank: int, node: "Node", nodes: "Nodes") -> None:
        self.rank = rank
        self.pid = 0
        self.cause = ""
        self._node = node
        self._nodes = nodes
        self._ended: int | None = None
        self.reports, self._writing = os.pipe()
        widen_pipe(self._writing)
        do_not_wait(self._writing)
        self._backlog = bytearray()

    @property
    def host(self) -> str:
        """Return the name of its host."""
        return self._node.host

    def poll(self) -> int | None:
        """Return the exit code, or None while the worker runs. A lost worker counts as broken."""
        return self._ended

    def why_lost(self) -> str:
        """Return why its node cannot be reached any more; empty while it can."""
        return self._node.lost if self.cause == "lost" else ""

    def why_silent(self) -> str:
        """Return the state of a worker that gives no sign of life: its node does."""
        return "it hangs, or is paused, and its host answers"

    def send_request(self, request: Mapping[str, Any]) -> None:
        """Send a request. Does nothing if the worker has ended."""
        self._nodes.post(self._node, FrameKind.REQUEST, self.rank, f"{json.dumps(request)}\n".encode())

    def kill(self) -> None:
        """End the worker and wait until its node confirms that; a node that does not is left."""
        if self._ended is None:
            self._nodes.post(self._node, FrameKind.KILL, self.rank)
            if not self._nodes.wait_for(lambda: self._ended is not None, KILL_S):
                self._nodes.leave(self._node, "it does not end its workers")
                self._nodes.wait_for(lambda: self._ended is not None, KILL_S)

    def close(self) -> None:
        """Close the coordinator's end of the pipe."""
        os.close(self.reports)

    def receive(self, data: bytes) -> None:
        """Pass on reports. Called by the thread of the connections, which never waits for a reader."""
        self._backlog += data
        try:
            while self._backlog:
                del self._backlog[: os.write(self._writing, self._backlog)]
        except BlockingIOError:
            pass
        except OSError:  # the coordinator reads no more
            self._backlog.clear()
        if self._ended is not None and not self._backlog and self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    def end(self, code: int, cause: str = "") -> None:
        """Record the end, after the last report; the pipe is closed once all reports are in it. Called by the thread
        of the connections."""
        if self._ended is None:
            self._ended, self.cause = code, cause
            self.receive(b"")

    @property
    def is_over(self) -> bool:
        """Return whether it has ended and all its reports are in the pipe."""
        return self._writing < 0


@dataclass(eq=False)
class Node:
    """An agent that has connected, with its workers by rank."""

    stream: Stream
    label: str = ""
    host: str = ""
    slots: int = 0
    is_ready: bool = False
    lost: str = ""
    """Why it cannot be reached any more, in words."""
    refused: str = ""
    """Why it cannot take part, in words."""
    bound: tuple[str, int] | None = None
    """Address and port of the rendezvous of the next attempt."""
    workers: dict[int, RemoteWorker] = field(default_factory=dict)
    heard_s: float = 0.0
    """When it was heard last, in seconds that this process was awake."""
    left: str = ""
    """Why the coordinator closes the connection, in words."""
    is_orphaned: bool = False
    """Whether what has started its agent is gone."""


@dataclass(eq=False)
class Stranger:
    """A connection that has not proved yet that it belongs to the run. `connection`: a copy, to shut it down with."""

    address: str
    connection: socket.socket


class Nodes:
    """All nodes of a run. What they are is changed by a thread of its own; `wait_for` waits for changes."""

    def __init__(
        self, address: str, token: bytes, tls: ssl.SSLContext | None, on_output: Callable[[bytes], None]
    ) -> None:
        """Listen on this address alone, at a port that the system chooses. `on_output` receives what workers print.

        Raises `OSError`.
        """
        self._token = token
        self._tls = tls
        self._on_output = on_output
        self._listener = socket.create_server((address, 0), backlog=1024)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self.all: list[Node] = []
        self._changed = threading.Condition()
        self._arrived: deque[Node] = deque()
        self._posted: deque[tuple[Node, FrameKind, int, bytes]] = deque()
        self._strangers: list[Stranger] = []
        """The oldest first."""
        self._deaf_until = 0.0
        self._wake_in, self._wake_out = os.pipe()
        do_not_wait(self._wake_in)
        do_not_wait(self._wake_out)
        self._is_closing = self._has_ended = False
        self._thread = threading.Thread(target=self._serve, name="nodes", daemon=True)
        self._thread.start()

    @property
    def live(self) -> list[Node]:
        """Return the nodes whose workers can be started, in the order of their labels."""
        with self._changed:
            nodes = [node for node in self.all if node.is_ready and not node.lost]
        return sorted(nodes, key=lambda node: (len(node.label), node.label))

    @property
    def num_coming_slots(self) -> int:
        """Return the number of workers that nodes will take which have connected and are not ready yet."""
        with self._changed:
            return sum(node.slots for node in self.all if not (node.is_ready or node.lost or node.refused))

    def wait_for(self, fact: Callable[[], object], patience_s: float) -> bool:
        """Wait until something is so, for a time. Returns whether it is."""
        with self._changed:
            return bool(self._changed.wait_for(fact, patience_s))

    def start(self, node: Node, rank: int, spec: Mapping[str, Any]) -> RemoteWorker:
        """Return a new worker of a node, which is being started."""
        worker = RemoteWorker(rank, node, self)
        with self._changed:
            node.workers[rank] = worker
            if node.lost:
                worker.end(EXIT_BROKEN, "lost")
        self.post(node, FrameKind.START, rank, json.dumps(spec).encode())
        return worker

    def post(self, node: Node, kind: FrameKind, rank: int = 0, payload: bytes = b"") -> None:
        """Send a frame to a node, soon."""
        self._posted.append((node, kind, rank, payload))
        self._wake()

    def leave(self, node: Node, why: str) -> None:
        """Close the connection to a node, which ends its workers."""
        node.left = why
        self.post(node, FrameKind.LEAVE)

    def dismiss(self, node: Node) -> None:
        """End an agent with its workers."""
        self.post(node, FrameKind.LEAVE)

    def close(self) -> None:
        """End all agents."""
        for node in self.live:
            self.dismiss(node)
        self._is_closing = True
        self._wake()
        self._thread.join(KILL_S)

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_out, b".")

    def _serve(self) -> None:
        """Serve all connections until the end of the run. The body of the thread."""
        hold_stop_signals()
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_in, selectors.EVENT_READ)
            last_tick, awake_s, next_beat_s = time.monotonic(), 0.0, 0.0
            while True:
                ready = {key.data for key, _ in selector.select(TICK_S)}
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake_in, 4096)
                now = time.monotonic()
                awake_s += min(now - last_tick, MAX_TICK_S)  # this process may have been paused
                last_tick = now
                is_beat = awake_s >= next_beat_s
                next_beat_s = awake_s + HEARTBEAT_S if is_beat else next_beat_s
                is_last = self._is_closing
                with self._changed:
                    self._welcome(selector)
                    concerned = self._send_posted()
                    for node in self.all if is_beat else {*concerned, *ready} - {None}:
                        if not node.lost:
                            self._attend(node, awake_s, selector, is_beat=is_beat)
                    for node in self.all:
                        if node.workers:
                            self._drain(node)
                    self._changed.notify_all()
                if is_last:
                    break
        self._listener.close()
        with self._changed:
            self._has_ended = True
            for stranger in list(self._strangers):
                self._drop(stranger)
            while self._arrived:  # proved itself as the run ended
                self._arrived.popleft().stream.close()
        for node in self.all:
            self._lose(node, "the run has ended")

    def _welcome(self, selector: selectors.BaseSelector) -> None:
        """Accept connections; each proves itself in a thread of its own, so that none holds up the others."""
        is_deaf = time.monotonic() < self._deaf_until
        if is_deaf == (self._listener in selector.get_map()):
            selector.unregister(self._listener) if is_deaf else selector.register(self._listener, selectors.EVENT_READ)
        try:
            for _ in range(0 if is_deaf else MOST_AT_ONCE):
                connection, address = self._listener.accept()
                self._let_in(connection, str(address[0]))
        except BlockingIOError:
            pass
        except OSError:  # else it would be tried at once, again and again
            self._deaf_until = time.monotonic() + DEAF_S
        while self._arrived:
            node = self._arrived.popleft()
            self.all.append(node)
            selector.register(node.stream, selectors.EVENT_READ, node)

    def _let_in(self, connection: socket.socket, address: str) -> None:
        """Let a connection prove itself. Where there are too many, the oldest of those from this address is dropped,
        or of those from the address that has most. Raises `OSError` where the system has no room for it."""
        counts = Counter(stranger.address for stranger in self._strangers)
        if counts[address] >= MOST_PER_ADDRESS:
            self._drop(next(stranger for stranger in self._strangers if stranger.address == address))
        elif len(self._strangers) >= MOST_STRANGERS:
            crowded = max(counts, key=lambda source: counts[source])
            self._drop(next(stranger for stranger in self._strangers if stranger.address == crowded))
        try:
            stranger = Stranger(address, connection.dup())
            self._strangers.append(stranger)
            threading.Thread(target=self._prove, args=(connection, stranger), daemon=True).start()
        except (OSError, RuntimeError) as error:  # no descriptors, or no threads
            connection.close()
            raise OSError(str(error)) from error

    def _drop(self, stranger: Stranger) -> None:
        """End the connection of a stranger, and the wait of its thread."""
        self._strangers.remove(stranger)
        with contextlib.suppress(OSError):
            stranger.connection.shutdown(socket.SHUT_RDWR)

    def _prove(self, connection: socket.socket, stranger: Stranger) -> None:
        stream = None
        with contextlib.suppress(StreamLostError):
            stream = accept(connection, self._token, self._tls)
        with self._changed:
            if stranger in self._strangers:
                self._strangers.remove(stranger)
            if stream is not None and self._has_ended:
                stream.close()
            elif stream is not None:
                self._arrived.append(Node(stream))
        stranger.connection.close()
        self._wake()

    def _send_posted(self) -> set[Node]:
        """Append posted frames to what is to be sent; return the nodes that they go to."""
        concerned = set()
        while self._posted:
            node, kind, rank, payload = self._posted.popleft()
            concerned.add(node)
            if not node.lost:
                node.stream.put(kind, rank, payload)
        return concerned

    def _attend(self, node: Node, awake_s: float, selector: selectors.BaseSelector, *, is_beat: bool) -> None:
        """Read and write what there is of one connection."""
        try:
            if node.left:
                raise StreamLostError(node.left)
            frames = node.stream.read()
            for frame in frames:
                self._take(node, frame)
            node.heard_s = awake_s if frames or not node.heard_s else node.heard_s
            limit_s = LINK_SILENCE_S if node.is_ready else PREPARATION_S
            if awake_s - node.heard_s > limit_s:
                raise StreamLostError(f"it has given no sign of life for {limit_s:.0f} seconds")
            if is_beat:
                node.stream.put(FrameKind.ALIVE)
            node.stream.flush()
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if node.stream.backlog else 0)
            if selector.get_key(node.stream).events != events:
                selector.modify(node.stream, events, node)
        except StreamLostError as error:
            with contextlib.suppress(KeyError, ValueError):
                selector.unregister(node.stream)
            self._lose(node, str(error))

    def _drain(self, node: Node) -> None:
        """Pass on reports that a pipe had no room for, and forget the workers that are over."""
        for rank, worker in list(node.workers.items()):
            worker.receive(b"")
            if worker.is_over:
                del node.workers[rank]

    def _take(self, node: Node, frame: Frame) -> None:
        """Take in a frame of a node."""
        worker = node.workers.get(frame.rank)
        if frame.kind == FrameKind.REPORT:
            if worker is not None:
                worker.receive(frame.payload)
            return
        if frame.kind == FrameKind.OUTPUT:
            self._on_output(frame.payload)
            return
        values = json.loads(frame.payload) if frame.payload else {}
        match frame.kind:
            case FrameKind.HELLO:
                node.host, node.slots, node.label = str(values["host"]), int(values["slots"]), str(values["label"])
            case FrameKind.READY:
                node.is_ready = True
            case FrameKind.REFUSED:
                node.refused = str(values["cause"])
            case FrameKind.ORPHANED:
                node.is_orphaned = True
            case FrameKind.BOUND:
                node.bound = (str(values["host"]), int(values["port"]))
            case FrameKind.STARTED if worker is not None:
                worker.pid = int(values["pid"])
            case FrameKind.ENDED if worker is not None:
                worker.memory_ran_out = bool(values.get("memory_ran_out"))
                worker.end(int(values["code"]), str(values.get("cause", "")))

    def _lose(self, node: Node, why: str) -> None:
        """Count a node as lost, and all its workers."""
        if not node.lost:
            node.lost = f"its host {node.host or 'unknown'} cannot be reached: {why}"
            node.stream.close()
            for worker in node.workers.values():
                worker.end(EXIT_BROKEN, "lost")
