"""What each layer of a network costs: which layers, how much arithmetic and memory, and what the whole takes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.launch import layer_profile as profiling
from netwright.engine.launch.layer_profile import main, profile
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.blocks import behind, residual
from tests.builders import chain, layer

BATCH = 8
WIDE = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=6), layer("relu"))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device of known speed, and few repeats."""
    monkeypatch.setattr(profiling, "measure", lambda device: {"matmul_gflops": 1.0, "copy_gbs": 2.0})
    monkeypatch.setattr(profiling, "LONGEST_S", 0.0)
    monkeypatch.setattr(profiling, "WHOLE_S", 0.0)


def measured(project: Project, **options: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Any]]:
    """The device, the layers by name, the whole."""
    device, *layers, whole = profile(project, batch=BATCH, threads=1, **options)
    return device["device"], {line["layer"]["name"]: line["layer"] for line in layers}, whole["whole"]


def test_layers_have_the_arithmetic_and_the_bytes_of_a_batch() -> None:
    device, layers, whole = measured(Project(WIDE))
    assert (device["name"], device["batch"], device["precision"]) == ("cpu", BATCH, "fp32")
    dense = layers["fc_1"]
    assert dense["flops"] == whole["flops"] == 2 * 4 * 6 * BATCH
    assert dense["moved_bytes"] == 4 * (BATCH * 4 + 4 * 6 + 6 + BATCH * 6)  # input, weights, biases, output
    assert layers["relu_1"]["kept_bytes"] == 4 * BATCH * 6  # its result
    assert whole["kept_bytes"] == 4 * BATCH * (6 + 4)  # and the normalised input
    assert min(dense["forward_s"], dense["backward_s"], whole["forward_s"], whole["backward_s"]) > 0
    assert dense["roof"] == pytest.approx(max(dense["flops"] / 1e9, dense["moved_bytes"] / 2e9) / dense["forward_s"])


def test_copies_of_a_repeated_block_are_layers_of_their_own() -> None:
    network = behind(layer("image_input", size=(4, 4), channels=4), residual(4, repeat=2))
    _, layers, _ = measured(Project(network))
    inner = [name for name in layers if name.endswith("/conv")]
    first, second = (layers[name] for name in inner)
    assert [name.split("/")[1] for name in inner] == ["0", "1"]
    assert first["path"] != second["path"]
    assert first["flops"] == second["flops"] > 0


def test_the_trace_names_the_layers(tmp_path: Path) -> None:
    *_, whole = profile(Project(WIDE), batch=BATCH, threads=1, trace=tmp_path / "steps.json")
    assert "whole" in whole
    names = {event.get("name") for event in json.loads((tmp_path / "steps.json").read_text())["traceEvents"]}
    assert {"fc_1", "relu_1", "aten::addmm"} <= names


def test_double_precision_is_measured_as_such() -> None:
    options = TrainingOptions(precision="fp64")
    try:
        device, layers, _ = measured(Project(WIDE, training=options))
    finally:
        torch.set_default_dtype(torch.float32)
    assert device["precision"] == "fp64"
    assert layers["fc_1"]["moved_bytes"] == 8 * (BATCH * 4 + 4 * 6 + 6 + BATCH * 6)


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match=r"The device 'cuda:77' cannot be used: .*devices` lists"):
        list(profile(Project(WIDE), device="cuda:77"))


def test_a_batch_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match="A batch of 9,000,000,000,000 samples does not fit into the memory of cpu"):
        list(profile(Project(WIDE), batch=9 * 10**12))


def test_errors_are_lines_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.netwright"
    save(Project(), path)
    assert main([str(path)]) == 0
    assert "The network has errors" in json.loads(capsys.readouterr().out)["error"]
