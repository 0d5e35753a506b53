"""Two trained networks on the same samples: the differences of their metrics, and whether they are more than chance.

Right and wrong answers are compared by McNemar's exact test (McNemar 1947; the binomial distribution of the samples
that one network alone gets right), metrics by a paired bootstrap: each draw of samples counts for both networks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.evaluate import Evaluation, EvaluationData
from netwright.engine.analysis.per_sample import SampleScores
from netwright.engine.analysis.scores import LOWER_IS_BETTER, draws, interval, measures_of
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.source import Array
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import Model
from netwright.engine.runs.model_files import ModelChoice

SIGNIFICANT = 0.05
MOST_TOLD = 200
LEAST_SAMPLES = 10
"""Samples that both splits must have in common."""


def compare(
    first: ModelChoice | Path,
    second: ModelChoice | Path,
    split: str = "",
    other: EvaluationData | None = None,
    *,
    fresh: bool = False,
) -> dict[str, Any]:
    """Return the comparison of two models as JSON; arguments as for `evaluate`. Raises `UserError` where they cannot be
    compared: other data, other classes, no samples in common."""
    networks = [Evaluation(open_model(choice), split, other).trained for choice in (first, second)]
    notes: list[str] = []
    if other is None:
        _refuse_other_data(*networks)
    _refuse_other_targets(*networks)
    results, samples = [], []
    for network in networks:
        result, scores = Evaluation(network, split, other).result(fresh)
        results.append(result)
        samples.append(scores)
        split = split or result["split"]
    common, places = _common(samples, split)
    if len(common) < max(len(side.index) for side in samples):
        counts = " and ".join(f"{len(side.index):,}" for side in samples)
        notes.append(
            f"The {split} splits of the runs differ ({counts} samples): {plural(len(common), 'sample')} are in both, "
            "and compared."
        )
    targets = [
        _target(network_targets, [side.outputs for side in samples], places, common)
        for network_targets in _pairs(networks, results)
    ]
    return {
        "against": str(networks[1].path.absolute()),
        "split": split if other is None else "",
        "data": results[0]["data"],
        "samples": len(common),
        "targets": [target for target in targets if target is not None],
        "notes": notes,
    }


def _refuse_other_data(first: Model, other: Model) -> None:
    records = [network.data_record for network in (first, other)]
    if records[0] is None or records[1] is None:
        return
    if texts := records[0].against(replace(records[1], parts=records[0].parts)):
        raise UserError(
            f"The runs were trained on different data. {' '.join(texts)} Compare them on data that you name (--data).",
            code="invalid_data",
        )


def _refuse_other_targets(first: Model, other: Model) -> None:
    by_name = [{target.facts.name: target.facts for target in network.wanted} for network in (first, other)]
    if by_name[0].keys() != by_name[1].keys():
        texts = [", ".join(map(quoted, names)) for names in by_name]
        raise UserError(f"The runs predict different things: {texts[0]}; and {texts[1]}.", code="invalid_data")
    for name, facts in by_name[0].items():
        there = by_name[1][name]
        if (facts.task, facts.per) != (there.task, there.per):
            raise UserError(
                f"{quoted(name)} is predicted as {facts.task} per {facts.per} by one run, as {there.task} per "
                f"{there.per} by the other.",
                code="invalid_data",
            )
        if facts.classes != there.classes:
            apart = sorted(set(facts.classes) ^ set(there.classes))
            differences = ", ".join(map(quoted, apart[:6])) if apart else "their order"
            raise UserError(f"The runs differ in the classes of {quoted(name)}: {differences}.", code="invalid_data")


def _common(samples: Sequence[SampleScores], split: str) -> tuple[Array, list[Array]]:
    """Return the numbers in the source of the samples that both have, and their places in each."""
    common, *places = np.intersect1d(samples[0].index, samples[1].index, assume_unique=True, return_indices=True)
    if len(common) < min(LEAST_SAMPLES, *(len(side.index) for side in samples)) or not len(common):
        raise UserError(
            f"The {split} splits of the runs have {plural(len(common), 'sample')} in common. Train both with the same "
            "split, or name data for both (--data).",
            code="invalid_data",
        )
    return common, places


def _pairs(
    networks: Sequence[Model], results: Sequence[Mapping[str, Any]]
) -> list[list[tuple[int, Mapping[str, Any]]]]:
    """Return the outputs that predict the same target: the place and the result of each."""
    names = [target.facts.name for target in networks[1].wanted]
    pairs = []
    for place, target in enumerate(networks[0].wanted):
        there = names.index(target.facts.name)
        pairs.append([(place, results[0]["targets"][place]), (there, results[1]["targets"][there])])
    return pairs


def _target(
    pair: Sequence[tuple[int, Mapping[str, Any]]],
    outputs: Sequence[Sequence[Mapping[str, Array]]],
    places: Sequence[Array],
    common: Array,
) -> dict[str, Any] | None:
    """Return the comparison of one target; None where nothing is known of single samples."""
    by_side = [output[number] for (number, _), output in zip(pair, outputs, strict=True)]
    target = pair[0][1]
    measured = [measures_of(target["task"], target["classes"], arrays) for arrays in by_side]
    if measured[0] is None or measured[1] is None:
        return None
    rows = [measures.rows[there] for measures, there in zip((measured[0], measured[1]), places, strict=True)]
    replicates = draws(np.stack(rows, axis=1))
    sides = [measured[0].of(replicates[:, side]) for side in (0, 1)]
    whole = [measured[0].of(values.sum(0)) for values in rows]
    metrics = [
        metric_difference(name, float(whole[0][name]), float(whole[1][name]), sides[1][name] - sides[0][name])
        for name in whole[0]
    ]
    comparison: dict[str, Any] = {
        "name": target["name"],
        "task": target["task"],
        "classes": target["classes"],
        "metrics": metrics,
    }
    if target["task"] == "classes" and all("predicted" in arrays for arrays in by_side):
        common_answers = [
            {name: arrays[name][there] for name in NEEDED} for arrays, there in zip(by_side, places, strict=True)
        ]
        comparison |= _answers(common_answers, common, target["classes"])
    comparison["conclusion"] = _conclusion(comparison)
    return comparison


NEEDED = ("predicted", "target", "loss", "confidence")


def metric_difference(name: str, first: float, second: float, replicates: Array) -> dict[str, Any]:
    """Return a metric of both networks, and the difference (second minus first) with its 95 % interval and the share
    of draws, of both tails, that do not have its sign."""
    tails = min(float((replicates <= 0).mean()), float((replicates >= 0).mean()))
    better = second < first if name in LOWER_IS_BETTER else second > first
    return {
        "name": name,
        "first": first,
        "second": second,
        "difference": second - first,
        "interval": interval(replicates),
        "p": min(1.0, max(2 * tails, 1 / len(replicates))),
        "better": "" if first == second else "second" if better else "first",
    }


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided: how likely a division of the samples at least as uneven
    is where both networks are equally good."""
    count, least = only_first + only_second, min(only_first, only_second)
    logs = [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(least + 1)]
    return min(1.0, 2 * sum(math.exp(log - count * math.log(2)) for log in logs))


def _answers(answers: Sequence[Mapping[str, Array]], common: Array, classes: Sequence[str]) -> dict[str, Any]:
    """Return McNemar's test, and the samples that the networks answer differently, the surest answers first."""
    target = answers[0]["target"]
    there = target >= 0
    right = [(answer["predicted"] == target) & there for answer in answers]
    only_first, only_second = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    apart = np.flatnonzero(answers[0]["predicted"] != answers[1]["predicted"])
    order = apart[np.argsort(-(answers[0]["confidence"] + answers[1]["confidence"])[apart], kind="stable")]
    rows = [
        {
            "index": int(common[at]),
            "label": classes[target[at]] if there[at] else None,
            "first": classes[answers[0]["predicted"][at]],
            "second": classes[answers[1]["predicted"][at]],
            "first_confidence": float(answers[0]["confidence"][at]),
            "second_confidence": float(answers[1]["confidence"][at]),
        }
        for at in order[:MOST_TOLD].tolist()
    ]
    counts = {
        "both": int((right[0] & right[1]).sum()),
        "only_first": only_first,
        "only_second": only_second,
        "neither": int((there & ~right[0] & ~right[1]).sum()),
        "p": mcnemar(only_first, only_second),
    }
    return {"mcnemar": counts, "disagreed": len(apart), "disagreements": rows}


def _conclusion(comparison: Mapping[str, Any]) -> str:
    """Return in words whether the difference of the main metric is real."""
    main = comparison["metrics"][0]
    p = comparison["mcnemar"]["p"] if "mcnemar" in comparison else main["p"]
    test = "McNemar's exact test" if "mcnemar" in comparison else "paired bootstrap"
    name = {"rmse": "RMSE", "accuracy": "accuracy"}.get(main["name"], main["name"])
    if not main["better"]:
        return f"Both runs have the same {name}."
    p_text = f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"
    if p < SIGNIFICANT:
        return (
            f"The {main['better']} run is better: the difference in {name} is unlikely to be chance ({test}, {p_text})."
        )
    return (
        f"The {main['better']} run has the better {name}, but the difference can be chance ({test}, {p_text}): more "
        "test samples would tell."
    )
