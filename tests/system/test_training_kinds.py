"""What is learned from the other kinds of data, generated and small."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests.builders import add, chain, layer
from tests.runs import train


def project_of(
    network: Network, data: dict[str, Any], environment: dict[str, Any], training: dict[str, Any]
) -> Project:
    project = Project(network)
    return replace(
        project,
        data=project.data.replace(**data),
        environment=project.environment.replace(**{"target": "cpu", "threads": 1, **environment}),
        training=project.training.replace(**training),
    )


def pulses(folder: Path) -> tuple[Network, dict[str, Any]]:
    """One pulse up and one down: only their order tells the classes apart, so it has to be remembered."""
    random = np.random.default_rng(1)
    x = random.normal(scale=0.1, size=(600, 10, 2)).astype(np.float32)
    first, second = random.integers(0, 5, 600), random.integers(5, 10, 600)
    y = random.integers(0, 2, 600)
    sign = np.where(y == 1, 1.0, -1.0)
    x[np.arange(600), first, 0] += sign
    x[np.arange(600), second, 0] -= sign
    np.savez(folder / "sequences.npz", x=x, y=y)
    network = chain(
        layer("sequence_input", channels=2),
        layer("lstm", hidden_units=16, output_mode="last"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    return network, {"source": "arrays", "path": "sequences.npz", "task": "classes"}


TWO = {"target": "multi-cpu", "num_workers": 2}


@pytest.mark.parametrize("environment", [{}, TWO])
def test_an_lstm_learns_which_pulse_came_first(tmp_path: Path, environment: dict[str, Any]) -> None:
    network, data = pulses(tmp_path)
    training = {"solver": "adam", "initial_learn_rate": 0.01, "max_epochs": 20, "mini_batch_size": 50}
    done = train(project_of(network, data, environment, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["test"]["accuracy"] >= 0.9


def test_as_in_matlab_an_lstm_has_one_bias_with_one_worker_or_two(tmp_path: Path) -> None:
    """The bias that torch adds stays zero; with shards of the weights, too."""
    network, data = pulses(tmp_path)
    training = {"convention": "matlab", "gradient_threshold": 0.1, "l2_regularization": 0.01, "mini_batch_size": 57}
    training |= {"schedule": "piecewise", "learn_rate_drop_period": 1, "max_epochs": 3, "initial_learn_rate": 0.1}
    one = train(project_of(network, data, {}, training), tmp_path / "one")
    plain = train(project_of(network, data, {}, {**training, "convention": "pytorch"}), tmp_path / "plain")
    two, sharded = (
        train(project_of(network, data, {**TWO, "strategy": strategy}, training), tmp_path / strategy)
        for strategy in ("auto", "fully-sharded")
    )
    assert two.losses == pytest.approx(one.losses, rel=1e-4)
    assert sharded.losses == pytest.approx(one.losses, rel=1e-4)
    assert plain.losses[-1] != pytest.approx(one.losses[-1], rel=1e-3)
    for done in (one, two, sharded):
        biases = {name: x for name, x in load_weights(done.folder.path / "last")[0].items() if "bias_hh" in name}
        assert len(biases) == 1
        assert not any(bias.any() for bias in biases.values())


@pytest.mark.parametrize("loss", ["half-mse", "mae", "huber"])
def test_a_regression_beats_the_mean(tmp_path: Path, loss: str) -> None:
    random = np.random.default_rng(2)
    x = random.uniform(-1, 1, size=(400, 3))
    y = x[:, 0] ** 2 + 0.5 * x[:, 1] - 2 * x[:, 2] * x[:, 0]
    rows = "\n".join(",".join(f"{v:.5f}" for v in row) for row in np.column_stack([x, y]))
    (tmp_path / "table.csv").write_text("a,b,c,response\n" + rows + "\n", encoding="utf-8")
    network = chain(
        layer("feature_input", channels=3),
        layer("fully_connected", outputs=32),
        layer("relu"),
        layer("fully_connected", outputs=1),
    )
    data = {"source": "table", "path": "table.csv", "task": "numbers"}
    training = {"solver": "adam", "initial_learn_rate": 0.01, "max_epochs": 60, "mini_batch_size": 40, "loss": loss}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["test"]["rmse"] < 0.3 * float(y.std())
    assert done.result["metrics"].keys() == {"rmse"}


def test_two_inputs_are_fed_by_name(tmp_path: Path) -> None:
    """A network of two inputs, fed by name; the answer is in one of them only."""
    random = np.random.default_rng(3)
    number, noise = random.normal(size=(300, 2)), random.normal(size=(300, 4))
    answer = random.integers(0, 2, 300)
    number[:, 0] = (2 * answer - 1) * random.uniform(0.5, 2.0, 300)
    y = np.where(answer == 1, "yes", "no")
    np.savez(tmp_path / "two.npz", number=number, noise=noise, y=y)
    network = Network.empty()
    network, a = add(network, layer("feature_input", channels=4), name="noise")
    network, b = add(network, layer("feature_input", channels=2), name="number")
    network, joined = add(network, layer("concatenation"), a, b)
    network, last = add(network, layer("fully_connected", outputs=2), joined)
    network, _ = add(network, layer("softmax"), last)
    data = {"source": "arrays", "path": "two.npz"}
    training = {"solver": "adam", "initial_learn_rate": 0.05, "max_epochs": 20, "mini_batch_size": 32}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["test"]["accuracy"] >= 0.95


def test_data_without_validation_or_test_trains(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    np.savez(tmp_path / "data.npz", x=random.normal(size=(50, 2)), y=random.normal(size=(50, 2)))
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2))
    data = {"source": "arrays", "path": "data.npz", "validation_share": 0, "test_share": 0}
    training = {"max_epochs": 2, "mini_batch_size": 20, "validation_patience": 2}
    done = train(project_of(network, data, {}, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["validation"] == done.result["test"] == {}
    assert done.folder.kept() == done.folder.last
    assert "patience has no effect" in done.events("message")[-1]["text"]


def test_batch_normalisation_of_features_takes_a_last_batch_of_one(tmp_path: Path) -> None:
    """torch's own refuses it."""
    random = np.random.default_rng(5)
    np.savez(tmp_path / "data.npz", x=random.normal(size=(41, 3)), y=random.integers(0, 2, 41))
    network = chain(
        layer("feature_input", channels=3),
        layer("fully_connected", outputs=4),
        layer("batch_norm"),
        layer("fully_connected", outputs=2),
    )
    data = {"source": "arrays", "path": "data.npz", "task": "classes", "validation_share": 0, "test_share": 0}
    training = {"max_epochs": 3, "mini_batch_size": 20}
    runs = [
        train(project_of(network, data, environment, training), tmp_path / name)
        for name, environment in (("one", {}), ("two", {"target": "multi-cpu", "num_workers": 2}))
    ]
    assert [len(run.losses) for run in runs] == [9, 9]
    assert runs[1].losses == pytest.approx(runs[0].losses, rel=1e-4)


def test_a_network_that_no_gradient_reaches_is_the_users_matter(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    np.savez(tmp_path / "data.npz", x=random.normal(size=(40, 3)), y=random.integers(0, 2, 40))
    network = chain(layer("feature_input", channels=3), layer("fully_connected", outputs=2), layer("stop_gradient"))
    data = {"source": "arrays", "path": "data.npz", "task": "classes", "validation_share": 0, "test_share": 0}
    done = train(
        project_of(network, data, {}, {"max_epochs": 1, "mini_batch_size": 20}), tmp_path / "run", end="failed"
    )
    assert done.exit_code == 2
    assert done.events("failed")[0]["cause"].startswith("No gradient comes back to any weight")
    assert not done.events("failed")[0]["defect"]


def test_data_that_breaks_after_the_check_is_the_users_matter(tmp_path: Path) -> None:
    """A picture that shows only as it is read to be broken is named by the worker, where it has to end the run."""
    from PIL import Image

    for name in ("cat", "dog"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for i in range(6):
            Image.new("L", (8, 8), color=40 * i).save(tmp_path / "pets" / name / f"{i}.png")
    broken = tmp_path / "pets" / "dog" / "4.png"
    broken.write_bytes(broken.read_bytes()[:40])
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=2), layer("softmax"))
    data = {"source": "images", "path": "pets", "bad_samples": "fatal"}
    training = {"max_epochs": 1, "mini_batch_size": 4}
    done = train(project_of(network, data, {}, training), tmp_path / "run", end="failed")
    assert "dog/4.png" in done.result["reason"]
    assert done.exit_code == 2
    assert not done.events("failed")[0]["defect"]
    assert done.events("failed")[0]["detail"] == ""


def test_levenberg_marquardt_fits_a_curve_with_two_workers_and_ends_by_itself(tmp_path: Path) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, size=(200, 1))
    rows = "\n".join(f"{v:.6f},{np.sin(3 * v):.6f}" for v in x[:, 0])
    (tmp_path / "table.csv").write_text("x,y\n" + rows + "\n", encoding="utf-8")
    layers = (layer("fully_connected", outputs=6), layer("tanh"), layer("fully_connected", outputs=1))
    data = {"source": "table", "path": "table.csv", "task": "numbers"}
    training = {"solver": "lm", "l2_regularization": 0.0, "max_epochs": 1, "gradient_tolerance": 1e-3}
    two = {"target": "multi-cpu", "num_workers": 2}
    network = chain(layer("feature_input", channels=1), *layers)
    done = train(project_of(network, data, two, training), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["reason"].endswith("is below its tolerance")
    assert done.result["iterations"] < 1000
    assert done.result["test"]["rmse"] < 0.05
