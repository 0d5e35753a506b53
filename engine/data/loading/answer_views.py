"""The answer of a network for one sample, to look at: what a table says of it, and what is drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.text import format_figure, format_number, format_percent
from netwright.engine.data.loading.ctc_decoding import best_path
from netwright.engine.data.loading.preview import MOST_NAMES, write_mask, write_picture
from netwright.engine.data.sources.source import Array
from netwright.engine.data.sources.tokens import decode
from netwright.engine.project.dataset_info import IGNORED, Forecast, TargetInfo
from netwright.engine.project.preparation import TextPreparation

MOST_LETTERS = 48
"""Of a text."""


def caption(row: Mapping[str, Any]) -> str:
    """Return the caption below the picture of a sample."""
    if isinstance(row.get("prediction"), str):
        true, predicted = row["label"] or "?", row["prediction"]
        return f"{true} → {predicted}" if true != predicted else f"{true}"
    if row.get("prediction") and len(row["prediction"]) <= 2 and isinstance(row["prediction"][0], float):
        return f"{format_number(row['label'][0])} → {format_number(row['prediction'][0])}"
    return f"{'loss' if 'confidence' in row else 'error'} {format_figure(row['loss'])}"


def answer_row(
    info: TargetInfo, output: Array, target: Array, *, text: TextPreparation | None = None, blank: int = 0
) -> dict[str, object]:
    """Return `label`, `prediction` and `confidence` of a sample, as far as it has them.

    output: logits of classes and labels, or numbers, channels last. text: of a network that predicts the next token at
    each step. blank: the channel of the blank of transcripts.
    """
    if info.task == "numbers":
        return {"label": _short(target), "prediction": _short(output)} if info.per == "sample" else {}
    if info.task == "labels":
        if info.per != "sample":
            return {}
        pairs = zip(info.classes, target.tolist(), output.tolist(), strict=True)
        named = [(name, true > 0.5, logit > 0) for name, true, logit in pairs]
        return {
            "label": [name for name, true, _ in named if true],
            "prediction": [name for name, _, said in named if said],
        }
    logits = output.astype(np.float64)
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    surest = 1.0 / shares.sum(-1)
    best = logits.argmax(-1)
    if info.task == "transcripts":
        channels = best_path(best.tolist(), blank)
        numbers = [channel - (blank == 0) for channel in channels]
        return {"label": _names(info, target[target != IGNORED].tolist()), "prediction": _names(info, numbers)}
    counts = target != IGNORED
    confidence: dict[str, object] = {"confidence": float(surest[counts].mean())} if counts.any() else {}
    if info.per == "sample":
        label = info.classes[int(target)] if counts else ""
        return {"label": label, "prediction": info.classes[int(best)], **confidence}
    if text is not None:
        said, true = (decode(text, tokens[counts][:MOST_LETTERS].tolist()) for tokens in (best, target))
        return {"label": true[:MOST_LETTERS], "prediction": said[:MOST_LETTERS], **confidence}
    return confidence


def _short(numbers: Array) -> list[float]:
    """Return numbers with the digits that single precision has."""
    return [float(f"{number:.6g}") for number in numbers.tolist()]


def _names(info: TargetInfo, numbers: Sequence[int]) -> str:
    names = [info.classes[number] for number in numbers if 0 <= number < len(info.classes)]
    letters = all(len(name) == 1 for name in info.classes)
    return "".join(names)[:MOST_LETTERS] if letters else " ".join(names[:MOST_NAMES])


def answer_view(
    info: TargetInfo,
    output: Array,
    target: Array,
    file: Path,
    *,
    forecast: Forecast | None = None,
    span: tuple[float, float] = (0.0, 1.0),
) -> dict[str, object]:
    """Return the part of an answer that is drawn beside the picture or the sequence of its sample; nothing for one that
    is no picture or forecast. Pictures are written to the folder of `file` and end with its name; those of numbers show
    the `span` from black to white. Other arguments as of `answer_row`."""
    if forecast is not None:
        steps = output.reshape(forecast.horizon, len(forecast.targets))
        return {"said": {name: _short(steps[:, place]) for place, name in enumerate(forecast.targets)}}
    if info.task == "classes" and info.per in ("pixel", "voxel"):
        return class_maps(info, output.argmax(-1), target, file)
    if info.task == "classes" and info.per == "step":
        counts = target != IGNORED
        right = float((output.argmax(-1) == target)[counts].mean()) if counts.any() else 0.0
        return {"label": format_percent(right)}
    if info.task == "numbers" and info.per == "pixel" and output.shape[-1] in (1, 3):
        path = file.with_name(f"said_{file.name}.png")
        return {"said": str(write_picture(np.moveaxis(output, -1, 0), span, path))}
    return {}


def class_maps(info: TargetInfo, predicted: Array, target: Array, file: Path) -> dict[str, object]:
    """Write the predicted class of each pixel, and where that is wrong, beside `file`; return the paths as `said` and
    `wrong`, the IoU of each class as `iou`, and their mean as `label`."""
    there = target != IGNORED
    wrong = np.where(there & (predicted != target), 0, IGNORED)
    said_file, wrong_file = (file.with_name(f"{name}_{file.name}.png") for name in ("said", "wrong"))
    count = len(info.classes)
    table = np.bincount(
        target[there].astype(np.int64) * count + predicted[there].astype(np.int64), minlength=count * count
    ).reshape(count, count)
    union = table.sum(0) + table.sum(1) - table.diagonal()
    iou = {
        name: float(shared / whole)
        for name, shared, whole in zip(info.classes, table.diagonal(), union, strict=True)
        if whole
    }
    return {
        "said": str(write_mask(predicted, said_file)),
        "wrong": str(write_mask(wrong, wrong_file)),
        "iou": iou,
        "label": f"IoU {sum(iou.values()) / max(1, len(iou)):.2f}",
    }
