"""Temperature scaling: one number divides all logits so that confidences are as high as the accuracy.

Source: Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks, ICML 2017. The number is the one with
the least negative log-likelihood on the validation split; the classes that are chosen stay the same.
"""

from typing import Any

import numpy as np

from netwright.engine.analysis.curves import probabilities
from netwright.engine.analysis.scores import Calibration
from netwright.engine.data.sources.source import Array

LOWEST, HIGHEST = 0.01, 100.0
"""Limits of the temperature; at them the fit has no minimum between."""
STEPS = 100


def negative_log_likelihood(scores: Array, target: Array, task: str, temperature: float) -> float:
    """Return the mean of -log(probability of the true class), of logs or logits (N, C) and targets (N) or (N, K)."""
    scaled = scores.astype(np.float64) / temperature
    if task == "labels":
        there = ~np.isnan(target)
        signs = np.where(target > 0.5, -scaled, scaled)[there]
        return float(np.logaddexp(0.0, signs).mean())
    moved = scaled - scaled.max(-1, keepdims=True)
    true = np.take_along_axis(moved, target.astype(np.int64)[:, None], 1)[:, 0]
    return float((np.log(np.exp(moved).sum(-1)) - true).mean())


def fit(scores: Array, target: Array, task: str) -> float:
    """Return the temperature with the least negative log-likelihood, by golden sections of the logarithm of its
    inverse, in which the likelihood has one peak."""
    share = (np.sqrt(5) - 1) / 2
    low, high = np.log(LOWEST), np.log(HIGHEST)

    def cost(place: float) -> float:
        return negative_log_likelihood(scores, target, task, float(np.exp(place)))

    inner = [high - share * (high - low), low + share * (high - low)]
    costs = [cost(place) for place in inner]
    for _ in range(STEPS):
        if high - low < 1e-6:
            break
        if costs[0] <= costs[1]:
            high, inner[1], costs[1] = inner[1], inner[0], costs[0]
            inner[0] = high - share * (high - low)
            costs[0] = cost(inner[0])
        else:
            low, inner[0], costs[0] = inner[0], inner[1], costs[1]
            inner[1] = low + share * (high - low)
            costs[1] = cost(inner[1])
    return float(np.exp((low + high) / 2))


def calibration(scores: Array, target: Array, task: str, temperature: float) -> dict[str, Any]:
    """Return the calibration with a temperature, as `Calibration.write`, with the `cross_entropy`."""
    chances = probabilities(scores, task, temperature)
    reliability = Calibration()
    if task == "labels":
        there = ~np.isnan(target)
        sure = np.maximum(chances, 1 - chances)
        reliability.update(sure[there], ((chances > 0.5) == (target > 0.5))[there])
    else:
        reliability.update(chances.max(1), chances.argmax(1) == target)
    return {**reliability.write(), "cross_entropy": negative_log_likelihood(scores, target, task, temperature)}
