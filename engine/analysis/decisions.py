"""Decisions that are stored with a trained network: thresholds of classes and labels, and a temperature.

They lie in `preparation.json` beside the weights, so that `predict` applies them, and an exported ONNX file holds them
in its metadata. New weights, of a run that goes on, begin without any.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.curves import at_threshold, curves, probabilities
from netwright.engine.analysis.per_sample import SampleScores
from netwright.engine.analysis.temperature import calibration
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import read_object, write_atomically, write_checked_json
from netwright.engine.project.preparation import FILE, LIMIT_BYTES, Preparation, TargetPreparation

EVEN = 0.5
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Threshold:
    """Probability from which samples count as a class or label of an output."""

    output: int
    label: str
    value: float


def read_thresholds(texts: Sequence[str], record: Preparation) -> list[Threshold]:
    """Return the thresholds of texts such as `cat=0.31`, or `output:cat=0.31` where several outputs have the class.
    Raises `UserError`."""
    thresholds = []
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not name or not 0 < value < 1:
            raise UserError(f"Expected CLASS=PROBABILITY between 0 and 1, such as cat=0.31; received {quoted(text)}.")
        thresholds.append(_threshold(name, value, record))
    return thresholds


def _threshold(text: str, value: float, record: Preparation) -> Threshold:
    names = [(place, target) for place, target in enumerate(record.targets) if target.task in ("classes", "labels")]
    fitting = [
        (place, label)
        for place, target in names
        for label in target.classes
        if text in (label, f"{target.name}:{label}")
    ]
    if not fitting:
        labels = [label for _, target in names for label in target.classes]
        has = f" It has {', '.join(map(quoted, labels[:8]))}." if labels else " It predicts numbers."
        raise UserError(f"The network has no class {quoted(text)}.{did_you_mean(text, labels)}{has}")
    if len({place for place, _ in fitting}) > 1:
        raise UserError(f"Several outputs have the class {quoted(text)}. Name one, such as {names[0][1].name}:{text}.")
    return Threshold(*fitting[0], value)


def stored_of(target: TargetPreparation) -> dict[str, Any]:
    """Return the stored decisions of an output: `thresholds` by class, and `temperature`."""
    thresholds = {}
    if target.task == "labels":
        limits = target.thresholds or (target.threshold,) * len(target.classes)
        thresholds = {name: limit for name, limit in zip(target.classes, limits, strict=True) if limit != EVEN}
    elif target.task == "classes" and len(target.classes) == 2 and target.threshold != EVEN:
        thresholds = {target.classes[1]: target.threshold}
    return {"thresholds": thresholds, "temperature": target.temperature}


def with_decisions(result: Mapping[str, Any], samples: SampleScores, record: Preparation) -> dict[str, Any]:
    """Return the result of an evaluation with what is stored, and its curves over the probabilities that `predict`
    reports."""
    targets = []
    for place, target in enumerate(result["targets"]):
        stored = record.targets[place] if place < len(record.targets) else None
        if stored is None or stored.task not in ("classes", "labels"):
            targets.append(target)
            continue
        changed = {**target, "stored": stored_of(stored)}
        scored = samples.scored(place)
        if stored.temperature != 1.0 and scored is not None:
            changed["curves"] = curves(*scored, stored.classes, stored.task, stored.temperature)
        targets.append(changed)
    return {**result, "targets": targets}


def operating_points(
    thresholds: Sequence[Threshold], samples: SampleScores, record: Preparation
) -> list[dict[str, Any]]:
    """Return counts and scores at thresholds of classes. Raises `UserError` where the scores were not kept."""
    points = []
    for threshold in thresholds:
        target, scored = record.targets[threshold.output], samples.scored(threshold.output)
        if scored is None:
            raise UserError(f"There are too many numbers of {target.name} to keep them for a threshold.")
        scores, true = scored
        place = target.classes.index(threshold.label)
        chances = probabilities(scores, target.task, target.temperature)[:, place]
        if target.task == "labels":
            there = ~np.isnan(true[:, place])
            chances, is_true = chances[there], true[there, place] > 0.5
        else:
            is_true = true == place
        points.append(
            {"output": target.name, "class": threshold.label, **at_threshold(chances, is_true, threshold.value)}
        )
    return points


def calibrated(temperatures: Mapping[int, float], samples: SampleScores, record: Preparation) -> list[dict[str, Any]]:
    """Return per output its temperature, and its calibration `before` and `after`."""
    rows = []
    for place, value in temperatures.items():
        target, scored = record.targets[place], samples.scored(place)
        if scored is not None:
            sides = {"before": target.temperature, "after": value}
            calibrations = {name: calibration(*scored, target.task, factor) for name, factor in sides.items()}
            rows.append({"output": target.name, "temperature": value, **calibrations})
    return rows


def store_thresholds(folder: Path, record: Preparation, thresholds: Sequence[Threshold]) -> Preparation:
    """Store thresholds beside the weights in `folder`; return the new record. Raises `UserError`."""
    targets = list(record.targets)
    for threshold in thresholds:
        target = targets[threshold.output]
        if target.task == "labels":
            limits = list(target.thresholds or (target.threshold,) * len(target.classes))
            limits[target.classes.index(threshold.label)] = threshold.value
            targets[threshold.output] = replace(target, thresholds=tuple(limits))
        elif len(target.classes) == 2:
            is_second = threshold.label == target.classes[1]
            targets[threshold.output] = replace(target, threshold=threshold.value if is_second else 1 - threshold.value)
        else:
            raise UserError(
                f"{target.name} has {len(target.classes):,} classes, of which the likeliest is chosen: a threshold of "
                "one decides nothing among the others. Thresholds are stored for two classes, and for labels."
            )
    return _write(folder, replace(record, targets=tuple(targets)))


def store_temperatures(folder: Path, record: Preparation, temperatures: Mapping[int, float]) -> Preparation:
    """Store the temperatures of outputs beside the weights in `folder`; return the new record. Thresholds change so
    that they decide as before; the least confidence, which cannot, is removed. Raises `UserError`."""
    targets = list(record.targets)
    for place, temperature in temperatures.items():
        target = targets[place]
        moved = [_moved(limit, target.temperature / temperature) for limit in (target.threshold, *target.thresholds)]
        targets[place] = replace(target, temperature=temperature, threshold=moved[0], thresholds=tuple(moved[1:]))
        targets[place] = replace(targets[place], least_confidence=0.0)
    return _write(folder, replace(record, targets=tuple(targets)))


def store_least_confidence(folder: Path, record: Preparation, confidence: float) -> Preparation:
    """Store the largest probability of the first output below which samples count as unlike the training data; return
    the new record. Raises `UserError`."""
    first, *others = record.targets
    return _write(folder, replace(record, targets=(replace(first, least_confidence=confidence), *others)))


def _moved(threshold: float, factor: float) -> float:
    """Return the threshold of probabilities whose logits are multiplied by a factor."""
    if threshold == EVEN:
        return EVEN
    return 1 / (1 + math.pow(1 / threshold - 1, factor))


def reset(folder: Path, record: Preparation) -> Preparation:
    """Remove what is stored beside the weights in `folder`; return the new record. Raises `UserError`."""
    targets = tuple(
        replace(target, threshold=EVEN, thresholds=(), temperature=1.0, least_confidence=0.0)
        for target in record.targets
    )
    return _write(folder, replace(record, targets=targets))


def _write(folder: Path, record: Preparation) -> Preparation:
    """Write the record and its checksum. A crash in between leaves a manifest without a checksum, not a wrong one."""
    content = record.content()
    try:
        manifest = read_object(folder / MANIFEST, LIMIT_BYTES, may_be_deep=True)
        if manifest is None or FILE not in manifest.get("files", {}):
            raise UserError(f"{folder} has no {FILE} to store it in. Train again to have one.")
        checksum = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        _write_manifest(folder, manifest, {})
        write_atomically(folder / FILE, content, mode=0o600, follow_link=False)
        _write_manifest(folder, manifest, checksum)
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return record


def _write_manifest(folder: Path, manifest: Mapping[str, Any], checksum: Mapping[str, Any]) -> None:
    files = {**manifest["files"], FILE: checksum}
    write_checked_json(folder / MANIFEST, {**manifest, "files": files}, follow_link=False)
