"""Single samples of an evaluation to look at: pictures, series or rows, with what is true and what the network says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.evaluate import Evaluation
from netwright.engine.analysis.groups import column_values, group_labels
from netwright.engine.analysis.per_sample import SampleScores
from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_number
from netwright.engine.data.loading.answer_views import caption, class_maps
from netwright.engine.data.loading.open_data import open_source
from netwright.engine.data.loading.preview import shown_samples, value_range, write_picture
from netwright.engine.data.sources.source import Array, Outline

MOST_SHOWN = 48
MOST_COLUMNS = 12
LISTS = {"worst": "loss", "uncertain": "confidence"}


def look(evaluation: Evaluation, selection: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return samples of an evaluation as JSON, their pictures in `folder`.

    selection: `output`, its place; `count`; and which samples: `list` (`worst` or `uncertain`), `cell` (true and
    predicted class), `indices` in the source, or `group` (what it goes by, and its name). Keys of the result:
    `total`, the number of such samples; `rows`, one per sample that is shown, with `place` in what was evaluated,
    `index` in the source, `label`, `prediction`, `loss`, `confidence`; and `pictures` or `series` as in
    `netwright.engine.data.loading.preview.describe`, or `columns` and `cells` of a table. Where pixels have classes,
    each picture also has `said`, a class map like `mask`, `wrong`, one with 0 where they differ, and `iou` by class;
    forecasts have `said` beside `ahead`. Raises `UserError`.
    """
    result, samples = evaluation.result()
    output, count = int(selection.get("output", 0)), min(MOST_SHOWN, int(selection.get("count", 24)))
    places = _places(evaluation, samples, output, selection)
    shown_places = places[:count]
    rows = [_row(result["targets"][output], samples.outputs[output], place) for place in shown_places.tolist()]
    numbers = samples.index[shown_places]
    name_of = getattr(evaluation.data.inputs[0], "name_of", None)
    for row, place, number in zip(rows, shown_places.tolist(), numbers.tolist(), strict=True):
        row |= {"place": place, "index": number}
        if name_of is not None:
            row["sample"] = name_of(number)
    return {"total": len(places), "rows": rows, **_views(evaluation, output, numbers, rows, folder)}


def _places(evaluation: Evaluation, samples: SampleScores, output: int, selection: Mapping[str, Any]) -> Array:
    """Return the places of the samples in the evaluation, those to look at first in front."""
    arrays = samples.outputs[output]
    if (indices := selection.get("indices")) is not None:
        by_number = {number: place for place, number in enumerate(samples.index.tolist())}
        return np.array([by_number[number] for number in indices if number in by_number], np.int64)
    worst = np.argsort(-np.nan_to_num(arrays["loss"], nan=np.inf), kind="stable")
    if selection.get("list") == "uncertain":
        return np.argsort(arrays["confidence"], kind="stable")
    if (cell := selection.get("cell")) is not None:
        if "predicted" not in arrays:
            raise UserError("There is no class per sample to choose samples by.")
        true, predicted = (int(number) for number in cell)
        return np.asarray(worst[((arrays["target"] == true) & (arrays["predicted"] == predicted))[worst]])
    if (group := selection.get("group")) is not None:
        labels, _ = group_labels(np.asarray(evaluation.group_values(samples)[str(group[0])]))
        return np.asarray(worst[(labels == str(group[1]))[worst]])
    return worst


def _row(target: Mapping[str, Any], arrays: Mapping[str, Array], place: int) -> dict[str, Any]:
    """Return label, prediction, loss and confidence of a sample."""
    row: dict[str, Any] = {name: float(arrays[name][place]) for name in ("loss", "confidence") if name in arrays}
    if "label" in arrays:  # texts of transcripts
        return {**row, **{name: str(arrays[name][place]) for name in ("label", "prediction")}}
    if target["per"] != "sample" or "target" not in arrays:
        return row
    classes, true = target["classes"], arrays["target"][place]
    if target["task"] == "classes":
        label = classes[int(true)] if true >= 0 else None
        return {**row, "label": label, "prediction": classes[int(arrays["predicted"][place])]}
    if target["task"] == "labels":
        predicted = arrays["scores"][place] > 0
        return {
            **row,
            "label": [name for name, value in zip(classes, true, strict=True) if value > 0.5],
            "prediction": [name for name, value in zip(classes, predicted, strict=True) if value],
        }
    return {**row, "label": true.tolist(), "prediction": arrays["scores"][place].tolist()}


def _views(
    evaluation: Evaluation, output: int, numbers: Array, rows: Sequence[dict[str, Any]], folder: Path
) -> dict[str, Any]:
    origin = open_source(evaluation.options, evaluation.base)
    data = evaluation.data
    outline = replace(origin.outline, targets=data.targets, wanted=data.facts.targets)
    order = np.argsort(numbers, kind="stable")
    back = np.argsort(order, kind="stable")
    samples = origin.source.samples(origin.options, origin.path, origin.outline, numbers[order])
    views = shown_samples(outline, numbers[order], samples, folder, data.numbers)
    views = {name: [view[place] for place in back.tolist()] for name, view in views.items()}
    for view, row in zip(views.get("pictures", []) or views.get("series", []), rows, strict=False):
        view["label"] = caption(row)
    info = evaluation.trained.wanted[output].facts
    if views.get("pictures") and info.task == "classes" and info.per in ("pixel", "voxel"):
        _overlays(evaluation, output, numbers, views["pictures"], folder)
    elif views.get("pictures") and info.task == "numbers" and info.per == "pixel" and info.type["C"] in (1, 3):
        predicted = np.moveaxis(evaluation.predicted(numbers)[output], -1, 1)
        span = value_range(data.targets[evaluation.trained.wanted[output].number])
        for place, (view, image) in enumerate(zip(views["pictures"], predicted, strict=True)):
            view["said"] = str(write_picture(image, span, folder / f"said_{place:03d}.png"))
    if views.get("series") and outline.forecast is not None:
        _forecasts(evaluation, output, numbers, views["series"], outline)
    if not views.get("pictures") and not views.get("series"):
        views |= _cells(evaluation, numbers)
    return views


def _overlays(
    evaluation: Evaluation, output: int, numbers: Array, pictures: Sequence[dict[str, Any]], folder: Path
) -> None:
    """Add what the network says of each pixel, where that is wrong, and the IoU of each class."""
    info = evaluation.trained.wanted[output]
    predicted = evaluation.predicted(numbers)[output].argmax(-1)
    true = evaluation.data.targets[info.number][numbers]
    for place, (picture, mask, other) in enumerate(zip(pictures, predicted, true, strict=True)):
        picture |= class_maps(info.facts, mask, other, folder / f"{place:03d}")


def _forecasts(
    evaluation: Evaluation, output: int, numbers: Array, series: Sequence[dict[str, Any]], outline: Outline
) -> None:
    """Add the forecast of each target beside its true values."""
    assert outline.forecast is not None
    names = outline.forecast.targets
    predicted = evaluation.predicted(numbers)[output].reshape(len(numbers), outline.forecast.horizon, len(names))
    for view, forecast in zip(series, predicted, strict=True):
        view["said"] = {name: forecast[:, place].tolist() for place, name in enumerate(names)}


def _cells(evaluation: Evaluation, numbers: Array) -> dict[str, Any]:
    """Return the columns of a table and their cells, of these samples."""
    response = ", ".join(target.name for target in evaluation.trained.facts.targets)
    columns = column_values(evaluation.options, evaluation.base, response)
    names = list(columns)[:MOST_COLUMNS]
    cells = [[_plain(columns[name][number]) for name in names] for number in numbers.tolist()]
    return {"columns": names, "cells": cells}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else "" if value != value else format_number(float(value), 6)
