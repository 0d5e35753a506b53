"""Metrics of groups of samples: of a class, a folder, a kind of file, or the values of a column."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from netwright.engine.analysis.per_sample import SampleScores
from netwright.engine.analysis.scores import Measures, draws, interval, measures_of, wilson
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.text import format_number
from netwright.engine.data.loading.open_data import open_source
from netwright.engine.data.sources.source import Array
from netwright.engine.data.tables.csv_file import Columns
from netwright.engine.project.data import DataOptions

MOST_GROUPS = 50
MOST_VALUES = 12
"""Number of different numbers up to which each is a group; more are divided into quarters."""
QUARTERS = 4
LEFT_OUT = frozenset({"f-score"})
"""Metrics that mean little where a group has samples of few classes."""
EMPTY = "(empty)"
CLASS, FOLDER, KIND = "class", "folder", "file type"
"""Names of what is no column."""

Values = Mapping[str, Sequence[Any] | Array]


def values_of(
    names: Sequence[str] | None, columns: Values, classes: Sequence[str] | None, keys: Array | None
) -> Values:
    """Return the values by which samples can be grouped, one per sample: their class, the folder and the type of
    their file, the group that the split goes by, and columns."""
    groupings: dict[str, Sequence[Any] | Array] = {}
    if classes is not None:
        groupings[CLASS] = classes
    if names is not None:
        paths = [PurePath(name) for name in names]
        if len({path.parent for path in paths}) > 1:
            groupings[FOLDER] = [str(path.parent) for path in paths]
        if len({path.suffix.lower() for path in paths}) > 1:
            groupings[KIND] = [path.suffix.lower() for path in paths]
    if keys is not None and len(keys) and len(np.unique(keys)) < len(keys):
        groupings["group"] = keys
    return {**groupings, **{name: values for name, values in columns.items() if name not in groupings}}


def column_values(options: DataOptions, base: Path, response: str) -> dict[str, Array | tuple[str, ...]]:
    """Return the values of the columns of a table by name, one per sample, also of those that are no inputs; none for
    other data. `response` names the columns that the network predicts. Raises `UserError`."""
    wider = options.replace(left_out="", split="random", response=response) if options.source == "table" else options
    outline = open_source(options if wider.problems() else wider, base).outline
    parts = [part.raw for part in getattr(outline.raw, "outlines", (outline,))]
    tables = [part for part in parts if isinstance(part, Columns)]
    if not tables or len(tables) < len(parts):
        return {}
    values: dict[str, Array | tuple[str, ...]] = {}
    for name in tables[0].names:
        if all(name in table.numbers for table in tables):
            values[name] = np.concatenate([table.numbers[name] for table in tables])
        elif all(name in table.texts for table in tables):
            values[name] = tuple(text for table in tables for text in table.texts[name])
    return values


def groups(by: str, values: Values, targets: Sequence[Mapping[str, Any]], samples: SampleScores) -> dict[str, Any]:
    """Return the metrics of each group of samples, with 95 % intervals. `targets` are those of the evaluation. Raises
    `UserError` where there is no such thing to group by."""
    if by not in values:
        choices = ", ".join(map(quoted, [*values][:12])) or "nothing"
        raise UserError(
            f"The samples cannot be grouped by {quoted(by)}.{did_you_mean(by, [*values])} There is {choices}."
        )
    labels, order = group_labels(np.asarray(values[by]))
    order = [*targets[0]["classes"]] if by == CLASS else order
    names, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    largest: list[int] = np.argsort(-counts, kind="stable")[:MOST_GROUPS].tolist()
    ranks = {name: place for place, name in enumerate(order)}
    in_order = sorted(largest, key=lambda group: ranks.get(str(names[group]), len(ranks)))
    tables = []
    for target, arrays in zip(targets, samples.outputs, strict=True):
        measures = measures_of(target["task"], target["classes"], arrays)
        if measures is None or len(measures.rows) != len(labels):
            continue
        rows = [_group(str(names[group]), measures, np.flatnonzero(places == group)) for group in in_order]
        whole = _shown(measures.of(measures.rows.sum(0)))
        tables.append(
            {"name": target["name"], "whole": {name: float(value) for name, value in whole.items()}, "groups": rows}
        )
    note = f"The {MOST_GROUPS} largest of {len(names):,} groups." if len(names) > MOST_GROUPS else ""
    return {"by": by, "targets": tables, "note": note}


def _group(name: str, measures: Measures, places: Array) -> dict[str, Any]:
    rows = measures.rows[places]
    sums = rows.sum(0)
    values = {metric: float(value) for metric, value in _shown(measures.of(sums)).items()}
    replicates = _shown(measures.of(draws(rows)))
    ends = {metric: interval(values) for metric, values in replicates.items()}
    if measures.answers is not None:
        answers = measures.answers(sums)
        ends["accuracy"] = wilson(values["accuracy"] * answers, answers).tolist()
    return {"group": name, "samples": len(places), "metrics": values, "intervals": ends}


def _shown(metrics: Mapping[str, Array]) -> dict[str, Array]:
    return {name: value for name, value in metrics.items() if name not in LEFT_OUT}


def group_labels(values: Array) -> tuple[Array, list[str]]:
    """Return the group of each sample (N, texts), and the groups in order: the values themselves, the largest group
    first, or quarters of many different numbers in theirs."""
    if values.dtype.kind not in "iufb":
        return np.array([str(value) or EMPTY for value in values.tolist()]), []
    numbers = values.astype(np.float64)
    different = np.unique(numbers[~np.isnan(numbers)])
    if len(different) <= MOST_VALUES:
        labels = [EMPTY if np.isnan(value) else f"{value:g}" for value in numbers.tolist()]
        return np.array(labels), [f"{value:g}" for value in different.tolist()]
    edges = np.unique(np.nanquantile(numbers, np.linspace(0, 1, QUARTERS + 1)))
    place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2).tolist()
    names = [f"{format_number(low, 4)} to {format_number(high, 4)}" for low, high in pairwise(edges.tolist())]
    labels = [EMPTY if np.isnan(value) else names[at] for value, at in zip(numbers.tolist(), place, strict=True)]
    return np.array(labels), names
