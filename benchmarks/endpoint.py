"""Requests per second of `endpoint`, beside plain FastAPI with ONNX Runtime on the same ONNX file.

    .venv/bin/python benchmarks/endpoint.py [--rounds 7] [--seconds 4] [--connections 1 16 64]

Trains a network on the digits for two epochs, exports it, and starts two servers: `netwright-engine endpoint`, and what
the documentation of FastAPI leads to, an `async def` with a model of pydantic that runs a session of ONNX Runtime with
its defaults and returns probabilities, without a token, limits or counts. Asks both in turns for one sample per
request, over so many open connections, and prints requests per second (median), the median of the ratios of the rounds,
and the time of the processor that a server takes per request, which other work on the machine changes less.
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
START_S = 120.0
PLAIN = """
import sys
import numpy as np, onnxruntime, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

session = onnxruntime.InferenceSession(sys.argv[1])
name = session.get_inputs()[0].name
app = FastAPI()

class Body(BaseModel):
    samples: list[list[list[list[float]]]]

@app.post("/predict")
async def predict(body: Body):
    (outputs,) = session.run(None, {name: np.asarray(body.samples, np.float32)})
    return {"predictions": [{"class": int(row.argmax()), "probabilities": row.tolist()} for row in outputs]}

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False, http="h11", loop="asyncio")
"""


def engine(*words: str) -> list[str]:
    """The command line of the engine."""
    return [sys.executable, "-m", "netwright.engine", *words]


def body() -> bytes:
    """One picture of a digit, as JSON."""
    import numpy as np

    image = np.load(ROOT / "resources" / "data" / "digits.npz")["images"][0]
    return json.dumps({"samples": [[image.astype(float).tolist()]]}).encode()


async def ask(port: int, request: bytes, connections: int, seconds: float) -> float:
    """Return the requests per second that are answered over so many connections."""
    count = 0

    async def client(until: float) -> None:
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head + await reader.read(1000)
            length = re.search(rb"content-length: (\d+)", head)
            assert length is not None
            await reader.readexactly(int(length[1]))
            count += 1
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(client(started + seconds) for _ in range(connections)))
    return count / (time.perf_counter() - started)


async def wait_for(port: int) -> None:
    """Wait until something listens."""
    until = time.monotonic() + START_S
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for words in (
            ("new", "digits"),
            ("train", "digits.netwright", "--set", "training.max_epochs=2", "--run-dir", "run"),
            ("export", "run", "-o", "digits.onnx"),
        ):
            subprocess.run(engine(*words), cwd=folder, check=True, capture_output=True)
        (folder / "plain.py").write_text(PLAIN)
        (folder / "token").write_text("a-token-of-the-benchmark")
        ours, theirs = 18_431, 18_432
        token = ["--token-file", "token", "--port", str(ours)]
        servers = [
            psutil.Popen(engine("endpoint", "digits.onnx", *token), cwd=folder, stdout=subprocess.DEVNULL),
            psutil.Popen([sys.executable, "plain.py", "digits.onnx", str(theirs)], cwd=folder),
        ]
        try:
            measure(dict(zip((ours, theirs), servers, strict=True)), arguments)
        finally:
            for server in servers:
                server.terminate()
                server.wait()


def measure(servers: dict[int, psutil.Popen], arguments: argparse.Namespace) -> None:
    """Ask both servers in turns, and print."""
    ours, theirs = servers
    data = body()
    head = "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer a-token-of-the-benchmark\r\nContent-Length: {len(data)}\r\n\r\n"
    request = head.encode() + data
    for port in (ours, theirs):
        asyncio.run(wait_for(port))
        asyncio.run(ask(port, request, 4, 1.0))
    for connections in arguments.connections:
        rates: dict[int, list[float]] = {ours: [], theirs: []}
        work: dict[int, list[float]] = {ours: [], theirs: []}
        for number in range(arguments.rounds):
            for port in (ours, theirs) if number % 2 else (theirs, ours):
                before = sum(servers[port].cpu_times()[:2])
                rates[port].append(asyncio.run(ask(port, request, connections, arguments.seconds)))
                spent = sum(servers[port].cpu_times()[:2]) - before
                work[port].append(spent / (rates[port][-1] * arguments.seconds))
        ratios = [one / other for one, other in zip(rates[ours], rates[theirs], strict=True)]
        times = [1e3 * statistics.median(work[port]) for port in (ours, theirs)]
        medians = [statistics.median(rates[port]) for port in (ours, theirs)]
        print(
            f"{connections} connections: endpoint {medians[0]:.0f}/s, plain {medians[1]:.0f}/s, "
            f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}); "
            f"processor {times[0]:.2f} and {times[1]:.2f} ms per request, ratio {times[1] / times[0]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
