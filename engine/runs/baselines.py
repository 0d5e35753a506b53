"""A forecasting network beside the forecasts that need none, in the result of a run, and in words.

"baselines": {"season": 24, "is_guessed": true, "scale": 0.21,
              "validation": {"last value": {"rmse": 0.52, "mae": 0.4, "mase": 1.9}, "season of 24": {...}},
              "test": {...}, "network": {"test": {"skill": 0.29, "mase": 0.9}}}
"""

from collections.abc import Iterator, Mapping
from typing import Any

from netwright.engine.core.files import number_in
from netwright.engine.project.options.metric_options import format_score

SPLITS = ("validation", "test")
COMPARED = ("rmse", "mae")
"""Metrics that networks and baselines share; the first one that the run has decides."""


def with_network(baselines: Mapping[str, Any], scores: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the baselines with the entry `network`: per split the skill, 1 - error / error of the best baseline, and
    MASE where the run has the metric mae. `scores`: loss and metrics of the network by split."""
    judged = {}
    for split in SPLITS:
        values = scores.get(split, {})
        if (comparison := _compared(baselines, split, values)) is None:
            continue
        _, own, others = comparison
        best, scale, mae = min(others.values()), number_in(baselines.get("scale")), number_in(values.get("mae"))
        mase = {"mase": mae / scale} if scale and mae is not None else {}
        judged[split] = {**({"skill": 1.0 - own / best} if best else {}), **mase}
    return {**baselines, "network": judged}


def errors_beside(result: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    """Return a metric, and its value of each baseline on the test split, or without one on validation; empty for runs
    that do not forecast."""
    for split in reversed(SPLITS):
        if (comparison := _of_result(result, split)) is not None:
            return comparison[0], comparison[2]
    return "", {}


def comparisons(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each split and `RMSE 0.31; last value 0.52, season of 24: 0.44`, for runs that forecast."""
    for split in SPLITS:
        if (comparison := _of_result(result, split)) is not None:
            metric, own, others = comparison
            scores = {name: format_score(metric, value) for name, value in others.items()}
            beside = ", ".join(f"{name}{':' if name[-1:].isdigit() else ''} {text}" for name, text in scores.items())
            yield split, f"{metric.upper()} {format_score(metric, own)}; {beside}"


def worse_than_baseline(result: Mapping[str, Any]) -> str:
    """Return a sentence where the network is worse than a baseline on the test split, or without one on validation;
    else an empty text."""
    for split in reversed(SPLITS):
        if (comparison := _of_result(result, split)) is None:
            continue
        metric, own, others = comparison
        name, best = min(others.items(), key=lambda pair: pair[1])
        if own < best:
            return ""
        forecast = (
            "repeating the last value" if name == "last value" else f"repeating the values of the last {name} steps"
        )
        scores = f"{format_score(metric, own)} against {format_score(metric, best)}"
        return (
            f"The network is no better than {forecast}: {metric.upper()} {scores} on the {split} split. "
            "Train longer, give it more lags or other inputs, or use that forecast."
        )
    return ""


def _of_result(result: Mapping[str, Any], split: str) -> tuple[str, float, dict[str, float]] | None:
    baselines, values = result.get("baselines"), result.get(split)
    if not isinstance(baselines, dict) or not isinstance(values, dict):
        return None
    return _compared(baselines, split, values)


def _compared(
    baselines: Mapping[str, Any], split: str, values: Mapping[str, Any]
) -> tuple[str, float, dict[str, float]] | None:
    """Return the metric, its value for the network, and that of each baseline; None without anything to compare."""
    errors = baselines.get(split)
    if not isinstance(errors, dict):
        return None
    for metric in COMPARED:
        own = number_in(values.get(metric))
        others = {
            str(name): value
            for name, each in errors.items()
            if isinstance(each, dict) and (value := number_in(each.get(metric))) is not None
        }
        if own is not None and others:
            return metric, own, others
    return None
