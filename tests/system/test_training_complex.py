"""A network through which complex numbers flow trains like any other, on one worker and on two."""

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
from tests.builders import chain, layer
from tests.runs import train

STEPS = 24


def network() -> Network:
    """Fourier layers, then complex ones."""
    return chain(
        layer("sequence_input", channels=2, length=STEPS),
        layer("spectral_conv1d", filters=4, modes=10),
        layer("stft", window_length=8, overlap=4, gives="parts", layout="sequence"),
        layer("real_to_complex"),
        layer("complex_fully_connected", outputs=6),
        layer("mod_relu"),
        layer("complex_cardioid"),
        layer("complex_to_real", gives="magnitude"),
        layer("global_average_pool"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )


@pytest.mark.parametrize("environment", [{}, {"target": "multi-cpu", "num_workers": 2}], ids=["one", "two"])
def test_complex_layers_learn_and_their_weights_come_back(tmp_path: Path, environment: dict[str, Any]) -> None:
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 300)
    phase = random.uniform(0, 2 * np.pi, (300, 1, 2))
    turns = (2 + 5 * y)[:, None, None] * np.arange(STEPS)[None, :, None] / STEPS
    x = np.sin(2 * np.pi * turns + phase) + random.normal(scale=0.2, size=(300, STEPS, 2))
    x = x.astype(np.float32)
    np.savez(tmp_path / "waves.npz", x=x, y=y)
    project = Project(network())
    training = {"solver": "adam", "initial_learn_rate": 0.02, "max_epochs": 8, "mini_batch_size": 50}
    project = replace(
        project,
        data=project.data.replace(source="arrays", path="waves.npz", task="classes"),
        environment=project.environment.replace(**{"target": "cpu", "threads": 1, **environment}),
        training=project.training.replace(**training),
    )
    done = train(project, tmp_path / "run")
    assert done.result["test"]["accuracy"] >= 0.9
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
    module = build(project.network, analyse(project.network)).eval()
    fill(module, load(kept)[0])
    with torch.no_grad():
        assert torch.equal(copy(torch.from_numpy(x[:8])), module(torch.from_numpy(x[:8])))
