"""Losses of several responses a sample: shares add up, an empty share, and what is written out from the definitions."""

import itertools
import math

import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features, image, sequence
from netwright.engine.project.bindings import Wanted, alone
from netwright.engine.project.dataset_info import IGNORED, TargetInfo, classes_of, numbers_of
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import (
    OutputAdapters,
    binary_cross_entropy,
    class_weights,
    cross_entropy,
    ctc,
    focal,
    loss_for,
    positive_weights,
)
from tests.engine.training.target_cases import ENDINGS


@pytest.mark.parametrize("name", ENDINGS)
def test_shares_of_a_batch_add_up_and_an_empty_one_is_nothing(name: str) -> None:
    ending, drawn = ENDINGS[name], torch.Generator().manual_seed(2)
    output = torch.randn(7, *ending.shape, generator=drawn).requires_grad_()
    targets = ending.targets(drawn, 7)
    loss = loss_for(TrainingOptions(**ending.options), (ending.wanted,), (targets,))
    shares = [slice(3), slice(3, 7), slice(0)]
    whole, *parts = (loss((output[share],), (targets[share],)) for share in (slice(7), *shares))
    assert float(whole.detach()) == pytest.approx(sum(float(part.detach()) for part in parts), rel=1e-6)
    torch.autograd.backward(parts[-1])
    assert output.grad is not None
    assert float(parts[-1].detach()) == float(output.grad.abs().sum()) == 0


def test_ctc_is_the_sum_over_all_alignments() -> None:
    """Every path of classes and blanks that reads as the transcript once equal neighbours and then blanks are left."""
    output = torch.randn(1, 5, 3, generator=torch.Generator().manual_seed(1))
    p = torch.softmax(output[0], 1)
    for blank, first in ((0, 1), (2, 0)):
        wanted = [0, 0]
        read = (
            math.prod(float(p[step, number]) for step, number in enumerate(path))
            for path in itertools.product(range(3), repeat=5)
            if [n - first for n, _ in itertools.groupby(path) if n != blank] == wanted
        )
        found = ctc(output, torch.tensor([[0, 0, IGNORED]]), blank="first" if blank == 0 else "last")
        assert float(found) == pytest.approx(-math.log(sum(read)), rel=1e-5)


def test_ctc_looks_at_no_step_behind_the_end_and_is_infinite_where_no_alignment_fits() -> None:
    output = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(1))
    target, lengths = torch.tensor([[1, 0], [1, IGNORED]]), torch.tensor([4, 6])
    alone = ctc(output[:1, :4], target[:1]) + ctc(output[1:], target[1:])
    torch.testing.assert_close(ctc(output, target, lengths), alone)
    assert math.isinf(float(ctc(output[:1, :2], torch.tensor([[1, 1]]))))


def test_focal_of_pixels_is_that_of_those_that_count() -> None:
    output, target = torch.randn(1, 3, 2, 2), torch.tensor([[[0, 2], [IGNORED, 1]]])
    seen = output.flatten(2)[0, :, [0, 1, 3]].T
    weight = torch.tensor([1.0, 2.0, 0.5])
    expected = focal(seen, torch.tensor([0, 2, 1]), weight, 1.5) / 3
    torch.testing.assert_close(focal(output, target, weight, 1.5), expected)


def test_smoothing_of_labels_draws_them_towards_one_half() -> None:
    output, target = torch.tensor([[0.3, -1.2]]), torch.tensor([[1.0, 0.0]])
    p, soft = torch.sigmoid(output), torch.tensor([[0.9, 0.1]])
    expected = -(soft * p.log() + (1 - soft) * (1 - p).log()).mean()
    torch.testing.assert_close(binary_cross_entropy(output, target, smoothing=0.2), expected)


def test_balanced_labels_count_as_often_true_as_false() -> None:
    options = TrainingOptions(class_weighting="balanced")
    found = positive_weights(options, torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), 1)
    assert found is not None
    assert found.tolist() == [3, 1]


def test_one_logit_of_two_classes_is_two_logits_for_losses_and_metrics() -> None:
    two = Wanted("y", classes_of("a", "b")[0], features(1))
    output, target = torch.tensor([[0.7], [-2.0]]), torch.tensor([1, 1])
    (both,), _ = OutputAdapters((two,))((output,), (target,))
    assert both.tolist() == [[0, pytest.approx(0.7)], [0, -2]]
    loss = loss_for(TrainingOptions(class_weighting="given", class_weights=(1, 2)), (two,), (target,))
    expected = -2 * torch.sigmoid(output).log().sum()
    torch.testing.assert_close(loss((output,), (target,)), expected)


def test_targets_end_where_the_padding_of_the_outputs_does() -> None:
    facts = TargetInfo("y", sequence(9, 3), "classes", ("a", "b", "c"))
    target = torch.zeros(2, 9, dtype=torch.int8)
    _, (cut,) = OutputAdapters(alone(facts))((torch.zeros(2, 5, 3),), (target,))
    assert (tuple(cut.shape), cut.dtype) == ((2, 5), torch.long)
    with pytest.raises(UserError, match="Output 'y' has 10 steps where its target has 9"):
        OutputAdapters(alone(facts))((torch.zeros(2, 10, 3),), (target,))


def test_outputs_have_losses_of_their_own_weighted() -> None:
    mask = TargetInfo("mask", image(2, 2, 2), "classes", ("a", "b"))
    wanted = alone(mask, *classes_of("a", "b", "c", name="kind"), *numbers_of(name="size"))
    targets = (torch.zeros(4, 2, 2, dtype=torch.long), torch.zeros(4, dtype=torch.long), torch.ones(4, 1))
    outputs = (torch.randn(4, 2, 2, 2), torch.randn(4, 3), torch.zeros(4, 1))
    options = TrainingOptions(loss="focal", output_losses="kind: cross-entropy * 0.5, size: mae*2")
    found = loss_for(options, wanted, targets)(outputs, targets)
    expected = focal(outputs[0], targets[0]) + 0.5 * cross_entropy(outputs[1], targets[1]) + 2 * 4
    torch.testing.assert_close(found, expected)


def test_balanced_weights_of_pixels_leave_out_what_does_not_count() -> None:
    target = torch.tensor([[[0, 0], [0, IGNORED]], [[2, IGNORED], [0, 0]]], dtype=torch.int8)
    found = class_weights(TrainingOptions(class_weighting="balanced"), target.flatten(), 4)
    assert found is not None
    assert found.tolist() == pytest.approx([6 / (2 * 5), 0, 6 / 2, 0])
