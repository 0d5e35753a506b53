"""Samples of an answer of the engine as tiles: pictures, read from their files, sounds, or sequences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from netwright.app.data.tiles import Masked, Paired, Picture, Sound, Span, Sparkline, Tile, Tiles, spans_of
from netwright.designer.language import tr, translation
from netwright.engine.project.dataset_info import DatasetInfo

MOST_SERIES = 24


def can_augment(facts: DatasetInfo) -> bool:
    """Return whether the samples that are shown can be augmented: images, or sequences of numbers."""
    return bool(facts.inputs) and (facts.inputs[0].type.layout == "image" or facts.inputs[0].is_series)


def samples_of(answer: Mapping[str, Any], most: int | None = None) -> Tiles | None:
    """Return the samples of an answer as tiles: pictures, read from their files, or sequences; None for others."""
    if answer.get("pictures"):
        pictures = _mixed(answer["pictures"])[:most]
        tiles = [picture_tile(p, str(p["label"]), _tip(p)) for p in pictures]
        for tile, picture in zip(tiles, pictures, strict=True):
            tile.split = str(picture["split"])
        return Tiles(tiles, is_stretched="wave" in pictures[0])
    if answer.get("series"):
        series = answer["series"][: most or MOST_SERIES]
        spans = spans_of(lane for sample in series for lane in Sparkline.lanes(sample["values"], ahead_of(sample)))
        return Tiles([_sparkline(sample, spans) for sample in series], is_stretched=True)
    return None


def _mixed(pictures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return pictures with their labels in turn, so that each row of tiles has some of all."""
    turns: Counter[str] = Counter()
    keys = []
    for place, picture in enumerate(pictures):
        turns[str(picture["label"])] += 1
        keys.append((turns[str(picture["label"])], place))
    return [pictures[place] for _, place in sorted(keys)]


def _tip(sample: Mapping[str, Any]) -> str:
    """Return the file, the class, the split and the number of a sample, as lines."""
    line = f"{sample['label']} ({translation(sample['split'])})" if sample["split"] else str(sample["label"])
    number = tr("sample {number:,}", number=sample["number"]) if sample.get("number") else ""
    return "\n".join(filter(None, (str(sample.get("name", "")), line, number)))


def picture_tile(picture: Mapping[str, Any], label: str, tip: str) -> Tile:
    """Return a picture as a tile, with its mask, its target image or its wave where it has one."""
    if "target" in picture:
        return Paired(picture["file"], picture["target"], label, tip)
    if "wave" in picture:
        return Sound(picture["file"], picture["wave"], label, tip)
    return (
        Masked(picture["file"], picture["mask"], label, tip)
        if "mask" in picture
        else Picture(picture["file"], label, tip)
    )


def ahead_of(sample: Mapping[str, Any]) -> list[tuple[int, list[float]]]:
    """Return the values to predict, each with the index of its channel, or -1 where it is no input."""
    channels = list(sample.get("channels") or ())
    items = (sample.get("ahead") or {}).items()
    return [(channels.index(name) if name in channels else -1, values) for name, values in items]


def _sparkline(sample: dict[str, Any], spans: list[Span]) -> Sparkline:
    """Return a sequence as a tile; of a window of a time series with the values to predict."""
    ahead, channels = sample.get("ahead") or {}, list(sample.get("channels") or ())
    label = str(sample["label"]) if not ahead else f"{', '.join(ahead)}: {sample['label']}"
    lines = [
        label,
        ", ".join(channels),
        tr("Right of the line: {columns}", columns=", ".join(ahead)) if ahead else "",
        translation(str(sample["split"])),
    ]
    tip = "\n".join(filter(None, lines))
    return Sparkline(sample["values"], label, tip, steps=sample.get("steps", ()), ahead=ahead_of(sample), spans=spans)
