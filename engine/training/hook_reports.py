"""Values and pictures that a user's hooks report by name: curves of the run, and pictures on its page of answers."""

import contextlib
import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import torch

from netwright.engine.core.files import write_json
from netwright.engine.data.loading.preview import write_picture
from netwright.engine.data.sources.source import Array
from netwright.engine.project.options.metric_options import METRICS
from netwright.engine.runs.kept_steps import TimeBudget, thin
from netwright.engine.runs.reported_pictures import (
    FILE,
    FOLDER,
    LONGEST_NAME,
    MOST_NAMES,
    MOST_STEPS,
    ReportedPicture,
    read_pictures,
)

MOST_CURVES = 50
MOST_PIXELS = 256
"""Width and height of a picture; larger ones are reduced."""
FREE_S = 0.25
"""Time that pictures take in any run; beyond it a share of the run's."""
OF_RUNS = (
    *("loss", "metric", "custom", "gradient_norm", "learn_rate", "samples_per_second", "peak_share", "memory"),
    *("utilisation", "time_shares", "confusion_matrix"),
)
"""Names of curves that runs have themselves, beside those of metrics."""


class HookReports:
    """Takes the reports of the hooks of one worker; those of the first one are kept."""

    def __init__(self, run: Path, send: Callable[[int, str, float], None], *, is_first: bool) -> None:
        """`run` is the folder of the run, `send` takes the step, name and value of a point."""
        self._run, self._folder, self._send, self._is_first = run, run / FOLDER, send, is_first
        self._curves: set[str] = set()
        self._budget = TimeBudget(FREE_S)
        self._pictures: dict[str, list[ReportedPicture]] | None = None
        self._turns: dict[str, int] = {}
        self._every: dict[str, int] = {}

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
        _refuse_name(name, self._turns, MOST_NAMES, "pictures")
        turn = self._turns[name] = self._turns.get(name, -1) + 1
        if self._is_first and turn % self._every.setdefault(name, 1) == 0 and self._budget.is_left:
            with self._budget.spending(), contextlib.suppress(OSError):
                self._keep(step, epoch, name, planes_of(name, array))

    def _keep(self, step: int, epoch: int, name: str, planes: Array) -> None:
        if self._pictures is None:  # those of an earlier part of the run, which goes on
            earlier = read_pictures(self._run).items()
            self._pictures = {other: [p for p in those if p.iteration < step] for other, those in earlier}
        those = self._pictures.setdefault(name, [])
        number = list(self._pictures).index(name)
        self._folder.mkdir(0o700, exist_ok=True)
        file = write_picture(planes, span_of(planes), self._folder / f"{number}-{step}.png", MOST_PIXELS)
        if those and those[-1].iteration == step:
            those.pop()
        those.append(ReportedPicture(step, epoch, str(file)))
        if len(those) > MOST_STEPS:
            self._every[name] *= 2
        for removed in thin(those, MOST_STEPS):
            Path(removed.file).unlink(missing_ok=True)
        content = {
            name: [{**vars(picture), "file": Path(picture.file).name} for picture in those]
            for name, those in self._pictures.items()
        }
        write_json(self._folder / FILE, {"pictures": content}, follow_link=False)


def _refuse_name(name: object, names: Collection[str], most: int, things: str) -> None:
    """Raise `TypeError` or `ValueError` for a name that is none, and for one too many."""
    if not isinstance(name, str):
        raise TypeError(f"A {type(name).__name__} is no name. Report {things} by a text.")
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(f"{name[:LONGEST_NAME]!r} is no name: use 1 to {LONGEST_NAME} characters without line breaks.")
    if name not in names and len(names) >= most:
        raise ValueError(f"{name!r} is one name too many: a run has at most {most} names of reported {things}.")


def planes_of(name: str, array: Any) -> Array:
    """Return a picture as (C, H, W) with one or three channels. Raises `TypeError` and `ValueError`."""
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu().float() if array.is_floating_point() else array.detach().cpu()
        array = array.numpy()
    values = np.asarray(array)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name!r} is a {type(array).__name__}. Report a picture as an array of numbers.")
    if values.ndim == 2:
        values = values[None]
    elif values.ndim == 3 and values.shape[0] not in (1, 3, 4) and values.shape[2] in (1, 3, 4):
        values = np.moveaxis(values, -1, 0)
    if values.ndim != 3 or values.shape[0] not in (1, 3, 4) or not values.size:
        raise ValueError(
            f"{name!r} has the shape {np.shape(array)}. Report a picture as (H, W), or with 1 or 3 channels as "
            "(C, H, W) or (H, W, C)."
        )
    apart = max(1, -(-max(values.shape[1:]) // (4 * MOST_PIXELS)))
    values = values[:3, ::apart, ::apart] if values.shape[0] > 1 else values[:, ::apart, ::apart]
    return np.nan_to_num(values.astype(np.float32), nan=0.0)


def span_of(planes: Array) -> tuple[float, float]:
    """Return the numbers that are shown as black and white: 0 and 1, or 0 and 255, where the numbers lie between."""
    low, high = float(planes.min()), float(planes.max())
    if low >= 0:
        for white in (1.0, 255.0):
            if high <= white:
                return 0.0, white
    return low, high if high > low else low + 1.0
