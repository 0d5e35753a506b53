"""Text that a language model writes on: a token is drawn from the scores of the next one, appended, and so on."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from netwright.engine.analysis.decoding import Sampling, beam_search, drawn
from netwright.engine.analysis.operations.generate import WRITTEN, GenerateRequest, GenerateResult, Piece
from netwright.engine.analysis.predictors import Predictor, kept_predictor, open_predictor
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import Array
from netwright.engine.data.sources.tokens import decode, prompt_tokens
from netwright.engine.models.language_model import refuse_others, window_of
from netwright.engine.project.preparation import InputPreparation, TextPreparation

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
LEAST_SHARE = 1e-30
"""Least probability of which a logarithm is taken."""


class Vocabulary(Protocol):
    """How texts become tokens, and tokens texts."""

    barred: tuple[int, ...]
    """Tokens that are never written."""

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of the beginning of a text. Raises `UserError`."""

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text that tokens spell."""

    def end(self, before: Sequence[int], added: Sequence[int], stops: Sequence[str]) -> int:
        """Return how many characters of the text that was added stand before the first of these stops; -1 where none
        has come."""


class TextVocabulary:
    """The tokens of texts."""

    def __init__(self, how: TextPreparation) -> None:
        self._how = how
        self.barred: tuple[int, ...] = (0,) if how.tokens == "word" else ()

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of the beginning of a text. Raises `UserError`."""
        return prompt_tokens(self._how, text)

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text that tokens spell."""
        return decode(self._how, tokens)

    def end(self, before: Sequence[int], added: Sequence[int], stops: Sequence[str]) -> int:
        """Return how many characters stand before a stop, -1 where there is none."""
        if not stops:
            return -1
        written = self.text([*before, *added])[len(self.text(before)) :]
        return min((place for stop in stops if (place := written.find(stop)) >= 0), default=-1)


class IndexVocabulary:
    """Indices as texts: whole numbers with spaces between."""

    barred: tuple[int, ...] = ()

    def __init__(self, count: int) -> None:
        self._count = count

    def tokens(self, text: str) -> list[int]:
        """Return the indices that stand in a text. Raises `UserError`."""
        words = text.split()
        strange = next((word for word in words if not word.isdecimal() or int(word) >= self._count), None)
        if strange is not None:
            raise UserError(
                f"The network takes indices of tokens, whole numbers from 0 to {self._count - 1:,} with spaces "
                f"between; received {quoted(strange)}."
            )
        return [int(word) for word in words]

    def text(self, tokens: Sequence[int]) -> str:
        """Return the indices, each with a space before."""
        return "".join(f" {token}" for token in tokens)

    def end(self, before: Sequence[int], added: Sequence[int], stops: Sequence[str]) -> int:
        """Return how many characters stand before the index of a stop, -1 where there is none."""
        ends = {token for stop in stops for token in self.tokens(stop)}
        place = next((place for place, token in enumerate(added) if token in ends), -1)
        return len(self.text(added[:place])) if place >= 0 else -1


class LanguageModel:
    """The scores that a network gives to each token as the next one.

    It looks back on at most `window` steps. Once these are full the older half is dropped, so that what was kept of
    the newer steps serves again for many tokens; a network without a cache is given the same steps. Raises `UserError`
    for a network that predicts no next token, or has another source than it is given.
    """

    def __init__(self, predictor: Predictor, source: str | None = None, *, has_cache: bool = True) -> None:
        record = predictor.record
        refuse_others(record, has_source=source is not None)
        self._predictor, self._input, target = predictor, record.inputs[-1], record.targets[0]
        classes = len(target.classes)
        text = self._input.text
        self.vocabulary: Vocabulary = TextVocabulary(text) if text is not None else IndexVocabulary(classes)
        self._is_logits = target.activation == "softmax"
        self._source = self._source_steps(record.inputs[0], source) if source is not None else None
        self.window = window_of(self._input, lambda: predictor.longest)
        cache = predictor.cached(self.window) if has_cache and source is None else None
        self._cache, self._begin = cache, 0

    @property
    def has_cache(self) -> bool:
        """Whether a token costs one step."""
        return self._cache is not None

    @staticmethod
    def _source_steps(part: InputPreparation, source: str) -> Array:
        tokens = IndexVocabulary(part.vocabulary or np.iinfo(np.int32).max).tokens(source)
        steps = part.sizes[0] or len(tokens)
        if not 1 <= len(tokens) <= steps:
            raise UserError(f"The source has {len(tokens):,} tokens; the network takes 1 to {steps:,}.")
        return np.array([[*tokens, *[0] * (steps - len(tokens))]])

    def scores(self, tokens: Sequence[int]) -> Array:
        """Return the scores (V) of the token that follows."""
        begin = self._first(len(tokens))
        if self._cache is None:
            return np.asarray(self.scores_of([tokens])[0])
        if begin != self._begin or self._cache.num_seen >= len(tokens) - begin:
            self._cache.forget()
            self._begin = begin
        new = np.array([tokens[begin + self._cache.num_seen :]])
        return np.asarray(self._as_scores(self._cache.outputs(new)[:, -1])[0])

    def scores_of(self, sequences: Sequence[Sequence[int]]) -> Array:
        """Return the scores (N, V) of the tokens that follow sequences of one length, computed anew."""
        begin = self._first(len(sequences[0]))
        steps = np.array([list(tokens[begin:]) for tokens in sequences])
        count = steps.shape[1]
        if self._input.sizes[0] is not None:
            steps = np.pad(steps, ((0, 0), (0, self._input.sizes[0] - count)))
        inputs = [steps] if self._source is None else [np.repeat(self._source, len(steps), 0), steps]
        parts = zip(inputs, self._predictor.record.inputs, strict=True)
        outputs = self._predictor.outputs(tuple(array.astype(part.dtype) for array, part in parts))
        return self._as_scores(outputs[0][:, count - 1])

    def _first(self, count: int) -> int:
        """Return the first of so many steps that is looked back on."""
        dropped = max(1, self.window // 2)
        return dropped * max(0, -((self.window - count) // dropped))

    def _as_scores(self, output: Array) -> Array:
        scores = output.astype(np.float64)
        if not self._is_logits:
            scores = np.log(np.maximum(scores, LEAST_SHARE))
        scores[:, list(self.vocabulary.barred)] = -np.inf
        return scores


@dataclass
class Writer:
    """Writes on, token by token."""

    model: LanguageModel
    request: GenerateRequest
    seed: int
    stopped: str = ""

    def __post_init__(self) -> None:
        self._before = self.model.vocabulary.tokens(self.request.prompt)
        if not self._before:
            raise UserError("The prompt has no tokens. Give the beginning of a text that the network writes on.")

    def pieces(self) -> Iterator[Piece]:
        """Yield each token with the text that is sure once it is there; the last has the text that was held back."""
        vocabulary, before, stops = self.model.vocabulary, self._before, self.request.stop
        already = len(vocabulary.text(before))
        added: list[int] = []
        length = 0
        for token in self._tokens():
            added.append(token)
            end = vocabulary.end(before, added, stops)
            text = vocabulary.text([*before, *added])[already:]
            self.stopped = "stop" if end >= 0 else "length" if len(added) == self.request.length else ""
            sure = end if end >= 0 else len(text) if self.stopped else _sure(text, stops)
            yield Piece(token=token, text=text[length:sure])
            length = max(length, sure)
            if self.stopped:
                return

    def _tokens(self) -> Iterator[int]:
        request, before = self.request, list(self._before)
        if request.beams > 1:
            vocabulary, begin = self.model.vocabulary, self._before
            yield from beam_search(
                self.model.scores_of,
                begin,
                request.length,
                request.beams,
                lambda added: vocabulary.end(begin, added, request.stop) >= 0,
            )
            return
        random, sampling = np.random.default_rng(self.seed), request.sampling
        way = Sampling(**sampling)
        while True:
            before.append(drawn(self.model.scores(before), way, random))
            yield before[-1]


def _sure(text: str, stops: Sequence[str]) -> int:
    """Return how many characters cannot change any more, and begin no stop."""
    whole = text.rstrip(UNFINISHED)
    unsure = max((size for stop in stops for size in range(1, len(stop)) if whole.endswith(stop[:size])), default=0)
    return len(whole) - unsure


def generate(request: GenerateRequest) -> GenerateResult:
    """Return the text that a model writes, whose pieces come one by one.

    With a `folder` the text is in a file there, which grows with each token, until all are there. Raises `UserError`.
    """
    predictor = (kept_predictor if request.folder else open_predictor)(request.choice)
    model = LanguageModel(predictor, request.source or None, has_cache=not request.no_cache)
    seed = request.seed if request.seed is not None else int(np.random.default_rng().integers(2**31))
    writer = Writer(model, request, seed)
    path = str(request.model.absolute())
    result = GenerateResult(path=path, seed=seed, has_cache=model.has_cache, pieces=(), assumed=predictor.assumed)
    result.pieces = _followed(result, writer)
    return result if request.folder is None else _in_folder(result, request)


def _followed(result: GenerateResult, writer: Writer) -> Iterator[Piece]:
    """Yield the pieces, and note in the result what they come to."""
    began = time.perf_counter()
    for count, piece in enumerate(writer.pieces(), 1):
        result.text += piece["text"]
        result.tokens_per_s = round(count / max(1e-9, time.perf_counter() - began), 1)
        result.stopped = writer.stopped
        yield piece


def _in_folder(result: GenerateResult, request: GenerateRequest) -> GenerateResult:
    """Write the text to a file of the folder as it comes, and return all of it."""
    assert request.folder is not None
    request.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    pieces: list[Piece] = []
    with (request.folder / WRITTEN).open("w", encoding="utf-8", newline="") as file:
        for piece in result.pieces:
            pieces.append(piece)
            file.write(piece["text"])
            file.flush()
            report(len(pieces), request.length, "tokens")
    return replace(result, pieces=pieces)
