"""The devices of a machine as a value. An engine process measures it once; tests construct any machine."""

import platform
import socket
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from netwright.engine.core.platform import CAN_WATCH
from netwright.engine.core.platform_files import CAN_SHARE_MEMORY
from netwright.engine.project.environment import EnvironmentOptions

LOOPBACK = {"linux": "lo", "win32": "Loopback Pseudo-Interface 1"}.get(sys.platform, "lo0")
"""Its name, for messages on Windows: workers ask the system there."""
NO_LOOPBACK = (
    f"the loopback network interface {LOOPBACK}, over which workers find each other, is down or missing (a "
    f"container or sandbox may have none; as root, `ip link set {LOOPBACK} up` starts it)"
)
ORDERED = ("x86_64", "AMD64")
"""Processor architectures whose stores become visible in program order."""


def can_share() -> bool:
    """Return whether workers of this machine can all-reduce through shared memory in a way that is known to be
    correct."""
    return CAN_SHARE_MEMORY and CAN_WATCH and platform.machine() in ORDERED


def has_loopback() -> bool:
    """Return whether this machine has the network interface over which its workers find each other."""
    with socket.socket(type=socket.SOCK_DGRAM) as end:
        try:
            end.connect(("127.0.0.1", 9))  # finds a route and sends nothing
        except OSError:
            return False
    return True


TORCH_BACKENDS = ("gloo", "nccl", "xccl")
"""Communication backends of torch itself. Another one joins the devices of the vendor whose package brings it."""


@dataclass(frozen=True)
class Device:
    """One accelerator: its torch name (`cuda:0`), description, memory, the reason if it cannot be used, and the speed
    of its matrix products (GFLOP/s; 0: not measured)."""

    name: str
    model: str
    memory_bytes: int
    refusal: str = ""
    speed: float = 0.0

    @property
    def kind(self) -> str:
        """Return torch's type of the device: cuda (also ROCm), xpu, mps, or that of a vendor's package."""
        return self.name.partition(":")[0]

    @property
    def number(self) -> int:
        """Return the number after the colon."""
        return int(self.name.partition(":")[2] or 0)


@dataclass(frozen=True)
class ClusterSize:
    """The size of a cluster by its profile: its name and kind, the workers, and cores and GPUs of each."""

    name: str
    kind: str
    workers: int
    cores_per_worker: int = 1
    gpus_per_worker: int = 0


@dataclass(frozen=True)
class DeviceInventory:
    """The machine: cores this process may use, accelerators, and communication backends (`gloo`, `nccl`).

    `has_loopback`: whether workers can find each other. `no_devices_because` is the reason why the list of devices is
    empty. `cores` are the core numbers, where workers
    can be bound to cores, and `core_speeds` the speed of each (GFLOP/s), where measured.
    """

    num_cores: int
    cpu_model: str = "CPU"
    memory_bytes: int = 0
    devices: tuple[Device, ...] = ()
    backends: tuple[str, ...] = ("gloo",)
    torch_version: str = ""
    no_devices_because: str = "no GPU was found"
    cores: tuple[int, ...] = ()
    core_speeds: tuple[float, ...] = ()
    has_loopback: bool = True
    cluster: ClusterSize | None = None
    """The cluster that the project means; no part of this machine."""

    @property
    def usable(self) -> tuple[Device, ...]:
        """Return the devices that can be used."""
        return tuple(device for device in self.devices if not device.refusal)

    def write(self) -> dict[str, Any]:
        """Return the inventory as JSON, without the cluster, which is no part of the machine."""
        return {name: value for name, value in asdict(self).items() if name != "cluster"}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "DeviceInventory":
        """Return the inventory from JSON that `write` made."""
        devices = tuple(Device(**device) for device in data["devices"])
        several = {name: tuple(data.get(name, ())) for name in ("backends", "cores", "core_speeds")}
        return cls(**{**data, **several, "devices": devices})


@dataclass(frozen=True)
class Room:
    """Resources for a run: its environment, and the names of its accelerators."""

    environment: EnvironmentOptions
    devices: tuple[str, ...] = ()


def num_devices(environment: EnvironmentOptions, usable: int) -> int:
    """Return the number of accelerators that `room_for` gives a run on a machine with so many."""
    if environment.target not in ("auto", "gpu", "multi-gpu") or not usable:
        return 0
    if environment.target != "auto" and environment.devices:
        return len(environment.devices)
    return usable if environment.target == "multi-gpu" else 1


def room_for(environment: EnvironmentOptions, inventory: DeviceInventory, busy_names: Collection[str]) -> Room | None:
    """Return the resources of a run that shares the machine, or None while they are in use.

    `auto` and `gpu` use one free accelerator, several only where they are named or requested as multi-gpu. Where the
    machine has none, or the CPU is requested, nothing has to be free.
    """
    usable = inventory.usable
    if environment.target not in ("auto", "gpu", "multi-gpu") or not usable:
        return Room(environment)
    name_of = {device.number: device.name for device in usable}
    if environment.target != "auto" and environment.devices:
        names = tuple(name_of[number] for number in environment.devices if number in name_of)
        return None if set(names) & set(busy_names) else Room(environment, names)
    if environment.target == "multi-gpu":
        return None if busy_names else Room(environment, tuple(name_of.values()))
    free = [number for number, name in name_of.items() if name not in busy_names]
    if not free:
        return None
    return Room(environment.replace(target="gpu", devices=(free[0],)), (name_of[free[0]],))
