"""Word and letter error rates of transcripts: edits that the true text needs to become the answer, per word or letter.

A transcript is read as a text: where each class is one character their text, in which white space parts words; else
each class is a word. The rates are those of jiwer: substitutions, deletions and insertions, fewest in number, divided
by the words or characters of the true texts.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netwright.engine.analysis.scores import Ranking, draws, error_rates, interval
from netwright.engine.core.extras import import_extra
from netwright.engine.data.loading.ctc_decoding import transcripts
from netwright.engine.data.sources.source import Array
from netwright.engine.project.dataset_info import IGNORED, TargetInfo

LIBRARY = "jiwer"
MOST_CHARACTERS = 20_000_000
"""Characters of all texts up to which they are kept beside the result."""


@dataclass
class TranscriptPass:
    """Transcripts of CTC outputs, that of the likeliest class at each step as in `predict`. `is_blank_first` tells the
    channel of the blank. Raises `UserError` where jiwer is not installed."""

    info: TargetInfo
    most_ranked: int
    is_blank_first: bool = True
    _texts: list[tuple[list[str], list[str]]] = field(default_factory=list)
    _edits: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._library = import_extra(LIBRARY, "text", "Word and letter error rates")
        self._worst = Ranking(self.most_ranked)
        is_of_letters = all(map(_is_letter, self.info.classes))
        self._joint = "" if is_of_letters else " "
        self._has_letters = is_of_letters or not all(name.isdecimal() for name in self.info.classes)

    def update(self, output: Array, target: Array, first: int) -> None:
        """Add samples: scores (n, T, C + 1), the blank likeliest behind the end of a sequence, and class numbers
        (n, L)."""
        true = self._spelled(row[row != IGNORED].tolist() for row in target)
        said = self._spelled(transcripts(output, is_blank_first=self.is_blank_first))
        counts = [self._counted(self._library.process_words, true, said)]
        if self._has_letters:
            counts.append(self._counted(self._library.process_characters, true, said))
        edits = np.concatenate(counts, axis=1)
        self._texts.append((true, said))
        self._edits.append(edits)
        each = _each(edits)

        def describe(place: int) -> dict[str, Any]:
            return {"label": true[place], "prediction": said[place], "error": float(each[place])}

        self._worst.update(each, first, describe)

    def _spelled(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """Return the texts of rows of class numbers."""
        return [self._joint.join(self.info.classes[number] for number in row) for row in rows]

    @staticmethod
    def _counted(process: Any, true: Sequence[str], said: Sequence[str]) -> Array:
        """Return the edits, and the words or characters of the true text, of each pair of texts (n, 2)."""
        found = process(list(true), list(said))
        spans = [
            [
                max(part.ref_end_idx - part.ref_start_idx, part.hyp_end_idx - part.hyp_start_idx)
                for part in alignment
                if part.type != "equal"
            ]
            for alignment in found.alignments
        ]
        pairs = zip(spans, found.references, strict=True)
        return np.array([(sum(edits), len(reference)) for edits, reference in pairs], np.int64).reshape(-1, 2)

    def result(self) -> Mapping[str, Any]:
        """Return the rates with intervals, and the worst samples."""
        edits = np.concatenate(self._edits)
        replicates = error_rates(draws(edits))
        rates: dict[str, Any] = {}
        for name, rate in error_rates(edits.sum(0)).items():
            rates |= {name: float(rate), f"{name}_interval": interval(replicates[name])}
        return {"answers": len(edits), **rates, "worst": self._worst.write()}

    def each(self) -> dict[str, Array]:
        """Return `edits`, `loss`, the error rate of each text, and of texts that are not too long `label` and
        `prediction`."""
        edits = np.concatenate(self._edits)
        label, prediction = ([text for pair in self._texts for text in pair[side]] for side in (0, 1))
        is_short = max(map(len, [*label, *prediction]), default=0) * len(label) <= MOST_CHARACTERS
        texts = {"label": np.array(label, str), "prediction": np.array(prediction, str)} if is_short else {}
        return {"edits": edits, "loss": _each(edits), **texts}


def _is_letter(name: str) -> bool:
    """Whether a class is one character, with the marks that it may have."""
    return sum(unicodedata.category(sign)[0] != "M" for sign in name) <= 1


def _each(edits: Array) -> Array:
    """Return the error rate of each text (n) by characters, where they are counted, else by words."""
    return np.asarray(edits[:, -2] / np.maximum(1, edits[:, -1]))
