"""Thumbnails of single samples of a data set, for a report."""

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.sources.source import Array
from netwright.engine.project.dataset_info import DatasetInfo

MOST_PIXELS = 96
LEAST_PIXELS = 2


def has_pictures(facts: DatasetInfo) -> bool:
    """Return whether the first input is an image, or a volume, whose middle slice is shown."""
    return facts.inputs[0].type.layout in ("image", "volume")


def thumbnails(data: LoadedData, numbers: Sequence[int]) -> list[bytes]:
    """Return the PNG of each of these samples (indices in the source), at most `MOST_PIXELS` wide and high. All share
    their black and white: the range that the source allows, else that of these samples."""
    if not numbers:
        return []
    images = _read(data, np.array(numbers, np.int64)).astype(np.float64)
    if data.facts.inputs[0].sound is not None:
        images = images[:, :, ::-1]  # low frequencies at the bottom
    if images.ndim == 5:
        images = images[:, :, images.shape[2] // 2]
    planes = images[:, : 3 if images.shape[1] == 3 else 1]
    low, high = data.facts.inputs[0].span or (float(np.nanmin(planes)), float(np.nanmax(planes)))
    levels = (np.nan_to_num(planes) - low) * (255.0 / (high - low if high > low else 1.0))
    return [_png(image) for image in np.clip(np.rint(levels), 0, 255).astype(np.uint8)]


def _read(data: LoadedData, numbers: Array) -> Array:
    source = data.inputs[0]
    if isinstance(source, np.ndarray):
        return np.asarray(source[numbers])
    order = np.argsort(numbers, kind="stable")  # a reader takes them as they lie on disk
    out = np.empty((len(numbers), *source.shape[1:]), source.kind)
    source.read(numbers[order], out)
    return out[np.argsort(order, kind="stable")]


def _png(planes: Array) -> bytes:
    picture = Image.fromarray(planes[0] if len(planes) == 1 else np.ascontiguousarray(planes.transpose(1, 2, 0)))
    picture.thumbnail((MOST_PIXELS, MOST_PIXELS))
    out = io.BytesIO()
    picture.save(out, "png", optimize=True)
    return out.getvalue()
