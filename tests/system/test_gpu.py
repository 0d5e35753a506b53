"""What only a GPU shows, by real runs beside the same ones on the CPU: `make gpu` where there is one. Of two or more
GPUs the second half asks."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.hardware.devices import probe
from netwright.engine.network.network import Network
from tests.builders import add, chain, layer
from tests.runs import Done, train
from tests.system import test_streaming_end_to_end as streaming
from tests.system.test_resume_runs import engine
from tests.system.test_training import convolution, digits, largest_difference, mlp

pytestmark = pytest.mark.gpu
GPU: dict[str, Any] = {"target": "gpu"}
GPUS: dict[str, Any] = {"target": "multi-gpu"}
SHORT: dict[str, Any] = {"max_epochs": 2, "mini_batch_size": 157, "shuffle": "every-epoch"}
"""The last batch of an epoch holds one sample: uneven, and on several GPUs empty for all but the first."""
EXACT: dict[str, Any] = {"precision": "fp32", "acceleration": "none"}
needs_two = pytest.mark.skipif("len(probe().usable) < 2", reason="two GPUs are needed")


def said(done: Done) -> str:
    return " ".join(event["text"] for event in done.events("message"))


def random_and_joint() -> Network:
    return chain(
        layer("image_input", size=8),
        layer("conv2d", filters=8, kernel=3),
        layer("batch_norm"),
        layer("relu"),
        layer("dropout"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


def partly_still() -> Network:
    """Half of its weights get no gradient."""
    network, entry = add(Network.empty(), layer("image_input", size=8))
    network, fed = add(network, layer("fully_connected", outputs=10), entry)
    network, still = add(network, layer("fully_connected", outputs=10), entry)
    network, stopped = add(network, layer("stop_gradient"), still)
    network, both = add(network, layer("addition"), fed, stopped)
    return add(network, layer("softmax"), both)[0]


def test_the_gpu_is_found_sound() -> None:
    assert probe().usable, probe().no_devices_because
    print(engine("devices", "--test"))


@pytest.mark.parametrize("solver", ["sgdm", "adam", "adamw", "nadam", "rmsprop"])
def test_a_gpu_gives_the_numbers_of_the_cpu(solver: str, tmp_path: Path) -> None:
    options = {**SHORT, **EXACT, "solver": solver, "gradient_threshold": 1.0}
    cpu, gpu = (train(digits(convolution(), on, **options), tmp_path / on["target"]) for on in ({"target": "cpu"}, GPU))
    assert gpu.result["environment"]["devices"] == [probe().usable[0].name]
    assert largest_difference(cpu, gpu) < 1e-3
    assert gpu.result["test"]["loss"] == pytest.approx(cpu.result["test"]["loss"], rel=1e-2)


def test_a_solver_that_searches_a_line_lowers_the_loss(tmp_path: Path) -> None:
    done = train(digits(mlp(), GPU, **EXACT, solver="lbfgs", max_iterations=8), tmp_path / "run")
    assert done.losses[-1] < done.losses[0]


@pytest.mark.parametrize("precision", ["tf32", "bf16", "fp16", "fp64"])
def test_every_precision_learns(precision: str, tmp_path: Path) -> None:
    project = digits(convolution(), GPU, **SHORT, precision=precision, acceleration="none", solver="adam")
    done = train(project, tmp_path / "run")
    assert done.losses[-2] < done.losses[0]


@pytest.mark.parametrize("precision", ["auto", "bf16"])
def test_what_is_compiled_gives_the_same_numbers_about(precision: str, tmp_path: Path) -> None:
    plain, compiled = (
        train(digits(convolution(), GPU, **SHORT, precision=precision, acceleration=how), tmp_path / how)
        for how in ("none", "compile")
    )
    assert "cannot be used here" not in said(compiled)
    assert largest_difference(plain, compiled) < 0.1
    chosen = train(digits(convolution(), GPU, **SHORT, precision=precision), tmp_path / "auto")
    assert "ompiled" in said(chosen)


def test_all_that_is_done_beside_a_step_works_together(tmp_path: Path) -> None:
    """Dropout, an average, a guard, limits, pieces, recomputing, schedules, figures of layers and gradients."""
    project = digits(
        random_and_joint(),
        GPU,
        **SHORT,
        **EXACT,
        solver="adam",
        weight_averaging="ema",
        non_finite_loss="skip",
        gradient_threshold=0.5,
        gradient_threshold_method="global-l2norm",
        gradient_accumulation=2,
        gradient_checkpointing="auto",
        watch_gradient_norm=True,
        watch_layers=True,
        schedule="cosine",
    )
    done = train(project, tmp_path / "run")
    assert done.losses[-2] < done.losses[0]
    assert done.events("progress")[-1]["memory_bytes"] > 0


def test_a_run_goes_on_from_its_checkpoint_to_the_bit(tmp_path: Path) -> None:
    options = {**SHORT, **EXACT, "solver": "adam", "deterministic": True}
    whole = train(digits(random_and_joint(), GPU, **{**options, "max_epochs": 4}), tmp_path / "whole")
    half = train(digits(random_and_joint(), GPU, **options), tmp_path / "half")
    engine("resume", half.folder.path, "--set", "training.max_epochs=4")
    assert Done(half.folder, []).losses == whole.losses


def test_streamed_pictures_give_the_numbers_of_those_in_memory(tmp_path: Path) -> None:
    """Read into memory that the GPU takes them from by itself, which is used again meanwhile."""
    streaming.pictures(tmp_path)
    held = train(streaming.project("memory", GPU, deterministic=True, **EXACT), tmp_path / "held")
    read = train(streaming.project("stream", GPU, deterministic=True, **EXACT), tmp_path / "read")
    assert streaming.figures(read) == streaming.figures(held)


def test_a_batch_that_does_not_fit_is_said_in_words(tmp_path: Path) -> None:
    """A step of about 200 GiB, of which the weights have 8."""
    ends = layer("fully_connected", outputs=10), layer("softmax")
    wide = chain(layer("image_input", size=8), layer("fully_connected", outputs=2**25), *ends)
    project = digits(wide, GPU, **EXACT, mini_batch_size=1257, solver="adam")
    done = train(project, tmp_path / "run", end="failed")
    assert "There is not enough memory to train" in done.result["reason"]


SEVERAL: dict[str, dict[str, Any]] = {
    "ddp": {},
    "fp16": {"gradient_compression": "fp16"},
    "sharded": {"strategy": "fully-sharded"},
    "offloaded": {"strategy": "fully-sharded", "cpu_offload": True},
    "local": {"strategy": "local-sgd", "averaging_interval": 1},
    "pipeline": {"strategy": "pipeline"},
}
ABOUT = {"fp16": 0.05}


@needs_two
@pytest.mark.parametrize("name", SEVERAL)
def test_several_gpus_are_one(name: str, tmp_path: Path) -> None:
    network = mlp() if name in ("local", "pipeline") else convolution()
    options: dict[str, Any] = {**SHORT, **EXACT, "solver": "sgdm", "watch_gradient_norm": True}
    one = train(digits(network, GPU, **options), tmp_path / "one")
    project = digits(network, {**GPUS, **SEVERAL[name]}, **options)
    several = train(project, tmp_path / "several")
    assert largest_difference(one, several) < ABOUT.get(name, 1e-3)
    assert engine("resume", several.folder.path, "--set", "training.max_epochs=3").startswith("finished")


@needs_two
@pytest.mark.parametrize("compression", ["none", "fp16"])
def test_weights_without_a_gradient_do_not_stop_several_gpus(compression: str, tmp_path: Path) -> None:
    own = {**GPUS, "gradient_compression": compression}
    done = train(digits(partly_still(), own, **SHORT, **EXACT), tmp_path / "run")
    assert done.losses[-2] < done.losses[0]


@pytest.mark.parametrize("method", ["gradcam", "integrated_gradients", "occlusion", "embedding", "max_activation"])
def test_explaining_on_a_gpu_shows_what_the_cpu_shows(method: str, tmp_path: Path) -> None:
    done = train(digits(convolution(), GPU, **SHORT, **EXACT), tmp_path / "run")
    arrays = []
    for device in ("cpu", "gpu", "multi-gpu"):
        file = tmp_path / f"{device}.npz"
        engine("explain", done.folder.path, "--method", method, "--device", device, "--fresh", "-o", file)
        with np.load(file) as stored:
            arrays.append({name: stored[name] for name in stored})
    one, *others = arrays
    for other in others:
        assert {*other} == {*one}
        for name in one:
            assert np.allclose(other[name], one[name], rtol=1e-3, atol=1e-2 if method == "max_activation" else 1e-3)


def test_evaluating_on_a_gpu_says_what_the_cpu_says(tmp_path: Path) -> None:
    done = train(digits(convolution(), GPU, **SHORT, **EXACT), tmp_path / "run")
    one, *others = (
        json.loads(engine("evaluate", done.folder.path, "--device", device, "--fresh", "--json"))
        for device in ("cpu", "gpu", "multi-gpu")
    )
    for other in others:
        assert other["loss"] == pytest.approx(one["loss"], abs=1e-4)
        assert other["metrics"] == pytest.approx(one["metrics"], abs=1e-4)
