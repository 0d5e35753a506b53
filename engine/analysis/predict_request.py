"""Predictions as they are asked for, of a model, for files or for samples in memory; with the views
beside them in a window."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.answer_files import picture_range, saved, taking
from netwright.engine.analysis.operations.predict import (
    ListedPredictions,
    Prediction,
    PredictRequest,
    PredictResult,
    SavedPredictions,
)
from netwright.engine.analysis.predictions import predict, predict_raw
from netwright.engine.analysis.predictors import Predictor, kept_predictor, open_predictor
from netwright.engine.data.loading.apply_preparation import Answers
from netwright.engine.data.loading.preview import MOST_STEPS, shown_series, value_range, write_mask, write_picture
from netwright.engine.data.sources.source import Array, Arrays
from netwright.engine.project.preparation import InputPreparation, Preparation

MOST_PICTURES = 200
"""Predictions that come with a picture."""
MOST_PIXELS = 512
WHITE = (0.0, 255.0)


def predict_model(request: PredictRequest) -> PredictResult | SavedPredictions:
    """Return the answers of a model, which come one by one; those for an `output` are written there.

    With a `folder` at most `shown` of them are returned, with what `SampleLook` writes there; all are counted. Raises
    `UserError`.
    """
    predictor = (kept_predictor if request.folder else open_predictor)(request.choice)
    record, look = predictor.record, None
    take = taking(record, request.output) if request.output is not None else None
    if request.folder is not None:
        look = SampleLook(predictor, request.folder, min(request.shown, MOST_PICTURES))
    result = PredictResult(path=str(request.model.absolute()), predictions=(), record=record, assumed=predictor.assumed)
    answers: Iterator[Any]
    if (samples := request.samples) is None or _are_paths(samples, record):
        files = [*request.files, *map(Path, samples or ())]
        answers = predict(predictor, files, request.top, size=request.batch, look=take or look, beams=request.beams)
        answers = chain([next(answers)], answers)  # what cannot be predicted at all is said before anything is printed
    else:
        names = [str(number) for number in range(_count(samples))]
        answers = iter(predict_raw(predictor, samples, names, request.top, take or look, request.beams))
    result.predictions = result.counted(answers)
    if take is not None:
        return saved(request, result, take)
    return result if request.folder is None else _listed(result, request.shown)


def _are_paths(samples: Any, record: Preparation) -> bool:
    """Return whether samples are a list of paths; texts are none for a network that takes texts."""
    kinds = {type(sample) for sample in samples} if isinstance(samples, list | tuple) else set()
    takes_texts = {preparation.reads for preparation in record.inputs} == {"text"}
    return bool(kinds) and all(issubclass(kind, str | Path) for kind in kinds) and not (takes_texts and str in kinds)


def _count(samples: Any) -> int:
    """Return the number of samples in an array, a mapping of arrays, or a list."""
    first = next(iter(samples.values())) if isinstance(samples, Mapping) and samples else samples
    return len(first)


def _listed(result: PredictResult, most: int) -> ListedPredictions:
    """Count all answers, and return the first ones."""
    first: list[Prediction] = []
    for answer in result.predictions:
        if len(first) < most:
            first.append(answer)
    values = {field.name: getattr(result, field.name) for field in fields(PredictResult)}
    return ListedPredictions(**{**values, **result.counts, "predictions": first})


# ---- views ----


class SampleLook:
    """Adds keys to the answers of the first samples, and writes their pictures to a folder:

    `picture`  of the sample: PNG file of the prepared image, or of the middle slice of a volume
    `series`   of the sample: `{"names", "values"}` of a sequence, a list per channel; of a forecast its newest steps
    `mask`     of an output: grey PNG of class numbers, where each pixel has a class
    `answer`   of an output: PNG file, where each pixel has one or three numbers
    `target`   of such an output: PNG file of the target, where the sample is one of the data of the run

    The numbers of pixels are told as the lowest, the mean and the highest.
    """

    def __init__(self, predictor: Predictor, folder: Path, most: int) -> None:
        """`most`: number of samples that are shown."""
        self._predictor, self._record = predictor, predictor.record
        self._folder, self._left = folder, most
        self._count = 0
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __call__(self, answers: list[dict[str, Any]], inputs: Arrays, predictions: Sequence[Answers]) -> None:
        """Add what is shown to the answers of a batch. Raises `OSError`."""
        preparation, array = self._record.inputs[0], inputs[0]
        for answer in answers:
            for number, output in enumerate(answer["outputs"]):
                if "H" in self._record.targets[number].axes and "value" in output:
                    output["value"] = _summary(output["value"])
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
                if self._predictor.season:
                    answer["series"]["season"] = self._predictor.season
            for output, each in zip(answer["outputs"], predictions, strict=True):
                output |= self._pictures_of(each, number, answer["sample"])
        self._left -= min(self._left, len(answers))

    def _pictures_of(self, answers: Answers, number: int, sample: str) -> dict[str, str]:
        """Return the pictures of an output that has an answer per pixel or voxel."""
        target, value = answers.target, answers.values[number]
        if "H" not in target.axes or not isinstance(value, np.ndarray):
            return {}
        place = f"{self._record.targets.index(target)}_{self._count:03d}.png"
        if target.task == "classes":
            return {"mask": str(write_mask(value, self._folder / f"mask_{place}", MOST_PIXELS))}
        if target.task != "numbers":
            return {}
        span = picture_range(target, value)
        pictures = {"answer": str(write_picture(value, span, self._folder / f"answer_{place}", MOST_PIXELS))}
        true = self._predictor.target_picture(Path(sample), value.shape) if target.axes == ("C", "H", "W") else None
        if true is not None:
            pictures["target"] = str(write_picture(true, span, self._folder / f"target_{place}", MOST_PIXELS))
        return pictures


def _summary(value: Any) -> dict[str, float]:
    numbers = np.asarray(value, np.float64)
    return {"lowest": float(numbers.min()), "mean": float(numbers.mean()), "highest": float(numbers.max())}


def _span(preparation: InputPreparation, image: Array) -> tuple[float, float]:
    """Return the values that are shown as black and white."""
    if preparation.reads == "image":
        return WHITE
    return (preparation.span[0], preparation.span[1]) if preparation.span else value_range(image)
