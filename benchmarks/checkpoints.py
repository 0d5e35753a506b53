"""What checkpoints cost: their share of a training of small steps, and one checkpoint by itself.

`python benchmarks/checkpoints.py` prints what stands in RESULTS.md; one worker with one thread.
"""

import copy
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from netwright.engine.runs.events import Checkpointed
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all
from netwright.engine.training.checkpoints import write

ROOT = Path(__file__).parents[1]
PROJECT = {
    "netwright": [1, 0],
    "network": {
        "layers": [
            {"id": "a", "name": "image_1", "type": "image_input", "at": [0, 0], "fields": {"size": [8, 8]}},
            {"id": "b", "name": "fc_1", "type": "fully_connected", "at": [0, 90], "fields": {"outputs": 32}},
            {"id": "c", "name": "relu_1", "type": "relu", "at": [0, 180]},
            {"id": "d", "name": "fc_2", "type": "fully_connected", "at": [0, 270], "fields": {"outputs": 10}},
            {"id": "e", "name": "softmax_1", "type": "softmax", "at": [0, 360]},
        ],
        "connections": [["image_1", "fc_1"], ["fc_1", "relu_1"], ["relu_1", "fc_2"], ["fc_2", "softmax_1"]],
    },
    "data": {"source": "digits"},
    "training": {"max_epochs": 400, "mini_batch_size": 32, "solver": "adam", "validation_frequency": 1000000},
    "environment": {"target": "cpu", "threads": 1},
}


def share_of_time(project: Path, *settings: str) -> float:
    """Seconds that checkpoints took, over all seconds of the run, by its own log. Rates of steps would say the same on
    a quiet machine only."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = [part for setting in settings for part in ("--set", setting)]
        command = [
            sys.executable,
            "-m",
            "netwright.engine",
            "train",
            str(project),
            "--run-dir",
            f"{folder}/run",
            "--json",
        ]
        done = subprocess.run([*command, *chosen], cwd=ROOT, capture_output=True, text=True, check=True)
        events = read_all(RunFolder(Path(folder) / "run"))
        seconds = sum(event.seconds for event in events if isinstance(event, Checkpointed))
        return float(seconds / json.loads(done.stdout)["seconds"])


def seconds_of_one(megabytes: float) -> float:
    """Writing one checkpoint with so many million bytes of tensors, flushed."""
    count = max(1, int(megabytes * 1e6 / 4 / 3))
    state = {name: torch.randn(count) for name in ("network", "moment", "square")}
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for number in range(5):
            began = time.perf_counter()
            write(state, Path(folder) / str(number), number)
            times.append(time.perf_counter() - began)
    return statistics.median(times)


LONG = ("training.max_epochs=1000000", "training.max_time=60", "training.max_time_unit=seconds")
WIDE = 3000
"""Outputs of two fully connected layers with a checkpoint of about 110 MB."""


def wide() -> dict[str, Any]:
    """Return the project with wide layers."""
    project = copy.deepcopy(PROJECT)
    network: Any = project["network"]
    layers, names = network["layers"], ["image_1", "fc_1", "fc_3", "relu_1", "fc_2", "softmax_1"]
    layers[1]["fields"]["outputs"] = WIDE
    layers.append({**layers[1], "id": "f", "name": "fc_3", "at": [200, 90]})
    network["connections"] = [list(pair) for pair in itertools.pairwise(names)]
    return project


def main() -> None:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("small", PROJECT), ("wide", wide())):
            project = Path(folder) / f"{name}.netwright"
            project.write_text(json.dumps(value), encoding="utf-8")
            print(f"by default, {name} network, 60 s: {100 * share_of_time(project, *LONG):.2f} % of the time")
        project = Path(folder) / "small.netwright"
        kinds = {
            "every second": ("training.checkpoint_unit=seconds", "training.checkpoint_frequency=1"),
            "every epoch (40 steps)": ("training.checkpoint_unit=epochs", "training.checkpoint_frequency=1"),
        }
        for name, settings in kinds.items():
            print(f"{name}: {100 * share_of_time(project, *settings):.2f} % of the time")
    for megabytes in (0.03, 10, 100):
        print(f"one checkpoint of {megabytes:g} MB of tensors: {1000 * seconds_of_one(megabytes):.1f} ms")


if __name__ == "__main__":
    main()
