"""From Train pressed to the first step, with the window's warm engine.

    python -m benchmarks.pressed [rounds]

What the window does: an engine that serves has imported all it needs; the project is handed to it, and the run's log
tells when the first step was made. Beside it stands the start of a bare Python, since a busy machine delays both.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peer import ROOT, prepare
from netwright.engine.runs.events import Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader

EPOCHS = 2


def ask(engine: "subprocess.Popen[str]", request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write(json.dumps(request) + "\n")
    engine.stdin.flush()
    answer: dict[str, Any] = json.loads(engine.stdout.readline())
    return answer


def once(project: Path, folder: Path) -> float:
    """Seconds of one run until its first step was made."""
    command = [sys.executable, "-m", "netwright.engine", "serve"]
    engine = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with engine:
        assert engine.stdout is not None
        engine.stdout.readline()  # it is ready
        time.sleep(1.0)  # idle: it begins to import the rest, and answers when it has
        ask(engine, {"id": 1, "do": "alive", "with": {"project_path": str(project)}})
        given = {"project": project.read_text("utf-8"), "project_path": str(project), "run_dir": str(folder)}
        began = time.time()
        ask(engine, {"id": 2, "do": "train", "with": given})
        reader, found = EventReader(RunFolder(folder), 2**24), None
        while found is None:
            time.sleep(0.005)
            found = next((event.time for event in reader.read() if isinstance(event, Points)), None)
        engine.wait()
    return found - began


def bare() -> float:
    """Seconds of a Python that does nothing."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def main(rounds: int) -> None:
    """In turns."""
    times: list[float] = []
    starts: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        project = prepare("W2", EPOCHS, 1, 1, Path(name))
        for number in range(rounds):
            times.append(once(project, Path(name) / f"run{number}"))
            starts.append(bare())
            print(f"{times[-1]:.3f} s; a bare Python {starts[-1]:.3f} s", flush=True)
    print(f"median {median(times):.3f} s, fastest {min(times):.3f} s; a bare Python {median(starts):.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
