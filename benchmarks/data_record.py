"""What `data.json` of a run costs, and dividing many samples.

    python benchmarks/data_record.py [--files 100000] [--samples 1000000] [--rounds 5]

Small files in a hundred folders are recorded, and compared with the record later; each beside a bare loop that asks the
system for every file's size and time, in turns, as processor time and by the clock. The splits of many samples are
timed once per round, beside the random split.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from netwright.engine.data.loading.split import Division, Rule
from netwright.engine.runs.data_files import DataPlace
from netwright.engine.runs.data_record import DataRecord

FOLDERS = 100


def make_files(root: Path, count: int) -> None:
    """Write the files, of 800 bytes each."""
    content = os.urandom(800)
    for number in range(count):
        folder = root / f"class{number % FOLDERS:03d}"
        if number < FOLDERS:
            folder.mkdir()
        (folder / f"image_{number:06d}.jpg").write_bytes(content)


def bare(root: Path) -> int:
    """Ask for size and time of all files, and do nothing with them."""
    return sum(1 for folder in os.scandir(root) for entry in os.scandir(folder.path) if entry.stat().st_mtime_ns)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return processor time and time by the clock, in seconds."""
    processor, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - processor, time.perf_counter() - clock


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        make_files(root, arguments.files)
        codes = bytes([0, 1, 2, 0]) * (arguments.files // 4)
        text = ""

        def write() -> None:
            nonlocal text
            record = DataRecord("images", (DataPlace.look("path", root, [".jpg"]),), "random", codes)
            text = json.dumps(record.write())

        def compare() -> None:
            assert not DataRecord.read(json.loads(text)).changes()

        ways: dict[str, Callable[[], object]] = {"bare loop": lambda: bare(root), "record": write, "compare": compare}
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, work in ways.items():
                taken[name].append(timed(work))
        print(f"{arguments.files:,} files, data.json of {len(text) / 2**20:.1f} MiB")
        for name, times in taken.items():
            ratio = statistics.median(a / b for (a, _), (b, _) in zip(times, taken["bare loop"], strict=True))
            processor, clock = (statistics.median(values) for values in zip(*times, strict=True))
            print(f"{name:12} processor {processor:6.3f} s, clock {clock:6.3f} s, {ratio:5.2f} times the bare loop")
    generator = np.random.default_rng(0)
    classes = generator.integers(0, 10, arguments.samples)
    few, many = (generator.integers(0, count, arguments.samples) for count in (1000, arguments.samples // 5))
    divisions = {
        "random": (Rule(), None),
        "k-fold": (Rule("k-fold"), None),
        "grouped, 1,000 groups": (Rule("grouped"), few),
        "grouped, 5 samples each": (Rule("grouped"), many),
        "ordered": (Rule("ordered", gap=10), many),
    }
    spent: dict[str, list[float]] = {name: [] for name in divisions}
    for _ in range(arguments.rounds):
        for name, (rule, keys) in divisions.items():
            division = Division(rule, classes, keys=keys)
            spent[name].append(timed(lambda division=division: division.numbers)[0])  # type: ignore[misc]
    print(f"{arguments.samples:,} samples divided, processor time")
    for name, seconds in spent.items():
        print(f"{name:24} {statistics.median(seconds):6.3f} s")


if __name__ == "__main__":
    main()
