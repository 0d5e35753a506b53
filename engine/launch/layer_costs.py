"""Measurements of `netwright.engine.launch.profile`, as the records that it prints: the device, each layer, the whole
network."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ProfiledDevice:
    """The device of a profile, with its highest measured speeds."""

    name: str
    batch: int
    threads: int
    precision: str
    peak_flops: float
    """FLOP/s of matrix products."""
    peak_bytes: float
    """Bytes per second of a copy, read and written."""


@dataclass(frozen=True)
class LayerCost:
    """Cost of a layer per step, in seconds and bytes."""

    path: str
    """Ids of the blocks and of the layer, with the number of the copy of a repeated block."""
    name: str
    type: str
    forward_s: float
    backward_s: float
    flops: int
    """Floating-point operations of the forward pass."""
    moved_bytes: int
    """Bytes of inputs, weights and outputs, each counted once: the least that the forward pass has to move."""
    kept_bytes: int
    """Memory that is kept for the backward pass, beside the weights."""
    roof: float
    """Least time that the device needs for `flops` and `moved_bytes`, as a share of `forward_s`: the roofline model of
    Williams, Waterman and Patterson (2009). It is above 1 for a layer whose numbers stay in the caches of a CPU, which
    are faster than its memory."""


@dataclass(frozen=True)
class WholeCost:
    """Cost of the network for one batch, run as a whole."""

    forward_s: float
    backward_s: float
    flops: int
    """Floating-point operations of the forward pass."""
    kept_bytes: int
    """Memory that is kept for the backward pass, beside the weights."""
