"""What only a device of our own shows: memory that ends, devices that are lost, a choice between two. Runs under
`tests/device_backend/test_own_device.py`, where torch has the device type `toy`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.hardware.devices import probe
from netwright.engine.launch.outcome import OUT_OF_MEMORY
from netwright.engine.placement.choose import resolve
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.runs.folder import RunFolder
from tests import warm
from tests.builders import chain, layer
from tests.runs import PATIENCE_S, ROOT, Done, train
from tests.system.test_gpu import EXACT, GPU, GPUS, SHORT, random_and_joint
from tests.system.test_resume_runs import engine
from tests.system.test_training import digits, mlp

pytestmark = pytest.mark.gpu


def test_two_devices_are_there_and_joined() -> None:
    inventory = probe()
    assert [device.name for device in inventory.usable] == ["toy:0", "toy:1"]
    assert inventory.usable[0].memory_bytes == 2**34
    several = resolve(EnvironmentOptions(), inventory, 1024)
    assert (several.resolved, several.backend) == ("multi-gpu", "toyccl")
    assert resolve(EnvironmentOptions(), inventory, 16).resolved == "gpu"


def test_the_device_that_is_named_computes(tmp_path: Path) -> None:
    done = train(digits(mlp(), {**GPU, "devices": (1,)}, **SHORT, **EXACT), tmp_path / "run")
    assert done.result["environment"]["devices"] == ["toy:1"]
    assert 0 < done.events("progress")[-1]["memory_bytes"] < 2**24  # of the device, and not of the process


@pytest.mark.parametrize("name", ["waves", "reports", "recipes"])
def test_recurrent_layers_and_attention_give_the_losses_of_the_cpu(name: str, tmp_path: Path) -> None:
    example = ROOT / f"resources/examples/{name}.netwright"
    losses = []
    for target in ("cpu", "gpu"):
        options = {"environment.target": target, "training.acceleration": "none", "training.max_epochs": "1"}
        folder = tmp_path / target
        words = [word for path, value in options.items() for word in ("--set", f"{path}={value}")]
        engine("train", example, "--run-dir", folder, *words)
        losses.append(Done(RunFolder(folder), []).losses)
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_a_run_without_memory_says_what_helps_and_goes_on_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch takes more than the 300 MiB of the device, half of it does not."""
    wide = chain(
        layer("image_input", size=8),
        layer("conv2d", filters=512, kernel=1),
        layer("relu"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )
    monkeypatch.setenv("TOY_BYTES", str(300 * 2**20))
    project = digits(wide, GPU, **EXACT, max_epochs=1, mini_batch_size=1257, solver="sgdm")
    done = train(project, tmp_path / "run", end="failed")
    assert done.result["code"] == OUT_OF_MEMORY
    assert "There is not enough memory to train (another " in done.result["reason"]
    assert "of GPU 0), in the layer " in done.result["reason"]
    (offer,) = (word for word in done.result["reason"].split() if word.startswith("training.gradient_accumulation="))
    said = engine("resume", done.folder.path, "--set", offer.rstrip(",;"))
    assert "finished: " in said


def test_a_run_whose_device_is_lost_fails_in_words_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {**EXACT, "max_epochs": 2, "mini_batch_size": 157, "solver": "adam"}
    options["checkpoint_frequency"] = 4
    whole = train(digits(random_and_joint(), GPU, **options), tmp_path / "whole")
    monkeypatch.setenv("TOY_LOST", "0:1500")
    done = train(digits(random_and_joint(), GPU, **options), tmp_path / "run", end="failed")
    assert done.result["code"] == "device_failed"
    assert "The device failed: toy error: the device is lost." in done.result["reason"]
    monkeypatch.delenv("TOY_LOST")
    assert "finished: all 2 epochs completed" in engine("resume", done.folder.path)
    assert Done(done.folder, []).losses == whole.losses


def test_a_lost_device_among_two_ends_the_run_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_LOST", "1:1500")
    done = train(digits(mlp(), GPUS, **{**SHORT, "max_epochs": 20}, **EXACT), tmp_path / "run", end="failed")
    assert "toy error: the device is lost" in done.result["reason"]


def test_predictions_of_a_device_are_those_of_the_cpu(tmp_path: Path) -> None:
    done = train(digits(mlp(), GPU, **SHORT, **EXACT), tmp_path / "run")
    picture = tmp_path / "rows.npy"
    np.save(picture, np.random.default_rng(0).random((6, 1, 8, 8), np.float32))
    said = []
    for device in ("cpu", "toy:1", "multi-gpu"):
        answer = warm.run(
            ["predict", done.folder.path, picture, "--device", device, "--json"], cwd=ROOT, timeout=PATIENCE_S
        )
        assert answer.returncode == 0, answer.stderr
        said.append(json.loads(answer.stdout))
    assert said[0] == said[1] == said[2]
