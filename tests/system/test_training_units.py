"""Responses whose units are taken off for training and given back at the end."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.exchange.export import export
from netwright.engine.lowering.module import build
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.network.analysis import analyse
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


TIMES = 1e9 + np.arange(240) % 12
"""One value in single precision, which the loss would not notice."""


@pytest.mark.parametrize("how", [{}, {"loading": "stream"}])
def test_times_since_1970_are_learned_from_and_leave_with_all_digits(tmp_path: Path, how: dict[str, Any]) -> None:

    y = np.sin(TIMES - 1e9).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=TIMES.reshape(-1, 1), y=y)
    ends = layer("feature_input", channels=1), layer("fully_connected", outputs=24)
    network = chain(*ends, layer("tanh"), layer("fully_connected", outputs=1))
    training: dict[str, Any] = {"max_epochs": 80, "mini_batch_size": 56, "solver": "adam", "initial_learn_rate": 0.03}
    done = train(project_of(network, {**DATA, **how}, {}, training), tmp_path / "run")
    assert done.result["test"]["rmse"] < 0.5 * y.std(), "all inputs are one in single precision"

    written = export(tmp_path / "run", "onnx", tmp_path / "net.onnx")
    assert "The input 'feature_input_1' has to be float64" in " ".join(written.notes)
    session = open_session(tmp_path / "net.onnx")
    assert [given.type for given in session.get_inputs()] == ["tensor(double)"]
    (found,) = session.run(None, {session.get_inputs()[0].name: TIMES[:12].reshape(-1, 1)})
    assert np.sqrt(((found[:, 0] - y[:12]) ** 2).mean()) < 0.5 * y.std()

    export(tmp_path / "run", "pytorch", tmp_path / "net.py")
    space: dict[str, Any] = {"__file__": str(tmp_path / "net.py"), "__name__": "net"}
    exec((tmp_path / "net.py").read_text(), space)
    with torch.no_grad():
        again = space["load"]()(torch.from_numpy(TIMES[:12].reshape(-1, 1)))
    np.testing.assert_allclose(again.numpy(), found, atol=1e-5)


def test_a_table_and_arrays_of_such_times_train_alike(tmp_path: Path) -> None:
    y = np.sin(TIMES - 1e9).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=TIMES.reshape(-1, 1), y=y)
    rows = "".join(f"{int(time)},{value!r}\n" for time, value in zip(TIMES, y.tolist(), strict=True))
    (tmp_path / "data.csv").write_text(f"time,y\n{rows}")
    network = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=1))
    csv = {"source": "table", "path": "data.csv", "task": "numbers"}
    runs = [
        train(project_of(network, data, {}, {"max_epochs": 2, "mini_batch_size": 56}), tmp_path / str(data["source"]))
        for data in (DATA, csv)
    ]
    assert runs[0].losses == runs[1].losses
