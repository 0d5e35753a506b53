"""From the scores of the next token to tokens: the likeliest one, one by chance, or a search with several beams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from netwright.engine.data.sources.source import Array


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn. The scores are divided by the temperature, at 0 the likeliest token is taken; then the
    `top_k` likeliest stay (0: all), and of these as few as have the probability `top_p` together (Holtzman et al., The
    curious case of neural text degeneration, 2020)."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0


def log_shares(scores: Array) -> Array:
    """Return the logarithms of the probabilities of scores (..., V)."""
    lowered = scores - scores.max(-1, keepdims=True)
    return np.asarray(lowered - np.log(np.exp(lowered).sum(-1, keepdims=True)))


def drawn(scores: Array, sampling: Sampling, random: np.random.Generator) -> int:
    """Return the token that is drawn from scores (V)."""
    if sampling.temperature == 0:
        return int(scores.argmax())
    order = np.argsort(-scores, kind="stable")[: sampling.top_k or None]
    sums = np.exp(log_shares(scores[order] / sampling.temperature)).cumsum()
    count = min(len(order), int(np.searchsorted(sums, sampling.top_p)) + 1)
    place = int(np.searchsorted(sums[:count], random.random() * sums[count - 1], side="right"))
    return int(order[min(place, count - 1)])


def beam_search(
    scores_of: Callable[[Sequence[Sequence[int]]], Array],
    begin: Sequence[int],
    most: int,
    beams: int,
    has_ended: Callable[[Sequence[int]], bool],
) -> list[int]:
    """Return the tokens that follow `begin`, at most `most`: those with the largest mean logarithm of probabilities
    that are found where the `beams` likeliest beginnings are kept after each token.

    scores_of: the scores (N, V) of the next token of sequences of one length. has_ended: whether the tokens that were
    added, so far, are a whole answer.
    """
    open_ones: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    for _ in range(most):
        shares = log_shares(scores_of([[*begin, *tokens] for _, tokens in open_ones]))
        totals = shares + np.array([total for total, _ in open_ones])[:, np.newaxis]
        best = np.argsort(-totals, axis=None, kind="stable")[: 2 * beams].tolist()
        following: list[tuple[float, list[int]]] = []
        for rank, (row, token) in enumerate(divmod(place, shares.shape[1]) for place in best):
            tokens = [*open_ones[row][1], token]
            total = float(totals[row, token])
            if has_ended(tokens):
                ended += [(total / len(tokens), tokens)] if rank < beams else []
            elif len(following) < beams:
                following.append((total, tokens))
        open_ones = following
        if not open_ones or len(ended) >= beams:
            break
    ended += [(total / max(1, len(tokens)), tokens) for total, tokens in open_ones] if len(ended) < beams else []
    return max(ended, key=lambda item: item[0])[1]
