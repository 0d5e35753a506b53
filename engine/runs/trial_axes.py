"""Values and scores of trials as numbers along axes, for plots of an experiment."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from netwright.engine.core.fields import Choice
from netwright.engine.core.text import format_number, format_percent
from netwright.engine.project.experiment import MEASURED, ExperimentOptions, Objective
from netwright.engine.project.options.metric_options import in_a_line, is_share
from netwright.engine.project.parameters import value_text
from netwright.engine.project.project import SECTIONS
from netwright.engine.runs.trial_log import COUNTED, Trial

WIDE = 20.0
"""Ratio of the largest number to the smallest from which the axis of a list of numbers is logarithmic."""
LARGE = 1000.0
"""Numbers from this one on are told without a fraction."""
TINY = 1e-300


@dataclass(frozen=True)
class TrialAxis:
    """One value of the trials, by its path, or one score. `places` are numbers by the number of the trial: values, or
    for texts their place in `categories`; trials without one are left out."""

    name: str
    places: Mapping[int, float]
    categories: tuple[str, ...] = ()
    is_log: bool = False
    is_score: bool = False
    is_whole: bool = False
    """Whether it has no fractions."""

    @property
    def label(self) -> str:
        """Its name for a person: that of the option, or the layer with its field; of a score of the validation the
        metric alone."""
        section, _, rest = self.name.partition(".")
        if self.is_score:
            text = in_a_line(rest) if section == "validation" else f"{section} {in_a_line(rest)}" if rest else section
            return text[:1].upper() + text[1:]
        record = SECTIONS.get(section)
        field = record.fields.get(rest) if record is not None else None
        return field.label if field is not None else rest.replace(".", " ") or self.name

    @property
    def is_percent(self) -> bool:
        """Whether its values are told in per cent."""
        return self.is_score and self.name not in MEASURED and is_share(self.name.rpartition(".")[2])

    @property
    def is_low_better(self) -> bool:
        """Whether a lower value is a better one; False for values that are chosen."""
        return self.is_score and Objective(self.name).is_low_better

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number, apart from each other."""
        if self.categories:
            return -0.5, len(self.categories) - 0.5
        numbers = self.places.values()
        low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
        if low < high:
            return low, high
        return (low / 2, low * 2) if self.is_log else (low - abs(low) / 10 - 1e-9, low + abs(low) / 10 + 1e-9)

    def share(self, place: float) -> float:
        """Return the place of a number between the ends, from 0 to 1."""
        low, high = self.scale
        return ((math.log(max(place, TINY)) if self.is_log else place) - low) / (high - low)

    def place_at(self, share: float) -> float:
        """Return the number at a share of the way between the ends."""
        low, high = self.scale
        place = low + share * (high - low)
        return math.exp(place) if self.is_log else place

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The ends, or their logarithms."""
        low, high = self.ends
        return (math.log(low), math.log(high)) if self.is_log else (low, high)

    def said(self, place: float) -> str:
        """Return a number, or the text that it stands for, as a person reads it."""
        if self.categories:
            return self.categories[min(max(round(place), 0), len(self.categories) - 1)]
        if self.is_percent:
            return format_percent(place, 1)
        return f"{place:,.0f}" if self.is_whole else format_number(place, 4)


def value_words(path: str, value: Any) -> str:
    """Return a value at a path as a person reads it: for an option to choose from, its words in the form."""
    section, _, name = path.partition(".")
    field = SECTIONS[section].fields.get(name) if section in SECTIONS else None
    if isinstance(value, bool):
        return "On" if value else "Off"
    return field.word(value) if isinstance(field, Choice) and isinstance(value, str) else value_text(value)


def axes_of(trials: Sequence[Trial], options: ExperimentOptions, objectives: Sequence[str]) -> list[TrialAxis]:
    """Return the axes of the values that differ between trials, in the order of the definition, and of the
    objectives."""
    parameters = {parameter.path: parameter for parameter in options.parameters}
    paths = dict.fromkeys([*parameters, *(path for trial in trials for path in trial.values)])
    axes = []
    for path in paths:
        values = {trial.number: trial.values[path] for trial in trials if path in trial.values}
        parameter = parameters.get(path)
        listed = parameter.values if parameter is not None else ()
        if values:
            axes.append(_value_axis(path, values, listed, is_log=parameter is not None and parameter.is_log))
    for name in objectives:
        scores = {t.number: t.scores[name] for t in trials if t.state in COUNTED and name in t.scores}
        axes.append(TrialAxis(name, {n: s for n, s in scores.items() if math.isfinite(s)}, is_score=True))
    return axes


def _value_axis(path: str, values: Mapping[int, Any], listed: Sequence[Any], *, is_log: bool) -> TrialAxis:
    if all(type(value) in (int, float) and math.isfinite(value) for value in values.values()):
        numbers = {number: float(value) for number, value in values.items()}
        least, most = min(numbers.values()), max(numbers.values())
        is_whole = all(number.is_integer() for number in numbers.values())
        return TrialAxis(path, numbers, is_log=least > 0 and (is_log or most >= WIDE * least), is_whole=is_whole)
    texts = {number: value_words(path, value) for number, value in values.items()}
    distinct = set(texts.values())
    order = [text for text in dict.fromkeys(value_words(path, value) for value in listed) if text in distinct]
    order += sorted(distinct.difference(order))
    places = {text: float(place) for place, text in enumerate(order)}
    return TrialAxis(path, {number: places[text] for number, text in texts.items()}, tuple(order))
