"""Utilization and memory of this process, the processors of the machine, or the GPU."""

import contextlib
import ctypes
import gc
import math
from collections.abc import Callable

import psutil
import torch

from netwright.engine.core.platform import peak_resident_bytes


def utilization_of(device: torch.device, workers: int) -> Callable[[], float]:
    """Return a function that returns this worker's part of the utilization, 0 to 1; the parts of all workers add up.

    On a CPU: the share of the machine's processors that this process used since the last call. On a GPU: the mean over
    the GPUs of the share of the last second in which a kernel ran, by NVIDIA's nvidia-ml-py. NaN where it is unknown.
    """
    if device.type != "cpu":
        return _OfGpu(device, workers)
    with contextlib.suppress(psutil.Error, OSError):  # Linux without /proc
        return _OfProcess()
    return lambda: math.nan


class _OfProcess:
    """Processor time of this process per elapsed time of all processors that it may use."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        allowed = self._process.cpu_affinity() if hasattr(self._process, "cpu_affinity") else None  # macOS has none
        self._processors = len(allowed or ()) or psutil.cpu_count() or 1
        self._process.cpu_percent(None)  # the first value is always 0

    def __call__(self) -> float:
        percent = float(self._process.cpu_percent(None))
        return min(1.0, percent / 100 / self._processors)


class _OfGpu:
    """Utilization of the GPU until a first failure: the library may be missing, and a partition of a GPU has none."""

    def __init__(self, device: torch.device, workers: int) -> None:
        self._device, self._workers = device, workers
        self._is_known = True

    def __call__(self) -> float:
        if not self._is_known:
            return math.nan
        try:
            return float(torch.get_device_module(self._device).utilization(self._device)) / 100 / self._workers
        except Exception:  # torch passes on whatever the library raises, which need not be there to be named
            self._is_known = False
            return math.nan


def release_memory(device: torch.device) -> None:
    """Return cached memory to the system or device."""
    gc.collect()
    if device.type != "cpu":
        with contextlib.suppress(RuntimeError):  # not every kind of device can
            torch.accelerator.empty_cache()
    with contextlib.suppress(OSError, TypeError, AttributeError):  # of glibc, which may have been told to keep it
        ctypes.CDLL(None).malloc_trim(0)


def peak_memory_bytes(device: torch.device) -> int:
    """Return the peak memory of the device, or the memory of this process now."""
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    if device.type != "cpu":
        with contextlib.suppress(RuntimeError):  # a vendor's package need not count
            return torch.accelerator.max_memory_allocated(device)
    try:
        return int(psutil.Process().memory_info().rss)
    except (psutil.Error, OSError):  # Linux without /proc
        return peak_resident_bytes()


def busy_cores(seconds: float) -> float:
    """Return how many cores of this machine were busy during so many seconds, in which this process rests."""
    return float(psutil.cpu_percent(seconds)) / 100 * (psutil.cpu_count() or 1)
