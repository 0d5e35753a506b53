"""Schedules in a run against torch's own schedulers, driven by a plain loop that knows nothing of Netwright."""

import math
from typing import Literal

import pytest
import torch
from torch.optim import lr_scheduler as torchs

from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.solvers import Schedule


def rates(steps: int, steps_per_epoch: int, **options: object) -> list[float]:
    schedule = Schedule(TrainingOptions(initial_learn_rate=2.0, **options), steps_per_epoch, steps)
    return [schedule(step) for step in range(steps)]


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=2.0)


def followed(scheduler: torchs.LRScheduler, steps: int) -> list[float]:
    """The rate of each step, the scheduler being stepped after each."""
    found = []
    for _ in range(steps):
        found.append(float(scheduler.get_last_lr()[0]))
        scheduler.optimizer.step()
        scheduler.step()
    return found


def test_none_stays() -> None:
    assert rates(5, 2, warmup_iterations=3) == [2.0] * 5


def test_piecewise_drops_every_period_of_epochs() -> None:
    """MATLAB's meaning: after every drop period of epochs the rate is multiplied by the drop factor."""
    found = rates(12, 2, schedule="piecewise", learn_rate_drop_factor=0.5, learn_rate_drop_period=2)
    assert found == [2.0] * 4 + [1.0] * 4 + [0.5] * 4


def test_warmup_rises_linearly_then_stays() -> None:
    assert rates(6, 2, schedule="warmup", warmup_iterations=4) == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0]


STEPS, EPOCH = 24, 4
SCHEDULES = {
    "piecewise": (
        {"learn_rate_drop_factor": 0.5, "learn_rate_drop_period": 2},
        lambda o, steps: torchs.StepLR(o, step_size=2 * EPOCH, gamma=0.5),
    ),
    "exponential": ({"learn_rate_decay": 0.8}, lambda o, steps: torchs.ExponentialLR(o, gamma=0.8 ** (1 / EPOCH))),
    "cyclical": (
        {"cycle_period": 2, "cycle_rise": 0.25, "cycle_top_factor": 3.0},
        lambda o, steps: torchs.CyclicLR(
            o, 2.0, 6.0, step_size_up=EPOCH // 2, step_size_down=2 * EPOCH - EPOCH // 2, cycle_momentum=False
        ),
    ),
    "polynomial": ({"polynomial_power": 1.5}, lambda o, steps: torchs.PolynomialLR(o, total_iters=steps, power=1.5)),
    "cosine": ({"lowest_rate_factor": 0.1}, lambda o, steps: torchs.CosineAnnealingLR(o, T_max=steps, eta_min=0.2)),
    "one-cycle": (
        {"one_cycle_rise": 0.4, "one_cycle_start_divisor": 10.0, "one_cycle_end_divisor": 100.0},
        lambda o, steps: torchs.OneCycleLR(
            o, 2.0, total_steps=steps + 1, pct_start=0.4, div_factor=10.0, final_div_factor=100.0, cycle_momentum=False
        ),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_torchs(name: str) -> None:
    options, make = SCHEDULES[name]
    # OneCycleLR is made for one step more: it refuses to be stepped after its last one, which the loop does.
    steps = STEPS + (name == "one-cycle")
    assert rates(steps, EPOCH, schedule=name, **options)[:STEPS] == pytest.approx(
        followed(make(optimizer(), STEPS), STEPS)
    )


@pytest.mark.parametrize("name", [name for name in SCHEDULES if name not in ("one-cycle", "cyclical")])
def test_a_schedule_after_a_warmup_is_torchs_chain(name: str) -> None:
    """torch's LinearLR from a third on, and then the schedule over what is left, joined by SequentialLR."""
    options, make = SCHEDULES[name]
    chained = optimizer()
    warmup = torchs.LinearLR(chained, start_factor=1 / 3, total_iters=2)
    expected = followed(torchs.SequentialLR(chained, [warmup, make(chained, STEPS - 3)], milestones=[3]), STEPS)
    assert rates(STEPS, EPOCH, schedule=name, warmup_iterations=3, **options) == pytest.approx(expected)


def test_a_warmup_before_one_cycle_rises_to_where_the_cycle_begins() -> None:
    found = rates(12, 2, schedule="one-cycle", warmup_iterations=4, one_cycle_start_divisor=10.0)
    assert found[:5] == pytest.approx([0.05, 0.1, 0.15, 0.2, 0.2])
    assert found[4:] == pytest.approx(rates(8, 2, schedule="one-cycle", one_cycle_start_divisor=10.0))


@pytest.mark.parametrize("factor", [1, 2])
def test_restarts_are_torchs(factor: int) -> None:
    scheduler = torchs.CosineAnnealingWarmRestarts(optimizer(), T_0=2 * EPOCH, T_mult=factor, eta_min=0.5)
    found = rates(40, EPOCH, schedule="cosine", restart_period=2, restart_period_factor=factor, lowest_rate_factor=0.25)
    assert found == pytest.approx(followed(scheduler, 40))


@pytest.mark.parametrize("name", [*SCHEDULES, "warmup", "plateau", "none"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_short_runs_have_rates(name: str, steps: int) -> None:
    for warmup in (0, 2, 9):
        found = rates(steps, 1, schedule=name, warmup_iterations=warmup)
        assert all(0.0 <= rate <= (12.0 if name == "cyclical" else 2.0) for rate in found), (warmup, found)


@pytest.mark.parametrize("higher", [False, True], ids=["loss", "accuracy"])
def test_plateau_is_torchs(higher: bool) -> None:
    values = [3.0, 2.0, 1.9999, 2.0, 2.1, math.nan, 1.5, 1.6, 1.7, 1.4, 1.8, 1.9, 2.0, 2.5, 2.6]
    seen = [4.0 - value for value in values] if higher else values
    mode: Literal["min", "max"] = "max" if higher else "min"
    scheduler = torchs.ReduceLROnPlateau(optimizer(), mode, factor=0.5, patience=1, threshold=1e-3, min_lr=0.3, eps=0)
    options = TrainingOptions(
        initial_learn_rate=2.0,
        schedule="plateau",
        learn_rate_drop_factor=0.5,
        plateau_patience=1,
        plateau_threshold=1e-3,
        lowest_rate_factor=0.15,
    )
    schedule = Schedule(options, 5, 100)
    for step, value in enumerate(seen, 1):
        scheduler.step(value)
        schedule.validated(step, value, higher)
        assert schedule(step) == pytest.approx(scheduler.optimizer.param_groups[0]["lr"]), step
    assert schedule(99) == pytest.approx(0.3)


def test_validations_during_the_warmup_drop_nothing() -> None:
    options = TrainingOptions(schedule="plateau", warmup_iterations=10, plateau_patience=0, initial_learn_rate=1.0)
    schedule = Schedule(options, 5, 100)
    for step in (0, 5, 10):
        schedule.validated(step, 1.0, higher_is_better=False)
    assert schedule(10) == 1.0
    schedule.validated(15, 1.0, higher_is_better=False)
    assert schedule(15) == pytest.approx(0.1)


def test_other_schedules_hear_nothing_of_validations() -> None:
    schedule = Schedule(TrainingOptions(schedule="cosine"), 5, 100)
    before = schedule(50)
    for step in range(60):
        schedule.validated(step, 1.0, higher_is_better=False)
    assert schedule(50) == before


CHAIN = "warmup 3 iterations, none 1 epoch times 0.5, exponential 2 epochs learn_rate_decay=0.5, cosine times 0.25"


def test_a_chain_runs_each_schedule_as_if_alone_times_its_factor() -> None:
    """By hand: 3 steps of warm-up, 4 at half, 8 from the initial rate falling, then a cosine over the last 9."""
    found = rates(STEPS, EPOCH, schedule="chain", schedule_chain=CHAIN)
    expected = [2 / 3, 4 / 3, 2.0] + [1.0] * 4 + [2.0 * 0.5 ** (n / EPOCH) for n in range(8)]
    expected += [0.25 * (1 + math.cos(math.pi * n / 9)) for n in range(9)]
    assert found == pytest.approx(expected)


def test_a_chain_is_torchs_sequence() -> None:
    chained = optimizer()
    parts = [
        torchs.LinearLR(chained, start_factor=1 / 3, total_iters=2),
        torchs.StepLR(chained, step_size=EPOCH, gamma=0.5),
        torchs.PolynomialLR(chained, total_iters=STEPS - 11, power=2.0),
    ]
    chain = "warmup 3 iterations, piecewise 2 epochs learn_rate_drop_factor=0.5 learn_rate_drop_period=1, polynomial"
    found = rates(STEPS, EPOCH, schedule="chain", schedule_chain=chain, polynomial_power=2.0)
    expected = followed(torchs.SequentialLR(chained, parts, milestones=[3, 11]), STEPS)
    assert found == pytest.approx(expected)


def test_a_chain_that_is_shorter_than_the_run_goes_on_with_its_last_schedule() -> None:
    found = rates(8, 2, schedule="chain", schedule_chain="none 1 epoch, cosine 2 epochs", lowest_rate_factor=0.1)
    assert found[6:] == pytest.approx([0.2, 0.2])
    assert rates(4, 2, schedule="chain", schedule_chain="none 9 epochs times 2, cosine") == [4.0] * 4


def test_a_plateau_at_the_end_of_a_chain_counts_from_its_beginning() -> None:
    chain = "none 2 epochs, plateau times 0.5 plateau_patience=0 learn_rate_drop_factor=0.1"
    options = TrainingOptions(initial_learn_rate=2.0, schedule="chain", schedule_chain=chain)
    schedule = Schedule(options, 5, 100)
    for step in (0, 5, 10):
        schedule.validated(step, 1.0, higher_is_better=False)
    assert (schedule(9), schedule(10)) == (2.0, 1.0)
    schedule.validated(15, 1.0, higher_is_better=False)
    assert schedule(15) == pytest.approx(0.1)
