"""The curves of several runs as one table."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from app.plots.curve_export import PLACES, number_word
from app.plots.drawing import ROWS_AT_ONCE
from app.plots.series import Floats
from app.plots.traces import Curve, Trace


def count_of(traces: Sequence[Trace]) -> int:
    """So many training values there are."""
    return sum(len(curve.training) for trace in traces for curve in trace.curves.values())


def write_csv(path: Path, traces: Sequence[Trace]) -> Iterator[int]:
    """Every point of every curve of every run: run, curve, split, step, value, epoch, seconds of training. Yields from
    time to time how many are written. Raises `OSError`."""
    done = 0
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        writer.writerow(("run", "curve", "split", "step", "value", "epoch", "elapsed_s"))
        for trace in traces:
            for name, curve in trace.curves.items():
                for split, steps, values in _chunks(curve):
                    places = [trace.places(steps, along).tolist() for along in PLACES]
                    for step, value, epoch, elapsed in zip(steps.tolist(), values.tolist(), *places, strict=True):
                        place = f"{epoch:.6g}", f"{elapsed:.6g}"
                        writer.writerow((trace.folder.path.name, name, split, int(step), number_word(value), *place))
                    done += len(steps)
                    yield done


def _chunks(curve: Curve) -> Iterator[tuple[str, Floats, Floats]]:
    training = curve.training
    for start in range(0, len(training), ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, len(training))
        yield "training", training.steps(np.arange(start, stop)), training.values(start, stop)
    pairs = np.array(curve.validation.pairs(), np.float64).reshape(-1, 2)
    yield "validation", pairs[:, 0], pairs[:, 1]
