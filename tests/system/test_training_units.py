"""Responses whose units are taken off for training and given back at the end."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.data.load import LoadedData, load
from engine.lowering.module import build
from engine.lowering.weights import load as load_weights
from engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.runs import train
from tests.system.test_training_kinds import project_of

DATA = {"source": "arrays", "path": "data.npz", "task": "numbers"}


def data_of(folder: Path, x: np.ndarray, y: np.ndarray) -> LoadedData:
    """Written to a file, and read from it as a run does."""
    folder.mkdir()
    np.savez(folder / "data.npz", x=x, y=y.astype(np.float32))
    return load(project_of(chain(layer("feature_input")), DATA, {}, {}).data, folder)


def test_it_is_the_training_on_responses_normalised_by_hand_and_what_leaves_has_their_units(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    x = random.uniform(-1, 1, size=(120, 3)).astype(np.float32)
    y = x @ random.normal(size=(3, 2)) * [4000.0, 0.002] + [20000.0, -0.01]
    ends = layer("feature_input", channels=3), layer("fully_connected", outputs=2)
    training: dict[str, Any] = {"max_epochs": 8, "mini_batch_size": 20, "initial_learn_rate": 0.1}
    data = data_of(tmp_path / "units", x, y)
    fitted = data.split("training").targets[0].astype(np.float64)
    data_of(tmp_path / "plain", x, (y - fitted.mean(0)) / fitted.std(0))
    last = layer("inverse_norm", numbers="fitted")
    given = project_of(chain(*ends, last), DATA, {}, {**training, "normalize_targets": True})
    units = train(given, tmp_path / "units" / "run")
    plain = train(project_of(chain(*ends), DATA, {}, training), tmp_path / "plain" / "run")
    np.testing.assert_allclose(units.losses, plain.losses, rtol=1e-3)
    module = build(given.network, analyse(given.network)).eval()
    kept = units.folder.kept()
    assert kept is not None
    module.load_state_dict(load_weights(kept)[0])
    test = data.split("test")
    with torch.no_grad():
        found = module(torch.from_numpy(test.inputs[0])).numpy()
    error = np.sqrt(((found - test.targets[0]) ** 2).mean())
    assert units.result["test"]["rmse"] == pytest.approx(error, rel=1e-4), "metrics have the units"
    assert error < 0.3 * 4000
