"""The layer to blame is named by all workers alike, whoever holds it."""

import math
from collections.abc import Sequence

import pytest
import torch
from torch import fx, nn

from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import SingleOutputLoss, half_mse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.nan_diagnosis import NanDiagnosis
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep
from tests.engine.training.process_groups import ThreadGroup, on_threads

STAGES = (("fc_1", "fc_2"), ("fc_3", "fc_4"))


def _stage(names: Sequence[str]) -> fx.GraphModule:
    """Return a stage of linear layers. Not for threads: while torch traces, it replaces `nn.Module.__call__`."""
    layers = nn.Sequential()
    for name in names:
        layers.add_module(name, nn.Linear(2, 2))
    return fx.symbolic_trace(layers)


@pytest.mark.parametrize(
    ("bad", "last"),
    [
        (("fc_1", "fc_2", "fc_3"), "fc_3"),  # backward comes from the last stage: what it reaches first is to blame
        (("fc_1", "fc_2"), "fc_2"),
        (("fc_4",), "fc_4"),
        ((), ""),
    ],
)
def test_of_all_stages_the_layer_that_backward_reaches_first_is_named(bad: tuple[str, ...], last: str) -> None:
    stages = [_stage(names) for names in STAGES]

    def of_stage(group: ThreadGroup) -> str:
        stage = stages[group.rank]
        for name, parameter in stage.named_parameters():
            is_bad = name.partition(".")[0] in bad
            parameter.grad = torch.full_like(parameter, math.inf if is_bad else 1.0)
        model = TrainedModel(stage, Single(stage), Solver(TrainingOptions(), stage), group)
        step = TrainStep(model, SingleOutputLoss(half_mse), lambda step: 0.1)
        return NanDiagnosis(step, in_stages=True).last_gradient()

    assert on_threads(2, of_stage) == [last, last]
