"""Responses: classes or numbers, and how the one is told from the other."""

import numpy as np

from engine.data.sources.source import MOST_CLASSES, Array
from engine.errors import UserError

FEW = 20


def is_whole_and_few(values: Array) -> bool:
    """Whether numbers look like the numbers of classes: at most 20 different ones, all whole."""
    if not np.array_equal(values, np.rint(values)):
        return False
    return len(np.unique(values)) <= FEW


def as_classes(values: Array, what: str) -> tuple[Array, tuple[str, ...]]:
    """Class numbers and names in sorted order: numbers by value, texts by their characters. Raises `UserError`.

    `what` names the response in errors.
    """
    found, numbers = np.unique(values, return_inverse=True)
    names = tuple(_name(value) for value in found.tolist())
    if len(names) == 1:
        raise UserError(f"{what} has one class only, '{names[0]}'. At least two are needed to tell apart.")
    if len(names) > MOST_CLASSES:
        raise UserError(
            f"{what} has {len(names):,} different values; at most {MOST_CLASSES:,} classes can be told apart. "
            "Choose another response, or predict numbers."
        )
    return numbers.reshape(-1).astype(np.int64), names


def _name(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
