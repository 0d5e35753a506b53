"""How long the window takes to appear, beside a bare PySide6 window: fresh processes, interleaved, medians.

    .venv/bin/python benchmarks/startup.py [--rounds 7]

Seconds count from the start of the process, as the kernel tells. The budget of the design: under 3.5 times the bare
window, under 110 MB.
"""

import argparse
import json
import os
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
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    print(json.dumps({"seconds_to_window": age, "memory_bytes": pages * os.sysconf("SC_PAGE_SIZE")}))
    application.quit()

application = QApplication([])
window = Window()
window.resize(1440, 900)
window.show()
application.exec()
"""


def measure(arguments: list[str]) -> tuple[float, float]:
    """Seconds to the window and megabytes of one start."""
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second start finds modules compiled
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    return report["seconds_to_window"], report["memory_bytes"] / 1e6


def main() -> int:
    """Print seconds, ratio and memory; the exit code says whether the budget is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    starts = {"bare window": ["-c", BARE], "netwright": ["-m", "app", "--startup-report"]}
    for arguments in starts.values():
        measure(arguments)  # files come into the page cache, modules are compiled
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in starts}
    for _ in range(rounds):
        for name, arguments in starts.items():
            found[name].append(measure(arguments))
    seconds = {name: statistics.median(s for s, _ in values) for name, values in found.items()}
    memory = {name: statistics.median(m for _, m in values) for name, values in found.items()}
    for name in starts:
        spread = [s for s, _ in found[name]]
        print(f"{name:12} {seconds[name]:.3f} s ({min(spread):.3f} to {max(spread):.3f})   {memory[name]:.0f} MB")
    ratio = seconds["netwright"] / seconds["bare window"]
    print(f"ratio        {ratio:.2f} (budget {RATIO}), memory budget {MEMORY_MB} MB, medians of {rounds}")
    return 0 if ratio < RATIO and memory["netwright"] < MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
