"""The search for the largest mini-batch: by numbers, and for real with little memory."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.launch import largest_batch
from netwright.engine.launch.largest_batch import heaviest, largest, limit_bytes, search, with_batch
from netwright.engine.launch.trial import TrialResult, run_trial
from netwright.engine.placement.choose import resolve
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.builders import chain, layer

WIDE = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=20_000), layer("relu"))
"""80 kB for each sample that leaves a layer, and hardly any weights."""


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 5000))
def test_doubles_and_then_halves_in(limit: int, least: int, most: int) -> None:
    asked: list[int] = []

    def fits(number: int) -> bool:
        asked.append(number)
        return number <= limit

    least = min(least, most)
    found = largest(fits, least, most)
    assert len(asked) < 40
    if limit < least:
        assert found == 0
    else:
        assert min(limit, most) * 15 / 16 - 1 <= found <= min(limit, most)


def test_several_workers_try_the_largest_share_of_each_device() -> None:
    gpus = tuple(Device(f"cuda:{i}", "Fast GPU", 2**34) for i in range(2))
    machine = DeviceInventory(8, memory_bytes=2**30, devices=gpus, backends=("gloo", "nccl"))
    two = resolve(EnvironmentOptions(target="multi-gpu", worker_load="by-hand", worker_weights=[3, 1]), machine, 64)
    assert [(w.device, w.samples) for w in heaviest(two)] == [("cuda:0", 48), ("cuda:1", 16)]
    three = resolve(EnvironmentOptions(target="multi-cpu", num_workers=3), machine, 64)
    assert [(w.device, w.samples) for w in heaviest(three)] == [("cpu", 22)]
    assert limit_bytes(three, machine, 0.75) == 2**28


def found(environment: dict[str, Any], memory_bytes: int, samples: int | None) -> tuple[int, list[Any]]:
    project = Project(network=WIDE, environment=EnvironmentOptions(**environment), training=TrainingOptions())
    said: list[Any] = []
    machine = DeviceInventory(2, memory_bytes=memory_bytes)
    return search(project, machine, samples, 0.5, said.append), said


def test_what_does_not_fit_is_found_by_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers with twice the memory take twice the batch: each has its share, and its part of the memory."""
    for name in ("LONG_S", "LONGEST_S"):  # nothing is estimated, however busy the machine is
        monkeypatch.setattr(largest_batch, name, 1e9)
    room = run_trial(Project(network=WIDE), 1).bytes + 50 * 2**20
    one, said = found({"target": "cpu", "threads": 1}, 2 * room, None)
    assert 60 <= one <= 2000
    *tried, last = said
    assert last["largest"] == one
    assert "More samples do not fit" in last["words"]
    assert {trial["tried"]["refusal"] == "" for trial in tried} == {True, False}
    two, said = found({"target": "multi-cpu", "num_workers": 2, "threads": 1}, 4 * room, None)
    assert 1.3 * one < two < 3 * one
    assert all(trial["tried"]["samples"] == -(-trial["tried"]["batch"] // 2) for trial in said[:-1])


def test_trials_that_would_take_long_are_estimated_from_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a process of 100 MB with 1 MB and 2 ms per sample 973 samples fit into 1 GiB; only trials within 2 s are made:
    two steps of up to 500 samples."""
    made: list[int] = []

    def trial(project: Project, samples: int, *_: object, **__: object) -> TrialResult:
        made.append(samples)
        return TrialResult(samples, 10**8 + samples * 10**6, samples * 0.002)

    monkeypatch.setattr(largest_batch, "run_trial", trial)
    number, said = found({"target": "cpu", "threads": 1}, 2**31, None)
    assert 973 * 15 / 16 <= number <= 973
    assert made == [16, 32, 64, 128, 256]
    assert said[-1]["words"].endswith("Above 256 samples the memory is estimated.")
    assert said[-2]["tried"]["seconds"] == pytest.approx(0.002 * said[-2]["tried"]["batch"])


def test_an_estimate_is_not_below_what_the_sizes_of_layers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small trials whose memory does not show beside that of the process: each sample takes over 80 kB."""
    monkeypatch.setattr(largest_batch, "run_trial", lambda project, n, *_, **__: TrialResult(n, 2**29, n * 0.05))
    number, _ = found({"target": "cpu", "threads": 1}, 2**31, None)
    assert 1000 < number < 2**29 / 80_000


def test_the_training_part_is_the_end() -> None:
    number, said = found({"target": "cpu", "threads": 1}, 2**40, 20)
    assert number == 20
    assert said[-1]["words"] == "The largest mini-batch is 20 samples: all of the training split."


def test_what_cannot_be_tried_is_refused_in_words() -> None:
    project = Project(network=WIDE, training=TrainingOptions(solver="lm"))
    with pytest.raises(UserError, match="takes all samples in each iteration"):
        search(project, DeviceInventory(2), None, 0.5, lambda line: None)
    with pytest.raises(UserError, match="has errors"):
        search(Project(), DeviceInventory(2), None, 0.5, lambda line: None)
    with pytest.raises(UserError, match="each have a stage of it"):
        found({"target": "multi-cpu", "num_workers": 2, "strategy": "pipeline"}, 2**40, None)
    with pytest.raises(UserError, match="Not even 16 samples fit"):
        found({"target": "cpu", "threads": 1}, 2**24, None)


def test_a_trial_that_breaks_says_why_and_takes_nothing_with_it() -> None:
    tried = run_trial(with_batch(Project(network=WIDE), 8), 8, "cuda:97")
    assert tried.refusal
    assert run_trial(Project(network=WIDE, training=TrainingOptions(precision="bf16")), 8).seconds > 0


def test_random_changes_of_images_are_tried_too() -> None:
    """Changing samples takes memory and time of its own: here nearly all of it, and mixing takes twice the samples."""
    picture = chain(layer("image_input", size=128), layer("global_average_pool"), layer("fully_connected", outputs=2))
    plain = Project(network=picture)
    turned = Project(network=picture, training=TrainingOptions(rand_rotation=(-20.0, 20.0), mixup_alpha=0.2))
    small, large = (run_trial(project, 512) for project in (plain, turned))
    assert not large.refusal
    assert large.bytes > small.bytes + 100 * 2**20
    pieces = Project(network=picture, training=TrainingOptions(rand_x_reflection=0.5, gradient_accumulation=3))
    assert run_trial(pieces, 8).seconds > 0
