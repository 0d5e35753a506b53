"""Whether the chosen metrics go with the data, and whether what goes by a metric names one that is chosen."""

from collections.abc import Iterator

from engine.data.facts import DataFacts
from engine.network.problems import Problem
from engine.project.options.metrics import METRICS, not_chosen
from engine.project.training import TrainingOptions


def metric_problems(options: TrainingOptions, facts: DataFacts) -> Iterator[Problem]:
    """Errors of the metrics, given the data."""
    known = options.metrics_for(facts.task)
    for name in known:
        if facts.task not in METRICS[name].tasks:
            fitting = ["auto", *(other for other, kind in METRICS.items() if facts.task in kind.tasks)]
            way_out = f"Use {', '.join(fitting[:-1])} or {fitting[-1]}."
            message = f"'{name}' does not fit data whose responses are {facts.task}. {way_out}"
            yield Problem("error", "", "", "training.metrics", message)
    for field in ("objective_metric", "target_metric"):
        name = getattr(options, field)
        if name in options.possible_metrics and name not in known:
            yield Problem("error", "", "", f"training.{field}", not_chosen(name, known))
    if "top-k" in known and options.top_k >= len(facts.classes) > 0:
        count = len(facts.classes)
        message = f"Of {count:,} classes the right one is always among {options.top_k:,}. Use at most {count - 1:,}."
        yield Problem("error", "", "", "training.top_k", message)
