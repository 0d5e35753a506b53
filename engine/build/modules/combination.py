"""Several tensors into one."""

import torch


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
    """The product of the last two axes, each exchanged where that is wanted."""
    left = first.mT if transpose_first else first
    return left @ (second.mT if transpose_second else second)


def dot_product(first: torch.Tensor, second: torch.Tensor, dim: int) -> torch.Tensor:
    """The sum of the products along an axis, which stays with size 1."""
    return (first * second).sum(dim, keepdim=True)


def distance(first: torch.Tensor, second: torch.Tensor, dim: int, kind: str) -> torch.Tensor:
    """How far vectors along an axis are apart; the axis stays with size 1."""
    difference = first - second
    if kind == "squared":
        return difference.square().sum(dim, keepdim=True)
    order = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": float("inf")}[kind]
    length: torch.Tensor = torch.linalg.vector_norm(difference, order, dim, keepdim=True)
    return length


def einsum(*tensors: torch.Tensor, equation: str) -> torch.Tensor:
    """torch.einsum with the equation behind the tensors."""
    return torch.einsum(equation, *tensors)
