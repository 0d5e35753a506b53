"""Transcripts of CTC outputs: the most probable alignment, and prefix beam search, which adds up all alignments."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from netwright.engine.data.sources.source import Array

NEVER = -math.inf


def transcripts(scores: Array, *, is_blank_first: bool, beams: int = 1) -> list[list[int]]:
    """Return the class numbers of each transcript of scores (N, T, C + 1): those of the most probable alignment, with
    several `beams` of a beam search, which takes probabilities."""
    blank, first = (0, 1) if is_blank_first else (scores.shape[2] - 1, 0)
    if beams > 1:
        rows = [beam_search(steps, blank, beams) for steps in scores]
    else:
        rows = [best_path(steps, blank) for steps in scores.argmax(2).tolist()]
    return [[channel - first for channel in channels] for channels in rows]


def best_path(steps: Sequence[int], blank: int) -> list[int]:
    """Return the channels of the most probable alignment without repeats and blanks. `steps`: that of each step."""
    changes = [*steps[:1], *(after for before, after in pairwise(steps) if after != before)]
    return [step for step in changes if step != blank]


def beam_search(probabilities: Array, blank: int, beams: int) -> list[int]:
    """Return the channels of the most probable transcript among the `beams` likeliest beginnings that are kept after
    each step: the probability of a transcript is that of all its alignments. `probabilities`: (T, C).

    Source: Hannun, Maas, Jurafsky, Ng: First-pass large vocabulary continuous speech recognition using bi-directional
    recurrent DNNs, 2014.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities.astype(np.float64))
    beam: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, NEVER)}  # ends in a blank, ends in its last channel
    for step in logs.tolist():
        following: dict[tuple[int, ...], tuple[float, float]] = {}

        def add(
            prefix: tuple[int, ...],
            ended: float,
            going: float,
            into: dict[tuple[int, ...], tuple[float, float]] = following,
        ) -> None:
            before = into.get(prefix, (NEVER, NEVER))
            into[prefix] = _sum(before[0], ended), _sum(before[1], going)

        for prefix, (ended, going) in beam.items():
            whole = _sum(ended, going)
            add(prefix, whole + step[blank], going + step[prefix[-1]] if prefix else NEVER)
            for channel, score in enumerate(step):
                if channel != blank and score > NEVER:
                    is_repeat = bool(prefix) and prefix[-1] == channel
                    add((*prefix, channel), NEVER, (ended if is_repeat else whole) + score)
        best = sorted(following, key=lambda prefix: -_sum(*following[prefix]))[:beams]
        beam = {prefix: following[prefix] for prefix in best}
    return list(max(beam.items(), key=lambda item: _sum(*item[1]))[0])


def _sum(a: float, b: float) -> float:
    """Return the logarithm of the sum of two probabilities, of which these are the logarithms."""
    high, low = max(a, b), min(a, b)
    return high if low == NEVER else high + math.log1p(math.exp(low - high))
