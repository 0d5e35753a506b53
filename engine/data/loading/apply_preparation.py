"""Apply the preparation of a trained network: raw rows, files and arrays to its inputs, and its outputs to answers.

Both are functions of the record alone (`netwright.engine.project.preparation`); training encodes its samples by the
same code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.text import format_number
from netwright.engine.data.loading.ctc_decoding import transcripts
from netwright.engine.data.sources.array_files import headers
from netwright.engine.data.sources.arrays_reader import in_channels
from netwright.engine.data.sources.audio_reader import BadSoundError, load_sound
from netwright.engine.data.sources.image_file import BadPictureError, strictly
from netwright.engine.data.sources.image_file import read as read_image
from netwright.engine.data.sources.source import Array, Arrays, listed, refuse_too_large
from netwright.engine.data.sources.targets import refuse_strange
from netwright.engine.data.sources.text_reader import texts_in
from netwright.engine.data.sources.tokens import encode as encode_texts
from netwright.engine.data.sources.tokens import padded
from netwright.engine.data.tables.columns import Cells, encode, parse
from netwright.engine.data.tables.csv_file import read_cells
from netwright.engine.project.preparation import InputPreparation, Preparation, TargetPreparation
from netwright.engine.project.sources.audio import AUDIO_SUFFIXES, is_sound
from netwright.engine.project.sources.images import IMAGE_SUFFIXES, is_image
from netwright.engine.project.sources.number_texts import is_missing
from netwright.engine.project.sources.source_type import is_hidden

EVEN = 0.5
"""Threshold of two classes at which the likelier one is chosen."""
LEAST_CHANCE = 1e-12
"""Least probability of which a logarithm is taken."""

Row = Mapping[str, object]
Raw = Path | Array | Mapping[str, Array] | Sequence[Row] | Sequence[Path] | Sequence[Array] | Sequence[str]


def prepare(record: Preparation, raw: Raw) -> Arrays:
    """Return the inputs of the network in its order, samples first, in the dtype of the record.

    | raw                                  | for                                                        |
    |--------------------------------------|------------------------------------------------------------|
    | rows: mappings from column to value  | columns; other columns, such as the response, are ignored  |
    | a path of a CSV file                 | the same                                                   |
    | paths of pictures, or of their folder| images                                                     |
    | paths of audio files, or their folder| sounds                                                     |
    | texts, or a path of a file of lines  | texts; shorter ones are padded with 0 at their ends         |
    | a mapping from input to array        | arrays, samples first, as they were trained on             |
    | a path of a .npz file or folder      | the same                                                   |
    | an array, or one array per input     | the same, in the order of the network                      |

    Raises `UserError` for what does not fit: it names row, column and value, and what was expected.
    """
    reads: set[str] = {input.reads for input in record.inputs}
    if isinstance(raw, Path):
        return _read(record, raw, reads)
    if isinstance(raw, np.ndarray):
        return _arrays(record, [raw])
    if isinstance(raw, Mapping):
        return _arrays(record, _in_order(record, raw))
    if not len(raw):
        raise UserError("There is nothing to prepare: expected at least one row, file or array.")
    first = raw[0]
    if isinstance(first, Path):
        paths = [Path(str(path)) for path in raw]
        return (_sounds(record, paths) if "sound" in reads else _images(record, paths),)
    if isinstance(first, np.ndarray):
        return _arrays(record, [np.asarray(array) for array in raw])
    if isinstance(first, str):
        texts: list[str] = [str(text) for text in raw]
        return (_texts(record, texts),)
    if reads != {"columns"}:
        raise UserError(f"The network does not take rows of columns. Expected {expected_of(record)}.")
    rows = [row for row in raw if isinstance(row, Mapping)]
    places = [f"row {number + 1:,}" for number in range(len(rows))]
    return prepare_columns(
        record, {name: [row.get(name, ...) for row in rows] for name in column_names(record)}, places
    )


def expected_of(record: Preparation) -> str:
    """Return the kinds of input that the network takes, for messages."""
    if record.inputs[0].reads == "columns":
        return f"rows with the columns {listed(list(column_names(record)), 8)}"
    if record.inputs[0].reads == "image":
        return "pictures, such as PNG or JPEG"
    if record.inputs[0].reads == "text":
        return "texts"
    if record.inputs[0].reads == "sound":
        return "audio files, such as WAV or FLAC"
    shapes = "; ".join(f"'{input.source or input.name}' {spoken_sizes(input)}" for input in record.inputs)
    return f"arrays: {shapes}"


def spoken_shape(shape: Sequence[int]) -> str:
    """Return the shape of an array as text: `5 × 8 × 8`."""
    return " × ".join(f"{size:,}" for size in shape)


def spoken_sizes(part: InputPreparation | TargetPreparation) -> str:
    """Return the shape that an input or output has, as text: `N × 1 × 8 × 8`."""
    sizes = zip(part.axes, part.sizes, strict=True)
    return " × ".join(("N", *(axis if size is None else f"{size:,}" for axis, size in sizes)))


def column_names(record: Preparation) -> tuple[str, ...]:
    """Return the columns that the inputs are made of."""
    return tuple(column.name for input in record.inputs for column in input.columns)


def _read(record: Preparation, path: Path, reads: set[str]) -> Arrays:
    if reads == {"columns"}:
        names = column_names(record)
        cells, lines, decimal = read_cells(path, names)
        missing = [name for name in names if name not in cells]
        if missing:
            hint = did_you_mean(missing[0], cells)
            raise UserError(f"{path} has no column {quoted(missing[0])}.{hint} Expected {expected_of(record)}.")
        places = [f"line {line:,} of {path}" for line in lines]
        return prepare_columns(record, {name: cells[name] for name in names}, places, decimal)
    if "image" in reads:
        files = [path]
        if path.is_dir():
            files = sorted(entry for entry in path.iterdir() if is_image(entry.name) and not is_hidden(str(entry)))
        if not files:
            raise UserError(f"{path} holds no pictures. Expected files with {', '.join(IMAGE_SUFFIXES)}.")
        return (_images(record, files),)
    if "sound" in reads:
        files = [path]
        if path.is_dir():
            files = sorted(entry for entry in path.iterdir() if is_sound(entry.name) and not is_hidden(str(entry)))
        if not files:
            raise UserError(f"{path} holds no sounds. Expected files with {', '.join(AUDIO_SUFFIXES)}.")
        return (_sounds(record, files),)
    if "text" in reads:
        how = record.inputs[0].text
        texts = [text for _, text in texts_in(how, path)] if how is not None else []
        if not texts:
            raise UserError(f"{path} holds no text. Expected one text per line.")
        return (_texts(record, texts),)
    arrays = headers(path)
    sources = {input.source or input.name for input in record.inputs}
    return _arrays(
        record, _in_order(record, {name: header.read() for name, header in arrays.items() if name in sources})
    )


def prepare_columns(
    record: Preparation, cells: Mapping[str, Sequence[object]], places: Sequence[str], decimal: str = ""
) -> Arrays:
    """Return inputs made of columns. `cells` holds ... where a row lacks the column; `places` name the rows; `decimal`
    is the mark of cells of text, where it is known.

    Raises `UserError`, which names place, column and value.
    """
    parsed: dict[str, Cells] = {}
    for column in (column for input in record.inputs for column in input.columns):
        if ... in (values := cells[column.name]):
            raise UserError(
                f"{places[list(values).index(...)].capitalize()} has no column {quoted(column.name)}. "
                f"Expected {expected_of(record)}."
            )
        parsed[column.name] = parse(column, values, places, decimal)
    return tuple(encode(input.columns, parsed).astype(input.dtype) for input in record.inputs)


def cell_warnings(record: Preparation, cells: Mapping[str, Sequence[object]]) -> list[list[str]]:
    """Return sentences per row on cells that the network does not know as they stand: categories that the training rows
    did not have, and missing values. `cells` are those that `prepare_columns` takes."""
    columns = [column for info in record.inputs for column in info.columns]
    warnings: list[list[str]] = [[] for _ in range(max((len(cells[column.name]) for column in columns), default=0))]
    for column in columns:
        categories, has_fill = frozenset(column.categories), column.missing is not None
        value = format_number(column.missing) if isinstance(column.missing, float) else column.missing
        for place, cell in enumerate(cells[column.name]):
            text = "" if cell is None or cell != cell else str(cell).strip()
            if has_fill and is_missing(text):
                warnings[place].append(f"Column '{column.name}' has no value: taken as {value}.")
            elif column.kind == "category" and text not in categories:
                becomes = "its index is 0" if column.encoding == "index" else "all its inputs are 0"
                warnings[place].append(
                    f"Column '{column.name}' holds {quoted(text)}, which the network does not know: {becomes}."
                )
    return warnings


def _images(record: Preparation, files: Sequence[Path]) -> Array:
    """Return pictures (N, C, H, W), decoded and resized as those of the training."""
    if len(record.inputs) != 1 or record.inputs[0].reads != "image":
        raise UserError(f"The network does not take pictures. Expected {expected_of(record)}.")
    input = record.inputs[0]
    channels, height, width = (size or 0 for size in input.sizes)
    count = len(files)
    refuse_too_large(4 * count * channels * height * width, f"{count:,} pictures", "Prepare fewer at once.")
    out = np.empty((count, channels, height, width), input.dtype)
    with strictly():
        for place, file in enumerate(files):
            try:
                out[place] = read_image(file, "grey" if channels == 1 else "rgb", height, width)
            except BadPictureError as error:
                raise UserError(f"{file} cannot be used: {error}. Expected a picture, such as PNG or JPEG.") from None
    return out


def _sounds(record: Preparation, files: Sequence[Path]) -> Array:
    """Return sounds (N, ...), decoded, resampled and transformed as those of the training."""
    how = record.inputs[0].sound
    if len(record.inputs) != 1 or how is None:
        raise UserError(f"The network does not take sounds. Expected {expected_of(record)}.")
    refuse_too_large(4 * len(files) * prod(how.shape), f"{len(files):,} sounds", "Prepare fewer at once.")
    out = np.empty((len(files), *how.shape), record.inputs[0].dtype)
    for place, file in enumerate(files):
        try:
            out[place] = load_sound(file, how)
        except BadSoundError as error:
            raise UserError(f"{file} cannot be used: {error}. Expected a sound, such as WAV or FLAC.") from None
    return out


def _texts(record: Preparation, texts: Sequence[str]) -> Array:
    """Return the tokens of texts (N, T), padded with 0 at their ends; a network without lengths takes one at a time."""
    input = record.inputs[0]
    if len(record.inputs) != 1 or input.text is None:
        raise UserError(f"The network does not take texts. Expected {expected_of(record)}.")
    tokens, _ = padded(list(encode_texts(input.text, texts)))
    steps = input.sizes[0]
    if steps is not None:  # the network takes sequences of one length
        if tokens.shape[1] > steps:
            raise UserError(f"A text has {tokens.shape[1]:,} tokens; the network takes {steps:,}. Shorten it.")
        tokens = np.pad(tokens, ((0, 0), (0, steps - tokens.shape[1])))
    return tokens.astype(input.dtype)


def _in_order(record: Preparation, arrays: Mapping[str, Array]) -> list[Array]:
    """Return the arrays in the order of the network's inputs, by their name in the data or in the network."""
    inputs = []
    for input in record.inputs:
        name = next((name for name in (input.source, input.name) if name in arrays), None)
        if name is None:
            raise UserError(
                f"There is no array {quoted(input.source or input.name)}.{did_you_mean(input.name, arrays)} "
                f"Expected {expected_of(record)}."
            )
        inputs.append(np.asarray(arrays[name]))
    return inputs


def _arrays(record: Preparation, arrays: Sequence[Array]) -> Arrays:
    if len(arrays) != len(record.inputs):
        raise UserError(
            f"The network takes {len(record.inputs)} inputs, received {len(arrays)}. {expected_of(record)}."
        )
    inputs = tuple(_array(input, array) for input, array in zip(record.inputs, arrays, strict=True))
    if len({len(array) for array in inputs}) > 1:
        counts = ", ".join(f"{len(array):,}" for array in inputs)
        raise UserError(f"The arrays differ in their number of samples (the first axis): {counts}.")
    return inputs


def full_shape(input: InputPreparation, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape with the axis of the channels where an input of one channel lacks it, as grey images (N, H, W)
    often do."""
    at = input.axes.index("C") if "C" in input.axes else -1
    if len(shape) == len(input.sizes) and at >= 0 and input.sizes[at] == 1:
        return (*shape[: at + 1], 1, *shape[at + 1 :])
    return tuple(shape)


def fits(input: InputPreparation, shape: Sequence[int]) -> bool:
    """Return whether an array of this shape, samples first, is what the input takes."""
    sizes = full_shape(input, shape)[1:]
    return len(sizes) == len(input.sizes) and all(
        size in (None, has) for has, size in zip(sizes, input.sizes, strict=True)
    )


def with_channels_first(input: InputPreparation, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of images with their channels first, where they come last and only so fit the input; another
    shape as it is."""
    moved = (*shape[:1], *shape[-1:], *shape[1:-1])
    return moved if input.axes == ("C", "H", "W") and fits(input, moved) and not fits(input, shape) else tuple(shape)


def _array(input: InputPreparation, array: Array) -> Array:
    subject = f"Array '{input.source or input.name}'"
    if array.dtype.kind not in "biufc":
        raise UserError(f"{subject} holds {array.dtype}; expected numbers of {input.dtype}.")
    array = in_channels(array)
    if with_channels_first(input, array.shape) != array.shape:
        array = np.moveaxis(array, -1, 1)
    if not fits(input, array.shape):
        expected = f"expected {spoken_sizes(input)}, samples first"
        raise UserError(f"{subject} has the shape {spoken_shape(array.shape)}; {expected}.")
    array = array.reshape(full_shape(input, array.shape))
    refuse_strange(array, subject)
    if input.content == "indices" and array.size:
        low, high = array.min(), array.max()
        limit = input.vocabulary or np.inf
        if not np.array_equal(array, np.rint(array)) or low < 0 or high >= limit:
            upper = f" to {input.vocabulary - 1:,}" if input.vocabulary else ""
            raise UserError(f"{subject} holds {low} to {high}; expected whole numbers from 0{upper}.")
    return array.astype(input.dtype)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one output for a batch of samples.

    `values` holds, by the task of the target:
    `classes`     class numbers (N), or one per step, pixel or voxel (N, T), (N, H, W), (N, D, H, W)
    `numbers`     the numbers in the units of the data, in the shape of the output
    `labels`      truth values, in the shape of the output
    `transcripts` one list of class numbers per sample
    `probabilities` has the shape of the output, with a channel per class; None for numbers.
    """

    target: TargetPreparation
    values: Array | list[list[int]]
    probabilities: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    def sample(self, number: int) -> Any:
        """Return the answer for one sample as JSON: `{"class": "cat", "probabilities": {"cat": 0.9, ...}}`, a number
        or numbers by name, the labels that are true, names of classes per step or pixel, or a transcript."""
        classes, value = self.target.classes, self.values[number]
        if self.target.task == "transcripts":
            return [classes[place] for place in value]
        assert isinstance(value, np.ndarray | np.generic)
        if self.target.task == "numbers":
            names, numbers = self.target.columns, value.tolist()
            if len(names) > 1:
                return dict(zip(names, numbers, strict=True))
            return numbers[0] if value.shape == (1,) else numbers
        assert self.probabilities is not None
        if value.ndim > (1 if self.target.task == "labels" else 0):
            return value.tolist()
        each = dict(zip(classes, self.probabilities[number].tolist(), strict=True))
        if self.target.task == "labels":
            labels = [name for name, is_true in zip(classes, value.tolist(), strict=True) if is_true]
            return {"labels": labels, "probabilities": each}
        return {"class": classes[int(value)], "probabilities": each}


def present(record: Preparation, outputs: Sequence[Array], beams: int = 1) -> tuple[Answers, ...]:
    """Return the answers in the outputs of the network, one per target. `outputs` are in the order of the network.
    Transcripts are those of the most probable alignment, with more than one of `beams` of a beam search.

    Raises `UserError` where they do not have the shape of the record.
    """
    if len(outputs) < len(record.targets):
        raise UserError(f"Expected {len(record.targets)} outputs of the network, received {len(outputs)}.")
    pairs = zip(record.targets, outputs, strict=False)
    return tuple(_present(target, np.asarray(output), beams) for target, output in pairs)


def _present(target: TargetPreparation, output: Array, beams: int) -> Answers:
    if not target.fits:
        raise UserError(
            f"The output '{target.name}' has the sizes {spoken_sizes(target)}, which do not fit its "
            f"{len(target.classes or target.columns):,} {target.task}. Use the preparation of another run."
        )
    sizes = zip(output.shape[1:], target.sizes, strict=False)
    if output.ndim != len(target.sizes) + 1 or any(size not in (None, has) for has, size in sizes):
        received = " × ".join(f"{size:,}" for size in output.shape)
        raise UserError(f"The output '{target.name}' has the shape {received}; expected {spoken_sizes(target)}.")
    if target.task == "numbers":
        return Answers(target, output)
    axis = target.axes.index("C") + 1
    probabilities = _calibrated(output.astype(np.float64), target, axis)
    if target.task == "labels":
        limits = np.array(target.thresholds or (target.threshold,))
        wide = limits.reshape([-1 if place == axis else 1 for place in range(output.ndim)])
        return Answers(target, probabilities >= wide, probabilities)
    if target.task == "classes" and output.shape[axis] == 1 and len(target.classes) == 2:
        is_second = np.take(probabilities, 0, axis) >= target.threshold
        return Answers(target, is_second.astype(np.int64), np.concatenate([1 - probabilities, probabilities], axis))
    best = probabilities.argmax(axis)
    if target.task == "classes" and len(target.classes) == 2 and target.threshold != EVEN:
        best = (np.take(probabilities, 1, axis) >= target.threshold).astype(np.int64)
    if target.task == "classes":
        return Answers(target, best, probabilities)
    values = transcripts(probabilities, is_blank_first=target.blank == "first", beams=beams)
    return Answers(target, values, probabilities)


def _calibrated(output: Array, target: TargetPreparation, axis: int) -> Array:
    """Return probabilities, of logits that are divided by the temperature."""
    if target.temperature == 1.0:
        return _activated(output, target.activation, axis)
    is_single = target.task == "labels" or (target.task == "classes" and output.shape[axis] == 1)
    activation = "sigmoid" if is_single else "softmax"
    if not target.activation:  # probabilities: their logits, and logs, give the same after the division
        chances = np.clip(output, LEAST_CHANCE, 1 - LEAST_CHANCE if is_single else None)
        output = np.log(chances / (1 - chances)) if is_single else np.log(chances)
    return _activated(output / target.temperature, activation, axis)


def _activated(scores: Array, activation: str, axis: int) -> Array:
    if activation == "sigmoid":
        return np.asarray(0.5 * (1 + np.tanh(0.5 * scores)))  # exp of large scores would overflow
    if activation != "softmax":
        return scores
    raised = np.exp(scores - scores.max(axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis, keepdims=True))
