"""Check of image files in a process of its own.

python -m netwright.engine.core.child netwright.engine.data.loading.image_check OPTIONS BASE

`OPTIONS` are the data options as JSON, `BASE` is the folder of relative paths. Prints what `findings` yields, one JSON
object per line, or `{"error": "..."}`.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import lower_priority
from netwright.engine.core.process import print_line
from netwright.engine.data.sources.image_file import BadPictureError, header_of, read_mask, strictly
from netwright.engine.data.sources.image_labels import label_table
from netwright.engine.data.sources.image_reading import common, looked_at, whole_files
from netwright.engine.data.sources.images_reader import image_names
from netwright.engine.data.sources.masks import pairs_of
from netwright.engine.data.sources.source import locate
from netwright.engine.data.sources.split_keys import split_folders
from netwright.engine.data.tables.histograms import of_numbers
from netwright.engine.project.data import DataOptions

MOST_NAMED = 200
"""Largest number of files named per kind of finding; all are counted."""
MOST_THREADS = 4
PAUSE_S = 0.3
WORDS = {"masks": "mask", "target_images": "target image"}
"""The other image of each pair, by the option that names its folder."""
NICENESS = 15
"""Lowers the priority of the process: a training goes first."""


def findings(options: DataOptions, base: Path, pause_s: float = PAUSE_S) -> Iterator[dict[str, Any]]:
    """Decode all image files, and yield the findings so far every `pause_s` seconds and at the end. Keys:

    `checked`, `total`, `done`  number of files, and whether all are checked
    `first`      the first whole image
    `size`, `channels`  what most images are, and all become: `640 × 480`, `grey` or `rgb`
    `damaged`    [[name, reason]]: a training would end with an error
    `resized`    [[name, its size]]: its size is another than what all become
    `converted`  [[name, `grey` or `rgb`]]: it loses its colours, or is taken as colours
    `counts`     number of files of these three kinds, of which at most `MOST_NAMED` are named
    `sizes`      histograms of the `widths` and `heights` of all whole images, at the end; null where all are alike

    Raises `UserError` where there is no such data.
    """
    folder = locate(options.path, base)
    kind = options.target_kind
    beside = locate(getattr(options, kind), base) if kind else None
    insides = [f"{name}/" for name in split_folders(folder).values()] if options.split == "folders" else [""]
    files: list[tuple[str, str]] = []
    for inside in insides:
        names = tuple(name.removeprefix(inside) for name in options.excluded_files if name.startswith(inside))
        own = options.replace(excluded_files=names)
        if beside is None:
            pairs = [(name, "") for name in whole_files(own, folder / inside, image_names(own, folder / inside))[0]]
        elif kind == "labels":
            pairs = [(name, "") for name in label_table(own, folder, beside).files]
        else:
            pairs = pairs_of(folder / inside, beside / inside, own, WORDS[kind])[0]
        files += [(inside + name, inside + mask if mask else "") for name, mask in pairs]
    most = common(looked_at(folder, [name for name, _ in files])) if files else ("", 0, 0)
    report = _Report(options, most, len(files))
    with strictly(), ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        reported_s = time.monotonic()
        shapes = pool.map(lambda pair: _look(folder, kind, beside, *pair), files)
        for (name, _), shape in zip(files, shapes, strict=True):
            report.take(name, shape)
            if time.monotonic() - reported_s > pause_s and report.checked < len(files):
                reported_s = time.monotonic()
                yield report.write()
    yield report.write()


def _look(folder: Path, kind: str, beside: Path | None, name: str, other: str) -> tuple[str, int, int] | str:
    """Return `grey` or `rgb`, height and width of an image, or the reason why it, its mask or its target image cannot
    be used."""
    try:
        shape = header_of(folder / name, decodes=True)[:3]
    except BadPictureError as error:
        return str(error)
    if beside is not None and other:
        try:
            read_mask(beside / other, *shape[1:]) if kind == "masks" else header_of(beside / other, decodes=True)
        except BadPictureError as error:
            return f"its {WORDS[kind]} {other}: {error}"
    return shape


class _Report:
    """The findings so far."""

    def __init__(self, options: DataOptions, shape: tuple[str, int, int], total: int) -> None:
        self._options, self._shape, self._total = options, shape, total
        self._first = ""
        self._named: dict[str, list[tuple[str, str]]] = {"damaged": [], "resized": [], "converted": []}
        self._counts = dict.fromkeys(self._named, 0)
        self._sizes: Counter[tuple[int, int]] = Counter()
        self.checked = 0

    def take(self, name: str, shape: tuple[str, int, int] | str) -> None:
        """Add the shape of a file, or the reason why it is damaged."""
        self.checked += 1
        if isinstance(shape, str):
            self._add("damaged", name, shape)
            return
        self._sizes[shape[1:]] += 1
        self._first = self._first or name
        if shape[1:] != self._shape[1:] and not self._options.image_size:
            self._add("resized", name, _size(*shape[1:]))
        if shape[0] != self._channels:
            self._add("converted", name, shape[0])

    @property
    def _channels(self) -> str:
        return self._shape[0] if self._options.channels == "auto" else self._options.channels

    def _add(self, kind: str, name: str, detail: str) -> None:
        self._counts[kind] += 1
        if len(self._named[kind]) < MOST_NAMED:
            self._named[kind].append((name, detail))

    def write(self) -> dict[str, Any]:
        """Return the findings as a JSON object."""
        side = self._options.image_size
        return {
            "checked": self.checked,
            "total": self._total,
            "done": self.checked == self._total,
            "first": self._first,
            "size": _size(side, side) if side else _size(*self._shape[1:]),
            "channels": self._channels,
            "counts": dict(self._counts),
            "sizes": self._spread() if self.checked == self._total and len(self._sizes) > 1 else None,
            **{kind: [list(pair) for pair in pairs] for kind, pairs in self._named.items()},
        }

    def _spread(self) -> dict[str, Any]:
        counts = list(self._sizes.values())
        heights, widths = (np.repeat(values, counts) for values in zip(*self._sizes, strict=True))
        return {"widths": of_numbers(widths), "heights": of_numbers(heights)}


def _size(height: int, width: int) -> str:
    return f"{width:,} × {height:,}"


def main(arguments: list[str]) -> None:
    """Print the findings as lines of JSON."""
    lower_priority(NICENESS)
    try:
        options, base = DataOptions.read(json.loads(arguments[0]), "data"), Path(arguments[1])
        for line in findings(options, base):
            print_line(line)
    except UserError as error:
        print_line({"error": str(error)})
