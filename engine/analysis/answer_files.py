"""Answers as files: a table, arrays, or a folder with a file per sample.

| file                | holds                                                                          |
|---------------------|--------------------------------------------------------------------------------|
| `.csv`, `.parquet`  | a row per sample, as `predict --csv` prints it                                 |
| `.json`, `.txt`     | what `predict --json` prints of the samples, or its lines                      |
| `.npz`, `.npy`      | the numbers of all samples                                                     |
| a folder            | `answers.csv`, `legend.json` and, of outputs with many numbers, a file per sample |
"""

import json
import re
import wave
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
from PIL import Image

from netwright.engine.analysis.operations.predict import (
    FOLDER,
    PredictRequest,
    PredictResult,
    SavedPredictions,
    form_of,
    lines,
    rows,
)
from netwright.engine.analysis.predictions import Told
from netwright.engine.core.csv_text import CsvWriter, csv_text
from netwright.engine.core.errors import UserError
from netwright.engine.core.file_names import FileNames
from netwright.engine.core.files import not_written, refuse_destination, write_json
from netwright.engine.core.finite_json import to_json
from netwright.engine.data.loading.apply_preparation import Answers
from netwright.engine.data.loading.preview import value_range, write_picture
from netwright.engine.data.sources.source import Array, Arrays, refuse_too_large
from netwright.engine.drawing.colours import class_colour
from netwright.engine.project.preparation import Preparation, TargetPreparation

TABLE, LEGEND = "answers.csv", "legend.json"
MOST_PALETTE = 256
BATCH_ROWS = 10_000
LOUDEST = 2**15 - 1
SUFFIXES = {"mask": ".png", "picture": ".png", "sound": ".wav", "steps": ".csv", "array": ".npy"}


class Taking:
    """Takes the answers of all samples, as `netwright.engine.analysis.predictions.Look`, and writes what is left to
    write once all have come."""

    def __init__(self, record: Preparation, path: Path) -> None:
        self.record, self.path, self.num_files = record, path, 0

    def __call__(self, answers: list[Told], inputs: Arrays, predictions: Sequence[Answers]) -> None:
        """Take the answers of a batch."""

    def write(self, result: PredictResult) -> None:
        """Write the answers as they come. Raises `OSError`, `UserError`."""
        raise NotImplementedError


def taking(record: Preparation, path: Path) -> Taking:
    """Return the writer of the answers for a file or folder. Raises `UserError` where it cannot be written."""
    form = form_of(path)
    if form == FOLDER:
        return AnswerFolder(record, path)
    if form in (".npz", ".npy"):
        return AnswerArrays(record, path)
    return AnswerTable(record, path)


def saved(request: PredictRequest, result: PredictResult, take: Taking) -> SavedPredictions:
    """Write the answers of a result, which come one by one, and return how many there are. Raises `UserError`."""
    try:
        take.write(result)
    except OSError as error:
        raise not_written(Path(error.filename or take.path), error) from None
    return SavedPredictions(
        path=result.path,
        output=str(take.path.absolute()),
        files=take.num_files,
        **result.counts,
        warnings=result.warnings,
        assumed=result.assumed,
        refused=result.refused,
    )


# ---- tables ----


class AnswerTable(Taking):
    """A row or line per sample, in one file."""

    def __init__(self, record: Preparation, path: Path) -> None:
        super().__init__(record, path)
        refuse_destination(path)

    def write(self, result: PredictResult) -> None:
        """Write the answers as they come. Raises `OSError`, `UserError`."""
        form = form_of(self.path)
        if form == ".parquet":
            with self.path.open("wb") as binary:
                _write_parquet(result, binary)
        else:
            write = {".csv": _write_csv, ".json": _write_json, ".txt": _write_lines}[form]
            with self.path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
                write(result, out)
        self.num_files = 1


def _write_csv(result: PredictResult, out: TextIO) -> None:
    writer = CsvWriter(out)
    for row in rows(result):
        writer.row(row)


def _write_json(result: PredictResult, out: TextIO) -> None:
    out.write(f'{{"path": {json.dumps(result.path)}, "predictions": [')
    for number, answer in enumerate(result.predictions):
        out.write((", " if number else "") + json.dumps(to_json(answer), allow_nan=False))
    out.write("]}\n")


def _write_lines(result: PredictResult, out: TextIO) -> None:
    out.writelines(f"{line}\n" for line in lines(result))


def _write_parquet(result: PredictResult, out: BinaryIO) -> None:
    """Write the rows of the CSV table; columns of numbers are numbers."""
    import pyarrow
    from pyarrow import parquet

    cells = rows(result)
    names = next(cells)
    numbers = _number_columns(result.record)
    kinds = [pyarrow.float64() if name in numbers else pyarrow.string() for name in names]
    schema = pyarrow.schema(list(zip(map(_cell, names), kinds, strict=True)))
    with parquet.ParquetWriter(out, schema) as writer:
        while some := list(islice(cells, BATCH_ROWS)):
            columns = [[_cell(cell) for cell in column] for column in zip(*some, strict=True)]
            arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _cell(cell: Any) -> Any:
    """Return a text that UTF-8 can spell: names of files may have bytes that it cannot."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def _number_columns(record: Preparation) -> set[str]:
    """Return the columns of the table that hold one number per sample."""
    names: set[str] = set()
    for target in record.targets:
        name = target.source or target.name
        if target.task == "classes":
            names.add(f"{name} probability")
        elif target.task == "numbers" and target.axes == ("C",) and (target.columns or target.sizes == (1,)):
            names |= set(target.columns if len(target.columns) > 1 else (name,))
    return names


# ---- arrays ----


class AnswerArrays(Taking):
    """The numbers of all samples: `.npz` with those of each output by its name, the probabilities, the names of classes
    and samples; `.npy` with those of the only output. Samples whose answers differ in shape have an array each."""

    def __init__(self, record: Preparation, path: Path) -> None:
        super().__init__(record, path)
        if path.suffix.lower() == ".npy" and len(record.targets) > 1:
            raise UserError(
                f"{path} holds one array, the network has {len(record.targets)} outputs. Write a .npz file."
            )
        refuse_destination(path)
        self._samples: list[str] = []
        self._parts: list[list[Array]] = [[] for _ in range(2 * len(record.targets))]
        self._bytes = 0

    def __call__(self, answers: list[Told], inputs: Arrays, predictions: Sequence[Answers]) -> None:
        """Keep the answers of a batch. Raises `UserError` where memory is short."""
        self._samples += [_cell(answer["sample"]) for answer in answers]
        for at, each in enumerate(predictions):
            values = [np.asarray(value) for value in each.values]
            chances = [] if each.probabilities is None else list(each.probabilities.astype(np.float32))
            self._parts[2 * at] += values
            self._parts[2 * at + 1] += chances
            self._bytes += sum(array.nbytes for array in (*values, *chances))
        refuse_too_large(self._bytes, f"The answers for {self.path}", "Name a folder, into which they go one by one.")

    def write(self, result: PredictResult) -> None:
        """Write the answers once all have come. Raises `OSError`, `UserError`."""
        for _ in result.predictions:
            pass
        arrays = dict(self._arrays())
        if self.path.suffix.lower() == ".npy":
            if len(arrays) > 1:
                raise UserError(f"{self.path} holds one array; the answers differ in shape. Write a .npz file.")
            with self.path.open("wb") as file:
                np.lib.format.write_array(file, next(iter(arrays.values())), allow_pickle=False)
        else:
            with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
        self.num_files = 1

    def _arrays(self) -> Iterator[tuple[str, Array]]:
        names = FileNames()
        is_alone = self.path.suffix.lower() == ".npy"
        if not is_alone:
            yield names.of("samples"), np.array(self._samples)
        for at, target in enumerate(self.record.targets):
            name = target.source or target.name
            yield from _stacked(names.of(name), self._parts[2 * at])
            if not is_alone and self._parts[2 * at + 1]:
                yield from _stacked(names.of(f"{name} probabilities"), self._parts[2 * at + 1])
                yield names.of(f"{name} classes"), np.array(list(map(_cell, target.classes)))


def _stacked(name: str, arrays: Sequence[Array]) -> Iterator[tuple[str, Array]]:
    if len({array.shape for array in arrays}) == 1:
        yield name, np.stack(arrays)
    else:
        yield from ((f"{name}/{number}", array) for number, array in enumerate(arrays))


# ---- a folder ----


class AnswerFolder(Taking):
    """A table of all answers and, of outputs with many numbers, a file per sample: in the folder itself, or in one per
    output where several have files."""

    def __init__(self, record: Preparation, path: Path) -> None:
        super().__init__(record, path)
        if path.is_dir() and any(not entry.name.startswith(".") for entry in path.iterdir()):
            raise UserError(f"{path} is not empty. Answers go into a folder of their own: name a new one.")
        if not path.is_dir():
            refuse_destination(path)
        self._forms = [_form_of(target, record) for target in record.targets]
        folders, several = FileNames((Path(TABLE).stem, Path(LEGEND).stem)), sum(map(bool, self._forms)) > 1
        self._places = [
            folders.of(target.source or target.name) if form and several else ""
            for target, form in zip(record.targets, self._forms, strict=True)
        ]
        self._names = FileNames((Path(TABLE).stem, Path(LEGEND).stem))

    def __call__(self, answers: list[Told], inputs: Arrays, predictions: Sequence[Answers]) -> None:
        """Write the files of a batch, and name them in the answers. Raises `OSError`."""
        for place in {"", *self._places}:
            (self.path / place).mkdir(exist_ok=True)
        for number, answer in enumerate(answers):
            name = self._names.of(_stem(answer["sample"]))
            for at, (output, each) in enumerate(zip(answer["outputs"], predictions, strict=True)):
                if form := self._forms[at]:
                    file = self.path / self._places[at] / f"{name}{SUFFIXES[form]}"
                    self._write(form, file, each, number)
                    output["file"] = file.relative_to(self.path).as_posix()
                    self.num_files += 1

    def _write(self, form: str, file: Path, answers: Answers, number: int) -> None:
        target, value = answers.target, np.asarray(answers.values[number])
        if form == "mask":
            _write_palette(value, len(target.classes), file)
        elif form == "picture":
            write_picture(value, picture_range(target, value), file, max(value.shape))
            if _span(target) is None:
                np.save(file.with_suffix(".npy"), value, allow_pickle=False)
        elif form == "sound":
            sound = self.record.inputs[0].sound
            assert sound is not None
            _write_sound(value, sound.rate, file)
        elif form == "steps":
            text = csv_text(_steps(answers, number))
            file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        else:
            np.save(file, value, allow_pickle=False)

    def write(self, result: PredictResult) -> None:
        """Write the table as the answers come, and the legend. Raises `OSError`, `UserError`."""
        self.path.mkdir(exist_ok=True)
        with (self.path / TABLE).open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
            _write_csv(result, out)
        pairs = zip(self.record.targets, self._forms, self._places, strict=True)
        legend = [_legend_of(target, form, place) for target, form, place in pairs if form]
        if legend:
            write_json(self.path / LEGEND, {"outputs": legend}, mode=0o666)
        self.num_files += 1 + bool(legend)


def _form_of(target: TargetPreparation, record: Preparation) -> str:
    """Return the form of the files of an output; empty where a row of the table holds its answer."""
    axes, first = target.axes, record.inputs[0]
    if target.task == "transcripts" or axes == ("C",):
        return ""
    if target.task == "classes" and set(axes) == {"C", "H", "W"} and len(target.classes) <= MOST_PALETTE:
        return "mask"
    if target.task == "numbers" and axes == ("C", "H", "W") and target.sizes[0] in (1, 3):
        return "picture"
    is_wave = first.sound is not None and first.sound.features == "waveform"
    if target.task == "numbers" and is_wave and (axes, target.sizes) == (first.axes, first.sizes):
        return "sound"
    return "steps" if axes == ("T", "C") else "array"


def picture_range(target: TargetPreparation, picture: Array) -> tuple[float, float]:
    """Return the numbers of an output that are black and white: those of the data, else the range of this picture."""
    return _span(target) or value_range(picture)


def _span(target: TargetPreparation) -> tuple[float, float] | None:
    """Return the numbers of black and white of the data; None where they are not known."""
    is_known = len(target.span) == 2 and target.span[0] < target.span[1]
    return (target.span[0], target.span[1]) if is_known else None


def _stem(sample: str) -> str:
    """Return the name of a sample for a file: `cat` of `pets/cat.png`, `new_12` of `new.csv:12`, `x_3` of `x.npz[3]`"""
    match = re.fullmatch(r"(.*?)(?:\.[^.\[\]:]*)?(?::(\d+)|\[(\d+)\])?", Path(sample).name, re.DOTALL)
    assert match is not None
    return "_".join(part for part in match.groups() if part)


def _write_palette(mask: Array, count: int, file: Path) -> None:
    """Write a class map (H, W) as a PNG whose palette has the colours of the classes."""
    picture = Image.frombytes("P", (mask.shape[1], mask.shape[0]), mask.astype(np.uint8).tobytes())
    picture.putpalette(bytes.fromhex("".join(class_colour(number).removeprefix("#") for number in range(count))))
    picture.save(file)


def _write_sound(samples: Array, rate: int, file: Path) -> None:
    """Write a sound (T, C) from -1 to 1 as a WAV file of 16 bits."""
    levels = np.rint(np.clip(np.nan_to_num(samples), -1.0, 1.0) * LOUDEST).astype("<i2")
    with wave.open(str(file), "wb") as out:
        out.setparams((levels.shape[1], levels.itemsize, rate, len(levels), "NONE", ""))
        out.writeframes(levels.tobytes())


def _steps(answers: Answers, number: int) -> Iterator[list[Any]]:
    """Yield the answers of the steps of a sequence as rows, the first a header."""
    target, values = answers.target, np.asarray(answers.values[number])
    if target.task == "classes":
        assert answers.probabilities is not None
        yield ["step", target.source or target.name, "probability"]
        pairs = zip(values.tolist(), answers.probabilities[number].tolist(), strict=True)
        yield from ([step, target.classes[best], chances[best]] for step, (best, chances) in enumerate(pairs))
        return
    names = target.classes or target.columns or tuple(f"{place + 1}" for place in range(values.shape[1]))
    yield ["step", *names]
    yield from ([step, *row] for step, row in enumerate((values * 1).tolist()))


def _legend_of(target: TargetPreparation, form: str, folder: str) -> dict[str, Any]:
    """Return the meaning of the files of an output: their form and folder, and the classes, or the numbers of black and
    white, which are those of each picture where the data does not say them."""
    legend: dict[str, Any] = {"name": target.source or target.name, "form": form, "folder": folder}
    if target.classes:
        names = [{"number": number, "name": name} for number, name in enumerate(target.classes)]
        colours = [{"colour": class_colour(number)} if form == "mask" else {} for number in range(len(names))]
        legend["classes"] = [{**entry, **colour} for entry, colour in zip(names, colours, strict=True)]
    if form == "picture" and (span := _span(target)):
        legend |= {"black": span[0], "white": span[1]}
    return legend
