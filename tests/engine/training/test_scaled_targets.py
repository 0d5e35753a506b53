import numpy as np
import pytest
import torch

from netwright.engine.lowering.modules.normalization import InverseNormalize
from netwright.engine.training.losses import SingleOutputLoss, fit_inverse, half_mse, mae, normalised, scale_of


def test_the_loss_is_that_of_responses_without_their_units() -> None:
    targets = np.array([[100.0, 0.1], [300.0, 0.1], [500.0, 0.1]], np.float32)
    last = InverseNormalize(2, 1, 1)
    fit_inverse(last, "zscore", targets, 1)
    deviation = float(np.std([100, 300, 500]))
    assert last.shift.tolist() == pytest.approx([300, 0.1])
    assert last.scale.tolist() == pytest.approx([deviation, 1.0]), "a response that is constant keeps its size"
    for loss in (half_mse, mae):
        without = normalised(SingleOutputLoss(loss), {0: scale_of(last, torch.device("cpu"))})
        inner = torch.tensor([[0.5, 0.0], [-1.0, 2.0], [0.0, 0.0]], requires_grad=True)
        found = without((last(inner),), (torch.from_numpy(targets),))
        plain = (torch.from_numpy(targets) - last.shift) / last.scale
        torch.testing.assert_close(found, loss(inner, plain))
        slope = torch.autograd.grad(found, inner)[0]
        torch.testing.assert_close(slope, torch.autograd.grad(loss(inner, plain), inner)[0], atol=1e-5, rtol=1e-5)


def test_outputs_without_fitted_numbers_stay_as_they_are() -> None:
    def first_and_second(outputs: tuple[torch.Tensor, ...], targets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return outputs[0].sum() + 10 * outputs[1].sum()

    last = InverseNormalize(3, 1, 3)
    fit_inverse(last, "zerocenter", np.full((2, 3, 4, 5), 7.0, np.float32), 1)
    loss = normalised(first_and_second, {1: scale_of(last, torch.device("cpu"))})
    given = torch.ones(2, 1), torch.full((2, 3, 4, 5), 8.0)
    assert loss(given, given) == 2 + 10 * 120


def test_what_does_not_count_is_not_fitted() -> None:
    targets = np.array([[[1.0, 10.0], [3.0, np.nan], [np.nan, np.nan]]], np.float32)
    last = InverseNormalize(2, 2, 2)
    fit_inverse(last, "rescale-zero-one", targets, 2)
    assert (last.shift.tolist(), last.scale.tolist()) == ([1.0, 10.0], [2.0, 1.0])
