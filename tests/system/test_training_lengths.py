"""Sequences of different lengths train: what stands behind their ends makes no difference."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.layers.base import LayerType
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.runs import train

SAMPLES = 360
ADAM = {"solver": "adam", "initial_learn_rate": 0.01}
SGD = {"solver": "sgdm", "initial_learn_rate": 0.02, "max_epochs": 4}


def write(path: Path, longest: int, garbage: float) -> None:
    """Sequences of 3 to 12 steps; the class is the sign of the last real step, which noise before it hides."""
    random = np.random.default_rng(1)
    lengths = random.integers(3, 13, SAMPLES)
    x = random.normal(scale=0.5, size=(SAMPLES, 12, 2)).astype(np.float32)
    y = random.integers(0, 2, SAMPLES)
    x[np.arange(SAMPLES), lengths - 1, 0] = np.where(y == 1, 1.5, -1.5)
    x = np.pad(x, [(0, 0), (0, longest - 12), (0, 0)])
    x[np.arange(longest) >= lengths[:, np.newaxis]] = garbage
    np.savez(path, x=x, x_lengths=lengths, y=y)


def network_of(*types: LayerType) -> Network:
    return chain(layer("sequence_input", channels=2), *types, layer("fully_connected", outputs=2), layer("softmax"))


def run(
    folder: Path, network: Network, name: str, options: dict[str, Any], environment: dict[str, Any] | None = None
) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    training = {"max_epochs": 8, "mini_batch_size": 40, **options}
    project = Project(network)
    project = replace(
        project,
        data=project.data.replace(source="arrays", path=str(folder.parent / name), task="classes"),
        environment=project.environment.replace(**{"target": "cpu", "threads": 1, **(environment or {})}),
        training=project.training.replace(**training),
    )
    result = train(project, folder / "run").result
    assert result["state"] == "finished"
    return result


def test_the_padding_makes_no_difference_and_the_end_is_found(tmp_path: Path) -> None:
    write(tmp_path / "short.npz", 12, 0.0)
    write(tmp_path / "long.npz", 19, float("nan"))
    network = network_of(layer("lstm", hidden_units=12, output_mode="last"))
    first = run(tmp_path / "a", network, "short.npz", ADAM)
    second = run(tmp_path / "b", network, "long.npz", ADAM)
    assert first["test"]["accuracy"] >= 0.95
    assert first["test"] == second["test"]
    assert first["metrics"] == second["metrics"]


@pytest.mark.parametrize("depth", ["batch_norm", "layer_norm"])
def test_two_workers_learn_what_one_learns(tmp_path: Path, depth: str) -> None:
    write(tmp_path / "data.npz", 12, 0.0)
    network = network_of(
        layer("conv1d", filters=8, kernel=(3,)), layer(depth), layer("relu"), layer("global_average_pool")
    )
    one = run(tmp_path / "a", network, "data.npz", SGD)
    two = run(tmp_path / "b", network, "data.npz", SGD, {"target": "multi-cpu", "num_workers": 2})
    assert two["test"]["loss"] == pytest.approx(one["test"]["loss"], rel=1e-5)


def test_batches_of_like_length_and_cut_batches_are_the_same_on_two_workers(tmp_path: Path) -> None:
    write(tmp_path / "data.npz", 12, 0.0)
    network = network_of(layer("lstm", hidden_units=6, output_mode="last"))
    options = {**SGD, "sequence_length": "shortest", "bucket_by_length": True}
    one = run(tmp_path / "a", network, "data.npz", options)
    two = run(tmp_path / "b", network, "data.npz", options, {"target": "multi-cpu", "num_workers": 2})
    assert two["test"]["loss"] == pytest.approx(one["test"]["loss"], rel=1e-5)
    assert one["test"] != run(tmp_path / "c", network, "data.npz", SGD)["test"]
