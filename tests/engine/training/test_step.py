"""Training steps keep the stack short, and a network that cannot learn is refused."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.batches import Batch
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import SingleOutputLoss, mse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import StepOptions, TrainStep
from tests.small_training import Small

MAX_FRAMES = 3


@pytest.mark.parametrize("pieces", [{}, {"gradient_accumulation": 3}])
def test_few_frames_lie_between_the_loop_and_backward(
    pieces: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backward: Callable[..., None] = torch.autograd.backward
    stacks: list[list[str]] = []

    def watched(*args: Any, **named: Any) -> None:
        stacks.append([frame.name for frame in traceback.extract_stack()])
        backward(*args, **named)

    monkeypatch.setattr(torch.autograd, "backward", watched)
    small = Small(tmp_path, epochs=1, **pieces)
    small.manual_backward = False
    small.run()
    assert stacks
    for stack in stacks:
        between = stack[stack.index("_run_epoch") + 1 : -1]
        assert len(between) <= MAX_FRAMES, between
        assert between == ["__call__", "compute_gradients", "backward"]


def test_a_loss_that_no_weight_has_a_part_in_is_refused() -> None:
    network = nn.Linear(2, 1)
    model = TrainedModel(network, Single(network), Solver(TrainingOptions(), network), SingleProcess())
    step = TrainStep(
        model,
        SingleOutputLoss(lambda output, target: mse(output.detach(), target)),
        lambda step: 0.1,
        options=StepOptions(manual_backward=False),
    )
    with pytest.raises(UserError, match="No gradient comes back to any weight"):
        step(Batch((torch.ones(3, 2),), (torch.ones(3, 1),), 3, 3), 0)
