"""A network beside answers that need none, in the result of a run, and in words.

"baselines": {"season": 24, "is_guessed": true, "scale": 0.21,
              "validation": {"last value": {"rmse": 0.52, "mae": 0.4, "mase": 1.9}, "season of 24": {...}},
              "test": {...}, "network": {"test": {"skill": 0.29, "mase": 0.9}}}
"baselines": {"test": {"most frequent class": {"accuracy": 0.2}, "linear model": {"accuracy": 0.71}}, ...}
"""

from collections.abc import Iterator, Mapping
from typing import Any

from netwright.engine.core.files import number_in
from netwright.engine.core.text import format_percent
from netwright.engine.project.options.metric_options import format_score, in_a_line, is_better_low
from netwright.engine.project.training import COMPLETED

SPLITS = ("validation", "test")
COMPARED = ("rmse", "mae", "accuracy")
"""Metrics that networks and baselines share; the first one that the run has decides."""
LEAST_SKILL = {"most frequent class": 0.25, "mean": 0.1, "linear model": -0.02, "last value": 0.05}
"""Fractions of the errors of baselines that a network has to remove, so that it is not said to be hardly better; a
linear model is hard to beat where data is linear, and to be a little ahead of the last value on one stretch of a series
says nothing of the next: of a random walk nothing can be learned."""
TRIVIAL = ("most frequent class", "mean")
"""Baselines that no input enters: to be as bad as they are is said first."""
GOOD_SKILL = 0.9
"""Skill from which a run is not asked to go on although its loss still falls."""
FAST_FALL, LAST_PART, LEAST_VALIDATIONS = 0.1, 0.2, 5
"""Fraction by which the loss falls in the last part of a run, from which it should go on, and validations needed."""
INSTEAD = {
    "last value": "repeating the last value",
    "most frequent class": "always answering the most frequent class",
    "mean": "always answering the mean",
    "linear model": "a linear model",
}


def with_network(baselines: Mapping[str, Any], scores: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the baselines with the entry `network`: per split the skill, 1 - error / error of the best baseline, and
    MASE of forecasts where the run has the metric mae. `scores`: loss and metrics of the network by split."""
    judged = {}
    for split in SPLITS:
        values = scores.get(split, {})
        if (comparison := _compared(baselines, split, values)) is None:
            continue
        metric, own, others = comparison
        scale, mae = number_in(baselines.get("scale")), number_in(values.get("mae"))
        mase = {"mase": mae / scale} if scale and mae is not None else {}
        skills = [skill for value in others.values() if (skill := _skill(metric, own, value)) is not None]
        judged[split] = {**({"skill": min(skills)} if skills else {}), **mase}
    return {**baselines, "network": judged}


def errors_beside(result: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    """Return a metric, and its value of each baseline on the test split, or without one on validation; empty for runs
    without baselines."""
    for split in reversed(SPLITS):
        if (comparison := _of_result(result, split)) is not None:
            return comparison[0], comparison[2]
    return "", {}


def comparisons(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each split and `RMSE 0.31; last value 0.52, season of 24: 0.44`, for runs with baselines."""
    for split in SPLITS:
        if (comparison := _of_result(result, split)) is not None:
            metric, own, others = comparison
            scores = {name: format_score(metric, value) for name, value in others.items()}
            beside = ", ".join(f"{name}{':' if name[-1:].isdigit() else ''} {text}" for name, text in scores.items())
            yield split, f"{in_a_line(metric)} {format_score(metric, own)}; {beside}"


def beside(errors: Mapping[str, Mapping[str, float]], metrics: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the value of each baseline by the metrics that a network shares with them. `errors`: of one split."""
    shared = {metric: {n: e[metric] for n, e in errors.items() if metric in e} for metric in COMPARED}
    return {metric: values for metric, values in shared.items() if values and metric in metrics}


def loss_fall(losses: Mapping[int, float]) -> float | None:
    """Return the fraction by which the least validation loss fell in the last part of a run; None where there are too
    few validations. `losses`: by iteration."""
    last = max(losses, default=0)
    before = [loss for step, loss in losses.items() if step <= (1 - LAST_PART) * last]
    after = [loss for step, loss in losses.items() if step > (1 - LAST_PART) * last]
    if len(losses) < LEAST_VALIDATIONS or not before or not after or not min(before) > 0:
        return None
    return 1.0 - min(after) / min(before)


def closing_warning(result: Mapping[str, Any]) -> str:
    """Return the warning that a finished run begins its outcome with: the network is worse than an answer without one,
    or hardly better, or its curves show something wrong, or it still learns fast. Empty where nothing is wrong."""
    comparison = next((found for split in reversed(SPLITS) if (found := _of_result(result, split))), None)
    split = next((split for split in reversed(SPLITS) if _of_result(result, split)), "")
    fall, is_whole = number_in(result.get("loss_fall")), str(result.get("reason", "")).endswith(COMPLETED)
    falls = is_whole and fall is not None and fall >= FAST_FALL
    if comparison is not None:
        metric, own, others = comparison
        skills = {name: skill for name, value in others.items() if (skill := _skill(metric, own, value)) is not None}
        short = {name: skill for name, skill in skills.items() if skill <= LEAST_SKILL.get(name, 0.0)}
        if short:
            trivial = [name for name in short if name in TRIVIAL and short[name] <= 0]
            name = min(trivial or short, key=lambda name: short[name])
            how = "no better than" if short[name] <= 0 else "hardly better than"
            scores = f"{in_a_line(metric)} {format_score(metric, own)} against {format_score(metric, others[name])}"
            instead = INSTEAD.get(name, f"repeating the values of the last {name} steps")
            return f"The network is {how} {instead}: {scores} on the {split} split. {_way_out(result, falls=falls)}"
        if min(skills.values(), default=0.0) >= GOOD_SKILL:
            return ""
    if shown := _shown(result):
        return shown
    if not falls or fall is None:
        return ""
    return (
        f"The loss still fell when the run ended, by {format_percent(fall)} in its last fifth: train longer (more "
        "epochs), or with a higher learn rate."
    )


def _shown(result: Mapping[str, Any]) -> str:
    """Return the sentence on what is wrong with the curves of a run; empty where nothing is."""
    finding = result.get("finding")
    return str(finding.get("text", "")) if isinstance(finding, dict) else ""


def _way_out(result: Mapping[str, Any], *, falls: bool) -> str:
    if shown := _shown(result):
        return shown
    if falls:
        return "The loss still fell when the run ended: train longer (more epochs), or with a higher learn rate."
    if "season" in (result.get("baselines") or {}):
        return "Train longer, give it more lags or other inputs, or use that forecast."
    return "Train longer, try another learn rate, or look at the data: do the inputs tell the answer?"


def _skill(metric: str, own: float, other: float) -> float | None:
    """Return 1 - error / error of the other; None where that makes no error."""
    errors = (own, other) if is_better_low(metric) else (1.0 - own, 1.0 - other)
    if errors[1] <= 0:
        return 0.0 if errors[0] <= 0 else None
    return 1.0 - errors[0] / errors[1]


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
