"""Which accelerators a run takes that is trained beside others: a pure function of the machine and what is in use."""

from collections.abc import Collection
from dataclasses import dataclass

from engine.environments.inventory import DeviceInventory
from engine.project.environment import EnvironmentOptions


@dataclass(frozen=True)
class Room:
    """Where a run can go now: its environment, and the names of the accelerators that it takes."""

    environment: EnvironmentOptions
    devices: tuple[str, ...] = ()


def room_for(environment: EnvironmentOptions, inventory: DeviceInventory, used: Collection[str]) -> Room | None:
    """Where a run goes that shares the machine, or None while what it needs is in use.

    `auto` and `gpu` take one free accelerator, several only where they are named or asked for as multi-gpu. Where the
    machine has none, or the CPU is asked for, nothing has to be free.
    """
    usable = inventory.usable
    if environment.target not in ("auto", "gpu", "multi-gpu") or not usable:
        return Room(environment)
    named = {device.number: device.name for device in usable}
    if environment.target != "auto" and environment.devices:
        wanted = tuple(named[number] for number in environment.devices if number in named)
        return None if set(wanted) & set(used) else Room(environment, wanted)
    if environment.target == "multi-gpu":
        return None if used else Room(environment, tuple(named.values()))
    free = [number for number, name in named.items() if name not in used]
    if not free:
        return None
    return Room(environment.replace(target="gpu", devices=(free[0],)), (named[free[0]],))
