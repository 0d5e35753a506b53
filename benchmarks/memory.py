"""The memory of all processes of a training together, beside a plain script's: W2 of the shared benchmark, one worker.

    python -m benchmarks.memory BENCH [rounds]

The folder is that of the shared benchmark. Memory is looked at five times per second in `/proc/*/smaps_rollup`, and the
highest sum counts. `Pss` shares out what several processes have in common, such as a forked worker and its coordinator,
so their sum is what they take together; `Rss` counts it for each; `Uss` leaves it out. `Anonymous` is `Pss` without
pages of files, which the system takes back as it needs them.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

from benchmarks.peer import ROOT, prepare

EPOCHS = 12
EVERY_S = 0.2
KINDS = {"Pss": ("Pss",), "Rss": ("Rss",), "Uss": ("Private_Clean", "Private_Dirty"), "Anonymous": ("Pss_Anon",)}


def of_process(pid: int) -> dict[str, float]:
    """In MiB; nothing of one that has gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
    except (OSError, ProcessLookupError):
        return dict.fromkeys(KINDS, 0.0)
    rows = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}
    return {kind: sum(rows[name] for name in names) for kind, names in KINDS.items()}


def highest(command: list[str]) -> tuple[dict[str, float], int]:
    """The largest sums over the process and all below it, and the largest number of them."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    most, count = dict.fromkeys(KINDS, 0.0), 0
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        seen = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                processes = [process.pid, *(child.pid for child in seen.children(recursive=True))]
            except psutil.NoSuchProcess:
                break
            each = [of_process(pid) for pid in processes]
            most = {kind: max(most[kind], sum(one[kind] for one in each)) for kind in KINDS}
            count = max(count, len(processes))
            time.sleep(EVERY_S)
    return most, count


def main(bench: Path, rounds: int) -> None:
    """In turns, medians."""
    found: dict[str, list[dict[str, float]]] = {"plain": [], "netwright": []}
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            project = prepare("W2", EPOCHS, 1, 1, Path(name))
            options = ["--workload", "W2", "--threads", "1", "--epochs", str(EPOCHS // 3)]
            commands = {
                "plain": [sys.executable, str(bench / "peers" / "plain.py"), *options],
                "netwright": [
                    sys.executable,
                    "-m",
                    "netwright.engine",
                    "train",
                    str(project),
                    "--run-dir",
                    f"{name}/run{number}",
                ],
            }
            for peer, command in commands.items():
                most, count = highest(command)
                found[peer].append(most)
                print(peer, f"{count} processes", {kind: round(value) for kind, value in most.items()}, flush=True)
    for kind in KINDS:
        plain, ours = (median(one[kind] for one in found[peer]) for peer in ("plain", "netwright"))
        print(f"{kind}: {ours:.0f} MiB of netwright, {plain:.0f} MiB of plain, ratio {ours / plain:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
