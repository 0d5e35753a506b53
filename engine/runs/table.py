"""A list of runs as a table for other programs: CSV with every figure and every option in a column of its own."""

import csv
import io
import time
from collections.abc import Iterable, Sequence

from engine.runs.events import SPLITS
from engine.runs.options import shown
from engine.runs.query import COUNTS
from engine.runs.summary import RunSummary

_FIRST = ("run", "project", "state", "created", "environment", *COUNTS)
_LAST = ("tags", "note", "reason", "changes")


def score_names(runs: Iterable[RunSummary]) -> list[str]:
    """The figures of quality that any of the runs has: validation, test, training; losses first."""
    names = {name for run in runs for name in run.scores}

    def place(name: str) -> tuple[int, bool, str]:
        split, _, metric = name.partition(".")
        return SPLITS.index(split), metric != "loss", metric

    return sorted(names, key=place)


def option_names(runs: Iterable[RunSummary]) -> list[str]:
    """The options that any of the runs names."""
    return sorted({path for run in runs for path in run.options})


def as_csv(runs: Sequence[RunSummary]) -> str:
    """The runs with a header; numbers in full, times as ISO 8601."""
    scores, options = score_names(runs), option_names(runs)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_FIRST, *scores, *_LAST, *options))
    for run in runs:
        values = run.scores
        created = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(run.created)) if run.created else ""
        counts = (_number(run.number(name)) for name in COUNTS)
        said = (", ".join(run.notes.tags), run.notes.note, run.reason, "; ".join(map(str, run.changes)))
        writer.writerow(
            (
                *(run.path.name, run.name, run.state, created, run.environment, *counts),
                *(_number(values.get(name)) for name in scores),
                *said,
                *(shown(run.options, path) for path in options),
            )
        )
    return text.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
