"""A counter-based random generator: numbers are a function of seed, epoch and sample.

They do not depend on the worker, the batch, or on resuming the run.
"""

import torch

_MASK = 2**64 - 1
_GAMMA = 0x9E3779B97F4A7C15
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_STREAM = 0x6175676D656E74
"""Constant that separates these numbers from others with the same seed."""

DRAWS = (
    "x_reflection",
    "y_reflection",
    "rotation",
    "scale",
    "x_scale",
    "y_scale",
    "x_shear",
    "y_shear",
    "x_translation",
    "y_translation",
    "x_crop",
    "y_crop",
    "brightness",
    "contrast",
    "saturation",
    "hue",
    "noise",
    "erasing",
    "erasing_area",
    "erasing_ratio",
    "erasing_x",
    "erasing_y",
    "partner",
    "mixing",
    "mixing_share",
    "mixing_x",
    "mixing_y",
    "time_shift",
    "time_mask",
    "time_mask_at",
)
"""Names of the draws. Each has its own index, so that a new option does not change the others; only append."""


class CounterRng:
    """Uniform numbers in [0, 1) per name of `DRAWS` and sample, with 24 bits: exact in float32."""

    def __init__(self, seed: int, epoch: int, numbers: torch.Tensor) -> None:
        """`numbers`: index of each sample in the training split (N), on the device of the draws."""
        self._seed, self._epoch, self._numbers = seed, epoch, numbers
        names = torch.arange(1, len(DRAWS) + 1, device=numbers.device).unsqueeze(1)
        self._values = _drawn(seed, epoch, numbers, names)

    def unit(self, name: str) -> torch.Tensor:
        """Return uniform numbers in [0, 1), one per sample (N)."""
        return self._values[DRAWS.index(name)]

    def between(self, name: str, low: float, high: float) -> torch.Tensor:
        """Return uniform numbers from `low` to `high`, one per sample (N)."""
        return self.unit(name) * (high - low) + low

    def happens(self, name: str, probability: float) -> torch.Tensor:
        """Return true with this probability, one per sample (N)."""
        return self.unit(name) < probability

    def alternates(self, name: str, probability: float) -> torch.Tensor:
        """Return true in even epochs with this probability, else in odd ones, per sample (N)."""
        first = _drawn(self._seed, 0, self._numbers, DRAWS.index(name) + 1) < probability
        return ~first if self._epoch % 2 else first


def _drawn(seed: int, epoch: int, numbers: torch.Tensor, names: torch.Tensor | int) -> torch.Tensor:
    """Return uniform numbers in [0, 1) of the names, counted from 1: (names, N), or (N) of one name."""
    start = _mixed(_mixed(seed ^ _STREAM) + epoch * _GAMMA)
    each = _mixed_tensor(numbers.long() * _signed(_GAMMA) + _signed(start))
    return ((_mixed_tensor(each + names * _signed(_GAMMA)) >> 40) & (2**24 - 1)).to(torch.float32) * 2.0**-24


def _signed(bits: int) -> int:
    """Return 64 bits as a signed int64."""
    bits &= _MASK
    return bits - 2**64 if bits >> 63 else bits


def _mixed(bits: int) -> int:
    """Return the finaliser of SplitMix64: Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014."""
    bits &= _MASK
    bits = ((bits ^ (bits >> 30)) * _FACTORS[0]) & _MASK
    bits = ((bits ^ (bits >> 27)) * _FACTORS[1]) & _MASK
    return bits ^ (bits >> 31)


def _mixed_tensor(x: torch.Tensor) -> torch.Tensor:
    """Return `_mixed` of each element of an int64 tensor; products overflow on purpose."""
    x = (x ^ _shifted(x, 30)) * _signed(_FACTORS[0])
    x = (x ^ _shifted(x, 27)) * _signed(_FACTORS[1])
    return x ^ _shifted(x, 31)


def _shifted(x: torch.Tensor, places: int) -> torch.Tensor:
    """Return a logical right shift, which fills with zeros; that of torch repeats the sign."""
    return torch.bitwise_and(x >> places, 2 ** (64 - places) - 1)
