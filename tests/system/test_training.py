"""Whole runs in real processes: several workers against one, what is learned, what is kept."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.lowering.initialization import initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.network.analysis import analyse, type_at
from netwright.engine.network.network import Network
from netwright.engine.placement.cluster_part import has_clusters
from netwright.engine.project.project import Project
from netwright.engine.runs.confusion import read_confusions
from tests.builders import chain, layer
from tests.runs import Done, train


def mlp() -> Network:
    return chain(
        layer("image_input", size=8),
        layer("fully_connected", outputs=32),
        layer("relu"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


def convolution(*, norm: bool = True) -> Network:
    return chain(
        layer("image_input", size=8),
        layer("conv2d", filters=8, kernel=3),
        *([layer("batch_norm")] if norm else []),
        layer("relu"),
        layer("max_pool2d", kernel=2, stride=2),
        layer("conv2d", filters=16, kernel=3),
        *([layer("batch_norm")] if norm else []),
        layer("relu"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


def digits(network: Network, environment: dict[str, Any] | None = None, **training: Any) -> Project:
    project = Project(network)
    data = project.data.replace(source="digits")
    chosen = project.environment.replace(**{"target": "cpu", "threads": 1, **(environment or {})})
    return replace(project, data=data, training=project.training.replace(**training), environment=chosen)


TWO = {"target": "multi-cpu", "num_workers": 2}


def largest_difference(one: Done, other: Done) -> float:
    """Of all steps, relative."""
    assert len(one.losses) == len(other.losses) > 0
    return max(abs(a - b) / abs(a) for a, b in zip(one.losses, other.losses, strict=True))


@pytest.mark.parametrize("strategy", ["flat", "ddp"])
def test_two_workers_are_one(tmp_path: Path, strategy: str) -> None:
    """A convolution network with batch normalisation; the last batch of an epoch is uneven, and then empty for one."""
    options: dict[str, Any] = {"max_epochs": 3, "mini_batch_size": 157, "shuffle": "every-epoch", "solver": "adam"}
    options |= {"metrics": ("accuracy", "f-score", "auc"), "objective_metric": "auc"}
    one = train(digits(convolution(), **options), tmp_path / "one")
    two = train(digits(convolution(), TWO, **options), tmp_path / "two", strategy=strategy)
    samples = one.events("started")[0]["samples"]
    assert samples["training"] % 157 == 1, "the last batch holds one sample, so that the second worker has none"
    assert two.result["environment"] == {
        "target": "multi-cpu",
        "resolved": "multi-cpu",
        "workers": 2,
        "backend": "gloo",
        "devices": ["cpu", "cpu"],
    }
    assert largest_difference(one, two) < 1e-4
    for split in ("validation", "test"):
        assert two.result[split]["loss"] == pytest.approx(one.result[split]["loss"], rel=1e-3)
        for name in ("accuracy", "f-score"):
            assert two.result[split][name] == pytest.approx(one.result[split][name], abs=0.02)
        assert two.result[split]["auc"] == pytest.approx(one.result[split]["auc"], abs=1e-3)
        table = read_confusions(two.folder.path)[split]
        right = sum(row[number] for number, row in enumerate(table.counts))
        assert two.result[split]["accuracy"] == pytest.approx(right / samples[split])
        assert two.result[split]["f-score"] == pytest.approx(sum(table.f_score) / 10)
    assert two.result["metrics"].keys() == {"accuracy", "f-score"}, "an area is not measured while training"
    assert two.events("best")[-1]["objective"] == "auc"


def test_a_mini_batch_larger_than_the_training_split_takes_all_of_it(tmp_path: Path) -> None:
    options: dict[str, Any] = {"max_epochs": 3, "mini_batch_size": 5000, "last_batch": "discard"}
    one, two = (train(digits(mlp(), place, **options), tmp_path / str(place)) for place in (None, TWO))
    assert largest_difference(one, two) < 1e-4
    for done in (one, two):
        assert (done.result["state"], done.result["iterations"]) == ("finished", 3)
        notes = [event["text"] for event in done.events("message")]
        assert any("fewer than the mini-batch size of 5,000: each iteration takes all of them" in n for n in notes)


@pytest.mark.parametrize("strategy", ["flat", "ddp"])
def test_a_frozen_layer_stays_on_one_worker_and_on_two(tmp_path: Path, strategy: str) -> None:
    """The first convolution and its batch normalisation, statistics included; what stands behind them learns."""
    network = chain(
        layer("image_input", size=8),
        layer("conv2d", filters=8, kernel=3, frozen=True),
        layer("batch_norm", frozen=True),
        layer("relu"),
        layer("conv2d", filters=8, kernel=3, bias_learn_rate_factor=0, bias_initializer="narrow-normal"),
        layer("batch_norm"),
        layer("fully_connected", outputs=10, weight_l2_factor=10),
        layer("softmax"),
    )
    options: dict[str, Any] = {"mini_batch_size": 157, "solver": "adam", "gradient_threshold": 1.0}
    one = train(digits(network, max_epochs=2, **options), tmp_path / "one")
    two = train(digits(network, TWO, max_epochs=2, **options), tmp_path / "two", strategy=strategy)
    assert largest_difference(one, two) < 1e-4
    analysis = analyse(network)
    module, layers = build(network, analysis), prefixes(network, analysis)
    initialize(module, 0, parameter_options(module, layers, partial(type_at, network)))
    start = {name: value for name, value in module.state_dict().items() if not name.startswith("input")}
    still = {"conv_1.weight", "conv_1.bias", "conv_2.bias", "bn_1.weight", "bn_1.bias", "bn_1.num_batches_tracked"}
    for done in (one, two):
        state = load_weights(done.folder.path / "last")[0]
        unmoved = {name for name, value in start.items() if torch.equal(state[name], value)}
        assert unmoved == still | {"bn_1.running_mean", "bn_1.running_var"}


@pytest.mark.parametrize("strategy", ["flat", "ddp"])
def test_a_line_search_is_the_same_on_two_workers(tmp_path: Path, strategy: str) -> None:
    """Several looks at the loss a step, with class weights, a schedule that follows validations and a frozen layer."""
    network = chain(
        layer("image_input", size=8),
        layer("fully_connected", outputs=16, frozen=True),
        layer("tanh"),
        layer("fully_connected", outputs=10, weight_l2_factor=3),
        layer("softmax"),
    )
    options: dict[str, Any] = {
        "solver": "lbfgs",
        "max_iterations": 6,
        "validation_frequency": 1,
        "class_weighting": "balanced",
        "schedule": "plateau",
        "plateau_patience": 0,
        "plateau_threshold": 0.5,
        "learn_rate_drop_factor": 0.7,  # a search that begins with a tiny step depends on the last bit of the loss
    }
    one = train(digits(network, **options), tmp_path / "one")
    two = train(digits(network, TWO, **options), tmp_path / "two", strategy=strategy)
    assert largest_difference(one, two) < 1e-4
    assert one.losses[-1] < 0.5 * one.losses[0]
    rates = [event["rate"] for event in one.events("progress")]
    assert rates[-1] < 1.0, "the validations are never twice as good as the best"


def test_three_workers_are_one_with_uneven_shares(tmp_path: Path) -> None:
    options: dict[str, Any] = {"max_epochs": 2, "mini_batch_size": 100, "gradient_threshold": 0.5, "solver": "rmsprop"}
    one = train(digits(mlp(), **options), tmp_path / "one")
    three = train(digits(mlp(), {**TWO, "num_workers": 3}, **options), tmp_path / "three")
    assert largest_difference(one, three) < 1e-4


def test_the_same_seed_gives_the_same_run_and_another_one_another(tmp_path: Path) -> None:
    runs = [train(digits(mlp(), max_epochs=1, seed=seed), tmp_path / f"{i}") for i, seed in enumerate((5, 5, 6))]
    assert runs[0].losses == runs[1].losses != runs[2].losses


@pytest.mark.parametrize("environment", [{}, TWO], ids=["alone", "two"])
def test_the_same_seed_gives_the_same_weights_bit_for_bit(tmp_path: Path, environment: dict[str, Any]) -> None:
    """Dropout, batch statistics, a new order each epoch, and sums over workers included."""
    network = chain(
        layer("image_input", size=8),
        layer("conv2d", filters=8, kernel=3),
        layer("batch_norm"),
        layer("relu"),
        layer("dropout"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )
    project = digits(network, environment, max_epochs=2, shuffle="every-epoch", deterministic=True)
    one, other = (train(project, tmp_path / name) for name in ("one", "other"))
    assert one.losses == other.losses
    for name in ("best", "last"):
        files = [(done.folder.path / name / "weights.safetensors").read_bytes() for done in (one, other)]
        assert files[0] == files[1]


def test_a_convolution_network_reads_digits(tmp_path: Path) -> None:
    done = train(digits(convolution(), max_epochs=10, solver="adam", initial_learn_rate=0.005), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.exit_code == 0
    assert done.result["test"]["accuracy"] >= 0.95
    assert done.result["validation"]["accuracy"] >= 0.95


def test_the_log_of_a_run_is_whole(tmp_path: Path) -> None:
    done = train(digits(mlp(), max_epochs=3, validation_frequency=7), tmp_path / "run")
    result, folder = done.result, done.folder
    steps = done.events("started")[0]["iterations"]
    assert result["epochs"] == 3
    assert result["iterations"] == steps == len(done.losses)
    assert result["loss"] == done.losses[-1]
    assert sorted(done.curve("validation", "loss")) == sorted({*range(0, steps + 1, 7), steps})
    assert list(done.curve("test", "accuracy").values()) == [result["test"]["accuracy"]]
    assert [event["epoch"] for event in done.events("epoch")] == [1, 2, 3]
    assert done.events("ended")[0]["result"] == result == folder.read_result()
    assert [event["state"] for event in done.events("state")] == ["starting", "running"]
    numbers = [line["event"]["n"] for line in done.said if "event" in line]
    assert numbers == list(range(1, len(numbers) + 1))
    assert folder.state() == "finished"
    assert {path.name for path in folder.path.iterdir()} == {
        *("project.netwright", "run.json", "data.json", "events.jsonl", "control", "run.lock", "engine.log"),
        *("best", "last", "checkpoints", "preparation.json", "result.json", "metrics.json", "answers"),
    }
    modes = {path: path.stat().st_mode & 0o777 for path in [folder.path, *folder.path.rglob("*")]}
    assert modes == {path: 0o700 if path.is_dir() else 0o600 for path in modes}, "private to the user"


def test_the_best_network_is_kept(tmp_path: Path) -> None:
    done = train(digits(mlp(), max_epochs=4, validation_frequency=5, objective_metric="metric"), tmp_path / "run")
    accuracies = done.curve("validation", "accuracy")
    best = done.events("best")[-1]
    assert best["value"] == max(accuracies.values()) == done.result["validation"]["accuracy"]
    assert best["iteration"] == min(step for step, value in accuracies.items() if value == best["value"])
    assert done.folder.kept() == done.folder.best
    state, manifest = load_weights(done.folder.best)
    assert manifest["iteration"] == best["iteration"]
    assert manifest["classes"] == [str(i) for i in range(10)]
    assert {key.rpartition(".")[0] for key in state} <= {
        name for names in manifest["layers"].values() for name in names
    }
    assert load_weights(done.folder.last)[1]["iteration"] == done.result["iterations"]


def test_the_last_network_is_kept_on_demand(tmp_path: Path) -> None:
    done = train(digits(mlp(), max_epochs=1, output_network="last-iteration"), tmp_path / "run")
    assert done.folder.kept() == done.folder.last
    assert not done.folder.best.exists()


def test_patience_ends_a_run(tmp_path: Path) -> None:
    """A rate so small that the accuracy does not move."""
    options: dict[str, Any] = {"validation_patience": 3, "validation_frequency": 2, "objective_metric": "metric"}
    done = train(digits(mlp(), max_epochs=50, initial_learn_rate=1e-9, **options), tmp_path / "run")
    assert done.result["state"] == "finished"
    assert done.result["reason"] == "no better accuracy in 3 validations"
    assert done.result["iterations"] == 6


@pytest.mark.parametrize(
    ("change", "words", "exit_code"),
    [
        ({"environment": {"target": "multi-gpu"}}, "'multi-gpu' is not available here", 5),
        ({"environment": {"target": "parallel"}}, "cluster profile" if has_clusters() else "clusters part", 5),
        ({"environment": {"target": "multi-cpu", "num_workers": 200}}, "cannot be shared by 200 workers", 2),
        ({"data": {"source": "none"}}, "no data to learn from", 2),
    ],
)
def test_what_cannot_run_is_refused_before_a_folder_is_made(
    tmp_path: Path, change: dict[str, dict[str, Any]], words: str, exit_code: int
) -> None:
    project = digits(mlp())
    for section, values in change.items():
        project = project.with_section(section, project.section(section).replace(**values))
    done = train(project, tmp_path / "run")
    assert words in done.said[-1]["refused"]
    assert done.exit_code == exit_code
    assert not done.folder.path.exists()
