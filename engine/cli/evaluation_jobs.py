"""Requests of the window about evaluations: scores, decisions, groups, single samples, and two runs side by side."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.cli.evaluate import other_data

if TYPE_CHECKING:
    from netwright.engine.evaluation.evaluate import Evaluation, EvaluationData

Values = Mapping[str, Any]


def evaluate(values: Values) -> dict[str, Any]:
    """Evaluate the run `path` on a `split`, or on the other data `source`; the options are those of the command
    `evaluate`: `fresh`, `thresholds`, `calibrates`, `stores`, `resets`, `by`. `groupings` of the answer names what
    the samples can be grouped by."""
    from netwright.engine.evaluation.evaluate import Deciding

    evaluation = _evaluation(values)
    thresholds = [str(text) for text in values.get("thresholds", ())]
    flags = {name: values.get(name) is True for name in ("calibrates", "stores", "resets")}
    found = evaluation.decided(Deciding(thresholds, **flags), fresh=values.get("fresh") is True)
    if by := str(values.get("by") or ""):
        found["groups"] = evaluation.grouped(by)
    return {**found, "groupings": list(evaluation.group_values(evaluation.result()[1]))}


def samples(values: Values) -> dict[str, Any]:
    """Return single samples of an evaluation, with pictures in `folder`; see
    `netwright.engine.evaluation.sample_views`."""
    from netwright.engine.evaluation.sample_views import look

    return look(_evaluation(values), values, Path(values["folder"]))


def compare_runs(values: Values) -> dict[str, Any]:
    """Compare the runs `path` and `against`."""
    from netwright.engine.evaluation.compare import compare

    return compare(Path(values["path"]), Path(values["against"]), str(values.get("split", "")), _other(values))


def _evaluation(values: Values) -> "Evaluation":
    from netwright.engine.evaluation.evaluate import Evaluation
    from netwright.engine.evaluation.trained import TrainedNetwork

    trained = TrainedNetwork.open(Path(values["path"]), weights_kept=str(values.get("weights", "")))
    return Evaluation(trained, str(values.get("split", "")), _other(values))


def _other(values: Values) -> "EvaluationData | None":
    source = str(values.get("source") or "")
    return other_data(Path(values["path"]), source, ()) if source else None
