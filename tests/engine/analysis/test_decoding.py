"""Tokens from scores, against decoders written here in the plainest way."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from netwright.engine.analysis.decoding import Sampling, beam_search, drawn, log_shares

SCORES = np.log(np.array([0.05, 0.4, 0.25, 0.2, 0.1]))
DRAWS = 20_000


def reference_shares(scores: Sequence[float], temperature: float, top_k: int, top_p: float) -> dict[int, float]:
    """The probability of each token that can be drawn."""
    raised = {token: math.exp(score / temperature) for token, score in enumerate(scores)}
    order = sorted(raised, key=lambda token: -raised[token])[: top_k or None]
    total = sum(raised[token] for token in order)
    kept, sum_so_far = [], 0.0
    for token in order:
        kept.append(token)
        sum_so_far += raised[token] / total
        if sum_so_far >= top_p:
            break
    whole = sum(raised[token] for token in kept)
    return {token: raised[token] / whole for token in kept}


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [
        (1.0, 0, 1.0),
        (0.5, 0, 1.0),
        (2.0, 3, 1.0),
        (1.0, 0, 0.6),
        (1.0, 0, 0.7),
        (1.0, 4, 0.9),
        (1.0, 1, 1.0),
        (1.0, 0, 0.01),
    ],
)
def test_tokens_are_drawn_as_often_as_they_are_likely(temperature: float, top_k: int, top_p: float) -> None:
    random, sampling = np.random.default_rng(3), Sampling(temperature, top_k, top_p)
    counts = Counter(drawn(SCORES, sampling, random) for _ in range(DRAWS))
    expected = reference_shares(SCORES.tolist(), temperature, top_k, top_p)
    assert set(counts) == set(expected)
    for token, share in expected.items():
        assert counts[token] / DRAWS == pytest.approx(share, abs=0.02)


def test_the_likeliest_token_is_taken_at_temperature_zero() -> None:
    assert {drawn(SCORES, Sampling(temperature=0.0), np.random.default_rng(seed)) for seed in range(9)} == {1}


def test_impossible_tokens_are_never_drawn() -> None:
    scores, random = np.array([-np.inf, 0.0, 1.0]), np.random.default_rng(0)
    assert {drawn(scores, Sampling(temperature=5.0), random) for _ in range(500)} == {1, 2}


CLASSES, END, STEPS = 4, 3, 4


def scores_of(sequences: Sequence[Sequence[int]]) -> np.ndarray:
    """Scores that depend on the whole sequence."""
    return np.array([np.random.default_rng(list(tokens)).normal(0, 2, CLASSES) for tokens in sequences])


def total(tokens: Sequence[int], begin: Sequence[int]) -> float:
    shares = [log_shares(scores_of([[*begin, *tokens[:at]]]))[0][token] for at, token in enumerate(tokens)]
    return sum(shares) / len(shares)


def test_a_wide_beam_finds_the_best_of_all_answers() -> None:
    begin = [7, 1]
    answers = [
        tokens
        for count in range(1, STEPS + 1)
        for tokens in itertools.product(range(CLASSES), repeat=count)
        if END not in tokens[:-1] and (tokens[-1] == END or count == STEPS)
    ]
    best = max(answers, key=lambda tokens: total(tokens, begin))
    found = beam_search(scores_of, begin, STEPS, 500, lambda tokens: tokens[-1] == END)
    assert tuple(found) == best


@pytest.mark.parametrize("first", range(6))
def test_a_beam_of_one_is_greedy(first: int) -> None:
    tokens = [first]
    for _ in range(STEPS):
        tokens.append(int(scores_of([tokens])[0].argmax()))
        if tokens[-1] == END:
            break
    assert beam_search(scores_of, [first], STEPS, 1, lambda added: added[-1] == END) == tokens[1:]
