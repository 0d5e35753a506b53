"""Without a window: a folder of pictures becomes an answer on another machine, and a killed run goes on."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from netwright.engine.core.errors import EXIT_DONE
from netwright.engine.runs.folder import RunFolder
from tests.journeys.elsewhere import run_elsewhere
from tests.journeys.journey_files import flat_table, shape_pictures

pytestmark = [pytest.mark.journey, pytest.mark.timeout(600), pytest.mark.usefixtures("machine")]
PATIENCE_S = 300.0
ANSWER = """
import os, sys
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np, onnxruntime
from PIL import Image
session = onnxruntime.InferenceSession("shapes.onnx")
pixels = np.asarray(Image.open(sys.argv[1]).convert("RGB").resize((48, 48)), np.float32).transpose(2, 0, 1)[None]
print(session.run(None, {session.get_inputs()[0].name: pixels})[0].argmax())
"""


def engine(place: Path, *words: str, code: int = EXIT_DONE) -> subprocess.CompletedProcess[str]:
    """Run a command in the person's folder; it ends with this exit code, and no traceback."""
    command = [sys.executable, "-m", "netwright.engine", *words]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == code, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr
    return done


def test_pictures_become_a_file_that_answers_elsewhere(place: Path) -> None:
    shape_pictures(place / "shapes")
    said = engine(place, "new", "--data", "shapes")
    assert "605 images" in said.stdout
    assert "cut off.jpg" in engine(place, "data", "inspect", "shapes.netwright").stdout
    assert "603 samples checked" in engine(place, "data", "check", "shapes.netwright").stdout
    settings = ["training.max_epochs=10", "training.mini_batch_size=32"]
    done = engine(place, "train", "shapes.netwright", *(word for text in settings for word in ("--set", text)))
    assert "cut off.jpg" in done.stdout + done.stderr
    (run,) = (place / "runs").iterdir()
    scores = json.loads(engine(place, "evaluate", str(run), "--json").stdout)
    assert scores["metrics"]["accuracy"] > 0.8, scores["metrics"]
    answers = engine(place, "predict", str(run), "shapes/ring").stdout
    assert answers.count("\n") > 120
    engine(place, "export", str(run), "-o", "shapes.onnx")
    assert run_elsewhere(ANSWER, place, "shapes/circle/circle 003.png").strip() in "01234"


def test_a_killed_run_goes_on_where_it_was(place: Path) -> None:
    flat_table(place / "flats.csv")
    engine(place, "new", "--data", "flats.csv")
    command = [
        sys.executable,
        "-m",
        "netwright.engine",
        "train",
        "flats.netwright",
        "--set",
        "training.max_epochs=1000",
    ]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as training:
        pause, deadline = threading.Event(), time.monotonic() + PATIENCE_S
        while not any((place / "runs").glob("*/checkpoints/*")):
            assert time.monotonic() < deadline, "no checkpoint"
            pause.wait(0.05)
        training.send_signal(signal.SIGKILL)
    (folder,) = (place / "runs").iterdir()
    while RunFolder(folder).is_alive():
        assert time.monotonic() < deadline, "the run lives"
        pause.wait(0.05)
    assert RunFolder(folder).state() == "lost"
    assert "lost" in engine(place, "runs").stdout
    engine(place, "resume", str(folder), "--set", "training.max_epochs=3")
    shown = json.loads(engine(place, "show", str(folder), "--json").stdout)
    assert (shown["state"], shown["result"]["epochs"]) == ("finished", 3)
    assert shown["result"]["test"]["rmse"] < 100
