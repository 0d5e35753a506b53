"""An explanation as a file: a picture (PNG), a table (CSV), or its arrays (NPZ)."""

import io
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from netwright.engine.analysis.explanations import Explanation, Question, explain, packed, subject_of
from netwright.engine.analysis.operations.explain import ExplainRequest, ExplainResult, refuse_suffix
from netwright.engine.analysis.other_data import data_of
from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically
from netwright.engine.data.sources.source import Array
from netwright.engine.drawing.colour_maps import colours, limits

LEAST_PIXELS = 256
"""Least side of a picture; small ones are enlarged without smoothing."""
TILE_PIXELS, TILE_GAP = 64, 4
GROUND = 128
OPACITY = 0.55


def explain_run(request: ExplainRequest) -> ExplainResult:
    """Return the explanation of a network by a method. Its file is that of `output`, or has the arrays: in the folder
    of the run, else in `folder`. Raises `UserError`."""
    is_number = request.sample.removeprefix("-").isdigit()
    question = Question(
        request.method,
        split=request.split,
        place=int(request.sample) if is_number else 0,
        file="" if is_number else str(Path(request.sample).absolute()),
        layer=request.layer,
        class_name=request.class_name,
        column=request.column,
        reduction=request.reduction,
        window=request.window,
    )
    subject = subject_of(request.choice, request.split, data_of(request))
    explanation = explain(subject, question, fresh=request.fresh)
    file = explanation.file
    if request.output is not None:
        write(explanation, request.output)
        file = request.output
    elif file is None and request.folder is not None:
        file = request.folder / f"{request.method}.npz"
        write_atomically(file, _npz(explanation), mode=0o600)
    return ExplainResult(
        path=str(request.model.absolute()),
        **explanation.told,
        file=str(file.absolute()) if file is not None else "",
        cached=explanation.cached,
        values=explanation.arrays,
    )


def write(explanation: Explanation, path: Path) -> None:
    """Write an explanation in the format of the path's suffix. Raises `UserError`."""
    refuse_suffix(path)
    make: Mapping[str, Callable[[Explanation], bytes]] = {".png": _png, ".csv": _csv, ".npz": _npz}
    content = make[path.suffix.lower()](explanation)
    try:
        write_atomically(path, content)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}.") from None


def _npz(explanation: Explanation) -> bytes:
    return packed(explanation.arrays)


# ---- pictures ----


def coloured(values: Array, *, is_signed: bool, span: tuple[float, float] | None = None) -> Array:
    """Return values (H, W) as colours (H, W, 3) of the map for signed values, or that for values of one sign."""
    clean = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    low, high = span or limits(float(clean.min()), float(clean.max()), is_signed=is_signed)
    table = np.array(colours("diverging" if is_signed else "sequential"), np.uint8)
    places = np.clip(np.rint((clean - low) / (high - low) * (len(table) - 1)), 0, len(table) - 1)
    return np.asarray(table[places.astype(int)])


def _png(explanation: Explanation) -> bytes:
    arrays, facts = explanation.arrays, explanation.told
    if "heat" in arrays:
        picture = _beside(arrays, is_signed=bool(facts.get("is_signed")))
    elif "maps" in arrays:
        picture = _grid(arrays["maps"])
    elif "attention_0" in arrays:
        picture = _grid(arrays["attention_0"])
    elif "matrix" in arrays:
        picture = _enlarged(coloured(arrays["matrix"], is_signed=bool(arrays["matrix"].min() < 0)))
    else:
        raise UserError(f"{facts['title']} is a table of numbers and no picture here. Write a .csv or .npz file.")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _enlarged(pixels: Array, least: int = LEAST_PIXELS) -> Image.Image:
    image = Image.fromarray(pixels)
    factor = max(1, math.ceil(least / max(image.size)))
    return image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)


def _beside(arrays: Mapping[str, Array], *, is_signed: bool) -> Image.Image:
    """Return the sample, and beside it the heat map over it."""
    heat = coloured(arrays["heat"], is_signed=is_signed)
    picture = arrays.get("picture")
    if picture is None or picture.shape[:2] != heat.shape[:2]:
        return _enlarged(heat)
    own = picture if picture.ndim == 3 else np.repeat(picture[..., np.newaxis], 3, 2)
    over = np.rint((1 - OPACITY) * own + OPACITY * heat).astype(np.uint8)
    gap = np.full((len(own), max(1, own.shape[1] // 16), 3), GROUND, np.uint8)
    return _enlarged(np.concatenate([own, gap, over], 1), 2 * LEAST_PIXELS)


def _grid(maps: Array) -> Image.Image:
    """Return maps (K, H, W) or pictures (K, H, W, 3) in rows, each map on a scale of its own."""
    columns = math.ceil(math.sqrt(len(maps)))
    tiles = [_enlarged(array, TILE_PIXELS) for array in map(_tile, maps)]
    wide, high = tiles[0].width + TILE_GAP, tiles[0].height + TILE_GAP
    whole = Image.new("RGB", (columns * wide - TILE_GAP, -(-len(tiles) // columns) * high - TILE_GAP), (GROUND,) * 3)
    for number, tile in enumerate(tiles):
        whole.paste(tile, (number % columns * wide, number // columns * high))
    return whole


def _tile(values: Array) -> Array:
    if values.dtype == np.uint8:
        return values if values.ndim == 3 else np.repeat(values[..., np.newaxis], 3, 2)
    if values.ndim == 3:
        low, high = float(values.min()), float(values.max())
        return np.rint((values - low) / ((high - low) or 1.0) * 255).astype(np.uint8)
    return coloured(values, is_signed=bool(values.min() < 0))


# ---- tables ----


def _csv(explanation: Explanation) -> bytes:
    return csv_text(_rows(explanation.told, explanation.arrays)).encode("utf-8", "backslashreplace")


def _rows(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[list[Any]]:
    """Yield the rows of the table of an explanation, the head first."""
    if "features" in facts:
        keys = [key for key in ("name", "value", "std") if key in facts["features"][0]]
        yield keys
        yield from ([row[key] for key in keys] for row in facts["features"])
    elif "words" in facts:
        yield ["word", "value"]
        yield from ([one["word"], one["value"]] for one in facts["words"])
    elif "columns" in facts:
        yield from _of_dependence(facts, arrays)
    elif "points" in arrays:
        yield ["index", "x", "y", "label", "prediction"]
        names = facts["classes"]
        for number, (x, y) in enumerate(arrays["points"].tolist()):
            pair = [arrays[key][number].item() for key in ("labels", "predictions")]
            cells = [names[cell] if names and 0 <= cell < len(names) else cell for cell in pair]
            yield [int(arrays["indices"][number]), x, y, *cells]
    else:
        main = next(name for name in ("heat", "maps", "matrix", "values", "attention_0", "picture") if name in arrays)
        yield from _of_array(arrays[main])


def _of_dependence(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[list[Any]]:
    yield ["column", "value", "output", "mean", "low", "high"]
    for number, column in enumerate(facts["columns"]):
        grid = column["labels"] or arrays[f"grid_{number}"].tolist()
        for at, value in enumerate(grid):
            for place, output in enumerate(facts["outputs"]):
                cells = [float(arrays[f"{name}_{number}"][at, place]) for name in ("mean", "low", "high")]
                yield [column["name"], value, output, *cells]


def _of_array(values: Array) -> Iterator[list[Any]]:
    """Yield an array of up to two axes as rows, others with the indices before each row."""
    if values.ndim == 1:
        yield ["channel", "value"]
        yield from ([number, value] for number, value in enumerate(values.tolist()))
        return
    for place in np.ndindex(values.shape[:-1]):
        yield [*(place if values.ndim > 2 else ()), *values[place].tolist()]
