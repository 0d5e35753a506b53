"""Which class was taken for which, by the network that a run kept: `metrics.json` in the run's folder.

{"classes": [...], "parts": {"test": {"confusion": [[...]], "per_class": {"samples": [...], "precision": [...], ...}}}}

Rows are the right classes, columns those they were taken for. Runs whose data has no classes, or very many, have none.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.files import read_object, write_atomically

FILE = "metrics.json"
LIMIT_BYTES = 4 * 2**20


@dataclass(frozen=True)
class Confusion:
    """How often each class (rows) was taken for each (columns)."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def of_class(self) -> tuple[int, ...]:
        """How many samples each class has."""
        return tuple(sum(row) for row in self.counts)

    @property
    def taken_for(self) -> tuple[int, ...]:
        """How many samples were taken for each class."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))

    @property
    def precision(self) -> tuple[float, ...]:
        """Of those taken for each class the share that is; 0 where none is taken for it."""
        return tuple(row[i] / taken if taken else 0.0 for i, (row, taken) in self._numbered(self.taken_for))

    @property
    def recall(self) -> tuple[float, ...]:
        """Of those of each class the share that is found; 0 where it has none."""
        return tuple(row[i] / there if there else 0.0 for i, (row, there) in self._numbered(self.of_class))

    @property
    def f_score(self) -> tuple[float, ...]:
        """The harmonic mean of both."""
        both = zip(self.precision, self.recall, strict=True)
        return tuple(2 * p * r / (p + r) if p + r else 0.0 for p, r in both)

    def _numbered(self, totals: Sequence[int]) -> Any:
        return enumerate(zip(self.counts, totals, strict=True))

    def write(self) -> dict[str, Any]:
        """As JSON, with the figures of each class."""
        figures = {"precision": self.precision, "recall": self.recall, "f-score": self.f_score}
        per_class = {"samples": list(self.of_class), **{name: list(values) for name, values in figures.items()}}
        return {"confusion": [list(row) for row in self.counts], "per_class": per_class}


def write_confusions(folder: Path, classes: Sequence[str], parts: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Write what is known of each part, if anything is. Raises `OSError`."""
    known = {name: Confusion(tuple(classes), tuple(map(tuple, counts))) for name, counts in parts.items() if counts}
    if known:
        whole = {"classes": list(classes), "parts": {name: table.write() for name, table in known.items()}}
        data = json.dumps(whole, ensure_ascii=False).encode(errors="replace")
        write_atomically(folder / FILE, data, mode=0o600, follow_link=False)


def read_confusions(folder: Path) -> dict[str, Confusion]:
    """The tables by part; none where there are none, or the file is damaged. Raises `OSError`."""
    whole = read_object(folder / FILE, LIMIT_BYTES) or {}
    classes, parts = whole.get("classes"), whole.get("parts")
    if not isinstance(classes, list) or not isinstance(parts, dict):
        return {}
    names = tuple(map(str, classes))
    found = {}
    for name, part in parts.items():
        counts = part.get("confusion") if isinstance(part, dict) else None
        if isinstance(counts, list) and _is_table(counts, len(names)):
            found[str(name)] = Confusion(names, tuple(map(tuple, counts)))
    return found


def _is_table(counts: list[Any], size: int) -> bool:
    """Whether it has a row and a column for each class, and nothing but counts."""
    return (
        0 < len(counts) == size
        and all(isinstance(row, list) and len(row) == size for row in counts)
        and all(type(count) is int and 0 <= count < 2**53 for row in counts for count in row)
    )
