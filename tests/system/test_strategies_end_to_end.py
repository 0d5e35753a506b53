"""Every way to divide the work trains, saves, resumes and exports like any other run, with the numbers it promises."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.cli.main import main
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.network.network import Network
from netwright.engine.project.check import check
from netwright.engine.runs.checkpoint_files import all_checkpoints, shard_name
from tests.builders import add, chain, layer
from tests.runs import Done, train
from tests.system.test_resume_runs import engine
from tests.system.test_training import TWO, convolution, digits, largest_difference, mlp

OPTIONS: dict[str, Any] = {"max_epochs": 3, "mini_batch_size": 157, "shuffle": "every-epoch"}


def weights(done: Done) -> dict[str, torch.Tensor]:
    return load_weights(done.folder.path / "last")[0]


def leaves(done: Done) -> None:
    """As ONNX, which is compared with ONNX Runtime on the way, and as PyTorch."""
    for form, file in (("onnx", "out.onnx"), ("pytorch", "out.py")):
        out = done.folder.path.parent / file
        assert main(["export", str(done.folder.path), "--format", form, "-o", str(out)]) == 0
        assert out.stat().st_size


def test_sharded_workers_are_one(tmp_path: Path) -> None:
    """Large layers in shards of their own, small ones together; a worker with an empty share at the end."""
    options = {**OPTIONS, "solver": "adam", "gradient_threshold": 0.5, "gradient_threshold_method": "global-l2norm"}
    one = train(digits(convolution(norm=False), **options), tmp_path / "one")
    two = train(digits(convolution(norm=False), {**TWO, "strategy": "fully-sharded"}, **options), tmp_path / "two")
    assert "Each worker holds its part" in two.folder.read_info().placement.sentence
    assert 0 < two.result["time_shares"]["communication"] < 1
    assert largest_difference(one, two) < 1e-4
    for split in ("validation", "test"):
        assert two.result[split]["loss"] == pytest.approx(one.result[split]["loss"], rel=1e-3)
    for key, value in weights(one).items():
        torch.testing.assert_close(weights(two)[key], value, rtol=2e-3, atol=2e-4)
    leaves(two)


def test_an_average_of_sharded_weights_is_that_of_one_worker_and_goes_on(tmp_path: Path) -> None:
    """Validated, kept and saved; the run is trained further from its checkpoint, whose shards three workers share."""
    options = {
        **OPTIONS,
        "solver": "adam",
        "weight_averaging": "ema",
        "ema_decay": 0.9,
        "output_network": "last-iteration",
    }
    options |= {"max_epochs": 2, "checkpoint_unit": "epochs", "checkpoint_frequency": 1}
    one = train(digits(convolution(norm=False), **options), tmp_path / "one")
    two = train(
        digits(convolution(norm=False), {**TWO, "strategy": "fully-sharded"}, **{**options, "max_epochs": 1}),
        tmp_path / "two",
    )
    (checkpoint,) = all_checkpoints(two.folder)
    assert [path.name for path in sorted(checkpoint.path.glob("shard-*"))] == [shard_name(0), shard_name(1)]
    engine("resume", two.folder.path, "--set", "training.max_epochs=2", "--set", "environment.num_workers=3")
    two = Done(two.folder, [])
    assert largest_difference(one, two) < 1e-5
    result = two.folder.read_result() or {}
    for split in ("validation", "test"):
        assert result[split]["loss"] == pytest.approx(one.result[split]["loss"], rel=1e-3)
    for key, value in weights(one).items():
        torch.testing.assert_close(weights(two)[key], value, rtol=2e-3, atol=2e-4)


def test_workers_of_unequal_load_are_one(tmp_path: Path) -> None:
    """Three samples of four for the first worker, an uneven last batch, joint batch statistics, several pieces; and
    a rate that is the same since it follows the number of workers."""
    options = {**OPTIONS, "solver": "adam", "gradient_accumulation": 2}
    one = train(digits(convolution(), **options, initial_learn_rate=0.002), tmp_path / "one")
    loads = {**TWO, "worker_load": "by-hand", "worker_weights": [3, 1], "learn_rate_scaling": "linear"}
    two = train(digits(convolution(), loads, **options, initial_learn_rate=0.001), tmp_path / "two")
    assert "learn rate 0.002 = 0.001 × 2 (linear, 2 workers)" in two.folder.read_info().placement.arithmetic
    assert [place.samples for place in two.folder.read_info().placement.places] == [118, 39]
    assert largest_difference(one, two) < 1e-4
    for split in ("validation", "test"):
        assert two.result[split]["loss"] == pytest.approx(one.result[split]["loss"], rel=1e-3)


def test_measured_loads_train_too(tmp_path: Path) -> None:
    """What the measure says depends on the machine; that every sample is learned from does not."""
    done = train(digits(mlp(), {**TWO, "worker_load": "measured"}, **OPTIONS), tmp_path / "run")
    places = done.folder.read_info().placement.places
    assert sum(place.samples for place in places) == 157
    assert all(place.load > 0 for place in places)
    assert done.losses[-1] < done.losses[0]


def test_local_steps_averaged_at_every_one_are_data_parallel(tmp_path: Path) -> None:
    """A smooth network: where a ReLU is next to its kink, rounding alone decides."""
    smooth = chain(
        layer("image_input", size=8),
        layer("fully_connected", outputs=32),
        layer("tanh"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )
    options = {**OPTIONS, "solver": "sgdm", "initial_learn_rate": 0.05}
    one = train(digits(smooth, **options), tmp_path / "one")
    every = {**TWO, "strategy": "local-sgd", "averaging_interval": 1}
    two = train(digits(smooth, every, **options), tmp_path / "two")
    assert largest_difference(one, two) < 1e-4


def test_local_steps_learn_and_agree_in_the_end(tmp_path: Path) -> None:
    """Adam and batch normalisation, of which the workers average the statistics too."""
    own = {**TWO, "strategy": "local-sgd", "averaging_interval": 5}
    done = train(digits(convolution(), own, **{**OPTIONS, "solver": "adam", "mini_batch_size": 64}), tmp_path / "run")
    assert done.result["test"]["accuracy"] > 0.8
    assert done.result["validation"]["loss"] < done.losses[0] / 2  # the statistics serve, too
    assert "averaged every 5 iterations" in done.folder.read_info().placement.sentence
    leaves(done)


def test_compressed_gradients_learn(tmp_path: Path) -> None:
    """Half precision rounds a little."""
    options = {**OPTIONS, "solver": "adam", "mini_batch_size": 64}
    whole, halves = (
        train(digits(mlp(), {**TWO, "gradient_compression": how}, **options), tmp_path / how, strategy=strategy)
        for how, strategy in (("none", "ddp"), ("fp16", ""))
    )
    assert 0 < largest_difference(whole, halves) < 1e-3
    leaves(halves)


def test_what_searches_a_line_is_refused_with_parts_of_a_network(tmp_path: Path) -> None:
    project = digits(mlp(), {**TWO, "strategy": "fully-sharded"}, solver="lbfgs", mini_batch_size=1000)
    (problem,) = project.option_problems()
    assert problem.path == "environment.strategy"
    assert not replace(project, environment=project.environment.replace(strategy="auto")).option_problems()


def test_stages_of_a_pipeline_are_one_worker_and_go_on(tmp_path: Path) -> None:
    """A connection over the cut, an uneven last batch, the limit of all gradients together. The run is trained further
    from a checkpoint; that one worker may do so, too, follows from what is in it (test_pipeline)."""
    network, image = add(Network.empty(), layer("image_input", size=8), name="image")
    network, conv = add(network, layer("conv2d", filters=8, kernel=3, padding="same"), image, name="conv_1")
    network, tanh = add(network, layer("tanh"), conv, name="tanh_1")
    network, second = add(network, layer("conv2d", filters=8, kernel=3, padding="same"), tanh, name="conv_2")
    network, both = add(network, layer("addition"), tanh, second, name="sum")
    network, end = add(network, layer("fully_connected", outputs=10), both, name="fc")
    network, _ = add(network, layer("softmax"), end, name="softmax")
    options = {**OPTIONS, "solver": "adam", "gradient_threshold": 0.5, "gradient_threshold_method": "global-l2norm"}
    options |= {"max_epochs": 2, "metrics": ("accuracy", "auc"), "watch_gradient_norm": True, "non_finite_loss": "skip"}
    options |= {"checkpoint_unit": "epochs", "checkpoint_frequency": 1}
    one = train(digits(network, **options), tmp_path / "one")
    own = {**TWO, "strategy": "pipeline", "stages": "conv_2: 2"}
    two = train(digits(network, own, **{**options, "max_epochs": 1}), tmp_path / "two")
    said = two.folder.read_info().placement.arithmetic
    assert said.startswith("157 samples per step, in 4 micro-batches of at most 40; ")
    assert "2 stages: 3 and 4 layers (" in said
    assert "faster" not in said
    engine("resume", two.folder.path, "--set", "training.max_epochs=2")
    assert "in 4 micro-batches" in two.folder.read_info().placement.sentence
    two = Done(two.folder, [])
    assert largest_difference(one, two) < 1e-4
    assert two.curve("training", "gradient_norm") == pytest.approx(one.curve("training", "gradient_norm"), 1e-3)
    result = two.folder.read_result() or {}
    assert 0 < result["time_shares"]["communication"] < 1
    for split in ("validation", "test"):
        assert result[split] == pytest.approx(one.result[split], rel=1e-3)
    assert result["metrics"] == pytest.approx(one.result["metrics"], rel=1e-2)
    for key, value in weights(one).items():
        torch.testing.assert_close(weights(two)[key], value, rtol=2e-3, atol=2e-4)
    leaves(two)


def test_what_does_not_go_with_stages_is_refused() -> None:
    own = {**TWO, "strategy": "pipeline"}
    options: dict[str, Any] = {"solver": "lbfgs", "mini_batch_size": 1000, "watch_layers": True}
    refused = digits(mlp(), {**own, "worker_load": "measured"}, **options).option_problems()
    assert [problem.path for problem in refused] == [*["environment.strategy"] * 2, "environment.worker_load"]
    (problem,) = check(digits(mlp(), {**own, "num_workers": 3})).errors
    assert problem.field == "environment.stages"
    assert "the network has 2" in problem.message
    (problem,) = check(digits(mlp(), {**own, "stages": "nowhere: 2"})).errors
    assert "there is no layer 'nowhere'" in problem.message
    (problem,) = check(digits(mlp(), {**own, "stages": "relu_1"})).errors
    assert "such as conv_2: 2, received relu_1" in problem.message


def test_weights_that_get_no_gradient_do_not_stop_workers_that_wait_for_all_of_them(tmp_path: Path) -> None:
    """torch's DDP, which joins GPUs and alone compresses gradients, is told of them; the others learn as ever."""
    network, entry = add(Network.empty(), layer("image_input", size=8))
    network, fed = add(network, layer("fully_connected", outputs=10), entry)
    network, still = add(network, layer("fully_connected", outputs=10), entry)
    network, stopped = add(network, layer("stop_gradient"), still)
    network, both = add(network, layer("addition"), fed, stopped)
    network, _ = add(network, layer("softmax"), both)
    halves = {**TWO, "gradient_compression": "fp16"}
    for pieces in (1, 2):  # in one, torch looks for them but once
        options = {"max_epochs": 1, "gradient_accumulation": pieces}
        done = train(digits(network, halves, **options), tmp_path / f"in {pieces}")
        assert done.losses[-1] < done.losses[0]
        assert not weights(done)[f"{still.name}.bias"].any(), "as it began"
