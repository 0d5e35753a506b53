"""Places for runs side by side: several per device, one over several, mixed, within a share of the machine."""

from typing import Any

import pytest

from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.placement.shares import Share, Slot, in_slot, slot_of
from netwright.engine.project.environment import EnvironmentOptions

CPU = DeviceInventory(num_cores=8)
GPUS = DeviceInventory(num_cores=8, devices=tuple(Device(f"cuda:{n}", "H200", 2**37) for n in range(4)))


def environment(target: str = "auto", **options: Any) -> EnvironmentOptions:
    return EnvironmentOptions(target=target, **options)


def on(*numbers: int) -> Slot:
    return Slot(tuple(f"cuda:{number}" for number in numbers))


def filled(share: Share, *environments: EnvironmentOptions) -> list[Slot]:
    """The places of runs that come one after another, up to the first that has to wait; the last one comes again."""
    used: list[Slot] = []
    waiting = list(environments)
    while (slot := share.slot(waiting[0], used)) is not None:
        used.append(slot)
        waiting = waiting[1:] or waiting
    return used


@pytest.mark.parametrize(
    ("target", "machine", "options", "slots"),
    [
        (environment(), CPU, {}, [Slot(threads=1, cores=1)] * 8),
        (environment(), CPU, {"cores": 3}, [Slot(threads=1, cores=1)] * 3),
        (environment(), CPU, {"at_once": 2}, [Slot(threads=4, cores=4)] * 2),
        (environment("multi-cpu", num_workers=4), CPU, {}, [Slot(threads=1, cores=4)] * 2),
        (environment("cpu", threads=4), CPU, {}, [Slot(threads=4, cores=4)] * 2),
        (environment("multi-cpu", num_workers=16), CPU, {}, [Slot(threads=1, cores=8)]),
        (environment("cpu"), GPUS, {"at_once": 3}, [Slot(threads=2, cores=2)] * 3),
        (environment(), GPUS, {}, [on(0), on(1), on(2), on(3)]),
        (environment(), GPUS, {"at_once": 2}, [on(0), on(1)]),
        (environment(), GPUS, {"gpus": 3}, [on(0), on(1), on(2)]),
        (environment("gpu", devices=[1, 3]), GPUS, {}, [on(1), on(3)]),
        (environment(), GPUS, {"gpus_per_run": 2}, [on(0, 1), on(2, 3)]),
        (environment("multi-gpu"), GPUS, {}, [on(0, 1, 2, 3)]),
        (environment("multi-gpu", num_workers=3), GPUS, {}, [on(0, 1, 2)]),
        (environment(), GPUS, {"gpus_per_run": 8}, [on(0, 1, 2, 3)]),
        (environment(), GPUS, {"runs_per_gpu": 2}, [on(n) for n in (0, 1, 2, 3, 0, 1, 2, 3)]),
        (environment("parallel", cluster="big"), GPUS, {}, [Slot()]),
        (environment("parallel", cluster="big"), GPUS, {"at_once": 5}, [Slot()] * 5),
    ],
)
def test_places_beside_each_other(
    target: EnvironmentOptions, machine: DeviceInventory, options: dict[str, int], slots: list[Slot]
) -> None:
    assert filled(Share.of(machine, target, **options), target) == slots


def test_runs_of_one_and_of_several_devices_share_a_machine() -> None:
    share = Share.of(GPUS, environment("multi-gpu"), runs_per_gpu=2)
    one, two = environment("gpu"), environment("multi-gpu", num_workers=2)
    assert filled(share, one, two, one, one, one) == [on(0), on(1, 2), on(3), on(0), on(3)]
    assert share.slot(two, [on(0), on(1), on(2)]) is None, "it waits, and those behind it do"
    assert share.slot(two, [on(0), on(1)]) == on(2, 3)


def test_runs_of_one_and_of_several_workers_share_cores() -> None:
    share = Share.of(CPU, environment("multi-cpu"))
    four, one = environment("multi-cpu", num_workers=4), environment("multi-cpu", num_workers=1)
    assert [slot.cores for slot in filled(share, one, four, four)] == [1, 4]
    assert [slot.cores for slot in filled(share, one, four, one)] == [1, 4, 1, 1, 1]


@pytest.mark.parametrize(
    ("given", "machine", "slot"),
    [
        (environment(), CPU, Slot(threads=2, cores=2)),
        (environment("multi-cpu", num_workers=2), CPU, Slot(threads=3, cores=6)),
        (environment(), GPUS, on(3)),
        (environment("multi-gpu", num_workers=2), GPUS, on(1, 2)),
    ],
)
def test_a_place_is_found_again_in_the_run(given: EnvironmentOptions, machine: DeviceInventory, slot: Slot) -> None:
    assert slot_of(in_slot(given, slot), machine) == slot


def test_the_environment_of_a_run_is_that_of_its_place() -> None:
    assert in_slot(environment(), Slot(threads=2, cores=2)).write() == {"target": "cpu", "threads": 2}
    two = in_slot(environment("multi-gpu", num_workers=2), on(1, 2))
    assert (two.target, two.devices, two.num_workers) == ("multi-gpu", (1, 2), 0)
    assert in_slot(environment("parallel", cluster="big"), Slot()) == environment("parallel", cluster="big")
