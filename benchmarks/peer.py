"""Netwright as a peer of the shared benchmark: the same data, network, solver and batch, trained by the real command.

    python run.py --peer netwright='PYTHON benchmarks/peer.py' --peers ideal,netwright,plain --workloads W1,W2,W3

Prints one `RESULT {json}` line. Every loss is recorded and streamed into the run's log meanwhile, as always.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from netwright.engine.network import edits  # noqa: E402
from netwright.engine.network.catalog import layer_type  # noqa: E402  # the benchmark starts this file from anywhere
from netwright.engine.network.network import Layer, Network, Port  # noqa: E402
from netwright.engine.project.data import DataOptions  # noqa: E402
from netwright.engine.project.environment import EnvironmentOptions  # noqa: E402
from netwright.engine.project.file import save  # noqa: E402
from netwright.engine.project.project import Project  # noqa: E402
from netwright.engine.project.training import TrainingOptions  # noqa: E402
from netwright.engine.runs.events import EpochEnded, Points, Progress  # noqa: E402
from netwright.engine.runs.folder import RunFolder  # noqa: E402
from netwright.engine.runs.log import EventReader  # noqa: E402

Row = tuple[str, dict[str, object]]
CONV_BLOCK: list[Row] = [("batch_norm", {}), ("relu", {})]
WORKLOADS: dict[str, dict[str, Any]] = {
    "W1": {
        "batch": 128,
        "steps": 78,
        "shape": (1, 28, 28),
        "classes": 10,
        "solver": "sgdm",
        "rate": 0.01,
        "layers": [
            ("image_input", {"channels": 1, "size": 28, "normalization": "none"}),
            ("conv2d", {"filters": 8}),
            *CONV_BLOCK,
            ("max_pool2d", {}),
            ("conv2d", {"filters": 16}),
            *CONV_BLOCK,
            ("max_pool2d", {}),
            ("conv2d", {"filters": 32}),
            *CONV_BLOCK,
            ("fully_connected", {"outputs": 10}),
        ],
    },
    "W2": {
        "batch": 256,
        "steps": 391,
        "shape": (20,),
        "classes": 3,
        "solver": "adam",
        "rate": 0.001,
        "layers": [
            ("feature_input", {"channels": 20, "normalization": "none"}),
            ("fully_connected", {"outputs": 64}),
            ("relu", {}),
            ("fully_connected", {"outputs": 64}),
            ("relu", {}),
            ("fully_connected", {"outputs": 3}),
        ],
    },
    "W3": {
        "batch": 64,
        "steps": 16,
        "shape": (100, 12),
        "classes": 9,
        "solver": "adam",
        "rate": 0.001,
        "layers": [
            ("sequence_input", {"channels": 12, "normalization": "none"}),
            ("lstm", {"hidden_units": 100, "output_mode": "last"}),
            ("fully_connected", {"outputs": 9}),
        ],
    },
    "W3T": {
        "batch": 64,
        "steps": 16,
        "shape": (100, 12),
        "classes": 9,
        "solver": "adam",
        "rate": 0.001,
        "layers": [
            ("sequence_input", {"channels": 12, "normalization": "none"}),
            ("fully_connected", {"outputs": 100}),
            *[("transformer_encoder_layer", {"heads": 4, "feedforward": 200, "dropout": 0.0})] * 2,
            ("global_average_pool", {}),
            ("fully_connected", {"outputs": 9}),
        ],
    },
}


def network(rows: list[Row]) -> Network:
    """Layers one behind the other."""
    built, before = Network.empty(), None
    for key, values in rows:
        built, layer = edits.add_layer(built, layer_type(key)(**values))
        if isinstance(before, Layer):
            built = edits.connect(built, Port(before.id, "out"), Port(layer.id, "in"))
        before = layer
    return built


def prepare(name: str, epochs: int, threads: int, workers: int, folder: Path) -> Path:
    """Write data and project; the labels come from a fixed linear teacher, as for the other peers."""
    load = WORKLOADS[name]
    random = np.random.default_rng(1234)
    x = random.standard_normal((load["batch"] * load["steps"], *load["shape"]), dtype=np.float32)
    teacher = random.standard_normal((x.reshape(len(x), -1)[:, -20:].shape[1], load["classes"]), dtype=np.float32)
    y = (x.reshape(len(x), -1)[:, -20:] @ teacher).argmax(1)
    np.savez(folder / "data.npz", x=x, y=y)
    project = Project(
        network(load["layers"]),
        data=DataOptions(source="arrays", path="data.npz", validation_share=0.0, test_share=0.0),
        training=TrainingOptions(
            solver=load["solver"],
            initial_learn_rate=load["rate"],
            max_epochs=epochs,
            mini_batch_size=load["batch"],
            shuffle="every-epoch",
            l2_regularization=0.0,
        ),
        environment=EnvironmentOptions(
            target="multi-cpu" if workers > 1 else "cpu", num_workers=workers if workers > 1 else 0, threads=threads
        ),
    )
    save(project, folder / "peer.netwright")
    return folder / "peer.netwright"


def main() -> None:
    """Run one workload and print its line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workload", default="W1", choices=WORKLOADS)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--nproc", type=int, default=1)
    parser.add_argument("--accelerations", default="all", help="run.accelerations: all, none, or names with commas")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = prepare(arguments.workload, arguments.epochs, arguments.threads, arguments.nproc, folder)
        began = time.time()
        command = [sys.executable, "-m", "netwright.engine", "train", str(project), "--run-dir", str(folder / "run")]
        command += ["--set", f"run.accelerations={arguments.accelerations}"]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print("RESULT " + json.dumps(figures(RunFolder(folder / "run"), arguments.workload, began)), flush=True)


def figures(run: RunFolder, name: str, began: float) -> dict[str, Any]:
    """Epoch times from the log. The time to the first step is that of the command: this adapter stands before it."""
    events = EventReader(run, 2**30).read()
    ends = [event.time for event in events if isinstance(event, EpochEnded)]
    # Ends of several short epochs are told together, so only the mean of all but the first is known.
    times = [(ends[-1] - ends[0]) / (len(ends) - 1)] * (len(ends) - 1)
    samples = WORKLOADS[name]["batch"] * WORKLOADS[name]["steps"]
    points = [event for event in events if isinstance(event, Points)]
    return {
        "workload": name,
        "epochs": len(ends),
        "n": samples,
        "epoch_s": times,
        "sps": samples / median(times),
        "t_first": points[0].time - began,
        "rss_mb": max((event.memory_bytes for event in events if isinstance(event, Progress)), default=0) / 2**20,
        "loss": points[-1].values["loss"][-1],
    }


if __name__ == "__main__":
    main()
