"""What the precision changes, beyond the numbers of `test_reference`."""

from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.data.loading.batches import ResidentDataset
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.sync_batch_norm import JoinedBatchNorm, Share
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.precision import LossScale, Precision, allow_tf32

CPU = torch.device("cpu")


class OtherOverflows(SingleProcess):
    """Another worker that found numbers which are not finite."""

    size = 2

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.add_(1.0)


def test_a_step_that_overflows_on_another_worker_is_left_out_here_too() -> None:
    weight = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9, fused=True)
    for group, factor, moved in ((OtherOverflows(), 0.5, 0.0), (SingleProcess(), 1.0, -0.2)):
        before, scale = weight.detach().clone(), LossScale(CPU, group)
        weight.grad = None
        torch.autograd.backward(scale.scale(2 * weight.sum()))
        first = scale.get_scale()
        scale.unscale_(optimizer)
        gradient: torch.Tensor | None = weight.grad
        assert gradient is not None
        assert gradient.tolist() == [2.0] * 3
        if not scale.has_overflow(optimizer):
            optimizer.step()
        scale.update()
        assert (weight - before).tolist() == pytest.approx([moved] * 3)
        assert scale.get_scale() == factor * first


def test_the_scale_goes_on_where_it_was() -> None:
    precision, later = Precision("fp16", CPU, SingleProcess()), Precision("fp16", CPU, SingleProcess())
    assert precision.scale
    assert later.scale
    precision.scale.scale(torch.ones(1))
    precision.scale.update(512.0)
    later.load_state_dict(precision.state_dict())
    assert later.scale.scale(torch.ones(1)).item() == 512.0


def test_double_precision_is_that_of_weights_statistics_and_data() -> None:
    network = nn.Sequential(nn.Conv1d(2, 2, 1, dtype=torch.complex64), nn.BatchNorm1d(2))
    precision = Precision("fp64", CPU, SingleProcess())
    state = precision.network(network).state_dict()
    assert {value.dtype for value in state.values()} == {torch.complex128, torch.float64, torch.int64}
    part = precision.data(ResidentDataset((torch.ones(2, 1), torch.ones(2, 1, dtype=torch.int64)), (torch.ones(2),)))
    assert [x.dtype for x in (*part.inputs, *part.targets)] == [torch.float64, torch.int64, torch.float64]


def test_where_there_is_no_tf32_that_is_said_and_auto_is_single() -> None:
    assert "no effect here" in Precision("tf32", CPU, SingleProcess()).notes[0]
    assert Precision("auto", CPU, SingleProcess()).name == "fp32"
    assert not Precision("auto", CPU, SingleProcess()).notes


@pytest.mark.parametrize("yes", [True, False])
def test_a_gpu_rounds_products_by_settings_that_the_compiler_can_read(yes: bool) -> None:
    """torch.compile asks for the older ones as it lowers a product, and is refused where the newer alone are set."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    try:
        allow_tf32(yes)
        assert torch._C._get_cublas_allow_tf32() is yes
        assert torch.backends.cudnn.allow_tf32 is yes
        new = torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.cudnn.rnn  # type: ignore[attr-defined]
        assert [one.fp32_precision == "tf32" for one in new] == [yes] * 3
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


@pytest.mark.parametrize("kind", ["bf16", "fp16"])
def test_statistics_over_workers_are_single_where_the_input_is_rounded(kind: str) -> None:
    class Two(SingleProcess):
        size = 2

    precision = Precision(kind, CPU, SingleProcess())
    x = torch.randn(64, 3, generator=torch.Generator().manual_seed(1)) * 3 + 20
    low = x.to(precision.computing().fast_dtype).requires_grad_()  # type: ignore[attr-defined]
    plain, joined = nn.BatchNorm1d(3), JoinedBatchNorm(nn.BatchNorm1d(3), Two(), Share())
    expected, found = plain(low.float()), joined(low)
    assert found.dtype == low.dtype
    torch.testing.assert_close(found.float(), expected, rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(joined.running_var, plain.running_var, rtol=1e-5, atol=1e-5)
    weights = torch.arange(64 * 3.0).reshape(64, 3)
    (slope,) = torch.autograd.grad((found.float() * weights).sum(), low)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), low)
    torch.testing.assert_close(slope, wanted, rtol=3e-2, atol=1.0)


def test_layers_that_autocast_does_not_know_take_rounded_inputs() -> None:
    class Products(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.Linear(2, 3), nn.Bilinear(3, 3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.before(x)
            result: torch.Tensor = self.after(x, x)
            return result

    precision = Precision("bf16", CPU, SingleProcess())
    found = precision.call(precision.network(Products()), torch.ones(2, 2))
    assert isinstance(found, torch.Tensor)
    assert found.dtype == torch.float32


@pytest.mark.parametrize("given", [{"solver": "lbfgs", "precision": "fp16"}, {"solver": "lm", "precision": "bf16"}])
def test_solvers_that_compare_losses_refuse_a_low_precision(given: dict[str, Any]) -> None:
    (problem,) = [error for error in TrainingOptions(**given).problems() if error.path == "precision"]
    assert str(problem) == (
        f"precision: the solver {given['solver']} compares losses, which {given['precision']} rounds too much. "
        "Use fp32 or fp64."
    )
