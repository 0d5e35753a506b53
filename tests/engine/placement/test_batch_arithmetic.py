"""Batches, rates and expectations in words."""

import math
from typing import Any

import pytest

from netwright.engine.network.analysis import analyse
from netwright.engine.placement.batch_arithmetic import (
    Work,
    all_reduce_s,
    batch_text,
    better_alone,
    placement_text,
    rate_factor,
    step_s,
    work_of,
)
from netwright.engine.placement.choose import resolve
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.builders import chain, layer

MACHINE = DeviceInventory(num_cores=8)


def said(environment: dict[str, Any], samples: int | None = 1000, **training: Any) -> str:
    options, where = TrainingOptions(**training), EnvironmentOptions(**environment)
    batch = samples if options.is_full_batch and samples else options.mini_batch_size
    placement = resolve(where, MACHINE, batch, options.gradient_accumulation)
    return batch_text(placement, where, options, samples)


TWO = {"target": "multi-cpu", "num_workers": 2}


@pytest.mark.parametrize(
    ("environment", "samples", "training", "expected"),
    [
        ({"target": "cpu"}, 1000, {}, "128 samples per step; 8 steps per epoch; learn rate 0.01."),
        ({"target": "cpu"}, None, {}, "128 samples per step; learn rate 0.01."),
        (
            {**TWO, "learn_rate_scaling": "linear"},
            1000,
            {"gradient_accumulation": 4},
            "128 samples per step, 64 per worker in 4 micro-batches of 16; 8 steps per epoch; "
            "learn rate 0.02 = 0.01 × 2 (linear, 2 workers).",
        ),
        (
            {**TWO, "worker_load": "by-hand", "worker_weights": [3, 1], "learn_rate_scaling": "square-root"},
            1000,
            {"mini_batch_size": 100, "last_batch": "discard"},
            "100 samples per step, 25 or 75 per worker; 10 steps per epoch; "
            "learn rate 0.01414 = 0.01 × 1.414 (square-root, 2 workers).",
        ),
        (
            TWO,
            1000,
            {},
            "128 samples per step, 64 per worker; 8 steps per epoch; learn rate 0.01 (not scaled, 2 workers).",
        ),
        ({"target": "cpu"}, 1000, {"solver": "lm"}, "1,000 samples per step; one step per epoch."),
    ],
)
def test_batches_and_rates_in_words(
    environment: dict[str, Any], samples: int | None, training: dict[str, Any], expected: str
) -> None:
    assert said(environment, samples, **training) == expected


def test_the_rate_follows_the_workers_where_there_can_be_several() -> None:
    def factor(**values: Any) -> float:
        return rate_factor(EnvironmentOptions(**values), 4)

    assert factor(target="multi-cpu") == 1
    assert factor(target="multi-cpu", learn_rate_scaling="linear") == 4
    assert factor(target="multi-gpu", learn_rate_scaling="square-root") == 2
    assert factor(target="cpu", learn_rate_scaling="linear") == 1


def test_small_networks_are_better_alone() -> None:
    """By the measured cost of a sum over workers, and what the layers take."""
    two = resolve(EnvironmentOptions(**TWO), MACHINE, 128)
    table = work_of(
        analyse(
            chain(
                layer("feature_input", channels=20),
                layer("fully_connected", outputs=64),
                layer("relu"),
                layer("fully_connected", outputs=1),
            )
        )
    )
    assert "One process (cpu) is expected to be faster" in better_alone(two, table)
    assert better_alone(two, Work(flops=10_000_000, gradient_bytes=10**6)) == ""
    assert better_alone(resolve(EnvironmentOptions(target="cpu"), MACHINE, 128), table) == ""
    assert math.isclose(all_reduce_s(1_100_000), 1.25e-3)
    assert math.isclose(all_reduce_s(3_000_000, through_memory=True), 1.03e-3)


LSTM = chain(
    layer("sequence_input", channels=12),
    layer("lstm", hidden_units=100, output_mode="last"),
    layer("fully_connected", outputs=9),
)


def test_the_work_of_sequences_counts_all_their_steps() -> None:
    """Two workers are 2.8 times as fast as one thread on this network, with sequences of 100 steps (benchmarks/
    placement.py). The analysis has the work of no step, since any length may come."""
    project = Project(network=LSTM, environment=EnvironmentOptions(**TWO))
    two = resolve(project.environment, MACHINE, 64)
    assert "faster" not in placement_text(two, project, 1024, steps=100)
    assert "expected to be faster" in placement_text(resolve(project.environment, MACHINE, 2), project, 9, steps=1)
    step = step_s(work_of(analyse(LSTM), 100), 32)
    assert 0.01 < step < 0.1, "measured: 0.02 s for the half of a batch of 64"


def test_without_the_length_of_sequences_nothing_is_expected() -> None:
    project = Project(network=LSTM, environment=EnvironmentOptions(**TWO))
    assert "faster" not in placement_text(resolve(project.environment, MACHINE, 64), project, None)


def test_more_workers_than_cores_are_slower_however_large_the_network_is() -> None:
    network = chain(layer("feature_input", channels=1000), layer("fully_connected", outputs=1000))
    for strategy in ("auto", "local-sgd"):
        many = EnvironmentOptions(target="multi-cpu", num_workers=64, strategy=strategy)
        project = Project(network=network, environment=many)
        told = placement_text(resolve(many, MACHINE, 128), project, None)
        assert told.endswith(
            "One process (cpu) or at most 8 workers are expected to be faster: more workers than cores take turns."
        )
    eight = many.replace(num_workers=8)
    assert "faster" not in placement_text(resolve(eight, MACHINE, 128), project, None)
