"""What a machine has to train with, as a value. An engine process makes it once; tests make any machine they like."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Device:
    """One accelerator: torch's name for it (`cuda:0`), what it is, its memory, and why it cannot be used, if so."""

    name: str
    model: str
    memory_bytes: int
    refusal: str = ""

    @property
    def number(self) -> int:
        """The number after the colon."""
        return int(self.name.partition(":")[2] or 0)


@dataclass(frozen=True)
class DeviceInventory:
    """The machine: cores this process may use, accelerators, and what joins workers (`gloo`, `nccl`).

    `no_devices_because` says in words why the list of devices is empty.
    """

    num_cores: int
    cpu_model: str = "CPU"
    memory_bytes: int = 0
    devices: tuple[Device, ...] = ()
    backends: tuple[str, ...] = ("gloo",)
    torch_version: str = ""
    no_devices_because: str = "no GPU was found"

    @property
    def usable(self) -> tuple[Device, ...]:
        """The devices that can be used."""
        return tuple(device for device in self.devices if not device.refusal)

    def write(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "DeviceInventory":
        """From JSON that `write` made."""
        devices = tuple(Device(**device) for device in data["devices"])
        return cls(**{**data, "devices": devices, "backends": tuple(data["backends"])})
