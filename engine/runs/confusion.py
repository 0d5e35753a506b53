"""Confusion matrices of the saved network of a run, in `metrics.json` of the run folder.

{"classes": [...], "parts": {"test": {"confusion": [[...]], "per_class": {"samples": [...], "precision": [...], ...}}}}

Rows are true classes, columns predicted classes. Runs without classes, or with very many, have no confusion matrix.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.files import read_object, write_atomically
from netwright.engine.core.metrics import Fraction, f_score, precision, recall, value_of

FILE = "metrics.json"
LIMIT_BYTES = 4 * 2**20


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix. `counts`: (true classes, predicted classes), number of samples."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def of_class(self) -> tuple[int, ...]:
        """Number of samples per true class."""
        return tuple(sum(row) for row in self.counts)

    @property
    def taken_for(self) -> tuple[int, ...]:
        """Number of samples per predicted class."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))

    @property
    def precision(self) -> tuple[float, ...]:
        """Precision per class; 0 for a class that is never predicted."""
        return self._per_class(precision)

    @property
    def recall(self) -> tuple[float, ...]:
        """Recall per class; 0 for a class without samples."""
        return self._per_class(recall)

    @property
    def f_score(self) -> tuple[float, ...]:
        """F-score per class, the harmonic mean of precision and recall; 0 if both are 0."""
        return self._per_class(f_score())

    def _per_class(self, metric: Fraction) -> tuple[float, ...]:
        correct = (row[place] for place, row in enumerate(self.counts))
        return tuple(value_of(metric, *of) for of in zip(correct, self.taken_for, self.of_class, strict=True))

    def write(self) -> dict[str, Any]:
        """Return the matrix and the metrics per class as a JSON object."""
        metrics = {"precision": self.precision, "recall": self.recall, "f-score": self.f_score}
        per_class = {"samples": list(self.of_class), **{name: list(values) for name, values in metrics.items()}}
        return {"confusion": [list(row) for row in self.counts], "per_class": per_class}


def write_confusions(folder: Path, classes: Sequence[str], parts: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Write the confusion matrices by split; no file if there is none. Raises `OSError`."""
    confusions = {
        name: Confusion(tuple(classes), tuple(map(tuple, counts))) for name, counts in parts.items() if counts
    }
    if confusions:
        content = {"classes": list(classes), "parts": {name: table.write() for name, table in confusions.items()}}
        data = json.dumps(content, ensure_ascii=False).encode(errors="replace")
        write_atomically(folder / FILE, data, mode=0o600, follow_link=False)


def read_confusions(folder: Path) -> dict[str, Confusion]:
    """Return the confusion matrices by split; empty if the file is missing or damaged. Raises `OSError`."""
    content = read_object(folder / FILE, LIMIT_BYTES) or {}
    classes, parts = content.get("classes"), content.get("parts")
    if not isinstance(classes, list) or not isinstance(parts, dict):
        return {}
    names = tuple(map(str, classes))
    confusions = {}
    for name, part in parts.items():
        counts = part.get("confusion") if isinstance(part, dict) else None
        if isinstance(counts, list) and _is_table(counts, len(names)):
            confusions[str(name)] = Confusion(names, tuple(map(tuple, counts)))
    return confusions


def _is_table(counts: list[Any], size: int) -> bool:
    """Return whether the matrix has the shape (size, size) and its elements are counts."""
    return (
        0 < len(counts) == size
        and all(isinstance(row, list) and len(row) == size for row in counts)
        and all(type(count) is int and 0 <= count < 2**53 for row in counts for count in row)
    )
