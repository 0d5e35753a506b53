"""How soon `serve` answers a light request while it reads a large table, and the memory of its processes.

    .venv/bin/python benchmarks/serving.py [--megabytes 300] [--tree ANOTHER_CHECKOUT ...]

Writes a table of numbers, asks for its facts, and asks a light request (`alive`) ten times per second until they come;
then starts a run of the digits. Prints the latency of the light requests (median, longest), the seconds until the facts
came, those of a second question about the same table, those until a run began, and the memory of all processes of the
server before and after the table was read (proportional set size, MiB). Other checkouts are measured in turns.
"""

import argparse
import json
import os
import select
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from netwright.engine.core.process import module_command

ROOT = Path(__file__).parents[1]
COLUMNS = 10
EVERY_S = 0.1


class Server:
    """A server of one checkout."""

    def __init__(self, tree: Path) -> None:
        self._process = subprocess.Popen(
            module_command("netwright.engine.cli.serve"),
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._buffer = b""
        self.hear()

    def ask(self, number: int, do: str, values: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write((json.dumps({"id": number, "do": do, "with": values}) + "\n").encode())
        self._process.stdin.flush()

    def hear(self, patience_s: float = 600.0) -> dict[str, Any] | None:
        """The next message that is no progress; None where there is none in time."""
        assert self._process.stdout is not None
        deadline = time.perf_counter() + patience_s
        while True:
            while b"\n" not in self._buffer:
                if not select.select([self._process.stdout], [], [], max(0.0, deadline - time.perf_counter()))[0]:
                    return None
                self._buffer += os.read(self._process.stdout.fileno(), 2**16)
            line, _, self._buffer = self._buffer.partition(b"\n")
            message: dict[str, Any] = json.loads(line)
            if "progress" not in message:
                return message

    def memory(self) -> float:
        """Memory of the server and its children in MiB."""
        me = psutil.Process(self._process.pid)
        return sum(process.memory_full_info().pss for process in (me, *me.children(recursive=True))) / 2**20

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(tree: Path, table: Path, run_dir: Path) -> dict[str, float]:
    """Measure one server."""
    server = Server(tree)
    data = {"data": {"source": "table", "path": str(table)}, "base": str(table.parent)}
    digits = {"data": {"source": "digits"}, "base": str(table.parent)}
    server.ask(1, "inventory", {})
    server.hear()
    time.sleep(4.0)  # it warms up
    found = {"memory before": server.memory()}
    started = time.perf_counter()
    server.ask(2, "facts", data)
    number, asked, waits, is_read = 10, 0.0, [], False
    waiting: set[int] = set()
    while not is_read or waiting:
        if not is_read and not waiting:
            time.sleep(EVERY_S)
            number, asked = number + 1, time.perf_counter()
            waiting.add(number)
            server.ask(number, "alive", {"project_id": "none"})
        message = server.hear()
        assert message is not None
        if message["id"] == 2:
            found["facts s"], is_read = time.perf_counter() - started, True
            assert "result" in message, message
        else:
            waiting.discard(message["id"])
            waits.append((time.perf_counter() - asked) * 1000)
    found |= {"light ms, median": statistics.median(waits), "light ms, longest": max(waits)}
    started = time.perf_counter()
    server.ask(3, "facts", data)
    server.hear()
    found["facts again s"] = time.perf_counter() - started
    found["memory after"] = server.memory()
    text = (ROOT / "resources" / "examples" / "digits.netwright").read_text()
    started = time.perf_counter()
    server.ask(4, "train", {"project": text, "project_path": None, "run_dir": str(run_dir), **digits})
    message = server.hear()
    assert message is not None
    assert "result" in message, message
    found["run begun s"] = time.perf_counter() - started
    while not (run_dir / "result.json").exists():
        time.sleep(0.1)
    server.close()
    return found


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--megabytes", type=int, default=300)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--tree", type=Path, action="append", default=[])
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = os.environ["XDG_STATE_HOME"] = folder
        table = Path(folder) / "large.csv"
        line = ",".join(f"{i}.{i}{i}25" for i in range(COLUMNS)) + "\n"
        with table.open("w") as file:
            file.write(",".join(f"c{i}" for i in range(COLUMNS)) + "\n")
            for _ in range(given.megabytes * 2**20 // len(line) // 1000):
                file.write(line * 1000)
        trees = [ROOT, *given.tree]
        found: dict[Path, list[dict[str, float]]] = {tree: [] for tree in trees}
        for number in range(given.rounds):
            for place, tree in enumerate(trees):
                found[tree].append(measure(tree.absolute(), table, Path(folder) / f"run-{number}-{place}"))
        for tree, rounds in found.items():
            print(tree)
            for name in rounds[0]:
                print(f"  {name:20} {statistics.median(each[name] for each in rounds):10.3f}")


if __name__ == "__main__":
    main()
