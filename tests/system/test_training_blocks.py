"""A network of blocks trains like any other: repeated, nested, on one worker and on two."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_DONE
from netwright.engine.lowering.module import build
from netwright.engine.lowering.weights_folder import fill, load
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests import warm
from tests.blocks import behind, residual, row
from tests.builders import layer
from tests.runs import train


def network() -> Network:
    """A stem, a residual block twice in a block, and a head whose softmax is inside."""
    head = row(layer("global_average_pool"), layer("fully_connected", outputs=2), layer("softmax"))
    stem = row(layer("conv2d", filters=6, kernel=3, padding="same"), layer("relu"))
    start = layer("image_input", channels=1, size=6)
    return behind(start, stem, row(residual(6, repeat=2)), head, names=("stem", "stage", "head"))


@pytest.mark.parametrize("environment", [{}, {"target": "multi-cpu", "num_workers": 2}], ids=["one", "two"])
def test_blocks_learn_and_their_weights_come_back(tmp_path: Path, environment: dict[str, Any]) -> None:
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 300)
    x = random.normal(scale=0.3, size=(300, 1, 6, 6)).astype(np.float32)
    x[:, 0, 2, :] += y[:, None] * 2.0  # a line across
    np.savez(tmp_path / "images.npz", x=x, y=y)
    project = Project(network())
    training = {"solver": "adam", "initial_learn_rate": 0.01, "max_epochs": 6, "mini_batch_size": 50}
    project = replace(
        project,
        data=project.data.replace(source="arrays", path="images.npz", task="classes"),
        environment=project.environment.replace(**{"target": "cpu", "threads": 1, **environment}),
        training=project.training.replace(**training),
    )
    done = train(project, tmp_path / "run")
    assert done.result["test"]["accuracy"] >= 0.9
    for folder in filter(Path.is_dir, (done.folder.best, done.folder.last)):
        state, manifest = load(folder)
        module = build(project.network, analyse(project.network)).eval()
        fill(module, state)
        assert "stage.block_1.1.conv.weight" in state
        assert "stage.block_1.1.conv" in {key for keys in manifest["layers"].values() for key in keys}
    to = tmp_path / "out" / "net.py"
    to.parent.mkdir()
    assert main(["export", str(done.folder.path), "--format", "pytorch", "-o", str(to)]) == EXIT_DONE
    ran = warm.run_file(to)
    assert (ran.returncode, ran.stdout) == (0, "4 × 2\n"), ran.stderr
    names: dict[str, Any] = {"__name__": "exported"}
    exec(to.read_text(encoding="utf-8"), names)
    copy = names["Network"]().eval()
    copy.load_state_dict(load_file(to.with_suffix(".safetensors")))
    kept = done.folder.kept()
    assert kept is not None
    state, _ = load(kept)
    fill(module, state)
    images = torch.from_numpy(x[:8])
    with torch.no_grad():
        assert torch.equal(copy(images), module(images))
        assert (copy(images).argmax(1).numpy() == y[:8]).mean() >= 0.75
