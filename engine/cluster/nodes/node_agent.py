"""The agent of a node of a cluster: starts workers there for a coordinator elsewhere.

    python -m netwright.engine.core.child netwright.engine.cluster.nodes.node_agent

The first line of its standard input is an `Offer` as JSON, which has the token of the run: a command line would show it
to others. It ends, with its workers, when that input is closed, unless the offer says that it stays, and when the
coordinator says so. When the connection breaks it ends its workers, and itself if the coordinator cannot be reached
again soon. Between agent and workers all is as on one machine: pipes, forks and parent-death signals.
"""

import contextlib
import json
import os
import select
import selectors
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.engine.cluster.nodes.interfaces import address_of, interface_with
from netwright.engine.cluster.nodes.offer import LINK_SILENCE_S, Offer, folder_problem
from netwright.engine.cluster.nodes.stream import FrameKind, Stream, StreamLostError, connect
from netwright.engine.core.errors import EXIT_DONE, EXIT_RUN_FAILED, RunError, UserError
from netwright.engine.core.platform import TERMINAL_SIGNALS, ignore_signals, out_of_memory_kills
from netwright.engine.core.platform_files import do_not_wait, path_of_descriptor
from netwright.engine.hardware.threads import calm_threads
from netwright.engine.launch import worker_process
from netwright.engine.launch.channel import CHUNK_BYTES, HEARTBEAT_S, MAX_TICK_S
from netwright.engine.launch.local_launcher import preload
from netwright.engine.launch.worker_process import WorkerProcess
from netwright.engine.parallel.worker_spec import WorkerSpec

ENDS_AT_ONCE = True
TICK_S = 0.1
AGAIN_S = 10.0
"""Seconds in which it tries to reach the coordinator again."""
REFUSED_S = 2.0
"""The same where its host answers that nothing listens there: the coordinator has ended then."""
AGAIN_APART_S = 0.2
MOST_BACKLOG = 2**23
"""Bytes that wait for the coordinator above which no more reports are read: the workers wait then."""


class NodeAgent:
    """Starts workers as the coordinator asks, and passes on reports, requests and ends."""

    def __init__(self, offer: Offer, stream: Stream, parent: int) -> None:
        """`parent`: the descriptor whose end is the end of this agent."""
        self._offer = offer
        self._stream = stream
        self._parent = parent
        self._interface = offer.interface or interface_with(stream.own_address)
        self._address = address_of(self._interface)
        self._work: Callable[[WorkerSpec], int] = lambda spec: worker_process.EXIT_BROKEN
        self._workers: dict[int, WorkerProcess] = {}
        self._listener: socket.socket | None = None
        self._selector = selectors.DefaultSelector()
        self._output, name = tempfile.mkstemp(prefix="netwright-node-", suffix=".log")
        os.unlink(name)  # an agent that is killed leaves nothing behind
        self._printed = Path(path_of_descriptor(self._output))
        self._kills_before = out_of_memory_kills()
        self._is_leaving = self._is_orphaned = False

    def run(self) -> int:
        """Serve the coordinator until one of the two ends. Returns an exit code."""
        try:
            self._greet()
            if refused := folder_problem(self._offer):
                raise RunError(refused)
            self._work = preload(with_compiler=self._offer.with_compiler)
            self._selector.register(self._parent, selectors.EVENT_READ)
            while not self._is_leaving:
                try:
                    self._say(FrameKind.READY)
                    self._serve()
                except StreamLostError:
                    self._end_workers()
                    self._connect_again()
            return EXIT_DONE
        except UserError as error:
            self._say(FrameKind.REFUSED, cause=str(error))
            self._stream.flush()
            return EXIT_RUN_FAILED
        except StreamLostError as error:
            print(f"The coordinator was lost: {error}.", file=sys.stderr)
            return EXIT_RUN_FAILED
        finally:
            self._end_workers()
            self._stream.close()

    def _greet(self) -> None:
        self._say(FrameKind.HELLO, host=socket.gethostname(), slots=self._offer.slots, label=self._offer.label)
        self._stream.flush()

    def _end_workers(self) -> None:
        """End all workers, whose last reports nobody wants, and close the port of the next ones."""
        for worker in self._workers.values():
            with contextlib.suppress(KeyError):  # it has closed its end
                self._selector.unregister(worker.reports)
            worker.kill()
            worker.close()
        self._workers = {}
        self._forget_port()

    def _connect_again(self) -> None:
        """Connect as a node without workers, which has torch imported already. Raises `StreamLostError`."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(self._stream)
        self._stream.close()
        begin = time.monotonic()
        while not self._is_leaving:
            try:
                self._stream = connect_to(self._offer)
                self._greet()
                if self._is_orphaned:
                    self._say(FrameKind.ORPHANED)
                return
            except StreamLostError as error:
                limit_s = REFUSED_S if isinstance(error.__cause__, ConnectionRefusedError) else AGAIN_S
                if time.monotonic() - begin > limit_s:
                    raise
            self._look_at_parent(AGAIN_APART_S)

    def _look_at_parent(self, wait_s: float) -> None:
        """Notice the end of what has started this agent: its input is closed."""
        if self._is_orphaned:
            time.sleep(wait_s)
        elif select.select([self._parent], [], [], wait_s)[0] and not os.read(self._parent, CHUNK_BYTES):
            self._is_orphaned, self._is_leaving = True, not self._offer.stays
            self._selector.unregister(self._parent)
            self._say(FrameKind.ORPHANED)

    def _serve(self) -> None:
        """Pass on what comes, until the end. Raises `StreamLostError`."""
        self._selector.register(self._stream, selectors.EVENT_READ)
        last_tick, unheard_s, next_beat = time.monotonic(), 0.0, 0.0
        while not self._is_leaving:
            for key, _ in self._selector.select(TICK_S):
                if key.data is not None and self._stream.backlog < MOST_BACKLOG:
                    self._pass_on_reports(key.data)
            self._look_at_parent(0.0)
            now = time.monotonic()
            unheard_s += min(now - last_tick, MAX_TICK_S)  # this process may have been paused
            last_tick = now
            frames = self._stream.read()
            unheard_s = 0.0 if frames else unheard_s
            for frame in frames:
                self._obey(frame.kind, frame.rank, frame.payload)
            self._find_ended()
            if unheard_s > LINK_SILENCE_S:
                raise StreamLostError(f"it has given no sign of life for {LINK_SILENCE_S:.0f} seconds")
            if now >= next_beat:
                next_beat = now + HEARTBEAT_S
                self._stream.put(FrameKind.ALIVE)
            self._stream.flush()
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._stream.backlog else 0)
            self._selector.modify(self._stream, events)
            if self._stream.backlog >= MOST_BACKLOG:
                select.select([self._stream], [self._stream], [], TICK_S)  # the pipes are ready all the time

    def _obey(self, kind: FrameKind, rank: int, payload: bytes) -> None:
        """Do what a frame asks for."""
        match kind:
            case FrameKind.BIND:
                self._bind()
            case FrameKind.START:
                self._start(rank, json.loads(payload))
            case FrameKind.REQUEST if (worker := self._workers.get(rank)) is not None:
                with contextlib.suppress(OSError):  # it has ended
                    os.write(worker.requests, payload)
            case FrameKind.KILL if (worker := self._workers.get(rank)) is not None:
                worker.kill()
            case FrameKind.LEAVE:
                self._is_leaving = True

    def _bind(self) -> None:
        """Open a port on the interface of the cluster alone, which the first worker takes over."""
        self._forget_port()
        self._listener = socket.create_server((self._address, 0), backlog=1024)
        self._say(FrameKind.BOUND, host=self._address, port=self._listener.getsockname()[1])

    def _forget_port(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._listener = None

    def _start(self, rank: int, fields: dict[str, Any]) -> None:
        """Start a worker, or say why that was not possible."""
        spec = replace(WorkerSpec(**fields), interface=self._interface)
        if self._listener is not None and rank == 0:
            spec = replace(spec, listener=self._listener.fileno())
        try:
            worker = worker_process.start(spec, self._work, log=self._printed)
        except RunError as error:
            self._say(FrameKind.ENDED, rank, code=worker_process.EXIT_BROKEN, cause=str(error))
            return
        if rank == 0:
            self._forget_port()
        self._workers[rank] = worker
        do_not_wait(worker.reports)
        self._selector.register(worker.reports, selectors.EVENT_READ, rank)
        self._say(FrameKind.STARTED, rank, pid=worker.pid)

    def _pass_on_reports(self, rank: int) -> None:
        worker = self._workers[rank]
        try:
            data = os.read(worker.reports, CHUNK_BYTES)
        except BlockingIOError:
            return
        if data:
            self._stream.put(FrameKind.REPORT, rank, data)
        else:
            self._selector.unregister(worker.reports)

    def _find_ended(self) -> None:
        """Report the workers that have ended, after all that they said and printed."""
        open_pipes = {key.data for key in self._selector.get_map().values()}
        ended = [rank for rank, worker in self._workers.items() if rank not in open_pipes and worker.poll() is not None]
        while printed := os.read(self._output, CHUNK_BYTES):
            self._stream.put(FrameKind.OUTPUT, 0, printed)
        for rank in ended:
            worker = self._workers.pop(rank)
            worker.close()
            ran_out = out_of_memory_kills() > self._kills_before
            self._say(FrameKind.ENDED, rank, code=worker.poll(), memory_ran_out=ran_out)

    def _say(self, kind: FrameKind, rank: int = 0, **values: Any) -> None:
        self._stream.put(kind, rank, json.dumps(values).encode())


def connect_to(offer: Offer) -> Stream:
    """Connect to the coordinator of an offer. Raises `StreamLostError`."""
    return connect((offer.host, offer.port), bytes.fromhex(offer.token), offer.certificate)


def _connect_soon(offer: Offer) -> Stream:
    """Connect to the coordinator of an offer, which may have dropped this connection among too many. Raises
    `StreamLostError`."""
    begin = time.monotonic()
    while True:
        try:
            return connect_to(offer)
        except StreamLostError:
            if time.monotonic() - begin > REFUSED_S:
                raise
        time.sleep(AGAIN_APART_S)


def main(arguments: Sequence[str] = ()) -> int:
    """Serve the coordinator that the standard input names; return the exit code."""
    ignore_signals(TERMINAL_SIGNALS)  # the coordinator decides
    parent = os.dup(0)
    line = b""
    while not line.endswith(b"\n"):
        if not (byte := os.read(parent, 1)):  # no further: what follows must show that the input is still open
            return EXIT_RUN_FAILED
        line += byte
    offer = Offer.read(line.decode())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    calm_threads()
    return serve_coordinator(offer, parent)


def serve_coordinator(offer: Offer, parent: int) -> int:
    """Serve the coordinator of an offer until one of the two ends; return the exit code. `parent`: the descriptor whose
    end is the end of this agent."""
    try:
        stream = _connect_soon(offer)
    except StreamLostError as error:
        name = socket.gethostname()
        print(f"{name} cannot reach the coordinator at {offer.host}:{offer.port}: {error}.", file=sys.stderr)
        return EXIT_RUN_FAILED
    try:
        return NodeAgent(offer, stream, parent).run()
    except UserError as error:
        print(error, file=sys.stderr)
        return EXIT_RUN_FAILED
