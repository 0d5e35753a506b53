"""Values and pictures that a user's hooks report by name: curves of the run, and pictures on its page of answers."""

import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import torch

from netwright.engine.project.options.metric_options import METRICS
from netwright.engine.runs.reported_pictures import FOLDER, LONGEST_NAME, MOST_NAMES
from netwright.engine.training.picture_recorder import PictureRecorder

MOST_CURVES = 50
OF_RUNS = (
    *("loss", "metric", "custom", "gradient_norm", "learn_rate", "samples_per_second", "peak_share", "memory"),
    *("utilisation", "time_shares", "confusion_matrix"),
)
"""Names of curves that runs have themselves, beside those of metrics."""


class HookReports:
    """Takes the reports of the hooks of one worker; those of the first one are kept."""

    def __init__(self, run: Path, send: Callable[[int, str, float], None], *, is_first: bool) -> None:
        """`run` is the folder of the run, `send` takes the step, name and value of a point."""
        self._send, self._is_first = send, is_first
        self._curves: set[str] = set()
        self._names: set[str] = set()
        self._pictures = PictureRecorder(run, FOLDER)

    def value(self, step: int, name: str, value: Any) -> None:
        """Add a point to the curve of a name. Raises `TypeError` and `ValueError` for what cannot be one."""
        _refuse_name(name, self._curves, MOST_CURVES, "values")
        if name in METRICS or name in OF_RUNS:
            raise ValueError(f"{name!r} is a curve of every run. Report the value by another name.")
        if isinstance(value, torch.Tensor | np.ndarray | np.generic) and math.prod(value.shape) == 1:
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, int | float):
            shape = f" of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor | np.ndarray) else ""
            raise TypeError(f"{name!r} is a {type(value).__name__}{shape}. Report one number.")
        self._curves.add(name)
        if self._is_first:
            self._send(max(1, step), name, float(value))

    def picture(self, step: int, epoch: int, name: str, array: Any) -> None:
        """Keep a picture. Raises `TypeError` and `ValueError` for what cannot be one; what cannot be written is left
        out, and what would take too long."""
        _refuse_name(name, self._names, MOST_NAMES, "pictures")
        self._names.add(name)
        if self._is_first:
            self._pictures.keep(step, epoch, name, array)


def _refuse_name(name: object, names: Collection[str], most: int, things: str) -> None:
    """Raise `TypeError` or `ValueError` for a name that is none, and for one too many."""
    if not isinstance(name, str):
        raise TypeError(f"A {type(name).__name__} is no name. Report {things} by a text.")
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(f"{name[:LONGEST_NAME]!r} is no name: use 1 to {LONGEST_NAME} characters without line breaks.")
    if name not in names and len(names) >= most:
        raise ValueError(f"{name!r} is one name too many: a run has at most {most} names of reported {things}.")
