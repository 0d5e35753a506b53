"""Pooling that torch does not have."""

import math

import torch
from torch import nn


class InnerAveragePool(nn.Module):
    """Average pooling with borders of any width, whose places are left out of the mean."""

    def __init__(self, kernel_size: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...]) -> None:
        super().__init__()
        self.padding = padding
        self.pool = [nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d][len(kernel_size) - 1](kernel_size, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inside = x.new_ones((1, 1, *x.shape[2:]))
        share: torch.Tensor = self.pool(nn.functional.pad(inside, self.padding))
        mean: torch.Tensor = self.pool(nn.functional.pad(x, self.padding))
        return mean / share


class LpPool(nn.Module):
    """The p-norm of each window: (sum of |x| ^ p) ^ (1 / p). Its gradient is zero where all of a window is zero."""

    def __init__(
        self, kernel_size: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], norm: float
    ) -> None:
        super().__init__()
        self.padding = padding
        self.norm = norm
        self.count = math.prod(kernel_size)
        self.pool = [nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d][len(kernel_size) - 1](kernel_size, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        powers = x.abs().pow(self.norm)
        if self.padding:
            powers = nn.functional.pad(powers, self.padding)
        sums = self.count * self.pool(powers)
        safe = torch.where(sums > 0, sums, torch.ones_like(sums))
        return torch.where(sums > 0, safe.pow(1 / self.norm), torch.zeros_like(sums))


class FractionalMaxPool(nn.Module):
    """The largest number of windows whose places are drawn for each batch while training, and fixed otherwise."""

    def __init__(self, kernel_size: tuple[int, ...], output_size: tuple[int, ...]) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.output_size = output_size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for dim, (kernel, size) in enumerate(zip(self.kernel_size, self.output_size, strict=True), 2):
            places = (self.starts(x, dim, kernel, size).unsqueeze(1) + torch.arange(kernel, device=x.device)).flatten()
            x = torch.unflatten(x.index_select(dim, places), dim, (size, kernel)).amax(dim + 1)
        return x

    def starts(self, x: torch.Tensor, dim: int, kernel: int, size: int) -> torch.Tensor:
        """Where the windows along one axis begin. The last one ends where the axis does."""
        last = x.shape[dim] - kernel
        if size == 1:
            return torch.full((1,), last, device=x.device)
        shift = torch.rand((), device=x.device) if self.training else torch.full((), 0.5, device=x.device)
        step = last / (size - 1)
        first = ((torch.arange(size - 1, device=x.device) + shift) * step).floor() - (shift * step).floor()
        return torch.cat([first.long(), torch.full((1,), last, device=x.device)])


class MaxPoolWithIndices(nn.Module):
    """Max pooling with borders of any width, and the places of the largest numbers in the image without them."""

    def __init__(self, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, ...]) -> None:
        super().__init__()
        self.padding = padding
        self.pool = nn.MaxPool2d(kernel_size, stride, return_indices=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        left, right, top, _ = self.padding
        largest, places = self.pool(nn.functional.pad(x, self.padding, value=float("-inf")))
        width = x.shape[3] + left + right
        rows = torch.div(places, width, rounding_mode="floor")
        return largest, (rows - top) * x.shape[3] + places - rows * width - left


class MaxUnpool2d(nn.Module):
    """Adds each number to its place in an image of zeros as large as `like`; places count row by row."""

    def forward(self, x: torch.Tensor, indices: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        height, width = like.shape[2:]
        zeros = torch.zeros((*x.shape[:2], height * width), dtype=x.dtype, device=x.device)
        placed = zeros.scatter_add(2, indices.long().flatten(2), x.flatten(2))
        return torch.unflatten(placed, 2, (height, width))
