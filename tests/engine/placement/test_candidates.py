"""Which placements a run may choose among, and what becomes of its record: machines that are not here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.placement.candidates import (
    PlacementRecord,
    draws_at_random,
    is_worthwhile,
    open_placements,
    resized,
)
from netwright.engine.placement.choose import WorkerPlace, resolve
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def network(*between: Any) -> Network:
    last = layer("fully_connected", outputs=10)
    return chain(layer("image_input", size=28), layer("conv2d", filters=32), *between, last)


def project(environment: dict[str, Any] | None = None, built: Network | None = None, **training: Any) -> Project:
    plain = Project(built or network())
    options = plain.training.replace(**{"max_epochs": 30, **training})
    return replace(plain, environment=plain.environment.replace(**(environment or {})), training=options)


def found(given: Project, cores: int, samples: int = 60_000, **machine: Any) -> tuple[PlacementRecord, ...]:
    inventory = DeviceInventory(num_cores=cores, cores=tuple(range(cores)), **machine)
    batch = given.training.mini_batch_size
    return open_placements(given, resolve(given.environment, inventory, batch), inventory, samples, 1)


def shapes(placements: Sequence[PlacementRecord]) -> list[tuple[int, int]]:
    return [(len(each.places), each.places[0].threads) for each in placements]


@pytest.mark.parametrize(
    ("cores", "expected"),
    [
        (1, []),
        (2, [(2, 1)]),
        (4, [(2, 2), (4, 1)]),
        (6, [(2, 3), (3, 2), (6, 1)]),
        (7, [(7, 1)]),
        (16, [(2, 8), (4, 4), (8, 2)]),
        (64, [(2, 32), (4, 16), (8, 8)]),
    ],
)
def test_workers_share_the_cores_evenly(cores: int, expected: list[tuple[int, int]]) -> None:
    assert shapes(found(project(), cores)) == expected


def test_a_candidate_is_told_in_full_and_says_that_it_was_not_asked_for() -> None:
    (two,) = found(project(), 2)
    assert two.environment == {
        "target": "auto",
        "resolved": "multi-cpu",
        "workers": 2,
        "backend": "gloo",
        "devices": ["cpu", "cpu"],
    }
    assert [place.cores for place in two.places] == [(0,), (1,)]
    assert two.sentence.startswith("2 workers on the CPU")
    assert two.arithmetic.startswith("128 samples per step, 64 per worker")


def test_where_several_were_asked_for_only_how_many_is_open() -> None:
    assert shapes(found(project({"target": "multi-cpu"}), 4)) == [(2, 2), (4, 1)]
    assert found(project({"target": "multi-cpu"}), 2) == (), "there is nothing to choose"
    assert found(project({"target": "multi-cpu", "num_workers": 2}), 4) == ()


@pytest.mark.parametrize(
    ("environment", "training"),
    [
        ({"target": "cpu"}, {}),
        ({"threads": 2}, {}),
        ({"target": "multi-cpu", "strategy": "local-sgd"}, {}),
        ({"target": "multi-cpu", "gradient_compression": "fp16"}, {}),
        ({"target": "multi-cpu", "worker_load": "measured"}, {}),
        ({}, {"deterministic": True}),
        ({}, {"solver": "lbfgs"}),
        ({}, {"acceleration": "compile"}),
        ({}, {"loss_function": "loss.py", "loss": "custom"}),
        ({}, {"max_epochs": 1, "mini_batch_size": 4096}),
    ],
)
def test_nothing_is_open_where_it_was_said_or_the_numbers_would_be_others(
    environment: dict[str, Any], training: dict[str, Any]
) -> None:
    assert found(project(environment, **training), 8, samples=1000 if "max_epochs" in training else 60_000) == ()


def test_a_gpu_is_taken_before_all_of_that() -> None:
    assert found(project(), 8, devices=(Device("cuda:0", "Some GPU", 2**34),)) == ()


def test_layers_that_draw_at_random_keep_a_run_in_one_process() -> None:
    def draws(*between: Any) -> bool:
        given = project(built=network(*between))
        return draws_at_random(given, analyse(given.network))

    assert not draws(layer("batch_norm"))
    assert draws(layer("dropout"))
    assert not draws(layer("dropout", probability=0.0))
    assert found(project(built=network(layer("dropout"))), 4) == ()


def test_a_run_is_worth_a_trial_where_it_may_take_long() -> None:
    """Of sequences the steps count, which the network does not know."""
    given = project(
        built=chain(layer("sequence_input", channels=12), layer("lstm", hidden_units=100, output_mode="last"))
    )
    analysis = analyse(given.network)
    assert not is_worthwhile(given, analysis, 2_000, 1)
    assert is_worthwhile(given, analysis, 2_000, 1000)
    assert is_worthwhile(given, analysis, 1_000_000, 1)


def test_a_run_on_a_cluster_that_went_on_with_one_worker_grows_again() -> None:
    """The batch stays the same, and several workers are joined as ever."""
    record = PlacementRecord(
        environment={"backend": "gloo"}, places=(WorkerPlace("cpu", 1, 5), WorkerPlace("cpu", 1, 4))
    )
    one = resized(record, ["cpu"], whole=False)
    assert (one.backend, [place.samples for place in one.places]) == ("", [9])
    two = resized(one, ["cpu", "cpu"], whole=False)
    assert (two.backend, two.environment["workers"]) == ("gloo", 2)
    assert [place.samples for place in two.places] == [5, 4]
    assert resized(one, ["cuda:0", "cuda:1"], whole=False).backend == "nccl"
