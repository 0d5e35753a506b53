"""Recorder of pictures by name while a run trains: those that hooks report, and those of attention."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from netwright.engine.core.files import write_json
from netwright.engine.data.loading.preview import write_picture
from netwright.engine.data.sources.source import Array
from netwright.engine.runs.kept_steps import TimeBudget, thin
from netwright.engine.runs.reported_pictures import FILE, MOST_STEPS, ReportedPicture, read_pictures

MOST_PIXELS = 256
"""Width and height of a picture; larger ones are reduced."""
FREE_S = 0.25
"""Time that pictures take in any run; beyond it a share of the run's."""


class PictureRecorder:
    """Writes pictures into a folder of the run, of each name at most `MOST_STEPS`, within a share of the time."""

    def __init__(self, run: Path, folder: str) -> None:
        self._run, self._name = run, folder
        self._folder = run / folder
        self._pictures: dict[str, list[ReportedPicture]] | None = None
        self._turns: dict[str, int] = {}
        self._every: dict[str, int] = {}
        self.budget = TimeBudget(FREE_S)
        """What the making of pictures takes counts, too."""

    def keep(self, step: int, epoch: int, name: str, array: Any) -> None:
        """Write a picture, if it is its turn. Raises `TypeError` and `ValueError` for what cannot be one; what cannot
        be written is left out, and what would take too long."""
        turn = self._turns[name] = self._turns.get(name, -1) + 1
        if turn % self._every.setdefault(name, 1) == 0 and self.budget.is_left:
            with self.budget.spending(), contextlib.suppress(OSError):
                self._write(step, epoch, name, planes_of(name, array))

    def _write(self, step: int, epoch: int, name: str, planes: Array) -> None:
        if self._pictures is None:  # those of an earlier part of the run, which goes on
            earlier = read_pictures(self._run, self._name).items()
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
