"""Words of a text and how much each adds to an answer: integrated gradients on embeddings, and occlusion.

Sundararajan, Taly, Yan: Axiomatic attribution for deep networks, 2017. Li, Monroe, Jurafsky: Understanding neural
networks through representation erasure, 2016.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from netwright.engine.analysis.activations import Found
from netwright.engine.analysis.attributions import AT_ONCE, STEPS, Alone, captum_attr
from netwright.engine.analysis.subject import Layer, Sample, Subject, Target
from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.tokens import decoded, token_names
from netwright.engine.models.trained_model import DEVICE
from netwright.engine.project.preparation import InputPreparation

SPACE = 32
STARTS = ("Ġ", "▁", "Ċ")
"""First characters of pieces that begin a word, of byte-level and of SentencePiece tokenizers."""
INSIDE = "##"
"""First characters of pieces that go on with a word, of WordPiece tokenizers."""
HIDDEN = ("[MASK]", "<mask>", "[UNK]", "<unk>", "[PAD]", "<pad>", "Ġ", "▁")
"""Pieces that stand for no word, the first of them that a tokenizer has."""


def index_input(subject: Subject) -> int | None:
    """Return the place of the input whose steps are words: the first text, or sequence of indices where no input has
    numbers; None where there is none."""
    inputs = subject.record.inputs
    if (place := next((place for place, part in enumerate(inputs) if part.text is not None), None)) is not None:
        return place
    if any(part.content == "numbers" for part in inputs):
        return None
    return next((place for place, part in enumerate(inputs) if part.axes == ("T",) and not part.columns), None)


def word_gradients(subject: Subject, sample: Sample, number: int, target: Target) -> Found:
    """Return how much the vectors of each word add to the score, compared with those of a token that is no word.

    They add up to the difference of both scores, but for `convergence_delta`. `told["words"]` has the words in order;
    the array `attribution` (W) the same numbers.
    """
    captum = captum_attr("Integrated gradients")
    part, x = subject.record.inputs[number], sample.inputs[number]
    hidden, name = _hidden(part)
    module, probes = subject.probed(*_tables(subject, number))
    forward = Alone(subject.scores(module), sample.inputs, number, STEPS // AT_ONCE + 1)
    shares, delta = captum.LayerIntegratedGradients(forward, probes).attribute(
        x,
        torch.full_like(x, hidden),
        target=target.place,
        n_steps=STEPS,
        internal_batch_size=AT_ONCE,
        return_convergence_delta=True,
    )
    tokens = sum(share[0].detach().to(DEVICE, torch.float32).sum(-1) for share in shares).numpy()
    findings = _found(part, x, [float(tokens[places].sum()) for _, places in words_of(part, x[0].tolist())], name)
    findings.told |= {"convergence_delta": float(delta[0]), "steps": STEPS}
    return findings


def word_occlusion(subject: Subject, sample: Sample, number: int, target: Target) -> Found:
    """Return how much the score falls where a token that is no word stands in the place of a word, as
    `word_gradients` does."""
    part, x = subject.record.inputs[number], sample.inputs[number]
    hidden, name = _hidden(part)
    words = words_of(part, x[0].tolist())
    forward = Alone(subject.scores(subject.module), sample.inputs, number, -(-len(words) // AT_ONCE) + 1)
    falls: list[float] = []
    with torch.no_grad():
        whole = forward(x)[0, target.place]
        for start in range(0, len(words), AT_ONCE):
            some = words[start : start + AT_ONCE]
            changed = x.repeat(len(some), 1)
            for row, (_, places) in zip(changed, some, strict=True):
                row[places] = hidden
            falls += (whole - forward(changed)[:, target.place]).tolist()
    return _found(part, x, falls, name)


def _found(part: InputPreparation, x: torch.Tensor, values: Sequence[float], baseline: str) -> Found:
    texts = [text for text, _ in words_of(part, x[0].tolist())]
    words: list[dict[str, Any]] = [{"word": text, "value": value} for text, value in zip(texts, values, strict=True)]
    result = {"words": words, "is_signed": True, "baseline": baseline}
    return Found(result, {"attribution": np.array(values, np.float32)})


def _tables(subject: Subject, number: int) -> list[str]:
    """Return the paths of the layers that look up the vectors of an input's indices. Raises `UserError`."""
    layers_behind = subject.layers_behind(subject.trained.network.inputs[number].id)

    def looks_up(layer: Layer) -> bool:
        return layer.key in ("embedding", "one_hot") and layer.path in layers_behind

    tables = [layer.path for layer in subject.layers.values() if looks_up(layer)]
    if not tables:
        raise UserError(
            "This network has no layer Embedding or One-hot behind its text, whose vectors integrated gradients need. "
            "Use occlusion."
        )
    return tables


def words_of(part: InputPreparation, tokens: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return the words of a text, or its indices where they are of no text, with the places of their tokens."""
    how = part.text
    if how is None:
        return [(str(index), [place]) for place, index in enumerate(tokens)]
    names = token_names(how)
    if how.tokens == "word":
        return [(names[token], [place]) for place, token in enumerate(tokens)]
    has_inside = how.tokens == "piece" and any(name.startswith(INSIDE) for name in names)
    words: list[list[int]] = []
    for place, token in enumerate(tokens):
        if how.tokens == "byte":
            begins = not words or (token > SPACE and tokens[place - 1] <= SPACE)
        else:
            begins = names[token].startswith(STARTS) or (has_inside and not names[token].startswith(INSIDE))
        if begins or not words:
            words.append([])
        words[-1].append(place)
    return [(decoded(how, [tokens[place] for place in places]).strip(), places) for places in words]


def _hidden(part: InputPreparation) -> tuple[int, str]:
    """Return the index that stands for no word, and its name."""
    how = part.text
    if how is None:
        return 0, "index 0"
    names = token_names(how)
    if how.tokens == "piece":
        index = next((names.index(name) for name in HIDDEN if name in names), 0)
    else:
        index = 0 if how.tokens == "word" else SPACE
    return index, f"token '{'space' if how.tokens == 'byte' else names[index]}'"
