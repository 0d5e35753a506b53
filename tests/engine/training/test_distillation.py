"""The loss of distillation beside hand-computed numbers, and which teachers are refused."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType, features
from netwright.engine.network.network import Network
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import Wanted, alone
from netwright.engine.project.dataset_info import IGNORED, DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from netwright.engine.project.teacher import Teacher, refuse_teacher
from netwright.engine.training.distillation import Distillation
from netwright.engine.training.losses import Scale
from netwright.engine.training.precision import Precision
from tests.builders import add, chain, layer

T, WEIGHT = 2.0, 0.7


class Given(nn.Module):
    """A teacher that answers its input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def distillation(*wanted: Wanted, **given: Any) -> Distillation:
    precision = Precision("fp32", torch.device("cpu"), SingleProcess())
    return Distillation(Given(), wanted, wanted, T, WEIGHT, precision, **given)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    raised = np.exp(x)
    return raised / raised.sum(axis, keepdims=True)


def mixed(found: Distillation, answers: torch.Tensor, outputs: torch.Tensor, targets: torch.Tensor) -> float:
    return found(torch.tensor(3.0), (outputs,), (answers,), (targets,)).item()


def test_classes_are_the_divergence_of_softened_probabilities() -> None:
    answers, outputs = (
        torch.tensor([[2.0, 0.0, -2.0], [0.0, 4.0, 1.0]]),
        torch.tensor([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]),
    )
    p, q = (softmax(x.numpy() / T, 1) for x in (answers, outputs))
    by_hand = (1 - WEIGHT) * 3.0 + WEIGHT * T**2 * (p * np.log(p / q)).sum()
    found = distillation(*alone(*classes_of("a", "b", "c")))
    assert mixed(found, answers, outputs, torch.tensor([0, 2])) == pytest.approx(by_hand, rel=1e-6)
    assert mixed(found, answers, answers, torch.tensor([0, 2])) == pytest.approx((1 - WEIGHT) * 3.0)


def test_pixels_that_do_not_count_are_left_out_of_the_mean() -> None:
    type = TensorType(("C", "H", "W"), (2, 1, 3), "real")
    spec = alone(TargetInfo("y", type, "classes", ("a", "b")))
    answers, outputs = torch.randn(2, 2, 1, 3), torch.randn(2, 2, 1, 3)
    targets = torch.tensor([[[0, 1, IGNORED]], [[IGNORED, IGNORED, IGNORED]]])
    p, q = (softmax(x.numpy() / T, 1) for x in (answers, outputs))
    each = (p * np.log(p / q)).sum(1)[0, 0]
    by_hand = (1 - WEIGHT) * 3.0 + WEIGHT * T**2 * (each[0] + each[1]) / 2
    assert mixed(distillation(*spec), answers, outputs, targets) == pytest.approx(by_hand, rel=1e-5)


def test_one_channel_of_two_classes_is_a_logit() -> None:
    spec = replace(alone(TargetInfo("y", features(2), "classes", ("a", "b")))[0], type=features(1))
    p, q = (1 / (1 + math.exp(-x / T)) for x in (3.0, -1.0))
    divergence = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    found = mixed(distillation(spec), torch.tensor([[3.0]]), torch.tensor([[-1.0]]), torch.tensor([1]))
    assert found == pytest.approx((1 - WEIGHT) * 3.0 + WEIGHT * T**2 * divergence, rel=1e-6)


def test_labels_take_the_divergence_of_each_that_is_known() -> None:
    spec = alone(TargetInfo("y", features(3), "labels", ("a", "b", "c")))
    answers, outputs = torch.tensor([[1.0, -2.0, 9.0]]), torch.tensor([[0.0, 1.0, -9.0]])
    p, q = (1 / (1 + np.exp(-x.numpy()[0, :2] / T)) for x in (answers, outputs))
    divergence = (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).mean()
    by_hand = (1 - WEIGHT) * 3.0 + WEIGHT * T**2 * divergence
    targets = torch.tensor([[1.0, 0.0, math.nan]])
    assert mixed(distillation(*spec), answers, outputs, targets) == pytest.approx(by_hand, rel=1e-6)


def test_numbers_are_half_their_squared_difference_in_the_scale_of_the_loss() -> None:
    spec, targets = alone(*numbers_of(2)), torch.tensor([[0.0, math.nan]])
    answers, outputs = torch.tensor([[5.0, 7.0]]), torch.tensor([[1.0, -7.0]])
    assert mixed(distillation(*spec), answers, outputs, targets) == pytest.approx(0.3 * 3 + 0.7 * 8.0)
    scale = {0: Scale(torch.tensor(1.0), torch.tensor(2.0))}
    assert mixed(distillation(*spec, scales=scale), answers, outputs, targets) == pytest.approx(0.3 * 3 + 0.7 * 2.0)


def test_inputs_are_taken_in_the_order_and_precision_of_the_teacher() -> None:
    found = distillation(*alone(*numbers_of(1)), order=(1,), num_inputs=2)
    x = (torch.full((1, 1), 9.0), torch.ones(1, 1, dtype=torch.float64))
    assert found(torch.zeros(()), (torch.zeros(1, 1),), x, (torch.zeros(1, 1),)).item() == pytest.approx(0.35)


def test_an_empty_shard_has_its_loss_alone() -> None:
    found = distillation(*alone(*classes_of("a", "b")))
    assert mixed(found, torch.ones(1, 2), torch.ones(0, 2), torch.ones(0, dtype=torch.long)) == 3.0


def facts(*inputs: InputInfo, classes: str = "abc") -> DatasetInfo:
    return DatasetInfo(inputs or (InputInfo("x", features(4)),), {"training": 9}, classes_of(*classes))


def network(count: int = 4) -> Network:
    return chain(layer("feature_input", channels=count), layer("fully_connected", outputs=3), layer("softmax"))


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (facts(classes="abd"), r"knows the classes a, b and d; the project has a, b and c. Choose a run"),
        (facts(InputInfo("x", features(5))), r"takes 'x' 5; the project has 4"),
        (facts(InputInfo("x", features(4), tuple("pqrs"))), r"takes the columns p, q, r and s"),
        (facts(InputInfo("x", features(4)), InputInfo("z", features(1))), r"has 2 inputs and 1 targets"),
        (replace(facts(), targets=numbers_of(3)), r"gives 3 numbers; the project has 3 classes"),
    ],
)
def test_teachers_of_other_data_are_refused(theirs: DatasetInfo, words: str, tmp_path) -> None:
    with pytest.raises(UserError, match=words):
        refuse_teacher(Teacher(network(), theirs, tmp_path), Project(network()), facts())


def test_a_teacher_of_the_same_data_is_taken(tmp_path) -> None:
    refuse_teacher(Teacher(network(), facts(), tmp_path), Project(network()), facts())


def test_a_teacher_with_more_outputs_is_refused(tmp_path) -> None:
    begun, entry = add(Network.empty(), layer("feature_input", channels=4))
    begun, _ = add(begun, layer("fully_connected", outputs=3), entry)
    two, _ = add(begun, layer("fully_connected", outputs=3), entry)
    with pytest.raises(UserError, match="has 2 outputs; the project has 1"):
        refuse_teacher(Teacher(two, facts(), tmp_path), Project(network()), facts())
