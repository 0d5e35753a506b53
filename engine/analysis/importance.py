"""Importance of the columns for a network of tables: permutation importance and partial dependence.

Breiman: Random forests, 2001. Friedman: Greedy function approximation, 2001. Goldstein et al.: Peeking inside the black
box, 2015, for the spread of the curves of single samples.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

import numpy as np
import torch

from netwright.engine.analysis.activations import Found
from netwright.engine.analysis.subject import Subject
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.data.sources.source import Array
from netwright.engine.models.trained_model import outputs_in_order
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.preparation import ColumnPreparation

REPEATS = 10
"""Times that each column is shuffled."""
MOST_SAMPLES = 5000
MOST_CURVES = 500
"""Samples whose curves a partial dependence is the mean of."""
GRID = 24
ENDS = (0.05, 0.95)
"""Percentiles of a column between which a curve goes, as in scikit-learn."""
SPREAD = (10, 90)
"""Percentiles of the curves of single samples."""
BATCH = 4096
SEED = 0
MOST_CATEGORIES = 30


@dataclass(frozen=True)
class Column:
    """A column: the input that it belongs to, the numbers that it becomes, and how it was fitted."""

    name: str
    input: int
    numbers: Array
    prepared: ColumnPreparation | None


def columns_of(subject: Subject, method: str) -> list[Column]:
    """Return the columns of all inputs. Raises `UserError` for a network that takes no table."""
    columns = []
    for number, input_part in enumerate(subject.record.inputs):
        if input_part.axes != ("C",) or input_part.content != "numbers":
            raise UserError(
                f"{method} is for tables; the input '{input_part.name}' of this network is no row of a table. "
                "Use occlusion or integrated_gradients, which are for single samples of any kind."
            )
        start = 0
        for column in input_part.columns:
            columns.append(Column(column.name, number, np.arange(start, start + len(column.names)), column))
            start += len(column.names)
        if not input_part.columns:
            columns += [Column(f"{at + 1}", number, np.array([at]), None) for at in range(input_part.sizes[0] or 0)]
    return columns


def permutation(subject: Subject) -> Found:
    """Return how much worse the network gets where the values of a column are shuffled over samples of the split.

    `told["features"]`: the largest first, with the mean and the standard deviation over `REPEATS` shuffles of the drop
    of the accuracy, or of the rise of the RMSE for numbers.
    """
    columns = columns_of(subject, "permutation")
    places = subject.places(MOST_SAMPLES)
    inputs, targets = subject.inputs_at(places)
    generator = np.random.default_rng(SEED)
    measured = "RMSE" if subject.record.targets[0].task == "numbers" else "accuracy"
    sign = 1.0 if measured == "RMSE" else -1.0

    def shuffled() -> Iterator[Tensors]:
        yield inputs
        for column in columns:
            for _ in range(REPEATS):
                order = torch.from_numpy(generator.permutation(len(places)))
                changed = inputs[column.input].clone()
                changed[:, column.numbers] = changed[order][:, column.numbers]
                yield _with(inputs, column.input, changed)

    measures = (_measure(subject, answers, targets[0]) for answers in _answers(subject, shuffled()))
    best = next(measures)
    features = []
    for number, column in enumerate(columns):
        worse = [sign * (measure - best) for measure in islice(measures, REPEATS)]
        features.append((float(np.mean(worse)), float(np.std(worse)), column.name))
        report(number + 1, len(columns), "columns")
    rows = [{"name": name, "value": value, "std": std} for value, std, name in sorted(features, reverse=True)]
    facts = {"features": rows, "measured": measured, "base": best, "samples": len(places), "repeats": REPEATS}
    return Found({**facts, "split": subject.split})


def _with(inputs: Tensors, number: int, changed: torch.Tensor) -> Tensors:
    return tuple(changed if at == number else x for at, x in enumerate(inputs))


def _replaced(x: torch.Tensor, column: Column, row: Array) -> torch.Tensor:
    """Return an input whose samples all have the numbers of a row in a column."""
    changed = x.clone()
    changed[:, column.numbers] = torch.from_numpy(row).to(x.dtype)
    return changed


def _answers(subject: Subject, changes: Iterable[Tensors]) -> Iterator[Array]:
    """Yield the answers of the network (N, K) for all samples, per change of their inputs: probabilities of classes or
    labels, or numbers. They are computed on all devices of the model."""

    def batches() -> Iterator[tuple[bool, Tensors]]:
        for inputs in changes:
            starts = range(0, len(inputs[0]), BATCH)
            yield from ((start == starts[-1], tuple(x[start : start + BATCH] for x in inputs)) for start in starts)

    pieces: list[Array] = []
    for (is_last, _), outputs in outputs_in_order(subject.trained, subject.answering, batches(), itemgetter(1)):
        answers = present(subject.record, [x.numpy() for x in outputs])[0]
        values = answers.values if answers.probabilities is None else answers.probabilities
        pieces.append(np.asarray(values, np.float64).reshape(len(outputs[0]), -1))
        if is_last:
            yield np.concatenate(pieces)
            pieces.clear()


def _measure(subject: Subject, answers: Array, target: torch.Tensor) -> float:
    """Return the accuracy, or the RMSE of numbers."""
    true = target.numpy()
    match subject.record.targets[0].task:
        case "classes":
            is_there = true != IGNORED
            return float((answers.argmax(1) == true)[is_there].mean())
        case "labels":
            is_there = ~np.isnan(true)
            return float(((answers > subject.record.targets[0].threshold) == (true > 0.5))[is_there].mean())
    return float(np.sqrt(np.nanmean(np.square(answers - true.reshape(answers.shape)))))


def partial_dependence(subject: Subject, name: str = "") -> Found:
    """Return the mean answer of the network over samples of the split whose value of a column is replaced by each of a
    grid, for all columns or the one named.

    Arrays per entry n of `told["columns"]`: `grid_n` (G), `mean_n`, `low_n`, `high_n` (G, K); low and high are
    percentiles of the curves of single samples. A column of categories has `labels` for its grid.
    """
    columns = columns_of(subject, "partial_dependence")
    if name:
        names = [column.name for column in columns]
        if name not in names:
            hint = did_you_mean(name, names)
            raise UserError(f"The network takes no column {quoted(name)}.{hint} It takes {', '.join(names[:12])}.")
        columns = [columns[names.index(name)]]
    inputs, _ = subject.inputs_at(subject.places(MOST_CURVES))
    first = subject.record.targets[0]
    findings = Found({"columns": [], "outputs": list(first.classes or first.columns) or [first.source or first.name]})
    findings.told |= {"samples": len(inputs[0]), "split": subject.split, "is_share": first.task != "numbers"}
    for number, column in enumerate(columns):
        rows, grid, labels = _grid(column, inputs[column.input].numpy())
        changes = (_with(inputs, column.input, _replaced(inputs[column.input], column, row)) for row in rows)
        whole = np.stack([*_answers(subject, changes)])  # grid, samples, outputs
        low, high = np.percentile(whole, SPREAD, axis=1)
        findings.arrays |= {f"grid_{number}": grid, f"mean_{number}": whole.mean(1)}
        findings.arrays |= {f"low_{number}": low, f"high_{number}": high}
        spread = float(np.ptp(whole.mean(1), axis=0).max())
        findings.told["columns"].append({"name": column.name, "labels": labels, "spread": spread})
        report(number + 1, len(columns), "columns")
    return findings


def _grid(column: Column, x: Array) -> tuple[Array, Array, list[str]]:
    """Return the numbers (G, n) that a column takes one after the other, their places on the axis, and the labels of
    categories."""
    prepared = column.prepared
    if prepared is not None and prepared.kind == "category":
        labels = list(prepared.categories[:MOST_CATEGORIES])
        count = len(labels)
        if prepared.encoding == "one-hot":
            return np.eye(len(column.numbers))[:count], np.arange(count, dtype=float), labels
        return np.arange(1.0, count + 1)[:, None], np.arange(count, dtype=float), labels
    values = x[:, column.numbers].astype(np.float64)
    if len(column.numbers) > 1:  # the parts of a date: whole rows that occur
        order = values[:, -1].argsort()[np.linspace(0, len(values) - 1, min(GRID, len(values))).round().astype(int)]
        return values[order], np.arange(len(order), dtype=float), []
    different = np.unique(values)
    if len(different) > GRID:
        low, high = np.quantile(values, ENDS).tolist()
        different = np.linspace(low, high, GRID)
    return different[:, None], different, []
