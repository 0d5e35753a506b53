"""What a coordinator takes for many nodes: connections, heartbeats and events over loopback.

    python benchmarks/clusters.py --agents 1000 --seconds 10

Agents are ends of connections in one other process, without workers behind them: each says hello, then reports a
heartbeat of its worker per second; the first one reports events, as the first worker of a run does.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import time
from multiprocessing.connection import Connection

from engine.launch.remote.nodes import Nodes
from engine.launch.remote.stream import FrameKind, connect

TOKEN = bytes(32)
EVENT = b'{"event":{"kind":"points","split":"training","first_step":1,"steps_apart":1,"values":{"loss":[0.1]}}}\n'
ALIVE = b'{"alive":true}\n'
ROUND_S = 0.1


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
    turn = 0
    while True:
        start = time.monotonic()
        streams[0].put(FrameKind.REPORT, 0, EVENT * int(events_per_s * ROUND_S))
        for rank in range(turn % 10, count, 10):  # a tenth of them each round: each once per second
            streams[rank].put(FrameKind.REPORT, rank, ALIVE)
            streams[rank].put(FrameKind.ALIVE)
            streams[rank].read()
            streams[rank].flush()
        turn += 1
        time.sleep(max(0.0, ROUND_S - (time.monotonic() - start)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--events", type=int, default=1000, help="events per second of the first worker")
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * asked.agents + 100,) * 2)
    nodes = Nodes("127.0.0.1", TOKEN, None, lambda words: None)
    ours, theirs = multiprocessing.Pipe()
    start, cpu = time.monotonic(), time.process_time()
    process = multiprocessing.get_context("fork").Process(
        target=be_agents, args=(nodes.port, asked.agents, asked.events, theirs), daemon=True
    )
    process.start()
    ours.recv()
    nodes.wait_for(lambda: sum(node.is_ready for node in nodes.all) == asked.agents, 120)
    print(
        f"{asked.agents:,} agents connected in {time.monotonic() - start:.1f} s, "
        f"{time.process_time() - cpu:.1f} s of the coordinator's processor"
    )
    workers = [nodes.start(node, rank, {}) for rank, node in enumerate(nodes.live)]
    start, cpu, received = time.monotonic(), time.process_time(), 0
    while time.monotonic() - start < asked.seconds:
        for worker in workers:
            os.set_blocking(worker.reports, False)
            with contextlib.suppress(BlockingIOError):
                received += os.read(worker.reports, 2**20).count(b"\n")
        time.sleep(ROUND_S)
    took = time.monotonic() - start
    lost = sum(bool(node.lost) for node in nodes.all)
    print(
        f"{received / took:,.0f} reports per second, {lost} nodes lost, "
        f"{100 * (time.process_time() - cpu) / took:.0f} % of a core"
    )
    process.kill()
    nodes.close()


if __name__ == "__main__":
    main()
