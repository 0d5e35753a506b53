"""Which accelerators a run takes beside others, on machines that are not here."""

import pytest

from netwright.engine.placement.inventory import Device, DeviceInventory, Room, room_for
from netwright.engine.project.environment import EnvironmentOptions

TWO = DeviceInventory(num_cores=8, devices=tuple(Device(f"cuda:{number}", "GPU", 2**30) for number in range(2)))
NONE = DeviceInventory(num_cores=8)


@pytest.mark.parametrize(
    ("given", "used", "devices"),
    [
        ({"target": "auto"}, [], ("cuda:0",)),
        ({"target": "gpu"}, ["cuda:0"], ("cuda:1",)),
        ({"target": "gpu"}, ["cuda:0", "cuda:1"], None),
        ({"target": "gpu", "devices": (1,)}, ["cuda:1"], None),
        ({"target": "multi-gpu"}, [], ("cuda:0", "cuda:1")),
        ({"target": "multi-gpu"}, ["cuda:1"], None),
        ({"target": "cpu"}, ["cuda:0", "cuda:1"], ()),
    ],
)
def test_a_run_takes_what_is_free(given: dict[str, object], used: list[str], devices: tuple[str, ...] | None) -> None:
    room = room_for(EnvironmentOptions(**given), TWO, used)
    assert (None if room is None else room.devices) == devices


def test_one_free_accelerator_is_named_so_that_no_other_run_takes_it() -> None:
    room = room_for(EnvironmentOptions(), TWO, ["cuda:0"])
    assert room == Room(EnvironmentOptions(target="gpu", devices=(1,)), ("cuda:1",))


def test_without_accelerators_nothing_has_to_be_free() -> None:
    assert room_for(EnvironmentOptions(target="gpu"), NONE, ["cuda:0"]) == Room(EnvironmentOptions(target="gpu"))
