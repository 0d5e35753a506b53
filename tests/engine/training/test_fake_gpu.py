"""Trainings on a GPU that has no memory: no layer, loss, metric or checkpoint mixes devices, and no step is waited
for."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.training.checkpoints import is_finite
from scripts.make_templates import MAKERS, TEMPLATES
from tests.builders import add, chain, layer
from tests.fake_gpu import GPU, FakeGpu, fake_gpu, train
from tests.strategies import STEPS, accepts, input_for, records

DEEP = {"densenet121", "efficientnet_b0", "googlenet", "mobilenet_v2", "resnet50", "resnet101", "seq2seq", "vit_b_16"}
"""Templates that take seconds make one step, and write no checkpoint, which would be like those of others."""
STARTS = (
    features(12),
    image(4, 9, 7),
    sequence(12, 4),
    sequence(STEPS, 6),
    tokens(6),
    tokens(STEPS),
    volume(2, 6, 7, 5),
)
BY_NATURE = {"onnx_operator", "custom", "function", "block_input", "block_output", "position_embedding"}
"""Layer types that compute on the CPU, that are of the user, or that take fewer steps than the samples have."""
INNER = sorted(key for key, type in catalog().items() if not type().is_input and key not in BY_NATURE)


def waits(project: Project, folder: Path, steps: int = 1, **options: Any) -> FakeGpu:
    """Train so many steps with these options and return what was waited for."""
    usual = {
        "mini_batch_size": 2,
        "max_epochs": 1,
        "acceleration": "none",
        "gradient_threshold": 1.0,
        "precision": "fp32",
        "watch_answers": "none",
    }
    training = project.training.replace(**{**usual, "checkpoint_unit": "epochs", "seed": 1, **options})
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch) as gpu:
        train(replace(project, training=training), gpu, folder, 2 * steps)
    return gpu


def assert_no_needless_waits(gpu: FakeGpu) -> None:
    """A step and its batch are not waited for; a report, a validation and a check of weights are once, and the order of
    the samples is sent once per epoch. What is written is copied tensor by tensor."""
    assert gpu.of("step") == {}
    assert gpu.of("batch") == {}
    assert sum(gpu.of("epoch").values()) == 1
    assert set(gpu.of("report").values()) <= {1, 2}, "one for each step, which are reported one by one here"
    assert sum(gpu.of("validation").values()) == 2
    assert all(count <= 1 for place, count in gpu.of("checkpoint").items() if "checkpoints.py" not in place)


LARGE = {"densenet121", "googlenet", "resnet101", "efficientnet_b0", "mobilenet_v2"}
"""Deep templates that take long, of layers that others have, too: in `make parity`."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.parity] if name in LARGE else []) for name in MAKERS]
)
def test_a_template_trains_in_mixed_precision(name: str, tmp_path: Path) -> None:
    project = load(TEMPLATES / f"{name}.netwright").project
    steps, unit = (1, "never") if name in DEEP else (2, "epochs")
    assert_no_needless_waits(waits(project, tmp_path, steps, precision="bf16", checkpoint_unit=unit))


OPTIONS: dict[str, dict[str, Any]] = {
    "metrics": {"metrics": ("f-score", "top-k"), "loss": "focal", "class_weighting": "balanced"},
    "padding": {"sequence_padding": "seen", "sequence_padding_value": 1.0, "sequence_padding_direction": "left"},
    "averages": {"weight_averaging": "ema", "watch_gradient_norm": True, "watch_layers": True},
    "pieces": {"gradient_accumulation": 2, "solver": "adam", "gradient_threshold_method": "global-l2norm"},
    "convention": {"convention": "matlab", "solver": "rmsprop", "gradient_threshold_method": "absolute-value"},
    "recomputing": {"gradient_checkpointing": "auto", "solver": "nadam"},
    "weights": {"watch_weights": "weights-and-gradients"},
    "activations": {"watch_weights": "all"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_no_option_of_a_training_is_waited_for(name: str, tmp_path: Path) -> None:
    type = sequence(STEPS, 6)
    layers = layer("quadratic"), layer("lstm", hidden_units=4), layer("fully_connected", outputs=3), layer("softmax")
    project = Project(chain(input_for(type), *layers))
    assert_no_needless_waits(waits(project, tmp_path, 2, **OPTIONS[name]))


def test_weights_are_found_finite_by_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_gpu(monkeypatch) as gpu:
        state = {"a": [torch.empty(2, device=GPU), torch.empty(3, device=GPU)], "b": torch.empty((), device=GPU)}
        assert is_finite(state)
    assert sum(gpu.waits.values()) == 1


def test_devices_do_not_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_gpu(monkeypatch), pytest.raises(RuntimeError, match="on the same device"):
        torch.empty(2, device=GPU) + torch.empty(2)


@cache
def fitting(type: TensorType) -> list[str]:
    """The layer types that take this."""
    plain = {key: catalog()[key]() for key in INNER}
    return [key for key, kind in plain.items() if len(kind.input_ports()) == 1 and accepts(kind, (type,))]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Up to four layers one behind the other, each with values and sizes that fit, and a classifier."""
    network, last = add(Network.empty(), input_for(draw(st.sampled_from(STARTS))))
    type = last.type.output()
    for _ in range(draw(st.integers(1, 4))):
        kind = catalog()[draw(st.sampled_from(fitting(type)))]
        inner = draw(records(kind))
        if not (isinstance(inner, LayerType) and inner.input_ports() == ("in",) and accepts(inner, (type,))):
            inner = kind()
        network, last = add(network, inner, last)
        type = inner.output(type)
    for end in (layer("fully_connected", outputs=3), layer("softmax")):
        network, last = add(network, end, last)
    return network


EXAMPLES = 60 if settings().max_examples > 100 else 12
"""In `make parity`, and elsewhere."""


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(networks(), st.sampled_from(["fp32", "bf16"]))
def test_random_networks_train(tmp_path_factory: pytest.TempPathFactory, network: Network, precision: str) -> None:
    assume(not analyse(network).has_errors)
    try:
        gpu = waits(Project(network), tmp_path_factory.mktemp("run"), precision=precision, checkpoint_unit="never")
    except UserError:  # such as more steps out than in
        assume(False)
    assert_no_needless_waits(gpu)
