"""Each loss against its definition, written out, and against torch's mean reduction where torch has one."""

import pytest
import torch
from torch.nn import functional

from engine.training.losses import cross_entropy, half_mse, huber, loss_for, mae, mse

OUTPUT = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
TARGET = torch.tensor([[0.5, 2.0], [1.0, 1.0], [0.0, 0.0]])


def test_half_mse_is_matlabs() -> None:
    """Half the squared error, summed over responses, mean over samples."""
    by_hand = (0.5 * (0.25 + 0.0) + 0.5 * (1.0 + 4.0) + 0.5 * (9.0 + 0.25)) / 3
    assert float(half_mse(OUTPUT, TARGET)) / 3 == pytest.approx(by_hand)


def test_mse_is_torchs() -> None:
    assert float(mse(OUTPUT, TARGET)) / 3 == pytest.approx(float(functional.mse_loss(OUTPUT, TARGET)))


def test_mae_is_torchs() -> None:
    assert float(mae(OUTPUT, TARGET)) / 3 == pytest.approx((0.5 + 0 + 1 + 2 + 3 + 0.5) / 6)


def test_huber_is_quadratic_near_zero_and_linear_beyond() -> None:
    by_hand = (0.125 + 0 + 0.5 + 1.5 + 2.5 + 0.125) / 6
    assert float(huber(OUTPUT, TARGET)) / 3 == pytest.approx(by_hand)


def test_cross_entropy_takes_logits() -> None:
    classes = torch.tensor([1, 0, 0])
    by_hand = -sum(torch.log_softmax(OUTPUT, 1)[i, c] for i, c in enumerate(classes)) / 3
    assert float(cross_entropy(OUTPUT, classes)) / 3 == pytest.approx(float(by_hand))


@pytest.mark.parametrize("loss", [half_mse, mse, mae, huber])
def test_shares_of_a_batch_add_up(loss) -> None:
    parts = loss(OUTPUT[:1], TARGET[:1]) + loss(OUTPUT[1:], TARGET[1:]) + loss(OUTPUT[:0], TARGET[:0])
    assert float(parts) == pytest.approx(float(loss(OUTPUT, TARGET)))


def test_an_empty_share_has_loss_zero_and_gradient_zero() -> None:
    output = torch.ones(2, 3, requires_grad=True)
    loss = cross_entropy(output[:0], torch.zeros(0, dtype=torch.long))
    torch.autograd.backward(loss)
    assert float(loss.detach()) == 0.0
    assert output.grad is not None
    assert output.grad.abs().sum() == 0


def test_auto_follows_the_task() -> None:
    assert loss_for("auto", "classes") is cross_entropy
    assert loss_for("auto", "numbers") is half_mse
    assert loss_for("mae", "numbers") is mae
