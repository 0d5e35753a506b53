"""The driver of NVIDIA's GPUs, as far as the window and the engine ask it without torch."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Readings:
    """Readings of a device: utilisation in percent and temperature in degrees Celsius, None where not known."""

    utilisation: int | None = None
    temperature: int | None = None


class Driver(Protocol):
    """Driver of the accelerators."""

    @property
    def version(self) -> str:
        """Version of the driver."""

    def readings(self, number: int) -> Readings:
        """Return the readings of the device with this index in torch."""


class NvidiaDriver:
    """NVIDIA driver, queried through nvidia-ml-py. Raises `RuntimeError` with the reason where it cannot be used."""

    def __init__(self, uuids: Sequence[str] = ()) -> None:
        try:
            pynvml = importlib.import_module("pynvml")
        except ImportError:
            raise RuntimeError("nvidia-ml-py is not installed, which asks the driver") from None
        self._nvml: Any = pynvml
        self._uuids = uuids
        try:
            pynvml.nvmlInit()
            version = pynvml.nvmlSystemGetDriverVersion()
        except pynvml.NVMLError as error:
            raise RuntimeError(f"no NVIDIA driver answers ({error})") from None
        self.version = version if isinstance(version, str) else version.decode()

    def readings(self, number: int) -> Readings:
        """Return the readings of a device, found by its UUID in torch, which may number only some of the devices."""
        nvml = self._nvml
        try:
            uuid = self._uuids[number] if number < len(self._uuids) else ""
            handle = nvml.nvmlDeviceGetHandleByUUID(uuid) if uuid else nvml.nvmlDeviceGetHandleByIndex(number)
            utilization = int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
            return Readings(utilization, int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)))
        except nvml.NVMLError:
            return Readings()
