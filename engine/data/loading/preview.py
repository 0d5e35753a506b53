"""Preview of data for the Data tab: counts by class and split, and some samples as pictures, rows or series."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from netwright.engine.core.text import format_number
from netwright.engine.data.loading.split import Counts
from netwright.engine.data.sources.source import Array, Column, Outline, Samples
from netwright.engine.data.tables.histograms import of_numbers
from netwright.engine.project.dataset_info import IGNORED, SPLITS, InputInfo, TargetInfo

MOST_PIXELS = 160
MOST_SERIES = 24
MOST_STEPS = 200
MOST_CHANNELS = 6
MOST_ROWS = 20
MOST_COLUMNS = 50
MOST_NAMES = 12
MOST_COUNTED = 10_000
MOST_CLASSES = 200
"""Classes of steps, pixels or voxels that are counted; more are tokens of a vocabulary."""
NOTHING = 255


@dataclass(frozen=True)
class Selection:
    """Which samples are shown: those of a split, all where it is empty; of a class by its name; and which draw of
    these, 0 for evenly spaced ones. At most `count` are shown."""

    split: str = ""
    class_name: str = ""
    draw: int = 0
    count: int = 24

    def of(self, outline: Outline, numbers: dict[str, Array]) -> Array:
        """Return the indices of the samples that may be shown (n); all where none matches."""
        some = numbers[self.split] if self.split else np.arange(len(outline))
        first = outline.wanted[0]
        if self.class_name and first.is_one_class and self.class_name in first.classes:
            some = some[outline.targets[0][some] == first.classes.index(self.class_name)]
        some = some if len(some) else np.arange(len(outline))
        if self.draw:
            some = np.random.default_rng(self.draw).permutation(some)
        return some


ALL = Selection()


class Change(Protocol):
    """Transform of training for images (N, C, H, W) and the class maps of their pixels, if they have any."""

    def __call__(
        self, images: Array, maps: Array | None, places: Array, count: int, reader: Callable[[Array], Array]
    ) -> tuple[Array, Array | None]:
        """Return the changed images and maps. `places` index the training split of `count` samples; `reader` returns
        any of its samples."""

    def sequences(
        self, sequences: Array, classes: Array | None, lengths: Array | None, places: Array, steps: int
    ) -> tuple[Array, Array | None]:
        """Return the changed sequences (N, T, C) and the classes of their steps (N, T). `lengths` (N) are those of the
        samples, `steps` the number of steps of the longest sequence of the data."""


def describe(
    outline: Outline,
    counts: Sequence[Counts],
    numbers: dict[str, Array],
    reader: Callable[[Array], Samples],
    folder: Path,
    change: Change | None = None,
    *,
    selection: Selection = ALL,
    is_large: bool = False,
    lengths: Array | None = None,
    wave: Callable[[int], Array] | None = None,
) -> dict[str, Any]:
    """Return a preview of the first input as a JSON object; keys that do not apply are empty lists.

    With a `change` only training samples are shown, transformed; without one, those of the `selection`. For large data
    (`is_large`), low, mean and high of columns are computed from some of the samples. `lengths` are those of all
    sequences (N), where they differ; `wave` returns the sound (N) that a sample was made from. Keys:
    `kind`      `pictures`, `table` or `series`
    `classes`   [{"name", "training", "validation", "test"}], number of `counted` per class; empty for numbers
    `counted`   unit of these counts: `samples`, `steps`, `pixels` or `voxels`
    `pictures`  [{"file", "label", "split", "number", "name"}]: PNG files written to `folder`, at most 160 pixels
                wide and high, with the number of the sample and the name of its file, if it has one; where each pixel
                has a class also `mask`: a grey PNG of class indices, 255 where ignored; where it has one or three
                numbers also `target`: a PNG of them; of sounds also `wave`: lowest and highest sample of each of at
                most 160 pieces
    `columns`   [{"name", "role", "kind", "low", "mean", "high", "histogram"}]; `role` is `input` or `response`, numbers
                or null, `histogram` the counts of its values (`netwright.engine.data.tables.histograms`) or null
    `lengths`   histogram of the number of steps of the sequences; null where all have the same number
    `rows`      the first rows, one cell per column: texts or numbers
    `series`    [{"label", "split", "values"}]: at most 24; one list per channel, at most 200 steps and 6 channels;
                where each step has a class also `steps`: its index, or -1; for windows of time series also `channels`,
                the name of each list, and `ahead`, by the name of each target the values of the steps to predict
    `notes`     findings, one line each
    """
    kind = _kind(outline.inputs[0])
    some = selection.of(outline, numbers) if change is None else numbers["training"]
    indices = _spread(outline, some, min(selection.count, MOST_SERIES) if kind == "series" else selection.count)
    samples = reader(indices)
    look: dict[str, Any] = {
        "kind": kind,
        "classes": [{"name": name, **sizes} for name, sizes in _counted(outline, counts, numbers)],
        "counted": f"{outline.wanted[0].per}s",
        "pictures": [],
        "columns": [asdict(column) for column in outline.columns],
        "rows": [list(row) for row in outline.rows[:MOST_ROWS]],
        "series": [],
        "lengths": None if lengths is None else of_numbers(lengths),
        "notes": [*outline.warnings, *outline.notes, *samples.notes],
    }
    captions = _captions(outline, numbers, indices)
    if kind == "pictures":
        look["pictures"] = _shown_images(
            outline, samples.arrays[0], indices, numbers["training"], reader, folder, captions, change, wave
        )
    elif kind == "series":
        look["series"] = _shown_series(outline, samples, indices, some, captions, change)
    elif not outline.rows:
        _tabulate(look, outline, reader, MOST_COUNTED if is_large else len(outline))
    return look


def shown_samples(
    outline: Outline, indices: Array, samples: Samples, folder: Path, numbers: dict[str, Array]
) -> dict[str, list[dict[str, Any]]]:
    """Return `pictures` or `series` of `describe` for the chosen samples; nothing for rows of a table. `numbers` are
    the samples of each split."""
    captions, kind = _captions(outline, numbers, indices), _kind(outline.inputs[0])
    if kind == "series":
        return {"series": _shown_series(outline, samples, indices, indices, captions, None)}
    if kind != "pictures":
        return {}

    def none(some: Array) -> Samples:
        raise AssertionError("Without a change nothing else is read.")

    images = samples.arrays[0]
    return {"pictures": _shown_images(outline, images, indices, indices, none, folder, captions, None, None)}


def _shown_images(
    outline: Outline,
    images: Array,
    indices: Array,
    training: Array,
    reader: Callable[[Array], Samples],
    folder: Path,
    captions: list[dict[str, Any]],
    change: Change | None,
    wave: Callable[[int], Array] | None,
) -> list[dict[str, Any]]:
    """Write the chosen images (N, C, H, W) as PNG files, with the classes or numbers of their pixels, or the sound that
    each was made from. Returns the rows of `pictures`."""
    classes = _found(outline, "pixel", "voxel")
    maps = None if classes is None else classes[indices]
    span = value_range(images)
    if change is not None and outline.inputs[0].type.layout == "image":
        images, maps = _changed(images, maps, indices, training, reader, change)
    if outline.inputs[0].sound is not None:
        images = images[:, :, ::-1]  # low frequencies at the bottom
    pictures = _pictures(images, span, captions, folder, maps)
    if change is None and (target_images := _target_images(outline)) is not None:
        target_pictures = _pictures(
            target_images[indices], value_range(target_images), captions, folder, None, "target"
        )
        pairs = zip(pictures, target_pictures, strict=True)
        pictures = [{**picture, "target": target["file"]} for picture, target in pairs]
    if change is None and wave is not None:
        waves = (_extremes(wave(number)) for number in indices.tolist())
        return [{**picture, "wave": extremes} for picture, extremes in zip(pictures, waves, strict=True)]
    return pictures


def _shown_series(
    outline: Outline,
    samples: Samples,
    indices: Array,
    some: Array,
    captions: list[dict[str, Any]],
    change: Change | None,
) -> list[dict[str, Any]]:
    """Return the rows of `series` for the chosen sequences, of which `some` may be chosen: those of the training split
    where a `change` is applied to them."""
    steps = _found(outline, "step")
    targets = None if steps is None else steps[indices]
    if change is not None and outline.inputs[0].is_series:
        samples, targets = _changed_sequences(outline, samples, targets, _places(indices, some), change)
    rows: list[dict[str, Any]]
    rows = [{**c, "values": shown_series(a)} for c, a in zip(captions, _real(samples), strict=True)]
    if targets is not None:
        for row, sample, target in zip(rows, _real(samples), targets, strict=True):
            row["steps"] = _classes_of_steps(sample, target)
    if (forecast := outline.forecast) is not None:
        for row, index in zip(rows, indices.tolist(), strict=True):
            row["channels"] = list(outline.inputs[0].columns[:MOST_CHANNELS])
            ahead = outline.targets[0][index].reshape(forecast.horizon, len(forecast.targets))
            row["ahead"] = dict(zip(forecast.targets, shown_series(ahead), strict=False))
    return rows


def _changed(
    images: Array, maps: Array | None, indices: Array, training: Array, load: Callable[[Array], Samples], change: Change
) -> tuple[Array, Array | None]:
    """Return the chosen images of the training split as training transforms them, and their class maps, if any."""
    places = _places(indices, training)
    return change(images, maps, places, len(training), lambda some: load(training[some]).arrays[0])


def _changed_sequences(
    outline: Outline, samples: Samples, classes: Array | None, places: Array, change: Change
) -> tuple[Samples, Array | None]:
    """Return the samples of the training split at `places` as training changes them, and the classes of their steps."""
    first, array, lengths = outline.inputs[0], samples.arrays[0], samples.lengths[0] if samples.lengths else None
    steps = first.lengths[1] if first.lengths else array.shape[1]
    classes = None if classes is None else classes[:, : array.shape[1]]
    changed, classes = change.sequences(array, classes, lengths, places, steps)
    return replace(samples, arrays=(changed, *samples.arrays[1:])), classes


def _places(indices: Array, training: Array) -> Array:
    """Return the places of these samples in the training split (n)."""
    return np.asarray(np.argsort(training)[np.searchsorted(np.sort(training), indices)])


def _found(outline: Outline, *per: str) -> Array | None:
    """Return the first target with a class per item of `per`, such as pixel or step; None without one."""
    matches = (a for f, a in zip(outline.wanted, outline.targets, strict=True) if f.task == "classes" and f.per in per)
    return next(matches, None)


def _target_images(outline: Outline) -> Array | None:
    """Return the first target (N, C, H, W) of one or three numbers per pixel; None without one."""
    pairs = zip(outline.wanted, outline.targets, strict=True)
    return next((a for f, a in pairs if f.task == "numbers" and f.per == "pixel" and a.shape[1] in (1, 3)), None)


def _counted(
    outline: Outline, counts: Sequence[Counts], numbers: dict[str, Array]
) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each class or label of the first target with its number of occurrences per split."""
    first, target = outline.wanted[0], outline.targets[0]
    if first.is_one_class:
        yield from (
            (name, dict(zip(SPLITS, sizes, strict=True))) for name, sizes in zip(first.classes, counts, strict=True)
        )
    elif first.task in ("classes", "labels") and len(first.classes) <= MOST_CLASSES:
        each = {split: np.zeros(len(first.classes), np.int64) for split in SPLITS}
        for split, total in each.items():
            for sample in numbers[split].tolist():  # one sample at a time saves memory
                total += _times(target[sample], first)
        for number, name in enumerate(first.classes):
            yield name, {split: int(total[number]) for split, total in each.items()}


def _times(target: Array, facts: TargetInfo) -> Array:
    """Return the number of occurrences of each class or label in a sample."""
    if facts.task == "labels":
        channels_last = target if facts.per in ("sample", "step") else np.moveaxis(target, 0, -1)
        return np.asarray((channels_last == 1).reshape(-1, len(facts.classes)).sum(0))
    return np.bincount(target[target != IGNORED], minlength=len(facts.classes))


def _classes_of_steps(sample: Array, target: Array) -> list[int]:
    """Return the class of each step that `_series` shows; -1 where it is ignored."""
    return [max(-1, int(number)) for number in target[: len(sample)][_shown(min(len(sample), len(target)))]]


def _kind(input: InputInfo) -> str:
    return {"image": "pictures", "volume": "pictures", "sequence": "series"}.get(input.type.layout, "table")


def _spread(outline: Outline, some: Array, count: int) -> Array:
    """Return at most `count` of these samples, spread evenly over the classes."""
    order = some[np.argsort(outline.groups[some], kind="stable")]
    places = np.linspace(0, len(order) - 1, max(1, min(count, len(order)))).round().astype(np.int64)
    return np.asarray(order[np.unique(places)])


def _captions(outline: Outline, numbers: dict[str, Array], indices: Array) -> list[dict[str, Any]]:
    split_of = np.zeros(len(outline), dtype=np.int8)
    for index, split in enumerate(SPLITS):
        split_of[numbers[split]] = index
    names = getattr(outline.raw, "names", ())
    return [
        {
            "label": _label(outline, i),
            "split": SPLITS[split_of[i]],
            "number": i + 1,
            "name": str(names[i]) if i < len(names) else "",
        }
        for i in indices.tolist()
    ]


def _label(outline: Outline, index: int) -> str:
    """Return the targets of a sample as a short text."""
    pairs = zip(outline.wanted, outline.targets, strict=True)
    return "; ".join(text for facts, targets in pairs if (text := target_text(facts, targets[index])))


def target_text(facts: TargetInfo, target: Array) -> str:
    """Return the target of one sample as a short text."""
    match facts.task:
        case "transcripts":
            names = [facts.classes[number] for number in target[target != IGNORED]]
            return " ".join(names[:MOST_NAMES]) + (" ..." if len(names) > MOST_NAMES else "")
        case "classes" if facts.per != "sample":
            classes = np.unique(target[target != IGNORED])
            return ", ".join(facts.classes[number] for number in classes[:4]) + (", ..." if len(classes) > 4 else "")
        case _ if facts.per != "sample":
            return f"mean {format_number(float(np.nanmean(target)))}"
        case "classes":
            return facts.classes[int(target)]
        case "labels":
            return ", ".join(name for name, is_true in zip(facts.classes, target, strict=True) if is_true) or "none"
    return ", ".join(format_number(float(value)) for value in target[:4]) + (", ..." if len(target) > 4 else "")


def _pictures(
    images: Array,
    span: tuple[float, float],
    captions: list[dict[str, Any]],
    folder: Path,
    maps: Array | None,
    name: str = "sample",
) -> list[dict[str, Any]]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = []
    for index, (values, caption) in enumerate(zip(images, captions, strict=True)):
        file = write_picture(values, span, folder / f"{name}_{index:03d}.png")
        written.append({"file": str(file), **caption})
        if maps is not None:
            written[-1]["mask"] = str(write_mask(maps[index], folder / f"mask_{index:03d}.png"))
    return written


def write_picture(values: Array, span: tuple[float, float], file: Path, most_pixels: int = MOST_PIXELS) -> Path:
    """Write an image (C, H, W), or the middle slice of a volume (C, D, H, W), as a PNG of at most `most_pixels` in
    width and height; return its path. The values of `span` are shown as black and white; of channels that are not
    three, the first."""
    black, white = span
    planes = values if values.ndim == 3 else values[:, values.shape[1] // 2]
    planes = planes[: 3 if len(planes) == 3 else 1].astype(np.float64)
    levels = np.clip(np.rint((planes - black) * (255.0 / (white - black))), 0, 255).astype(np.uint8)
    picture = Image.fromarray(levels[0] if len(levels) == 1 else np.ascontiguousarray(levels.transpose(1, 2, 0)))
    picture.thumbnail((most_pixels, most_pixels))
    file.touch(0o600)
    picture.save(file)
    return file


def write_mask(numbers: Array, file: Path, most_pixels: int = MOST_PIXELS) -> Path:
    """Write a class map (H, W), or the middle slice of one (D, H, W), as a grey PNG of class numbers, 255 where
    ignored; return its path."""
    flat = numbers if numbers.ndim == 2 else numbers[numbers.shape[0] // 2]
    flat = flat.astype(np.int64)
    picture = Image.fromarray(np.where(flat < 0, NOTHING, flat % NOTHING).astype(np.uint8))
    picture.thumbnail((most_pixels, most_pixels), Image.Resampling.NEAREST)
    file.touch(0o600)
    picture.save(file)
    return file


def value_range(images: Array) -> tuple[float, float]:
    """Return the values shown as black and white: 0 and 255 where the values suggest them, else the range of values."""
    low, high = float(images.min()), float(images.max())
    if low >= 0.0 and 16.0 < high <= 255.0:
        return 0.0, 255.0
    return low, high if high > low else low + 1.0


def _real(samples: Samples) -> list[Array]:
    """Return the sequences of the first input, each without its padding."""
    lengths = samples.lengths[0] if samples.lengths else None
    ends = [None] * len(samples.arrays[0]) if lengths is None else lengths.tolist()
    return [array[:end] for array, end in zip(samples.arrays[0], ends, strict=True)]


def _shown(count: int) -> Array:
    """Return the indices of the steps shown, of `count` steps: at most `MOST_STEPS`, evenly spaced."""
    return np.linspace(0, count - 1, min(MOST_STEPS, count)).round().astype(np.int64)


def shown_series(sample: Array) -> list[list[float]]:
    """Return the first channels of a sequence (T, C), each as a list of at most `MOST_STEPS` of its steps."""
    steps = _shown(len(sample))
    return [[_rounded(v) for v in sample[steps, channel]] for channel in range(min(MOST_CHANNELS, sample.shape[1]))]


def _extremes(sound: Array) -> list[list[float]]:
    """Return the lowest and the highest sample of each of at most `MOST_PIXELS` pieces of a sound (N)."""
    pieces = np.array_split(sound, min(MOST_PIXELS, len(sound))) if len(sound) else []
    return [[_rounded(piece.min()), _rounded(piece.max())] for piece in pieces]


def _rounded(value: Any) -> float:
    return float(f"{float(value):.6g}")


def _tabulate(look: dict[str, Any], outline: Outline, reader: Callable[[Array], Samples], most: int) -> None:
    """Fill in columns and first rows for an input of features, of at most so many samples."""
    indices = np.arange(len(outline))
    if most < len(outline):
        indices = np.sort(_spread(outline, indices, most))
        look["notes"].append(f"Low, mean and high are those of {len(indices):,} of {len(outline):,} samples.")
    array = reader(indices).arrays[0]
    name, count = outline.inputs[0].name, min(array.shape[1], MOST_COLUMNS)
    columns = [
        Column(f"{name}[{i}]", "input", "number", *_spans(array[:, i]), of_numbers(array[:, i])) for i in range(count)
    ]
    columns.append(Column("response", "response", outline.wanted[0].spoken()))
    if count < array.shape[1]:
        look["notes"].append(f"The first {count} of {array.shape[1]:,} columns are shown.")
    look["columns"] = [asdict(column) for column in columns]
    look["rows"] = [
        [*map(_rounded, row[:count]), _label(outline, i)]
        for i, row in zip(indices.tolist(), array[:MOST_ROWS], strict=False)
    ]


def _spans(values: Array) -> tuple[float, float, float]:
    return _rounded(values.min()), _rounded(values.mean()), _rounded(values.max())
