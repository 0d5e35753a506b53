"""Responses: classes or numbers, and how the one is told from the other."""

from collections.abc import Sequence

import numpy as np

from engine.data.facts import IGNORED
from engine.data.sources.source import MOST_CLASSES, Array
from engine.errors import UserError

FEW = 20
LARGEST = 2**31
"""Beyond it, numbers of single precision are long no longer whole by themselves."""


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
    return _told_apart(numbers.reshape(-1).astype(np.int64), names, what)


def texts_as_classes(texts: Sequence[str], what: str) -> tuple[Array, tuple[str, ...]]:
    """The same for texts of a table. An array of them would give each the room of the longest."""
    numbers, names = numbered(texts)
    return _told_apart(numbers, tuple(names), what)


def numbered(texts: Sequence[str]) -> tuple[Array, list[str]]:
    """For each text its place among the different ones, and those in sorted order."""
    names = sorted(set(texts))
    places = {name: place for place, name in enumerate(names)}
    return np.fromiter((places[text] for text in texts), np.int64, len(texts)), names


def _told_apart(numbers: Array, names: tuple[str, ...], what: str) -> tuple[Array, tuple[str, ...]]:
    if len(names) == 1:
        raise UserError(f"{what} has one class only, '{names[0]}'. At least two are needed to tell apart.")
    if len(names) > MOST_CLASSES:
        raise UserError(
            f"{what} has {len(names):,} different values; at most {MOST_CLASSES:,} classes can be told apart. "
            "Choose another response, or predict numbers."
        )
    return numbers, names


def _name(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_class_numbers(
    values: Array, what: str, ignored: int, padding: Array | None = None
) -> tuple[Array, tuple[str, ...]]:
    """Class numbers of many values a sample, in the smallest signed type, and the names in sorted order.

    `IGNORED` stands where the padding is, and where a value equals the ignored one. Raises `UserError`.
    """
    skipped = np.zeros(values.shape, bool) if padding is None else padding
    if values.dtype.kind == "f":
        whole = np.rint(values)
        if not np.array_equal(whole[~skipped], values[~skipped]):
            raise UserError(f"{what} holds fractions. Expected whole numbers as classes, or predict numbers.")
        if float(np.abs(whole[~skipped]).max(initial=0)) > LARGEST:  # half precision cannot hold that number
            raise UserError(f"{what} holds numbers beyond {LARGEST:,}, which are no classes. Predict numbers.")
        values = np.where(skipped, ignored, whole).astype(np.int64)
    if values.dtype.kind != "b" and values.dtype.kind not in "US":
        skipped = skipped | (values == ignored)
    found = _different(values, skipped)
    names = tuple(_name(value) for value in found.tolist())
    if len(names) < 2:
        what_is = f"one class only, '{names[0]}'" if names else "nothing that counts"
        raise UserError(f"{what} has {what_is}. At least two classes are needed to tell apart.")
    if len(names) > MOST_CLASSES:
        raise UserError(
            f"{what} has {len(names):,} different values; at most {MOST_CLASSES:,} classes can be told apart. "
            "Predict numbers, or choose another response."
        )
    kind = np.int8 if len(names) <= np.iinfo(np.int8).max else np.int16
    numbers = np.empty(values.shape, kind)
    for index in range(len(values)):  # a sample at a time: places would take eight bytes a value
        numbers[index] = np.searchsorted(found, values[index])
    numbers[skipped] = IGNORED
    return numbers, names


def _different(values: Array, skipped: Array) -> Array:
    """The sorted different values of what is not skipped, a sample at a time."""
    each = [np.unique(value[~skip]) for value, skip in zip(values, skipped, strict=True)]
    return np.unique(np.concatenate(each))
