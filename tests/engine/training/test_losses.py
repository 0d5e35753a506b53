"""Each loss against its definition, written out, and against torch's mean reduction where torch has one."""

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight
from torch.nn import functional

from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import classes_of, numbers_of
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import class_weights, cross_entropy, focal, half_mse, huber, loss_for, mae, mse

OUTPUT = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
CLASSES = torch.tensor([1, 0, 0])
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
    by_hand = -sum(torch.log_softmax(OUTPUT, 1)[i, c] for i, c in enumerate(CLASSES)) / 3
    assert float(cross_entropy(OUTPUT, CLASSES)) / 3 == pytest.approx(float(by_hand))


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
    for options, wanted, target, expected in (
        (TrainingOptions(), classes_of("a", "b"), CLASSES, cross_entropy),
        (TrainingOptions(), numbers_of(2), TARGET, half_mse),
        (TrainingOptions(loss="mae"), numbers_of(2), TARGET, mae),
    ):
        chosen = loss_for(options, alone(*wanted), (target,))
        assert float(chosen((OUTPUT,), (target,))) == float(expected(OUTPUT, target))


def test_focal_counts_sure_samples_less() -> None:
    p = torch.softmax(OUTPUT, 1)[range(3), CLASSES]
    by_hand = (-((1 - p) ** 1.5) * p.log()).sum()
    torch.testing.assert_close(focal(OUTPUT, CLASSES, gamma=1.5), by_hand)
    torch.testing.assert_close(focal(OUTPUT, CLASSES, gamma=0.0), cross_entropy(OUTPUT, CLASSES))


def test_a_sure_sample_has_a_focal_gradient() -> None:
    output = torch.tensor([[80.0, -80.0], [-80.0, 80.0]], requires_grad=True)
    torch.autograd.backward(focal(output, torch.tensor([0, 0]), gamma=0.5))
    assert output.grad is not None
    assert torch.isfinite(output.grad).all()


def test_balanced_weights_are_scikit_learns() -> None:
    classes = torch.tensor([0, 0, 0, 2, 2, 5])
    found = class_weights(TrainingOptions(class_weighting="balanced"), classes)
    expected = compute_class_weight("balanced", classes=np.array([0, 2, 5]), y=classes.numpy())
    assert found is not None
    assert found.tolist() == pytest.approx([expected[0], 0, expected[1], 0, 0, expected[2]])
