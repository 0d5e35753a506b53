"""Answers of a trained network for files: pictures, sounds, rows of tables, texts, arrays.

Samples go through the preparation that was stored with the network, batch by batch, so that memory stays flat however
many there are. A sample that cannot be used is told with the reason, and the others go on.
"""

import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.newest_windows import NewestWindows
from netwright.engine.analysis.predictors import Predictor, ahead
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.data.loading.apply_preparation import (
    Answers,
    cell_warnings,
    column_names,
    expected_of,
    fits,
    prepare,
    prepare_columns,
    present,
    spoken_shape,
    spoken_sizes,
    with_channels_first,
)
from netwright.engine.data.sources.array_files import headers
from netwright.engine.data.sources.array_storage import StoredArray
from netwright.engine.data.sources.image_file import BadPictureError
from netwright.engine.data.sources.image_file import read as read_image
from netwright.engine.data.sources.signal_files import read_signal
from netwright.engine.data.sources.source import Array, Arrays, unreadable
from netwright.engine.data.sources.text_reader import texts_in
from netwright.engine.data.sources.tokens import decode
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.data.tables.long_table import open_table
from netwright.engine.project.preparation import InputPreparation, Preparation
from netwright.engine.project.sources.audio import AUDIO_SUFFIXES, is_sound
from netwright.engine.project.sources.images import IMAGE_SUFFIXES, is_image
from netwright.engine.project.sources.series import SIGNALS
from netwright.engine.project.sources.source_type import is_hidden
from netwright.engine.project.sources.table import PARQUET
from netwright.engine.project.sources.table import TABLES as TEXT_TABLES
from netwright.engine.project.stored_facts import predicted_text

Told = dict[str, Any]
"""The answers for a sample as JSON."""
Look = Callable[[list[Told], Arrays, Sequence[Answers]], None]
"""Takes the answers of a batch, to which it adds keys, its prepared inputs, and the outputs."""

BATCH_ROWS = 1024
MOST_FILES, BATCH_BYTES = 512, 2**24
"""Files per batch: as many as fit into these bytes once they are read, at most `MOST_FILES`."""
TABLES = frozenset({*TEXT_TABLES, *PARQUET})
NO_ARRAYS = frozenset({*TABLES, ".md", ".json", *IMAGE_SUFFIXES, *AUDIO_SUFFIXES})
"""Suffixes of files that hold no arrays."""
MOST_STEPS_TOLD = 1000
"""Answers per step that are told; pixels are told as shares of classes."""
WHITE = 255.0


@dataclass(frozen=True)
class Batch:
    """Samples by name, what they are read from, and what prepares any of them."""

    names: Sequence[str]
    raw: Sequence[Any]
    read: Callable[[Sequence[Any]], Arrays]
    truth: Sequence[Sequence[float]] = ()
    """The true numbers of forecasts, in the order of their answers; empty where they are not known."""
    groups: Sequence[str] = ()
    """Names of the series that are forecast; empty where there is one alone."""
    warnings: Sequence[Sequence[str]] = ()
    """Sentences on what the network does not know of each sample; empty where nothing tells."""

    def with_facts(self, answers: Sequence[dict[str, Any]], *, has_truth: bool) -> Iterator[dict[str, Any]]:
        """Yield the answers with the name of their series and warnings, and with the true numbers if that is asked
        for."""
        _warn(answers, self.warnings)
        for place, answer in enumerate(answers):
            if self.groups and self.groups[place]:
                answer["group"] = self.groups[place]
            if has_truth and self.truth and self.truth[place]:
                answer["truth"] = list(self.truth[place])
            yield answer

    def whole(self) -> Arrays:
        """Return all of them, prepared. Raises `UserError`."""
        return self.read(self.raw)

    def single(self, place: int) -> Arrays:
        """Return one of them, prepared. Raises `UserError`."""
        return self.read(self.raw[place : place + 1])


def predict(
    predictor: Predictor,
    sources: Sequence[Path],
    most: int = 5,
    *,
    size: int = 0,
    look: Look | None = None,
    beams: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yield the answer for each sample of files and folders, in order: `{"sample": name, "outputs": [...]}`, or
    `"error"` with the reason; and `"warnings"` where a row holds what the network does not know. `most`: number of
    likeliest classes that are told. `size`: samples per batch, by default as many as suit their size. `look` adds what
    a window shows of a sample.

    Raises `UserError` for sources that hold nothing the network takes.
    """
    record = predictor.record
    answer = partial(_answers, predictor, most=most, look=look, beams=beams)
    takes_one = any(None in preparation.sizes for preparation in record.inputs)
    count = 0
    for batch, computed in ahead(predictor, batches_of(record, sources, 1 if takes_one else size)):
        try:
            rows = answer(batch.names, *computed.result())
        except UserError as error:
            rows = [_error(batch.names[0], error)] if len(batch.names) == 1 else _one_by_one(batch, answer)
        yield from batch.with_facts(rows, has_truth=look is not None)
        count += len(rows)
        report(count, 0, "samples")
    if not count:
        raise UserError(f"There is nothing to predict. Expected {expected_of(record)}.")


def predict_raw(
    predictor: Predictor, raw: Any, names: Sequence[str], most: int = 5, look: Look | None = None, beams: int = 1
) -> list[dict[str, Any]]:
    """Return the answers for rows, texts or arrays, as `netwright.engine.data.loading.apply_preparation.prepare` takes
    them. Raises `UserError`."""
    answers = _answers(predictor, names, prepare(predictor.record, raw), most=most, look=look, beams=beams)
    warn_of_rows(predictor.record, raw, answers)
    return answers


def warn_of_rows(record: Preparation, raw: Any, answers: Sequence[MutableMapping[str, Any]]) -> None:
    """Add to the answers for rows what the network does not know of them; other samples have no warnings."""
    if column_names(record) and isinstance(raw, Sequence) and raw and isinstance(raw[0], Mapping):
        cells = {name: [row.get(name) for row in raw] for name in column_names(record)}
        _warn(answers, cell_warnings(record, cells))


def _warn(answers: Sequence[MutableMapping[str, Any]], warnings: Sequence[Sequence[str]]) -> None:
    """Add the warnings to the answers that have some."""
    for answer, some in zip(answers, warnings, strict=False):
        if some and "error" not in answer:
            answer["warnings"] = list(some)


def _one_by_one(batch: Batch, answer: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the answers of samples of which one cannot be used."""
    rows = []
    for place, name in enumerate(batch.names):
        try:
            rows += answer([name], batch.single(place))
        except UserError as error:
            rows.append(_error(name, error))
    return rows


def _error(name: str, error: UserError) -> dict[str, Any]:
    return {"sample": name, "error": str(error)}


# ---- what the samples are ----


def batches_of(record: Preparation, sources: Sequence[Path], size: int) -> Iterator[Batch]:
    """Yield batches of all sources; `size` samples each, 0 for the usual number. Raises `UserError`."""
    reads = {preparation.reads for preparation in record.inputs}
    if len(sources) == 1:
        try:
            sources[0].stat()
        except OSError as error:
            raise unreadable(sources[0], error) from None
    if reads == {"columns"}:
        yield from _each(sources, lambda source: _rows(record, source, size or BATCH_ROWS), len(sources) == 1)
    elif reads == {"text"}:
        yield from _each(sources, lambda source: _lines(record, source, size or BATCH_ROWS), len(sources) == 1)
    elif reads & {"image", "sound"}:
        fits = is_image if "image" in reads else is_sound
        yield from _files(sources, fits, size or _files_at_once(record), lambda paths: prepare(record, list(paths)))
    else:
        yield from _of_arrays(record, sources, size)


def _each(sources: Sequence[Path], batches: Callable[[Path], Iterator[Batch]], is_only: bool) -> Iterator[Batch]:
    """Yield the batches of each source; where one cannot be used that is not the only one, a batch that says why."""
    for source in sources:
        try:
            yield from batches(source)
        except UserError as error:
            if is_only:
                raise
            yield Batch([str(source)], [source], partial(_refuse, error))


def _refuse(error: UserError, _: Sequence[Any]) -> Arrays:
    raise error


def _of_arrays(record: Preparation, sources: Sequence[Path], size: int) -> Iterator[Batch]:
    pictures = [source for source in sources if source.is_dir() or is_image(source.name)]
    preparation, is_only = record.inputs[0], len(sources) == 1
    if pictures and len(record.inputs) == 1 and preparation.axes == ("C", "H", "W") and preparation.sizes[0] in (1, 3):
        yield from _files(pictures, is_image, size or _files_at_once(record), partial(_pictures, preparation))
        if not (sources := [source for source in sources if source not in pictures]):
            return

    def batches(source: Path) -> Iterator[Batch]:
        if record.kind == "sequences" and source.suffix.lower() in SIGNALS:
            return _signal(record, source)
        if preparation.columns and source.suffix.lower() in TABLES:
            return _series(record, source, size or (1 if record.inputs[0].sizes[0] is None else BATCH_ROWS))
        return _arrays(record, source, size or BATCH_ROWS)

    for source in sources:
        if files := _sequence_files(record, source):
            yield from _each(files, lambda file: _sequence(record, file) or batches(file), is_only=False)
        else:
            yield from _each([source], batches, is_only)


def _sequence_files(record: Preparation, source: Path) -> list[Path]:
    """Return the files of a folder that holds a sequence in each: tables, matrices, or `.npz` files."""
    first = record.inputs[0]
    if len(record.inputs) > 1 or first.axes[:1] != ("T",) or not source.is_dir():
        return []
    suffixes = {".npz", *(TABLES if first.columns else ()), *(SIGNALS if record.kind == "sequences" else ())}
    return list(_walk(source, lambda name: Path(name).suffix.lower() in suffixes))


def _signal(record: Preparation, file: Path) -> Iterator[Batch]:
    """Yield the batch of a file with one sequence, as training read such files."""
    steps, channels = record.inputs[0].sizes
    read = partial(read_signal, file, channels or 0, steps)
    yield Batch([str(file)], [file], lambda _: prepare(record, [read()[np.newaxis]]))


def _sequence(record: Preparation, file: Path) -> Iterator[Batch] | None:
    """Return the batch of a file of arrays that holds one sequence without an axis of samples; None for another."""
    first = record.inputs[0]
    if file.suffix.lower() != ".npz":
        return None
    fitting = {name: header for name, header in headers(file).items() if fits(first, (1, *header.shape))}
    named = [fitting[name] for name in (first.source, first.name) if name in fitting]
    if not named and len(fitting) != 1:
        return None
    header = (named or list(fitting.values()))[0]
    return iter([Batch([str(file)], [header], lambda some: prepare(record, [some[0].read()[np.newaxis]]))])


def _files_at_once(record: Preparation) -> int:
    sample = sum(4 * prod(size or 1 for size in preparation.sizes) for preparation in record.inputs)
    return max(1, min(MOST_FILES, BATCH_BYTES // max(1, sample)))


def _files(
    sources: Sequence[Path], fits: Callable[[str], bool], size: int, reader: Callable[[Sequence[Path]], Arrays]
) -> Iterator[Batch]:
    files = (path for source in sources for path in _walk(source, fits))
    while paths := list(islice(files, size)):
        yield Batch([str(path) for path in paths], paths, reader)


def _walk(source: Path, fits: Callable[[str], bool]) -> Iterator[Path]:
    """Yield a file, or the files that fit in a folder and those below it, sorted."""
    if not source.is_dir():
        yield source
        return
    for folder, inside, names in os.walk(source):
        inside[:] = sorted(name for name in inside if not is_hidden(os.path.join(folder, name)))
        yield from (Path(folder, name) for name in sorted(names) if fits(name) and not is_hidden(name))


def _pictures(preparation: InputPreparation, paths: Sequence[Path]) -> Arrays:
    """Return pictures for a network that was trained on arrays, in the limits of their numbers. Raises `UserError`."""
    channels, height, width = (size or 0 for size in preparation.sizes)
    low, high = preparation.span or (0.0, WHITE)
    out = np.empty((len(paths), channels, height, width), preparation.dtype)
    for place, path in enumerate(paths):
        try:
            picture = read_image(path, "grey" if channels == 1 else "rgb", height, width)
        except BadPictureError as error:
            raise UserError(f"{path} cannot be used: {error}. Expected a picture, such as PNG or JPEG.") from None
        out[place] = low + picture.astype(np.float64) * ((high - low) / WHITE)
    return (out,)


def _rows(record: Preparation, source: Path, size: int) -> Iterator[Batch]:
    """Yield rows of a CSV or Parquet file."""
    is_csv = source.suffix.lower() not in PARQUET
    table = CsvTable(source, (), least_columns=1, counts_lines=False) if is_csv else open_table(source)
    names = column_names(record)
    if missing := [name for name in names if name not in table.names]:
        hint = did_you_mean(missing[0], table.names)
        raise UserError(f"{source} has no column {quoted(missing[0])}.{hint} Expected {expected_of(record)}.")
    columns = [table.names.index(name) for name in names]

    def cells_of(lines: Sequence[tuple[int, Sequence[str]]]) -> dict[str, list[str]]:
        return {name: [row[at] for _, row in lines] for name, at in zip(names, columns, strict=True)}

    def prepared(lines: Sequence[tuple[int, Sequence[str]]]) -> Arrays:
        places = [f"{unit} {line:,} of {source}" for line, _ in lines]
        return prepare_columns(record, cells_of(lines), places, table.shown_decimal)

    unit, rows = table.unit, table.rows()
    while lines := list(islice(rows, size)):
        numbers = [f"{source}:{line}" for line, _ in lines]
        yield Batch(numbers, lines, prepared, warnings=cell_warnings(record, cells_of(lines)))


def _series(record: Preparation, source: Path, size: int) -> Iterator[Batch]:
    """Yield the newest window of each series of a table of time steps. Raises `UserError`."""
    newest = NewestWindows(record, source)
    windows = newest.windows()
    while some := list(islice(windows, size)):
        truth, groups = [window.truth for window in some], [window.group for window in some]
        yield Batch([window.name for window in some], some, newest.arrays, truth=truth, groups=groups)


def _lines(record: Preparation, source: Path, size: int) -> Iterator[Batch]:
    """Yield texts of a table or lines of a text file; blank ones are left out."""
    how = record.inputs[0].text
    assert how is not None
    texts = texts_in(how, source)
    while some := list(islice(texts, size)):
        lines = [text for _, text in some]
        names = [f"{source}:{number}" for number, _ in some]
        yield Batch(names, lines, partial(prepare, record))


def _arrays(record: Preparation, source: Path, size: int) -> Iterator[Batch]:
    """Yield samples of array files."""
    if source.suffix.lower() in NO_ARRAYS:
        raise UserError(f"{source} does not hold what the network takes. Expected {expected_of(record)}.")
    is_alone = len(record.inputs) == 1
    # A .npy file stands for those beside it only where a network takes several.
    by_name = headers(source, files=[source] if is_alone and source.suffix.lower() == ".npy" else ())
    if is_alone:
        raw: Any = [_only_array(record.inputs[0], by_name, source).read()]
    else:
        names = {preparation.source or preparation.name for preparation in record.inputs}
        raw = {name: header.read() for name, header in by_name.items() if name in names}
    prepared = prepare(record, raw)
    count = len(prepared[0])

    def chosen(numbers: Sequence[int]) -> Arrays:
        return tuple(array[numbers[0] : numbers[-1] + 1] for array in prepared)

    for start in range(0, count, size):
        numbers = range(start, min(count, start + size))
        yield Batch([f"{source}[{number}]" for number in numbers], numbers, chosen)


def _only_array(preparation: InputPreparation, by_name: Mapping[str, StoredArray], source: Path) -> StoredArray:
    """Return the array for a network with one input: that of its name, the only array, the only one that fits, or
    `x`. Raises `UserError`."""
    for name in (preparation.source, preparation.name):
        if name and name in by_name:
            return by_name[name]
    fitting = [h for h in by_name.values() if fits(preparation, with_channels_first(preparation, h.shape))]
    for some in (list(by_name.values()), fitting, [by_name["x"]] if "x" in by_name else []):
        if len(some) == 1:
            return some[0]
    arrays = ", ".join(f"'{name}' {spoken_shape(header.shape)}" for name, header in islice(by_name.items(), 8))
    raise UserError(
        f"{source} holds {len(by_name):,} arrays, none of them called "
        f"'{preparation.source or preparation.name}': {arrays}. Expected one of the shape "
        f"{spoken_sizes(preparation)}, samples first."
    )


# ---- what is told of them ----


def _answers(
    predictor: Predictor,
    names: Sequence[str],
    inputs: Arrays,
    outputs: list[Array] | None = None,
    *,
    most: int,
    look: Look | None = None,
    beams: int = 1,
) -> list[dict[str, Any]]:
    predictions = present(predictor.record, outputs or predictor.outputs(inputs), beams)
    rows = answers_in(predictions, names, most)
    if (how := predicted_text(predictor.record)) is not None:
        for row, tokens, real in zip(rows, predictions[0].values, inputs[0], strict=True):
            count = max(np.flatnonzero(real), default=0) + 1  # the rest is padding
            row["outputs"][0]["text"] = decode(how, tokens[:count].tolist())
    if look is not None:
        look(rows, inputs, predictions)
    return rows


def answers_in(predictions: Sequence[Answers], names: Sequence[str], most: int) -> list[Told]:
    """Return the predictions of a network for samples of these names as JSON."""
    return [
        {"sample": name, "outputs": [told(answers, number, most) for answers in predictions]}
        for number, name in enumerate(names)
    ]


def told(answers: Answers, number: int, most: int) -> dict[str, Any]:
    """Return the answer of one output for one sample: a class with the likeliest ones, labels, numbers, classes per
    step, or the share of each class among the pixels."""
    target, value = answers.target, answers.values[number]
    name = {"name": target.source or target.name}
    if target.task == "transcripts":
        return {**name, "transcript": answers.sample(number)}
    assert isinstance(value, np.ndarray | np.generic)
    if target.task == "numbers":
        return {**name, "value": answers.sample(number)}
    assert answers.probabilities is not None
    if value.ndim > (1 if target.task == "labels" else 0):
        return {**name, **_of_places(np.asarray(value), target.classes, target.task)}
    chances = np.asarray(answers.probabilities[number], np.float64)
    order = np.argsort(-chances, kind="stable")[:most].tolist()
    top = [{"class": target.classes[place], "probability": float(chances[place])} for place in order]
    if target.task == "labels":
        labels = [label for label, is_true in zip(target.classes, value.tolist(), strict=True) if is_true]
        return {**name, "labels": labels, "top": top}
    unlike = {"unlike_training": True} if chances.max(initial=0.0) < target.least_confidence else {}
    return {**name, "class": target.classes[int(value)], "top": top, **unlike}


def _of_places(value: Array, classes: Sequence[str], task: str) -> dict[str, Any]:
    """Return classes per step, or shares of classes where there are many places."""
    if task == "classes" and value.ndim == 1 and len(value) <= MOST_STEPS_TOLD:
        return {"classes": [classes[index] for index in value.tolist()]}
    if task == "labels":
        shares = value.reshape(-1, len(classes)).mean(0).tolist()
    else:
        shares = (np.bincount(value.reshape(-1), minlength=len(classes)) / value.size).tolist()
    return {"shares": dict(zip(classes, shares, strict=True))}
