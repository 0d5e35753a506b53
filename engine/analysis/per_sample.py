"""Scores and outputs of single samples, kept in a file so that looking closer needs no second evaluation.

The file is a NumPy archive beside the result. `index` (N) holds the number of each sample in the source; each output
of the network, by its place, has some of

`scores`      per sample: logs of probabilities (N, C), logits of labels (N, K), predicted numbers (N, R); of steps and
              pixels the logs of some that are drawn (M, C)
`target`      beside `scores`: classes, truth values of labels (NaN: unknown), true numbers
`predicted`   class of each sample (N)
`loss`        cross-entropy, root of the mean squared error, or error rate of a transcript (N)
`confidence`  mean probability of the answers (N)
`answers`     number of answers that count (N)
`counts`      correct, predicted and actual ones per class (N, 3, C) where a sample has several answers
`edits`       edits of words and their number, then those of letters (N, 2 or 4), beside the texts `label` and
              `prediction` (N)
`sums`        sums of squared and of absolute errors, and the number of errors (N, 3)
"""

import contextlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netwright.engine.core.files import write_atomically
from netwright.engine.data.sources.source import Array

MOST_NUMBERS = 50_000_000
"""Numbers of an output that are kept in the file; scores beyond them are left out."""


@dataclass(frozen=True, eq=False)
class SampleScores:
    """Numbers of the samples in the source (N), and per output its arrays by name."""

    index: Array
    outputs: Sequence[Mapping[str, Array]]

    def scored(self, output: int) -> tuple[Array, Array] | None:
        """Return `scores` and `target` of an output where the target is known; None where they were not kept."""
        arrays = self.outputs[output]
        if "scores" not in arrays or "target" not in arrays:
            return None
        scores, target = arrays["scores"], arrays["target"]
        there = target >= 0 if target.ndim == 1 else np.ones(len(target), bool)
        return scores[there], target[there]

    def save(self, path: Path) -> None:
        """Write the file. Raises `OSError`."""
        arrays = {"index": self.index}
        for place, output in enumerate(self.outputs):
            arrays |= {f"{place}.{name}": array for name, array in output.items() if array.size <= MOST_NUMBERS}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]  # the names are those of arrays
        write_atomically(path, buffer.getvalue(), mode=0o600, follow_link=False)

    @classmethod
    def load(cls, path: Path, outputs: int) -> "SampleScores | None":
        """Read the file; None where there is none, or it is damaged."""
        with (
            contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile),
            np.load(path, allow_pickle=False) as archive,
        ):
            arrays = {name: archive[name] for name in archive.files}
            index = arrays.pop("index")
            grouped: list[dict[str, Array]] = [{} for _ in range(outputs)]
            for name, array in arrays.items():
                place, _, short = name.partition(".")
                grouped[int(place)][short] = array
            return cls(index, grouped)
        return None
