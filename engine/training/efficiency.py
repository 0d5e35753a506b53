"""Floating-point operations per second that a training achieves, and their share of the device's measured peak."""

import math

import torch

from netwright.engine.hardware.peak import known_peak, measure_peak, peak_key
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network

TRAINING_FACTOR = 3
"""FLOPs of a training step for each of its forward pass: the backward pass takes about two more (Kaplan et al., Scaling
Laws for Neural Language Models, 2020)."""
MEASURED_AFTER_S = 5.0
"""Seconds after which a peak that is not known is measured: short runs do not pay for it."""


class Efficiency:
    """Counts what a training computes, from the FLOPs of its layers per sample."""

    def __init__(
        self, network: Network, device: torch.device, precision: str, hardware: str = "", workers: int = 1
    ) -> None:
        """`hardware` names the CPU, `workers` is the number of processes, on devices alike. FLOPs are unknown where
        sizes differ by sample."""
        analysis = analyse(network)
        is_known = all(isinstance(size, int) for row in analysis.shapes.values() for size in row.output.sizes)
        self._flops = TRAINING_FACTOR * analysis.flops if is_known and analysis.flops else math.nan
        self._device, self._precision, self._workers = device, precision, workers
        self._key = peak_key(device, precision, hardware)
        self._peak = known_peak(self._key)
        self._is_measured = math.isfinite(self._peak)

    def is_due(self, elapsed_s: float) -> bool:
        """Return whether the peak is to be measured now."""
        return not self._is_measured and elapsed_s >= MEASURED_AFTER_S and math.isfinite(self._flops)

    def measure(self) -> None:
        """Measure the peak of this worker's device."""
        self._is_measured = True
        self._peak = measure_peak(self._key, self._device, self._precision)

    def flops_per_second(self, samples_per_second: float) -> float:
        """Return the FLOP/s of all workers; NaN where they are unknown."""
        return self._flops * samples_per_second

    def peak_share(self, samples_per_second: float) -> float:
        """Return the share of the measured peak of all workers' devices; NaN where it is unknown."""
        return self.flops_per_second(samples_per_second) / (self._peak * self._workers)
