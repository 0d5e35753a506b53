"""How long the window takes to appear, beside a bare PySide6 window: fresh processes, interleaved, medians.

    .venv/bin/python benchmarks/startup.py [--rounds 7]

Seconds count from the start of the process, as the kernel tells; in brackets the time of the processor, which other
work on the machine lengthens less. The budget of the design, for the start page: under 3.5 times the bare window, under
110 MB. A window that is given a project shows Design at once.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RATIO, MEMORY_MB = 3.5, 110
BARE = """
import json, os
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

class Window(QMainWindow):
    def paintEvent(self, event):
        QTimer.singleShot(0, report)

def report():
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    age = float(Path("/proc/uptime").read_text().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
    import psutil
    print(json.dumps({"seconds_to_window": age, "memory_bytes": psutil.Process().memory_info().rss}))
    application.quit()

application = QApplication([])
window = Window()
window.resize(1440, 900)
window.show()
application.exec()
"""


def measure(arguments: list[str]) -> tuple[float, float, float]:
    """Seconds to the window, megabytes, and seconds of the processor of one start and its end."""
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second start finds modules compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = json.loads(done.stdout)
    return report["seconds_to_window"], report["memory_bytes"] / 1e6, busy


def main() -> int:
    """Print seconds, ratio and memory; the exit code says whether the budget is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    shown = ["-m", "netwright.app", "--startup-report"]
    starts = {
        "bare window": ["-c", BARE],
        "netwright": shown,
        "with a project": [*shown, "resources/examples/digits.netwright"],
    }
    for arguments in starts.values():
        measure(arguments)  # files come into the page cache, modules are compiled
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in starts}
    for _ in range(rounds):
        for name, arguments in starts.items():
            found[name].append(measure(arguments))
    seconds, memory, busy = (
        {name: statistics.median(value[at] for value in values) for name, values in found.items()} for at in range(3)
    )
    for name in starts:
        times = [value[0] for value in found[name]]
        ratio, work = seconds[name] / seconds["bare window"], busy[name] / busy["bare window"]
        print(
            f"{name:15} {seconds[name]:.3f} s ({min(times):.3f} to {max(times):.3f}) {ratio:.2f} times  "
            f"[{busy[name]:.3f} s, {work:.2f} times]  {memory[name]:.0f} MB"
        )
    print(f"budget: {RATIO} times, {MEMORY_MB} MB; medians of {rounds}")
    ratio = seconds["netwright"] / seconds["bare window"]
    return 0 if ratio < RATIO and memory["netwright"] < MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
