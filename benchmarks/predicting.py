"""Memory and rate of `predict` over a folder of many pictures, and the time from a change to its answer in the window.

    .venv/bin/python benchmarks/predicting.py [--files 100000] [--every 5] [--strokes 40]

Trains a network on the digits for a few epochs, writes so many PNG files of 28 × 28 pixels to a temporary folder, and
runs `netwright-engine predict RUN FOLDER --csv`. Prints the resident memory every few seconds, its largest value in the
first and the last third of the run, and files per second. Then opens the Predict page off screen with a server of its
own, draws strokes one after the other, and prints the milliseconds from each to its answer on the screen (median,
longest): 20 of them are the pause after which a change is asked about.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
PATIENCE_S = 120.0


def engine(*arguments: str) -> list[str]:
    """The command line of the engine."""
    return [sys.executable, "-m", "netwright.engine", *arguments]


def write_pictures(folder: Path, count: int) -> None:
    """Write digits as files, 10,000 per folder."""
    import numpy as np
    from PIL import Image

    known = np.load(ROOT / "resources" / "data" / "digits.npz")["images"]
    for number in range(count):
        place = folder / f"{number // 10_000:03d}"
        if number % 10_000 == 0:
            place.mkdir(parents=True)
        levels = (known[number % len(known)] * (255 / 16)).astype(np.uint8)
        Image.fromarray(levels).resize((28, 28)).save(place / f"{number:06d}.png", compress_level=1)


def measure_folder(run: Path, folder: Path, count: int, every_s: float) -> None:
    """Predict all files, and print memory and rate."""
    out = folder.parent / "answers.csv"
    started = time.perf_counter()
    process = psutil.Popen(engine("predict", str(run), str(folder), "--csv", "-o", str(out)), cwd=ROOT)
    memory: list[float] = []
    while process.poll() is None:
        time.sleep(every_s)
        try:
            now = process.memory_info().rss / 2**20
        except psutil.Error:
            break
        if not now:  # it has ended
            break
        memory.append(now)
        print(f"  {time.perf_counter() - started:6.0f} s  {memory[-1]:6.0f} MiB")
    seconds = time.perf_counter() - started
    third = max(1, len(memory) // 3)
    first, last = max(memory[:third]), max(memory[-third:])
    print(f"{count:,} files in {seconds:.0f} s: {count / seconds:,.0f} per second; exit code {process.wait()}")
    print(f"memory, largest: first third {first:.0f} MiB, last third {last:.0f} MiB")


def measure_window(run: Path, strokes: int) -> None:
    """Draw strokes on the Predict page, and print the time to their answers."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QPointF
    from PySide6.QtWidgets import QApplication

    from netwright.app.analysis.predict_page import PredictPage
    from netwright.app.analysis.prediction_inputs import DrawingInput
    from netwright.app.processes import EngineServer

    app = QApplication([])
    server = EngineServer()
    shell: Any = SimpleNamespace(server=server, documents=SimpleNamespace(base=ROOT), hint=lambda text: None)
    page = PredictPage(shell)
    page.show()

    def wait(is_done: Any) -> None:
        deadline = time.perf_counter() + PATIENCE_S
        while not is_done():
            app.processEvents()
            time.sleep(0.0005)
            assert time.perf_counter() < deadline, page.message.text() or page.panel.hint.text()

    page.set_run(run)
    wait(lambda: page.record is not None)
    assert isinstance(page.sample, DrawingInput)
    taken = []
    for number in range(strokes):
        page.latency_ms = 0.0
        page.sample.pad.draw_to(QPointF(60 + 4 * number, 60 + 3 * number))
        wait(lambda: page.latency_ms > 0.0)
        taken.append(page.latency_ms)
    print(
        f"first answer {taken[0]:.0f} ms; then median {statistics.median(taken[1:]):.0f}, longest {max(taken[1:]):.0f}"
    )
    page.shutdown()
    server.close()


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--every", type=float, default=5.0)
    parser.add_argument("--strokes", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run, folder = Path(name) / "run", Path(name) / "files"
        project = ROOT / "resources" / "examples" / "digits.netwright"
        changes = ("--set", "environment.target=cpu", "--set", "training.max_epochs=4")
        train = engine("train", str(project), "--run-dir", str(run), *changes)
        subprocess.run(train, cwd=ROOT, check=True, capture_output=True)
        if arguments.strokes:
            measure_window(run, arguments.strokes)
        if arguments.files:
            write_pictures(folder, arguments.files)
            measure_folder(run, folder, arguments.files, arguments.every)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
