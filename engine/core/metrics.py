"""Metrics of a class as fractions of counts: of numbers, or of arrays of them.

Each takes the numbers of correct, of predicted and of actual ones, and returns numerator and denominator. A metric is 0
where the denominator is 0.
"""

from collections.abc import Callable
from typing import Any

Fraction = Callable[[Any, Any, Any], tuple[Any, Any]]


def precision(correct: Any, predicted: Any, actual: Any) -> tuple[Any, Any]:
    """Return the share of predicted ones that are correct."""
    return correct, predicted


def recall(correct: Any, predicted: Any, actual: Any) -> tuple[Any, Any]:
    """Return the share of actual ones that are predicted."""
    return correct, actual


def iou(correct: Any, predicted: Any, actual: Any) -> tuple[Any, Any]:
    """Return intersection over union of predicted and actual ones."""
    return correct, predicted + actual - correct


def f_score(beta: float = 1.0) -> Fraction:
    """Return (1 + b²) · precision · recall / (b² · precision + recall) as a function."""
    return lambda correct, predicted, actual: ((1 + beta * beta) * correct, beta * beta * actual + predicted)


def value_of(metric: Fraction, correct: float, predicted: float, actual: float) -> float:
    """Return a metric of counts of one class."""
    part, whole = metric(correct, predicted, actual)
    return part / whole if whole else 0.0
