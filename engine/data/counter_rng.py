"""A counter-based random generator: numbers are a function of seed, epoch and sample.

Neither the worker, nor the batch, nor whether the run was resumed changes them.
"""

import torch

_MASK = 2**64 - 1
_GAMMA = 0x9E3779B97F4A7C15
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_STREAM = 0x6175676D656E74
"""Keeps these numbers apart from any others that begin with the same seed."""

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
)
"""Each has a place of its own, so that one more option leaves what the others draw as it was. Only add at the end."""


class CounterRng:
    """One number from 0 to below 1 for each name of `DRAWS` and each sample, with 24 bits: exact as a float32."""

    def __init__(self, seed: int, epoch: int, numbers: torch.Tensor) -> None:
        """`numbers`: the place of each sample in the training split, on the device where they are drawn."""
        start = _mixed(_mixed(seed ^ _STREAM) + epoch * _GAMMA)
        each = _mixed_tensor(numbers.long() * _signed(_GAMMA) + _signed(start))
        names = torch.arange(1, len(DRAWS) + 1, device=numbers.device).unsqueeze(1) * _signed(_GAMMA)
        self._values = ((_mixed_tensor(each + names) >> 40) & (2**24 - 1)).to(torch.float32) * 2.0**-24

    def unit(self, name: str) -> torch.Tensor:
        """Uniform numbers from 0 to below 1, one per sample (N)."""
        return self._values[DRAWS.index(name)]

    def between(self, name: str, low: float, high: float) -> torch.Tensor:
        """Uniform numbers from this range, one per sample (N)."""
        return self.unit(name) * (high - low) + low

    def happens(self, name: str, probability: float) -> torch.Tensor:
        """True with this probability, one per sample (N)."""
        return self.unit(name) < probability


def _signed(bits: int) -> int:
    """64 bits as the whole number that a tensor takes."""
    bits &= _MASK
    return bits - 2**64 if bits >> 63 else bits


def _mixed(bits: int) -> int:
    """The finaliser of SplitMix64: Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014."""
    bits &= _MASK
    bits = ((bits ^ (bits >> 30)) * _FACTORS[0]) & _MASK
    bits = ((bits ^ (bits >> 27)) * _FACTORS[1]) & _MASK
    return bits ^ (bits >> 31)


def _mixed_tensor(x: torch.Tensor) -> torch.Tensor:
    """The same of each number of a tensor of 64 bits; products overflow as they are meant to."""
    x = (x ^ _shifted(x, 30)) * _signed(_FACTORS[0])
    x = (x ^ _shifted(x, 27)) * _signed(_FACTORS[1])
    return x ^ _shifted(x, 31)


def _shifted(x: torch.Tensor, places: int) -> torch.Tensor:
    """To the right, with zeros from the left; torch repeats the sign."""
    return torch.bitwise_and(x >> places, 2 ** (64 - places) - 1)
