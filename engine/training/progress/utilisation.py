"""How busy what trains is: the processors of the machine, or the GPU."""

import math
from collections.abc import Callable

import psutil
import torch


def utilisation_of(device: torch.device, workers: int) -> Callable[[], float]:
    """What a worker asks at each report: its part of the whole, so that those of all workers add up. On a CPU the share
    of the machine's processors that it kept busy since it asked last; on a GPU the mean over the GPUs of the share of
    the last second in which something ran, by NVIDIA's library (nvidia-ml-py). NaN where nobody knows."""
    if device.type == "cuda":
        return _OfGpu(device, workers)
    if device.type == "cpu":
        return _OfProcess()
    return lambda: math.nan


class _OfProcess:
    """The processor time of this process, beside the time that passed on all processors it may use."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        allowed = self._process.cpu_affinity() if hasattr(self._process, "cpu_affinity") else None  # macOS has none
        self._processors = len(allowed or ()) or psutil.cpu_count() or 1
        self._process.cpu_percent(None)  # the first answer is always 0

    def __call__(self) -> float:
        percent = float(self._process.cpu_percent(None))
        return min(1.0, percent / 100 / self._processors)


class _OfGpu:
    """Asks until it is refused once: the library may be missing, and a part of a shared GPU has no figure."""

    def __init__(self, device: torch.device, workers: int) -> None:
        self._device, self._workers = device, workers
        self._is_known = True

    def __call__(self) -> float:
        if not self._is_known:
            return math.nan
        try:
            return torch.cuda.utilization(self._device) / 100 / self._workers
        except Exception:  # torch passes on whatever the library raises, which need not be there to be named
            self._is_known = False
            return math.nan
