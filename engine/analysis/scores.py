"""Scores of classes, labels and numbers, from counts and errors that a pass over the data gathers.

Intervals of a proportion of samples, such as the accuracy, are Wilson's (`wilson`). The others are percentiles of a
bootstrap over samples (Efron and Tibshirani, An Introduction to the Bootstrap, 1993), with a fixed seed, so that the
same results give the same interval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netwright.engine.core.metrics import f_score, iou, precision, recall
from netwright.engine.data.sources.source import Array

DRAWS = 1000
NORMAL_QUANTILE = 1.959963984540054
"""Quantile of the standard normal distribution between whose negative and which 95 % lie."""
INTERVAL = (2.5, 97.5)
"""Percentiles of the ends of an interval: 95 % of the draws lie between."""
MOST_DRAWN = 200_000_000
"""Number of samples that are drawn in all; of more samples there are fewer draws."""
LEAST_DRAWS = 100
BINS = 15
"""Bins of a calibration, as in Guo et al., On Calibration of Modern Neural Networks, 2017."""
SEED = 20_240_101
MOST_COUNTED = 30
"""Number of classes up to which scores of classes are among the metrics of groups."""
LOWER_IS_BETTER = frozenset({"loss", "rmse", "mae", "wer", "cer"})
SCORES = {"precision": precision, "recall": recall, "f1": f_score(), "iou": iou}


def ratio(part: Array, whole: Array) -> Array:
    """Return quotients, 0 where the divisor is 0, as the metrics of training do."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=np.asarray(whole) != 0)


@dataclass
class Perplexity:
    """The number of tokens that a language model hesitates between: the exponential of the mean negative log likelihood
    of a token."""

    total: float = 0.0
    count: int = 0

    def update(self, scores: Array, tokens: Array) -> None:
        """Add the scores (N, T, V), logits, for tokens (N, T), of which negative ones do not count."""
        lowered = scores - scores.max(-1, keepdims=True)
        classes = np.take_along_axis(lowered, np.maximum(tokens, 0)[..., np.newaxis], -1)[..., 0]
        losses = np.log(np.exp(lowered).sum(-1)) - classes
        self.total += float(losses[tokens >= 0].sum(dtype=np.float64))
        self.count += int((tokens >= 0).sum())

    @property
    def value(self) -> float:
        """The perplexity of all tokens so far."""
        return float(np.exp(self.total / max(1, self.count)))


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Numbers of correct, predicted and actual ones per class (..., C)."""

    correct: Array
    predicted: Array
    actual: Array

    def scores(self) -> dict[str, Array]:
        """Return precision, recall, F1 and IoU (correct / (predicted + actual - correct)) of each class (..., C)."""
        return {name: ratio(*metric(self.correct, self.predicted, self.actual)) for name, metric in SCORES.items()}

    @property
    def is_there(self) -> Array:
        """Whether a class occurs in targets or predictions (..., C)."""
        return np.asarray(self.predicted + self.actual > 0)

    def mean(self, score: str) -> Array:
        """Return the mean of a score over the classes that occur (...); 0 where none does."""
        return ratio((self.scores()[score] * self.is_there).sum(-1), self.is_there.sum(-1))

    @classmethod
    def of_table(cls, table: Array) -> "ClassCounts":
        """Return the counts of confusion matrices (..., C, C), true classes in rows."""
        return cls(np.diagonal(table, axis1=-2, axis2=-1), table.sum(-2), table.sum(-1))


def table_of(true: Array, predicted: Array, classes: int) -> Array:
    """Return the confusion matrix (C, C) of classes (N), true ones in rows."""
    return np.bincount(true * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def per_class(
    counts: ClassCounts, names: Sequence[str], replicates: ClassCounts | None, *, is_sample: bool
) -> list[dict[str, Any]]:
    """Return a row per class: its scores, each with an interval where `replicates`, draws of counts (B, C), are
    given; `support` is the number of its samples. `is_sample`: each answer is that of a sample, so that precision and
    recall are proportions of samples."""
    scores = counts.scores()
    ends = {name: _ends(values) for name, values in replicates.scores().items()} if replicates is not None else {}
    if is_sample:
        ends["precision"] = wilson(counts.correct, counts.predicted).tolist()
        ends["recall"] = wilson(counts.correct, counts.actual).tolist()
    return [
        {
            "class": name,
            **{score: float(values[place]) for score, values in scores.items()},
            "support": int(counts.actual[place]),
            **{f"{score}_interval": pair[place] for score, pair in ends.items()},
        }
        for place, name in enumerate(names)
    ]


def wilson(part: Array, whole: Array) -> Array:
    """Return the ends (..., 2) of the 95 % interval of proportions `part` / `whole` (...) of independent samples: 0 to
    1 where there is no sample.

    Wilson, Probable Inference, the Law of Succession, and Statistical Inference, Journal of the American Statistical
    Association 22, 1927. Of 90 right answers of 90 a bootstrap tells that the accuracy is 100 % for sure; this, 95.9 %
    to 100 %.
    """
    count, share = np.asarray(whole, np.float64), ratio(part, whole)
    square = NORMAL_QUANTILE**2
    middle = (share * count + square / 2) / (count + square)
    half = NORMAL_QUANTILE * np.sqrt(share * (1 - share) * count + square / 4) / (count + square)
    ends: Array = np.clip(np.stack([middle - half, middle + half], axis=-1), 0.0, 1.0)
    return ends


def _ends(values: Array) -> list[list[float]]:
    """Return the ends of the interval of each column of draws (B, C)."""
    ends: list[list[float]] = np.percentile(values, INTERVAL, axis=0).T.tolist()
    return ends


def interval(values: Array) -> list[float]:
    """Return the ends of the interval of draws (B)."""
    ends: list[float] = np.percentile(values, INTERVAL).tolist()
    return ends


def drawn_of_table(table: Array) -> tuple[ClassCounts, Array]:
    """Return class counts (B, C) and accuracies (B) of bootstrap draws of the samples that a confusion matrix counts.

    Samples of one cell are alike, so a draw of all samples is one of the counts of cells: a multinomial one.
    """
    classes, total = len(table), int(table.sum())
    rows, columns = np.nonzero(table)
    cells = np.random.default_rng(SEED).multinomial(total, table[rows, columns] / total, DRAWS)
    own = rows == columns
    onto = [np.zeros((len(rows), classes)) for _ in range(3)]
    onto[0][np.flatnonzero(own), rows[own]] = 1
    onto[1][np.arange(len(rows)), columns] = 1
    onto[2][np.arange(len(rows)), rows] = 1
    counts = [cells @ matrix for matrix in onto]
    return ClassCounts(*counts), counts[0].sum(1) / total


def draws(sums: Array) -> Array:
    """Return the sums (B, ...) of bootstrap draws of samples, of which each has its numbers in `sums` (N, ...)."""
    count, flat = len(sums), sums.reshape(len(sums), -1)
    times = max(LEAST_DRAWS, min(DRAWS, MOST_DRAWN // max(1, count)))
    generator = np.random.default_rng(SEED)
    replicates = np.stack(
        [np.bincount(generator.integers(count, size=count), minlength=count) @ flat for _ in range(times)]
    )
    return replicates.reshape(times, *sums.shape[1:])


@dataclass
class Calibration:
    """Confidence and share of right answers, in bins of equal width of the confidence.

    The confidence of an answer is its probability. The expected calibration error is the mean of the differences,
    weighted by the answers of the bins.
    """

    counts: Array = field(default_factory=lambda: np.zeros(BINS, np.int64))
    confidences: Array = field(default_factory=lambda: np.zeros(BINS))
    correct: Array = field(default_factory=lambda: np.zeros(BINS))

    def update(self, confidence: Array, is_right: Array) -> None:
        """Add answers (N)."""
        place = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
        self.counts += np.bincount(place, minlength=BINS)
        self.confidences += np.bincount(place, confidence, BINS)
        self.correct += np.bincount(place, is_right, BINS)

    def write(self) -> dict[str, Any]:
        """Return the errors, and the bins that have answers."""
        total = int(self.counts.sum())
        gaps = np.abs(ratio(self.correct - self.confidences, self.counts))
        bins = [
            {
                "low": place / BINS,
                "high": (place + 1) / BINS,
                "count": int(count),
                "confidence": float(self.confidences[place] / count),
                "accuracy": float(self.correct[place] / count),
            }
            for place, count in enumerate(self.counts.tolist())
            if count
        ]
        return {
            "expected_error": float((gaps * self.counts).sum() / total) if total else 0.0,
            "largest_error": float(gaps.max(initial=0.0)),
            "bins": bins,
        }


@dataclass
class Ranking:
    """The samples with the largest values, of all that were shown; each has an entry as JSON."""

    most: int
    _found: list[tuple[float, int, dict[str, Any]]] = field(default_factory=list)

    def update(self, values: Array, first: int, describe: Callable[[int], dict[str, Any]]) -> None:
        """Add samples with the numbers from `first` on; `describe` returns the entry of one by its place (0 to N-1)."""
        clean = np.nan_to_num(values, nan=np.inf, posinf=np.inf)
        places = np.argsort(-clean, kind="stable")[: self.most].tolist()
        least = self._found[-1][0] if len(self._found) == self.most else -np.inf
        new = [(float(clean[at]), first + at, describe(at)) for at in places if clean[at] > least]
        self._found = sorted([*self._found, *new], key=lambda entry: (-entry[0], entry[1]))[: self.most]

    def write(self) -> list[dict[str, Any]]:
        """Return the entries, the largest value first, with the number of the sample in the split as `place`."""
        return [{"place": place, **entry} for _, place, entry in self._found]


def residuals(errors: Array) -> Mapping[str, Any]:
    """Return a summary of errors (N), predicted minus true: bias, spread, RMSE, MAE, largest, and percentiles."""
    at = (0, 5, 25, 50, 75, 95, 100)
    return {
        "mean": float(errors.mean()),
        "std": float(errors.std()),
        "rmse": float(np.sqrt(np.square(errors).mean())),
        "mae": float(np.abs(errors).mean()),
        "largest": float(np.abs(errors).max()),
        "percentiles": {str(place): value for place, value in zip(at, np.percentile(errors, at).tolist(), strict=True)},
    }


@dataclass(frozen=True, eq=False)
class Measures:
    """The sums that each sample adds to the metrics of an output.

    `rows` (N, K) are added up over samples; `of` returns the metrics by name of sums (..., K). `answers` returns the
    number of samples that the accuracy is a proportion of; None where it is no proportion of samples.
    """

    rows: Array
    of: Callable[[Array], dict[str, Array]]
    answers: Callable[[Array], Array] | None = None


def measures_of(task: str, classes: Sequence[str], arrays: Mapping[str, Array]) -> Measures | None:
    """Return the measures of an output from what is kept of its samples (`netwright.engine.analysis.per_sample`);
    None where that does not suffice."""
    if task == "numbers" and "sums" in arrays:
        return Measures(arrays["sums"], _errors)
    if task == "transcripts" and "edits" in arrays:
        return Measures(arrays["edits"], error_rates)
    if task == "labels" and "counts" in arrays:
        return _counted(arrays["counts"], arrays)
    if task == "classes" and "predicted" in arrays and "target" in arrays:
        return _of_classes(arrays, len(classes))
    if task == "classes" and "counts" in arrays:
        return _counted(arrays["counts"], arrays)
    return None


def error_rates(sums: Array) -> dict[str, Array]:
    """Return the error rates of words, and of characters where they are counted, of sums (..., 2 or 4) of edits and of
    words or characters. Of no words at all it is the number of edits, as in jiwer."""
    rates = sums[..., ::2] / np.maximum(1, sums[..., 1::2])
    return dict(zip(("wer", "cer"), np.moveaxis(rates, -1, 0), strict=False))


def _errors(sums: Array) -> dict[str, Array]:
    return {"rmse": np.sqrt(ratio(sums[..., 0], sums[..., 2])), "mae": ratio(sums[..., 1], sums[..., 2])}


def _of_classes(arrays: Mapping[str, Array], count: int) -> Measures:
    """Return accuracy and loss of samples with one class each, with the F-score where there are few classes."""
    target, predicted = arrays["target"], arrays["predicted"]
    there = target >= 0
    if count <= MOST_COUNTED:
        predictions = np.eye(count)[predicted] * there[:, None]
        true = np.eye(count)[np.where(there, target, 0)] * there[:, None]
        return _counted(np.stack([predictions * true, predictions, true], axis=1), arrays)
    is_right = (predicted == target) & there
    rows = np.stack([arrays["loss"] * there, is_right, there], axis=1).astype(np.float64)
    return Measures(
        rows,
        lambda sums: {"accuracy": ratio(sums[..., 1], sums[..., 2]), "loss": ratio(sums[..., 0], sums[..., 2])},
        lambda sums: sums[..., 2],
    )


def _counted(counts: Array, arrays: Mapping[str, Array]) -> Measures:
    """Return the measures of counts (N, 3, C) of correct, predicted and actual ones per class."""
    classes = counts.shape[2]
    is_labels = "predicted" not in arrays and "target" in arrays and arrays["target"].ndim == 2
    is_sample = "predicted" in arrays
    answers = arrays["answers"]
    rows = np.concatenate(
        [(arrays["loss"] * answers)[:, None], answers[:, None], counts.reshape(len(counts), -1)], axis=1
    ).astype(np.float64)

    def of(sums: Array) -> dict[str, Array]:
        correct, predicted, actual = np.moveaxis(sums[..., 2:].reshape(*sums.shape[:-1], 3, classes), -2, 0)
        of_classes = ClassCounts(correct, predicted, actual)
        measures = {"loss": ratio(sums[..., 0], sums[..., 1])}
        if is_labels:
            wrong = predicted.sum(-1) + actual.sum(-1) - 2 * correct.sum(-1)
            return {"accuracy": 1 - ratio(wrong, sums[..., 1]), "f-score": of_classes.mean("f1"), **measures}
        accuracy = {"accuracy": ratio(correct.sum(-1), actual.sum(-1))}
        return {
            **accuracy,
            **({"f-score": of_classes.mean("f1")} if is_sample else {"mean_iou": of_classes.mean("iou")}),
            **measures,
        }

    return Measures(rows, of, (lambda sums: sums[..., -classes:].sum(-1)) if is_sample else None)
