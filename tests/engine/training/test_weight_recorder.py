"""How weights, gradients and activations are distributed is kept, step after step."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.project.training import TrainingLength
from netwright.engine.runs.watched_weights import FILE, KINDS, POINTS, WeightStep, read_weights
from netwright.engine.training.weight_recorder import KINDS_OF, MOST_NUMBERS, MOST_STEPS, WeightRecorder, quantiles

FREE_S = "netwright.engine.training.weight_recorder.FREE_S"
NAMES = {"fc": ("0",), "relu": ("1",), "deep/fc": ("2",)}


@pytest.fixture(autouse=True)
def _time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records take as long as they like, on a busy machine, too."""
    monkeypatch.setattr(FREE_S, 1e9)


def recorder_of(run: Path, net: nn.Module, steps: int = 10, **more: Any) -> WeightRecorder:
    kinds = KINDS_OF[more.get("kinds", "all")]
    return WeightRecorder(run, net, NAMES, kinds, TrainingLength(batch=4, steps_per_epoch=5, epochs=steps // 5))


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


def train(recorder: WeightRecorder, net: nn.Module, first: int, last: int) -> list[WeightStep]:
    for step in range(first, last + 1):
        recorder.before(step)
        net.zero_grad()
        net(torch.randn(16, 3)).square().mean().backward()
        recorder.after()
        recorder.take()
    return read_weights(recorder._file.parent)


def test_quantiles_are_those_of_all_numbers() -> None:
    values = torch.randn(1000, dtype=torch.double)
    expected = np.quantile(values.float().numpy(), np.linspace(0, 1, POINTS), method="nearest")
    assert np.abs(quantiles([values[:300].reshape(3, 100), values[300:]]).numpy() - expected).max() < 0.02
    assert quantiles([torch.tensor(2.0)]).tolist() == [2.0] * POINTS


def test_of_many_numbers_every_channel_has_its_part() -> None:
    """Without a distance that has no factor in common with the sizes, only some columns would be seen."""
    columns = torch.arange(64.0).expand(8192, 64)
    for layout in (columns.contiguous(), columns.reshape(128, 64, 64).transpose(0, 1).contiguous()):
        seen = quantiles([layout])
        assert seen[0] == 0
        assert seen[-1] == 63
        assert seen[POINTS // 2] == pytest.approx(31.5, abs=1)
    images = columns.reshape(128, 64, 8, 8).to(memory_format=torch.channels_last)
    assert quantiles([images])[POINTS // 2] == pytest.approx(31.5, abs=1)
    assert images.numel() > MOST_NUMBERS


def test_a_step_has_each_layer_by_name_and_kind(tmp_path: Path) -> None:
    net = network()
    steps = train(recorder_of(tmp_path, net), net, 1, 10)
    assert [(step.iteration, step.epoch) for step in steps] == [(n, -(-n // 5)) for n in range(1, 11)]
    assert list(steps[0].layers) == ["fc", "relu", "deep/fc"]
    assert sorted(steps[0].layers["fc"]) == sorted(KINDS)
    assert list(steps[0].layers["relu"]) == ["activations"]
    weights = torch.cat([weight.detach().flatten() for weight in net[0].parameters()])
    first, *_, last = steps[-1].layers["fc"]["weights"]
    assert (first, last) == (pytest.approx(float(weights.min()), rel=1e-3), pytest.approx(float(weights.max()), 1e-3))
    gradient = torch.cat([weight.grad.flatten() for weight in net[2].parameters() if weight.grad is not None])
    assert steps[-1].layers["deep/fc"]["gradients"][-1] == pytest.approx(float(gradient.max()), rel=1e-3)
    assert steps[-1].layers["relu"]["activations"][0] == 0
    assert (tmp_path / FILE).stat().st_mode & 0o77 == 0
    assert not any(module._forward_hooks for module in net.modules())


@pytest.mark.parametrize(("kinds", "expected"), [("weights", KINDS[:1]), ("weights-and-gradients", KINDS[:2])])
def test_only_what_was_asked_for_is_kept(kinds: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    net = network()
    recorder = recorder_of(tmp_path, net, kinds=kinds)
    assert tuple(train(recorder, net, 1, 1)[0].layers["fc"]) == expected
    recorder.before(2)
    assert not recorder.sees_layers, "a step without hooks may be computed without autograd"


def test_a_long_run_keeps_every_second_record_then_every_fourth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = network()
    steps = train(recorder_of(tmp_path, net, 5), net, 1, 500)  # longer than it was planned
    iterations = [step.iteration for step in steps]
    assert iterations[0] == 1
    assert MOST_STEPS // 2 < len(steps) <= MOST_STEPS
    assert set(np.diff(iterations)) <= {8, 9, 16}
    assert iterations[-1] > 480


def test_a_slow_device_gives_few_records_and_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(FREE_S, 0.05)
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def slow(_tensors: Any) -> torch.Tensor:
        now[0] += 0.1
        return torch.zeros(POINTS)

    monkeypatch.setattr("netwright.engine.training.weight_recorder.quantiles", slow)
    net = network()
    recorder = recorder_of(tmp_path, net, 20, kinds="weights")
    for step in range(1, 21):
        now[0] += 1.0
        steps = train(recorder, net, step, step)
    assert [step.iteration for step in steps] == [1, 8, 18, 20]  # two layers take a fifth of a second


def test_a_resumed_run_goes_on_behind_its_checkpoint(tmp_path: Path) -> None:
    net = network()
    train(recorder_of(tmp_path, net, 20), net, 1, 12)
    again = recorder_of(tmp_path, net, 20)
    again.resume(10)
    steps = train(again, net, 11, 13)
    assert [step.iteration for step in steps] == list(range(1, 14))


def test_numbers_that_are_not_finite_leave_a_gap(tmp_path: Path) -> None:
    net = network()
    with torch.no_grad():
        next(net[2].parameters())[0, 0] = float("nan")
    (step,) = train(recorder_of(tmp_path, net), net, 1, 1)
    assert "weights" in step.layers["fc"]
    assert "deep/fc" not in step.layers
