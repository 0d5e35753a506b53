"""Predictions as they are asked for, of a model, for files or for samples in memory; with the views
beside them in a window."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.operations.predict import (
    ListedPredictions,
    Prediction,
    PredictRequest,
    PredictResult,
    rows,
)
from netwright.engine.analysis.predictions import predict, predict_raw
from netwright.engine.analysis.predictors import kept_predictor, open_predictor
from netwright.engine.core.csv_text import CsvWriter
from netwright.engine.data.loading.apply_preparation import Answers
from netwright.engine.data.loading.preview import MOST_STEPS, shown_series, value_range, write_mask, write_picture
from netwright.engine.data.sources.source import Array, Arrays
from netwright.engine.project.preparation import InputPreparation, Preparation

MOST_PICTURES = 200
"""Predictions that come with a picture."""
PREDICTIONS = "predictions.csv"
MOST_PIXELS = 512
WHITE = (0.0, 255.0)


def predict_model(request: PredictRequest) -> PredictResult:
    """Return the answers of a model, which come one by one.

    With a `folder` at most `shown` of them are returned, with what `SampleLook` writes there; all
    are counted, and written to a table there. Raises `UserError`.
    """
    predictor = (kept_predictor if request.folder else open_predictor)(request.choice)
    record, look = predictor.record, None
    if request.folder is not None:
        look = SampleLook(record, request.folder, min(request.shown, MOST_PICTURES), predictor.season)
    result = PredictResult(path=str(request.model.absolute()), predictions=(), record=record, assumed=predictor.assumed)
    answers: Iterator[Any]
    if (samples := request.samples) is None or _are_paths(samples, record):
        files = [*request.files, *map(Path, samples or ())]
        answers = predict(predictor, files, request.top, size=request.batch, look=look)
        answers = chain([next(answers)], answers)  # what cannot be predicted at all is said before anything is printed
    else:
        names = [str(number) for number in range(_count(samples))]
        answers = iter(predict_raw(predictor, samples, names, request.top, look))
    result.predictions = result.counted(answers)
    return result if request.folder is None else _in_folder(result, request.folder, request.shown)


def _are_paths(samples: Any, record: Preparation) -> bool:
    """Return whether samples are a list of paths; texts are none for a network that takes texts."""
    kinds = {type(sample) for sample in samples} if isinstance(samples, list | tuple) else set()
    takes_texts = {preparation.reads for preparation in record.inputs} == {"text"}
    return bool(kinds) and all(issubclass(kind, str | Path) for kind in kinds) and not (takes_texts and str in kinds)


def _count(samples: Any) -> int:
    """Return the number of samples in an array, a mapping of arrays, or a list."""
    first = next(iter(samples.values())) if isinstance(samples, Mapping) and samples else samples
    return len(first)


def _in_folder(result: PredictResult, folder: Path, most: int) -> ListedPredictions:
    """Write a table of all answers to a folder, and return the first ones."""
    first: list[Prediction] = []

    def listed(answers: Iterator[Prediction]) -> Iterator[Prediction]:
        for answer in answers:
            if len(first) < most:
                first.append(answer)
            yield answer

    file = folder / PREDICTIONS
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = CsvWriter(out)
        for row in rows(replace(result, predictions=listed(iter(result.predictions)))):
            writer.row(row)
    values = {field.name: getattr(result, field.name) for field in fields(PredictResult)}
    return ListedPredictions(**{**values, **result.counts, "predictions": first, "csv": str(file)})


# ---- views ----


class SampleLook:
    """Adds keys to the answers of the first samples, and writes their pictures to a folder:

    `picture`  of the sample: PNG file of the prepared image, or of the middle slice of a volume
    `series`   of the sample: `{"names", "values"}` of a sequence, a list per channel; of a forecast its newest steps
    `mask`     of an output: grey PNG of class numbers, where each pixel has a class
    `target`   of an output: PNG file, where each pixel has one or three numbers
    """

    def __init__(self, record: Preparation, folder: Path, most: int, season: int = 0) -> None:
        """`most`: number of samples that are shown. `season`: period of series, in steps; 0 where it is not known."""
        self._record, self._folder, self._left, self._season = record, folder, most, season
        self._count = 0
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __call__(self, answers: list[dict[str, Any]], inputs: Arrays, predictions: Sequence[Answers]) -> None:
        """Add what is shown to the answers of a batch. Raises `OSError`."""
        preparation, array = self._record.inputs[0], inputs[0]
        for number, answer in enumerate(answers[: self._left]):
            self._count += 1
            if "H" in preparation.axes:
                file = self._folder / f"sample_{self._count:03d}.png"
                answer["picture"] = str(
                    write_picture(array[number], _span(preparation, array[number]), file, MOST_PIXELS)
                )
            elif preparation.axes == ("T", "C") and preparation.content == "numbers":
                names = list(preparation.column_names)
                steps = array[number][-MOST_STEPS:] if self._record.kind == "series" else array[number]
                answer["series"] = {"names": names, "values": shown_series(steps)}
                if self._season:
                    answer["series"]["season"] = self._season
            for output, each in zip(answer["outputs"], predictions, strict=True):
                output |= self._pictures_of(each, number, output["name"])
        self._left -= min(self._left, len(answers))

    def _pictures_of(self, answers: Answers, number: int, name: str) -> dict[str, str]:
        """Return the pictures of an output that has an answer per pixel or voxel."""
        target, value = answers.target, answers.values[number]
        if "H" not in target.axes or not isinstance(value, np.ndarray):
            return {}
        place = f"{self._record.targets.index(target)}_{self._count:03d}.png"
        if target.task == "classes":
            return {"mask": str(write_mask(value, self._folder / f"mask_{place}", MOST_PIXELS))}
        if target.task == "numbers":
            file = self._folder / f"target_{place}"
            return {"target": str(write_picture(value, value_range(value), file, MOST_PIXELS))}
        return {}


def _span(preparation: InputPreparation, image: Array) -> tuple[float, float]:
    """Return the values that are shown as black and white."""
    if preparation.reads == "image":
        return WHITE
    return (preparation.span[0], preparation.span[1]) if preparation.span else value_range(image)
