"""Where a non-finite loss came from is found by replaying steps."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import fx, nn

from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.parallel.strategies.strategy import State
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.checkpoint_files import Checkpoint
from netwright.engine.training.checkpoints import CheckpointSaver
from netwright.engine.training.losses import SingleOutputLoss, half_mse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.nan_diagnosis import NanDiagnosis
from netwright.engine.training.nan_replay import NanReplay
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep


class Over(nn.Module):
    """One over it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1 / x


class Root(nn.Module):
    """The square root, whose slope at zero is infinite."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.abs().sqrt()


class Run:
    """Eight steps per epoch, of four samples each, with a checkpoint after `save_at` steps."""

    def __init__(
        self, folder: Path, first: Callable[[], nn.Module], *, kind: str = "adam", rate: float = 1e-3, save_at: int = 0
    ) -> None:
        self._first, self._options = first, TrainingOptions(solver=kind)
        self._x = torch.rand(32, 2, generator=torch.Generator().manual_seed(1)) + 1
        network = self._network()
        solver = Solver(self._options, network)
        self.model = TrainedModel(network, Single(network), solver, SingleProcess())
        self.step = TrainStep(self.model, SingleOutputLoss(half_mse), lambda step: rate)
        self._saver = CheckpointSaver(self._options, lambda iteration: folder)
        self._saver.register(unit=self.model, schedule=Nothing(), random=Nothing())
        self._save_at = save_at
        self._checkpoints = [Checkpoint(folder, save_at)] if save_at else []

    def _network(self) -> nn.Module:
        torch.manual_seed(0)
        layers = nn.Sequential()
        layers.add_module("first", self._first())
        layers.add_module("fc_1", nn.Linear(2, 3))
        layers.add_module("fc_2", nn.Linear(3, 1))
        return fx.symbolic_trace(layers)

    def _initial(self) -> tuple[State, Solver]:
        return self._network().state_dict(), Solver(self._options, self.model.network)

    def until_lost(self, spoil: Callable[[torch.Tensor], None], *, epochs: int = 4) -> tuple[int, NanReplay]:
        """Train on, well past the first non-finite loss, and return its step and the replay."""
        spoil(self._x)
        part = ResidentDataset((self._x,), (torch.ones(32, 1),))
        batches, losses = BatchLoader(part, SampleOrder(32, 4, "every-epoch", 3), SingleProcess()), [0.0]
        replay = NanReplay(
            self.step, NanDiagnosis(self.step), batches, self._saver.parts, self._initial, lambda: self._checkpoints
        )
        for epoch in range(1, epochs + 1):
            for batch in batches.of_epoch(epoch):
                losses.append(float(self.step(batch, len(losses) - 1).loss))
                if len(losses) - 1 == self._save_at:
                    self._saver.save(self._save_at)
        return next(step for step, value in enumerate(losses) if not math.isfinite(value)), replay


class Nothing:
    """A piece without a state."""

    def state_dict(self) -> dict[str, object]:
        return {}

    def load_state_dict(self, state: dict[str, object]) -> None:
        assert not state


def zero(x: torch.Tensor) -> None:
    x[5, 1] = 0


def huge(x: torch.Tensor) -> None:
    x *= 1e3


def nothing(x: torch.Tensor) -> None:
    x.zero_()


def test_a_bad_row_is_traced_to_the_layer_that_cannot_take_it(tmp_path: Path) -> None:
    run = Run(tmp_path / "1", Over)
    bad, replay = run.until_lost(zero)
    assert replay.search(bad) == "The first layer with a non-finite output is truediv."
    assert all(bool(p.isfinite().all()) for p in run.model.network.parameters()), "the bad step is not made"


def test_it_begins_at_a_checkpoint_where_there_is_one(tmp_path: Path) -> None:
    run = Run(tmp_path / "1", Over, save_at=1)
    bad, replay = run.until_lost(zero)
    assert bad > 1
    run._network = pytest.fail  # type: ignore[method-assign]  # the first weights are not made again
    assert replay.search(bad) == "The first layer with a non-finite output is truediv."


def test_a_rate_that_is_too_high_is_traced_to_the_layer_that_overflows(tmp_path: Path) -> None:
    run = Run(tmp_path / "1", nn.Identity, kind="sgdm", rate=0.1)
    bad, replay = run.until_lost(huge)
    words = replay.search(bad)
    assert words.startswith("The first layer with a non-finite output is fc_"), words


def test_gradients_that_are_none_before_the_loss_is(tmp_path: Path) -> None:
    run = Run(tmp_path / "1", lambda: nn.Sequential(nn.Linear(2, 2, bias=False), Root()))
    bad, replay = run.until_lost(nothing)
    assert replay.search(bad) == (
        f"At iteration {bad - 1} the loss is still finite, but its gradients are not; the last layer with non-finite "
        "gradients is first/0."
    )


def test_what_cannot_be_found_is_not_said(tmp_path: Path) -> None:
    """But why it cannot."""
    bad, replay = Run(tmp_path / "1", Over).until_lost(zero)
    assert bad > 2, "or this shows nothing"
    assert replay.search(bad - 2) == ""
    assert replay.why_not == "it did not occur again when the steps before it were replayed"
    run = Run(tmp_path / "2", Over)
    bad, replay = run.until_lost(zero)
    replay.max_s = -1.0
    assert replay.search(bad) == ""
    assert "more frequent checkpoints shorten the replay" in replay.why_not
    replay._initial = lambda: ({}, run._initial()[1])
    assert replay.search(bad) == ""
    assert replay.why_not == "the state before it could not be restored"
    assert not replay.is_group_broken, "it told the others"
