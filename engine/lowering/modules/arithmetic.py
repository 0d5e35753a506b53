"""Element-wise functions, arithmetic and combinations that torch has no module for."""

import torch
from torch import nn


class LearnedScale(nn.Module):
    """A learned scale for each channel, and a learned shift unless told otherwise."""

    def __init__(self, channels: int, dim: int, rank: int, bias: bool = True) -> None:
        super().__init__()
        self.sizes = [channels if axis == dim else 1 for axis in range(1, rank + 1)]
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.weight.view(self.sizes)
        return x if self.bias is None else x + self.bias.view(self.sizes)


class LearnedParameter(nn.Module):
    """Learned numbers, the same for every sample of the batch that comes in."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(sizes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight.expand(x.shape[0], *self.weight.shape).clone()


def constant(x: torch.Tensor, sizes: tuple[int, ...], value: float) -> torch.Tensor:
    """One number everywhere, for as many samples as come in."""
    return torch.full((x.shape[0], *sizes), value, device=x.device)


def quadratic(x: torch.Tensor) -> torch.Tensor:
    """All products of two numbers along the last axis, squares included, each pair once."""
    if torch.compiler.is_exporting():
        pairs = [(i, j) for i in range(x.shape[-1]) for j in range(i, x.shape[-1])]
        return x[..., [i for i, _ in pairs]] * x[..., [j for _, j in pairs]]
    first, second = torch.triu_indices(x.shape[-1], x.shape[-1], device=x.device)
    return x[..., first] * x[..., second]


def fake_quantize(x: torch.Tensor, scale: float, zero_point: int, low: int, high: int) -> torch.Tensor:
    """Round to multiples of the scale within the range of the integers; the gradient is that of the clamp alone."""
    within = torch.clamp(x, (low - zero_point - 0.5) * scale, (high - zero_point + 0.5) * scale)
    rounded = (torch.clamp(torch.round(x / scale) + zero_point, low, high) - zero_point) * scale
    return within + (rounded - within).detach()


def add_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The sum of any number of tensors, from left to right."""
    for other in others:
        first = first + other
    return first


def multiply_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The product of any number of tensors, from left to right."""
    for other in others:
        first = first * other
    return first


def maximum_of_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The largest of any number of tensors, place by place."""
    for other in others:
        first = torch.maximum(first, other)
    return first


def minimum_of_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The smallest of any number of tensors, place by place."""
    for other in others:
        first = torch.minimum(first, other)
    return first


def average_of_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The mean of any number of tensors, place by place."""
    total = first
    for other in others:
        total = total + other
    return total / (1 + len(others))


def where_positive(condition: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The first tensor where the condition is above zero, else the second."""
    return torch.where(condition > 0, first, second)


def matrix_product(
    first: torch.Tensor, second: torch.Tensor, transpose_first: bool = False, transpose_second: bool = False
) -> torch.Tensor:
    """The matrix product over the last two axes; each operand is transposed where its argument says so."""
    left = first.mT if transpose_first else first
    return left @ (second.mT if transpose_second else second)


def dot_product(first: torch.Tensor, second: torch.Tensor, dim: int) -> torch.Tensor:
    """The sum of the products along an axis, which stays with size 1."""
    return (first * second).sum(dim, keepdim=True)


def distance(first: torch.Tensor, second: torch.Tensor, dim: int, kind: str) -> torch.Tensor:
    """Distance of two vectors along an axis, which stays with size 1."""
    difference = first - second
    if kind == "squared":
        return difference.square().sum(dim, keepdim=True)
    order = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": float("inf")}[kind]
    length: torch.Tensor = torch.linalg.vector_norm(difference, order, dim, keepdim=True)
    return length


def einsum(*tensors: torch.Tensor, equation: str) -> torch.Tensor:
    """torch.einsum with the equation behind the tensors."""
    return torch.einsum(equation, *tensors)


def squared_relu(x: torch.Tensor) -> torch.Tensor:
    """max(0, x) squared."""
    return nn.functional.relu(x).square()


def swiglu(x: torch.Tensor, dim: int) -> torch.Tensor:
    """swish(a) b, with a and b the two halves along an axis."""
    a, b = x.chunk(2, dim)
    return nn.functional.silu(a) * b


def geglu(x: torch.Tensor, dim: int) -> torch.Tensor:
    """a GELU(b), with a and b the two halves along an axis."""
    a, b = x.chunk(2, dim)
    return a * nn.functional.gelu(b)
