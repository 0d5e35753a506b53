"""What only moves numbers, where a method of the tensor does not do it in one call."""

import torch


def slice_axis(x: torch.Tensor, dim: int, start: int = 0, end: int | None = None, step: int = 1) -> torch.Tensor:
    """A part of one axis, as Python slices a list."""
    return x[(slice(None),) * dim + (slice(start, end, step),)]


def crop(x: torch.Tensor, *reference: torch.Tensor, starts: tuple[int, ...], sizes: tuple[int, ...]) -> torch.Tensor:
    """A part of the axes behind the channels. What it is as large as only says so: the sizes are known."""
    for dim, (start, size) in enumerate(zip(starts, sizes, strict=True), 2):
        x = x.narrow(dim, start, size)
    return x


def one_hot(x: torch.Tensor, classes: int) -> torch.Tensor:
    """A vector for each index: one at its place, zero elsewhere."""
    return (x.long().unsqueeze(-1) == torch.arange(classes, device=x.device)).float()
