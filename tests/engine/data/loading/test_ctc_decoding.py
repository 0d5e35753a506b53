"""Transcripts of CTC outputs, against all alignments added up one by one."""

import itertools
from collections import defaultdict
from typing import Literal

import numpy as np
import pytest

from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.data.loading.ctc_decoding import beam_search, best_path
from netwright.engine.project.preparation import InputPreparation, Preparation, TargetPreparation

STEPS, CHANNELS = 5, 3


def most_probable(probabilities: np.ndarray, blank: int) -> list[int]:
    totals: dict[tuple[int, ...], float] = defaultdict(float)
    for path in itertools.product(range(probabilities.shape[1]), repeat=len(probabilities)):
        transcript = tuple(channel for channel, _ in itertools.groupby(path) if channel != blank)
        totals[transcript] += float(np.prod(probabilities[range(len(path)), path]))
    return list(max(totals.items(), key=lambda one: one[1])[0])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("blank", [0, CHANNELS - 1])
def test_a_wide_beam_finds_the_most_probable_transcript(seed: int, blank: int) -> None:
    probabilities = np.random.default_rng(seed).dirichlet([0.6] * CHANNELS, STEPS)
    assert beam_search(probabilities, blank, 500) == most_probable(probabilities, blank)


def test_all_alignments_count_and_not_the_best_alone() -> None:
    probabilities = np.array([[0.6, 0.4], [0.6, 0.4]])
    assert best_path(probabilities.argmax(1).tolist(), 0) == []  # 0.36; that of 1 are 0.24, 0.24 and 0.16
    assert beam_search(probabilities, 0, 4) == [1]


def test_repeats_need_a_blank_between() -> None:
    sure = np.eye(3)[[1, 1, 0, 1, 2, 2]]
    assert beam_search(sure, 0, 2) == best_path([1, 1, 0, 1, 2, 2], 0) == [1, 1, 2]


@pytest.mark.parametrize("blank", ["first", "last"])
def test_answers_take_the_beam_that_is_asked_for(blank: Literal["first", "last"]) -> None:
    part = InputPreparation(name="x", axes=("T", "C"), sizes=(None, 2))
    target = TargetPreparation(
        name="y",
        task="transcripts",
        axes=("T", "C"),
        sizes=(None, 2),
        classes=("a",),
        blank=blank,
    )
    record = Preparation(kind="arrays", inputs=(part,), targets=(target,))
    output = np.array([[[0.6, 0.4], [0.6, 0.4]]])
    output = output if blank == "first" else output[:, :, ::-1]
    assert [present(record, [output], beams)[0].sample(0) for beams in (1, 3)] == [[], ["a"]]
