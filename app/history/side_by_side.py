"""The rows of a comparison: facts, figures, the network and every option that any of the runs names."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netwright.app.history.runs_model import figure_of, label_of, letters_of, option_label, state_in_words, text_of
from netwright.engine.project.options.metric_options import is_better_low
from netwright.engine.runs.query import option_names, score_names
from netwright.engine.runs.run_options import in_order
from netwright.engine.runs.summary import RunSummary

FACTS = ("created", "seconds", "environment", "epochs")


@dataclass(frozen=True)
class Row:
    """One thing of every run. `path` is the `--set` path of an option."""

    label: str
    values: tuple[str, ...]
    path: str = ""
    best: frozenset[int] = frozenset()
    """The runs with the best value of a loss or metric, by number; none where all are equal."""

    @property
    def differs(self) -> bool:
        """Whether the runs do not have all the same."""
        return len(set(self.values)) > 1


def rows_of(runs: Sequence[RunSummary]) -> list[Row]:
    """Every row, those in which runs differ and the others."""
    return [*_facts(runs), *_options(runs)]


def _facts(runs: Sequence[RunSummary]) -> Iterator[Row]:
    yield Row("State", tuple(state_in_words(run.state)[0] for run in runs))
    for name in FACTS:
        yield Row(label_of(name), tuple(text_of(run, name) for run in runs))
    for name in score_names(runs):
        texts = tuple(figure_of(name, run.scores.get(name)) for run in runs)
        yield Row(label_of(name), texts, best=_best(name, [run.scores.get(name) for run in runs]))
    if letters := letters_of(runs):
        yield Row("Network", tuple(letters.get(run.network, "") for run in runs))


def _best(name: str, values: Sequence[float | None]) -> frozenset[int]:
    """Return which values of a loss or metric are the best; none where all that are known are equal."""
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    if len(set(numbers)) < 2:
        return frozenset()
    metric = name.rpartition(".")[2]
    best = min(numbers) if metric == "loss" or is_better_low(metric) else max(numbers)
    return frozenset(number for number, value in enumerate(values) if value == best)


def _options(runs: Sequence[RunSummary]) -> Iterator[Row]:
    for path in in_order(option_names(runs)):
        yield Row(option_label(path), tuple(run.option_text(path) for run in runs), path)
