"""What a run on many nodes costs: the coordinator's connections, rendezvous, checkpoints, and time lost to failures.

    python benchmarks/clusters.py --agents 1000 --seconds 10

Agents are ends of connections in one other process, without workers behind them: each says hello, starts the worker it
is asked for, then reports a heartbeat of it per second; the first one reports events, as the first worker of a run
does. Workers that find each other are threads of one process, each with a client of torch's store; with addresses as
gloo's, but no gloo. Files of checkpoints are written at the
same time by threads. Failures are drawn at random.
"""

import argparse
import contextlib
import datetime
import json
import multiprocessing
import os
import random
import resource
import selectors
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from netwright.engine.cluster.nodes.nodes import Nodes
from netwright.engine.cluster.nodes.stream import FrameKind, connect
from netwright.engine.core.text import format_duration
from netwright.engine.placement.recovery import RESTART_S, WORKER_HOURS, best_interval_s, lost_share
from netwright.engine.training.checkpoint_schedule import automatic_interval

TOKEN = bytes(32)
EVENT = b'{"event":{"kind":"points","split":"training","first_step":1,"steps_apart":1,"values":{"loss":[0.1]}}}\n'
ALIVE = b'{"alive":true}\n'
ROUND_S = 0.1
PATIENCE = datetime.timedelta(minutes=5)


def be_agents(port: int, count: int, events_per_s: int, ready: Connection) -> None:
    """Connect, and report until the process is ended."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * count + 100,) * 2)
    streams = [connect(("127.0.0.1", port), TOKEN, "") for _ in range(count)]
    for number, stream in enumerate(streams):
        hello = {"host": f"host-{number}", "slots": 1, "label": str(number)}
        stream.put(FrameKind.HELLO, 0, json.dumps(hello).encode())
        stream.put(FrameKind.READY)
        stream.flush()
    ready.send(None)
    turn, reporting = 0, False
    with selectors.DefaultSelector() as selector:
        for rank, stream in enumerate(streams):
            selector.register(stream, selectors.EVENT_READ, rank)
        due = time.monotonic()
        while True:
            for key, _ in selector.select(max(0.0, due - time.monotonic())):
                for frame in (stream := streams[key.data]).read():
                    if frame.kind == FrameKind.START:
                        stream.put(FrameKind.STARTED, frame.rank, b'{"pid": 7}')
                        reporting = True
                stream.flush()
            if time.monotonic() < due:
                continue
            due += ROUND_S
            turn += 1
            if reporting:
                streams[0].put(FrameKind.REPORT, 0, EVENT * int(events_per_s * ROUND_S))
            for rank in range(turn % 10, count, 10):  # a tenth of them each round: each once per second
                if reporting:
                    streams[rank].put(FrameKind.REPORT, rank, ALIVE)
                streams[rank].put(FrameKind.ALIVE)
                streams[rank].flush()


def measure_coordinator(agents: int, events: int, seconds: float) -> None:
    """Connect agents, start a worker on each, and take their reports."""
    nodes = Nodes("127.0.0.1", TOKEN, None, lambda words: None)
    ours, theirs = multiprocessing.Pipe()
    start, cpu = time.monotonic(), time.process_time()
    process = multiprocessing.get_context("fork").Process(
        target=be_agents, args=(nodes.port, agents, events, theirs), daemon=True
    )
    process.start()
    ours.recv()
    nodes.wait_for(lambda: sum(node.is_ready for node in nodes.all) == agents, 120)
    connected_s, connected_cpu_s = time.monotonic() - start, time.process_time() - cpu
    start = time.monotonic()
    workers = []
    for rank, node in enumerate(nodes.live):  # one after the other, as the launcher does
        workers.append(worker := nodes.start(node, rank, {}))
        nodes.wait_for(lambda worker=worker: worker.pid, 60)
    started_s = time.monotonic() - start
    start, cpu, received = time.monotonic(), time.process_time(), 0
    for worker in workers:
        os.set_blocking(worker.reports, False)
    while time.monotonic() - start < seconds:
        for worker in workers:
            with contextlib.suppress(BlockingIOError):
                received += os.read(worker.reports, 2**20).count(b"\n")
        time.sleep(ROUND_S)
    took = time.monotonic() - start
    lost = sum(bool(node.lost) for node in nodes.all)
    print(
        f"| {agents:,} | {connected_s:.1f} s | {connected_cpu_s:.1f} s | {started_s:.1f} s | {received / took:,.0f} | "
        f"{100 * (time.process_time() - cpu) / took:.0f} % | {lost} |",
        flush=True,
    )
    process.kill()
    nodes.close()


class CountedStore:
    """Torch's store, with a count of the requests and of the bytes of their values."""

    def __init__(self, port: int) -> None:
        from torch.distributed import TCPStore

        self._store = TCPStore("127.0.0.1", port, None, False, timeout=PATIENCE)
        self.requests = self.bytes = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        def counted(*arguments: Any) -> Any:
            self.requests += 1
            answer = method(*arguments)
            values = [*arguments[1:], *(answer if isinstance(answer, list) else [answer])]
            self.bytes += sum(len(value) for value in values if isinstance(value, bytes | str))
            return answer

        return counted


def measure_rendezvous(world: int) -> None:
    """Let so many workers, a thread each, find each other through the store of torch as those of a run do: all are
    here, each has the address that gloo gives it (154 bytes, and 8 for each worker) and those of all others, no
    connection is of another program, all leave."""
    from torch.distributed import TCPStore

    from netwright.engine.parallel.process_group import ends_sum, ends_total
    from netwright.engine.parallel.rendezvous import AddressStore, Exchange

    server = TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
    stores = [CountedStore(server.port) for _ in range(world)]
    numbers = b"".join(number.to_bytes(8, "little") for number in range(world))

    def one(rank: int) -> None:
        exchange = Exchange(stores[rank], rank, world, PATIENCE)
        secret = exchange.agree("here", "", lambda _: os.urandom(32))
        view = AddressStore(exchange)
        view.set(f"cpu/0/{rank}", random.Random(rank).randbytes(154) + numbers)
        if rank == world - 1:  # what all workers would unpack at the same time does not fit in one process
            began = time.thread_time()
            assert view.get("cpu/0/0")[154:] == numbers
            unpacking_s.append(time.thread_time() - began)
            del view
        assert not any(exchange.agree("ends", ends_sum((), secret), ends_total))
        exchange.leave(PATIENCE)

    unpacking_s: list[float] = []
    threading.stack_size(2**18)
    start, cpu = time.monotonic(), time.process_time()
    with ThreadPoolExecutor(world) as pool:
        list(pool.map(one, range(world)))
    took, cpu = time.monotonic() - start, time.process_time() - cpu
    requests, moved = sum(store.requests for store in stores), sum(store.bytes for store in stores)
    print(
        f"| {world:,} | {took:.1f} s | {cpu:.1f} s | {requests:,} | {moved / 2**20:,.1f} MB | {unpacking_s[0]:.3f} s |",
        flush=True,
    )


def measure_writing(writers: int, megabytes: int, folder: Path) -> None:
    """Write a file per worker at the same time, flushed to the disk, as workers of sharded checkpoints do."""
    content = os.urandom(2**20)

    def one(number: int) -> None:
        with open(folder / f"{number}", "wb") as file:
            for _ in range(megabytes // writers):
                file.write(content)
            file.flush()
            os.fsync(file.fileno())

    start = time.monotonic()
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(one, range(writers)))
    took = time.monotonic() - start
    print(f"| {writers} | {megabytes // writers * writers / took:,.0f} MB/s |", flush=True)
    for number in range(writers):
        (folder / f"{number}").unlink()


def simulated_loss(interval_s: float, checkpoint_s: float, mtbf_s: float, failures: int = 4000) -> float:
    """Return the share of time that is lost until so many failures have come, drawn at random."""
    draw = random.Random(7)
    useful_s = total_s = 0.0
    for _ in range(failures):
        alive_s = draw.expovariate(1 / mtbf_s)
        useful_s += interval_s * (alive_s // (interval_s + checkpoint_s))
        total_s += alive_s
        while (restart_s := draw.expovariate(1 / mtbf_s)) < RESTART_S:  # it fails again before it has started
            total_s += restart_s
        total_s += RESTART_S
    return 1 - useful_s / total_s


def measure_failures() -> None:
    """Print what is lost with the interval that `advise` recommends, with others, and with `auto` after a day."""
    print("| workers | checkpoint | advised | lost, formula | simulated | at half | at twice | at 4 times | auto |")
    print("|---|---|---|---|---|---|---|---|---|")
    for workers in (8, 100, 1000):
        mtbf_s = WORKER_HOURS * 3600 / workers
        for checkpoint_s in (1.0, 30.0, 300.0):
            best = best_interval_s(checkpoint_s, mtbf_s)
            auto = automatic_interval(checkpoint_s, 86_400.0, 86_400.0)
            lost = [simulated_loss(factor * best, checkpoint_s, mtbf_s) for factor in (1, 0.5, 2, 4)]
            lost.append(simulated_loss(auto, checkpoint_s, mtbf_s))
            print(
                f"| {workers:,} | {checkpoint_s:g} s | {format_duration(best)} | "
                f"{100 * lost_share(best, checkpoint_s, mtbf_s):.2f} % | "
                + " | ".join(f"{100 * share:.2f} %" for share in lost)
                + f" ({format_duration(auto)}) |",
                flush=True,
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--events", type=int, default=1000, help="events per second of the first worker")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--megabytes", type=int, default=256, help="bytes of a checkpoint")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * asked.agents + 100,) * 2)
    print("| agents | connected | processor | workers started | reports per second | processor | nodes lost |")
    print("|---|---|---|---|---|---|---|")
    for agents in sorted({max(1, asked.agents // 10), asked.agents}):
        measure_coordinator(agents, asked.events, asked.seconds)
    print("\n| workers | rendezvous | processor | requests | values | unpacking by each |\n|---|---|---|---|---|---|")
    for world in sorted({4, 64, *(asked.agents // part for part in (16, 4, 1))}):
        measure_rendezvous(world)
    print("\n| writers | checkpoint bandwidth |\n|---|---|")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for writers in (1, 2, 4, 8):
            measure_writing(writers, asked.megabytes, Path(folder))
    print()
    measure_failures()


if __name__ == "__main__":
    main()
