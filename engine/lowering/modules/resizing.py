"""Resizing in ways that torch does not have."""

import torch
from torch import nn


class Resize(nn.Module):
    """Nearest or linear interpolation along each axis behind the channels, with other coordinates than torch's.

    `coordinates` is `half-pixel`, `align-corners` or `asymmetric`; `rounding` is `round` or `floor` for the nearest
    place, nothing for straight lines between two.
    """

    def __init__(self, size: tuple[int, ...], coordinates: str, rounding: str) -> None:
        super().__init__()
        self.size = size
        self.coordinates = coordinates
        self.rounding = rounding

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for dim, size in enumerate(self.size, 2):
            x = self.along(x, dim, x.shape[dim], size)
        return x

    def along(self, x: torch.Tensor, dim: int, before: int, after: int) -> torch.Tensor:
        """One axis from so many places to so many. Twice the coordinate is a fraction of whole numbers: exact."""
        place = torch.arange(after, device=x.device)
        if self.coordinates == "half-pixel":
            twice, parts = (2 * place + 1) * before - after, after
        elif self.coordinates == "align-corners":
            twice, parts = 2 * place * (before - 1), max(1, after - 1)
        else:
            twice, parts = 2 * place * before, after
        if self.rounding:
            half = parts if self.rounding == "round" else 0
            nearest = torch.div(twice + half, 2 * parts, rounding_mode="floor")
            return x.index_select(dim, nearest.clamp(0, before - 1))
        below = torch.div(twice, 2 * parts, rounding_mode="floor")
        share = (twice - 2 * parts * below).to(x.dtype) / (2 * parts)
        share = share.view(-1, *(1,) * (x.dim() - 1 - dim))
        low = x.index_select(dim, below.clamp(0, before - 1))
        high = x.index_select(dim, (below + 1).clamp(0, before - 1))
        return low + share * (high - low)


def first_of(x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The first tensor. The others only said how large it becomes."""
    return x


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
