"""Divide samples into training, validation and test splits.

At random: seeded, and stratified for classes. A split gets its share of all samples, rounded half up. Of each class it
gets its share rounded down; what is left over goes one by one to classes, first to those that have nothing in the split
yet, then by the largest fraction lost. So every class is within one sample of its share, and a class whose share comes
to one sample is in the split. Each class keeps at least one sample for training, whatever the shares.

By folds: the samples that are no test samples, sorted by class and shuffled within each, are dealt one by one to the
folds. Folds differ by one sample at most, and by one per class; one of them validates.

By groups, such as the patients of images: all samples of a group are in the same split. Larger groups are placed first,
each where the counts per class and split come closest to the shares (the smallest chi-square statistic).

In order: training, validation, test, with a gap between them; samples of the gaps are in no split.

In time: as the source of windows of time series says (`netwright.engine.data.sources.windows`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import quoted
from netwright.engine.core.text import format_percent
from netwright.engine.data.loading.loaded import CHUNK_BYTES
from netwright.engine.data.sources.source import PIECE, Array, InTime, Outline, index_type, listed
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.sources.source_type import SPLIT_NAMES

Counts = tuple[int, int, int]


@dataclass(frozen=True)
class Rule:
    """How samples are divided: the values of the split options.

    kind: a value of `data.split`. fold: from 1 to `folds`. gap: number of samples.
    """

    kind: str = "random"
    validation_share: float = 0.15
    test_share: float = 0.15
    seed: int = 0
    folds: int = 5
    fold: int = 1
    gap: int = 0


@dataclass(frozen=True, eq=False)
class Division:
    """Samples divided by a rule.

    classes: class of each sample (N), in the order of `names`; zeros where samples have no class each, and then
    `names` is empty. keys: what the rule reads of each sample, names of splits or of groups, or places in an order;
    None where it reads nothing. given: numbers of samples that are in a split already, since it has data of its own;
    they follow the other samples, in this order, and have no keys.
    """

    rule: Rule
    classes: Array
    names: tuple[str, ...] = ()
    keys: Array | None = None
    given: Mapping[str, int] = field(default_factory=dict)
    in_time: InTime | None = None
    """Divides samples that overlap in time, for the rule `in-time`."""

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """Sample indices of each split, ascending. Raises `UserError` where the rule cannot be followed."""
        kind = index_type(len(self.classes))
        return {name: part.astype(kind, copy=False) for name, part in self._parts().items()}

    def _parts(self) -> dict[str, Array]:
        if self.in_time is not None:
            return self.in_time.numbers(*self._shares)
        match self.rule.kind:
            case "column":
                parts = self._named()
            case "k-fold":
                parts = self._folds()
            case "grouped":
                shares = (1.0 - sum(self._shares), *self._shares)
                parts = dict(zip(SPLITS, self._grouped(shares), strict=True))
            case "ordered":
                parts = ordered(len(self._divided), self.keys, self._shares, self.rule.gap)
            case _:
                parts = split(self._divided, counts(self._sizes, *self._shares), self.rule.seed)
        start = len(self._divided)
        for name, count in self.given.items():
            parts[name] = np.arange(start, start + count)
            start += count
        return parts

    @cached_property
    def counts(self) -> list[Counts]:
        """Number of samples per class and split."""
        if self.rule.kind == "random" and not self.given:
            return counts(self._sizes, *self._shares)
        each = [np.bincount(self.classes[self.numbers[name]], minlength=len(self._sizes)) for name in SPLITS]
        return [(int(a), int(b), int(c)) for a, b, c in zip(*each, strict=True)]

    @property
    def samples(self) -> dict[str, int]:
        """Number of samples per split."""
        sums = [sum(column) for column in zip(*self.counts, strict=True)] or [0, 0, 0]
        return dict(zip(SPLITS, sums, strict=True))

    @property
    def codes(self) -> bytes:
        """The split of each sample, one byte each: its index in `SPLITS`, or 3 for samples in none."""
        codes = np.full(len(self.classes), len(SPLITS), np.uint8)
        for code, name in enumerate(SPLITS):
            codes[self.numbers[name]] = code
        return codes.tobytes()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on classes that cannot be divided, and on samples that are in no split or taken at random."""
        if self.in_time is not None:
            return tuple(self.in_time.notes(*self._shares))
        notes = []
        counts = zip(self.names, self.counts, strict=True) if self.names else ()
        alone = [quoted(name) for name, count in counts if count == (1, 0, 0)]
        if alone and self.rule.kind == "random" and any(self._shares):
            have = "class has one sample, which is" if len(alone) == 1 else "classes have one sample each, which is"
            notes.append(f"{len(alone):,} {have} in training since it cannot be divided: {listed(alone)}.")
        if left_out := len(self.classes) - sum(self.samples.values()):
            notes.append(f"In the gaps between the splits, and in none of them: {plural(left_out, 'sample')}.")
        if self.rule.kind == "column":
            notes += [
                f"The data names no {name} split: {format_percent(share)} of its training split, at random, are taken."
                for name, share in self._missing_shares.items()
            ]
        return tuple(notes)

    @cached_property
    def _divided(self) -> Array:
        """Classes of the samples that the rule divides."""
        return self.classes[: len(self.classes) - sum(self.given.values())]

    @cached_property
    def _sizes(self) -> list[int]:
        return [int(size) for size in np.bincount(self._divided, minlength=max(1, len(self.names)))]

    @property
    def _shares(self) -> tuple[float, float]:
        """Shares of validation and test; 0 for those that have data of their own."""
        validation = 0.0 if "validation" in self.given else self.rule.validation_share
        return validation, 0.0 if "test" in self.given else self.rule.test_share

    def _named(self) -> dict[str, Array]:
        """Return the splits that `keys` name; shares of the training split for those that they do not."""
        parts = {name: np.flatnonzero(self._part_numbers == number) for number, name in enumerate(SPLITS)}
        for name in self.given:
            if count := len(parts[name]):
                are = "sample of the data is" if count == 1 else "samples of the data are"
                raise UserError(
                    f"{count:,} {are} named {name}, and data.{name}_path names other {name} data. Leave one of them "
                    "out."
                )
        if not len(parts["training"]):
            raise UserError("No sample is named train. Name those to learn from so, or divide the data at random.")
        if missing := self._missing_shares:
            training = parts["training"]
            shares = counts(
                np.bincount(self.classes[training], minlength=len(self._sizes)).tolist(),
                missing.get("validation", 0.0),
                missing.get("test", 0.0),
            )
            pieces = split(self.classes[training], shares, self.rule.seed)
            parts |= {name: training[pieces[name]] for name in ("training", *missing)}
        return parts

    @cached_property
    def _part_numbers(self) -> Array:
        """Index of the split that each sample is named for. Raises `UserError` for other names."""
        assert self.keys is not None
        texts, places, times = np.unique(self.keys, return_inverse=True, return_counts=True)
        meant = [SPLIT_NAMES.get(str(text).strip().lower(), "") for text in texts.tolist()]
        if unknown := [
            f"{quoted(str(text))} ({plural(int(count), 'sample')})"
            for text, split_name, count in zip(texts.tolist(), meant, times, strict=True)
            if not split_name
        ]:
            raise UserError(
                f"{plural(len(unknown), 'name')} of splits {'is' if len(unknown) == 1 else 'are'} not known: "
                f"{listed(unknown)}. Expected train or training, val or validation, and test."
            )
        order = np.array([SPLITS.index(name) for name in meant], np.int8)
        return np.asarray(order[places])

    @cached_property
    def _missing_shares(self) -> dict[str, float]:
        """Share of each split other than training that `keys` do not name."""
        shares = dict(zip(SPLITS[1:], self._shares, strict=True))
        names = {SPLITS[number] for number in np.unique(self._part_numbers).tolist()}
        return {name: share for name, share in shares.items() if share and name not in names}

    def _folds(self) -> dict[str, Array]:
        """Return the splits of one fold, which is the validation split."""
        rule, test_share = self.rule, self._shares[1]
        if self.keys is not None:
            *folds, test = self._grouped(((1.0 - test_share) / rule.folds,) * rule.folds + (test_share,))
        else:
            held_out = split(self._divided, counts(self._sizes, 0.0, test_share), rule.seed)
            test, rest = held_out["test"], held_out["training"]
            if len(rest) < rule.folds:
                raise UserError(
                    f"{plural(len(rest), 'sample')} cannot be divided into {rule.folds:,} folds. Choose fewer folds "
                    "(data.folds)."
                )
            dealt = rest[_by_class(self._divided[rest], rule.seed)]
            folds = [np.sort(dealt[number :: rule.folds]) for number in range(rule.folds)]
        others = [fold for number, fold in enumerate(folds, start=1) if number != rule.fold]
        return {"training": np.sort(np.concatenate(others)), "validation": folds[rule.fold - 1], "test": test}

    def _grouped(self, shares: Sequence[float]) -> list[Array]:
        """Return the sample indices of each part, ascending, with no group in two of them."""
        assert self.keys is not None
        groups, members = np.unique(self.keys, return_inverse=True)
        count = sum(share > 0 for share in shares)
        if len(groups) < count:
            raise UserError(
                f"The data has {plural(len(groups), 'group')}, too few for {count:,} parts that share none. Group by "
                "something finer, choose fewer folds, or set the share of validation or test to 0."
            )
        parts = grouped(members, len(groups), self._divided, shares, self.rule.seed)[members]
        return [np.flatnonzero(parts == number) for number in range(len(shares))]


def counts(group_sizes: Sequence[int], validation_share: float, test_share: float) -> list[Counts]:
    """Return, per class, the number of samples for training, validation and test."""
    rest = [max(0, size - 1) for size in group_sizes]
    validation, test = _whole(group_sizes, validation_share), _whole(group_sizes, test_share)
    for index, (a, b) in enumerate(zip(validation, test, strict=True)):
        validation[index] = min(a, rest[index])
        test[index] = min(b, rest[index] - validation[index])
        rest[index] -= validation[index] + test[index]
    _hand_out(validation, rest, group_sizes, validation_share)
    _hand_out(test, rest, group_sizes, test_share)
    return [(size - a - b, a, b) for size, a, b in zip(group_sizes, validation, test, strict=True)]


def _exact(size: int, share: float) -> float:
    """Return the share of a size, rounded to 9 digits to remove rounding errors (100 × 0.29 is 28.999999999999996)."""
    return round(size * share, 9)


def _whole(sizes: Sequence[int], share: float) -> list[int]:
    return [math.floor(_exact(size, share)) for size in sizes]


def _half_up(size: int, share: float) -> int:
    return math.floor(_exact(size, share) + 0.5)


def _hand_out(counts: list[int], rest: list[int], sizes: Sequence[int], share: float) -> None:
    """Add one sample per class until the split has its share of all samples, where classes have samples to spare."""
    missing = _half_up(sum(sizes), share) - sum(counts)
    lost = [_exact(size, share) - count for size, count in zip(sizes, counts, strict=True)]
    order = sorted(range(len(sizes)), key=lambda i: (counts[i] > 0, -lost[i], i))
    for index in [i for i in order if rest[i] > 0 and lost[i] > 0][: max(0, missing)]:
        counts[index] += 1
        rest[index] -= 1


def split(groups: Array, shares: Sequence[Counts], seed: int) -> dict[str, Array]:
    """Return the sample indices of each split, ascending.

    `groups` (N) holds the class of each sample; `shares` is the result of `counts`.
    """
    by_class = _by_class(groups, seed)
    parts: dict[str, list[Array]] = {name: [] for name in SPLITS}
    start = 0
    for training, validation, test in shares:
        for name, count in (("validation", validation), ("test", test), ("training", training)):
            parts[name].append(by_class[start : start + count])
            start += count
    joined = {name: np.concatenate([by_class[:0], *pieces]) for name, pieces in parts.items()}
    for numbers in joined.values():
        numbers.sort()
    return joined


def _shuffled(count: int, seed: int) -> Array:
    """Return the stable order of random numbers: sorted with their index as lowest bits, in a fifth of the time of
    `argsort` and half its memory. Of numbers that are equal in the other bits all bits decide."""
    order, ties = _roughly_shuffled(count, seed)
    if len(ties):
        places = np.union1d(ties, ties + 1)
        tied = order[places]
        order[places] = tied[np.argsort(np.random.PCG64(seed).random_raw(count)[tied], kind="stable")]
    return order


def _roughly_shuffled(count: int, seed: int) -> tuple[Array, Array]:
    """Return the order by all bits but the lowest, and the places whose number is equal to the next in these."""
    # The raw stream of the bit generator is the same in every version of NumPy; that of `permutation` may change.
    keys, index = np.random.PCG64(seed).random_raw(count), np.uint64(2 ** count.bit_length() - 1)
    for start in range(0, count, PIECE):
        part = keys[start : start + PIECE]
        part &= ~index
        part |= np.arange(start, start + len(part), dtype=np.uint64)
    keys.sort()
    is_tied = np.zeros(count, bool)
    for start in range(0, count, PIECE):
        after = keys[start + 1 : start + PIECE + 1]
        is_tied[start : start + len(after)] = (after ^ keys[start : start + len(after)]) <= index
    keys &= index
    return keys.astype(index_type(count)), np.flatnonzero(is_tied)


def _by_class(classes: Array, seed: int) -> Array:
    """Return the indices of all samples sorted by class, shuffled within each."""
    shuffled = _shuffled(len(classes), seed)
    if not classes.any():
        return shuffled
    few = classes.astype(np.min_scalar_type(int(classes.max())))
    return np.asarray(shuffled[np.argsort(few[shuffled], kind="stable")])


def grouped(members: Array, num_groups: int, classes: Array, shares: Sequence[float], seed: int) -> Array:
    """Return the index of the part of each group, by the shares of the parts; parts without a share get none.

    members: index of the group of each sample (N). classes: class of each sample (N). Each part with a share gets at
    least one group where there are enough.
    """
    totals = np.bincount(classes)
    pairs, times = np.unique(members.astype(np.int64) * len(totals) + classes, return_counts=True)
    starts = np.searchsorted(pairs, np.arange(num_groups + 1) * len(totals)).tolist()
    class_of, count_of = (pairs % len(totals)).tolist(), times.tolist()
    shuffled = _shuffled(num_groups, seed)
    sizes = np.bincount(members, minlength=num_groups)
    numbers = [number for number, share in enumerate(shares) if share > 0]
    # Per part and class: the number of samples by its share, and that of its groups.
    goals = {number: [shares[number] * total or 1.0 for total in totals.tolist()] for number in numbers}
    counts = {number: [0] * len(totals) for number in numbers}
    parts = np.zeros(num_groups, np.int64)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")].tolist():
        counted = list(
            zip(class_of[starts[group] : starts[group + 1]], count_of[starts[group] : starts[group + 1]], strict=True)
        )
        best, least = numbers[0], math.inf
        for number in numbers:
            there, aim = counts[number], goals[number]
            # Growth of the chi-square statistic, sum of (count - goal)² / goal, by this group.
            growth = sum(count * (2 * (there[c] - aim[c]) + count) / aim[c] for c, count in counted)
            if growth < least:
                best, least = number, growth
        for c, count in counted:
            counts[best][c] += count
        parts[group] = best
    for number in numbers:
        if not (parts == number).any():
            spare = np.flatnonzero(np.bincount(parts, minlength=len(shares))[parts] > 1)
            parts[spare[np.argmin(sizes[spare])]] = number
    return parts


def ordered(count: int, keys: Array | None, shares: tuple[float, float], gap: int) -> dict[str, Array]:
    """Return the sample indices of each split, ascending: in the order of the keys, training comes first, then
    validation, then test, each after a gap of so many samples.

    keys: numbers (N), or None for the order as stored. Samples with the same key are never in two splits. Raises
    `UserError` where nothing is left to train on.
    """
    order = np.arange(count) if keys is None else np.argsort(keys, kind="stable")
    parts = {name: np.empty(0, np.int64) for name in SPLITS}
    end = count
    for name, share in (("test", shares[1]), ("validation", shares[0])):
        length = _half_up(count, share)
        if not length:
            continue
        begin = max(0, end - length)
        if keys is not None and begin < end:
            begin = int(np.searchsorted(keys[order], keys[order[begin]], side="left"))
        parts[name] = np.sort(order[begin:end])
        end = max(0, begin - gap)
    parts["training"] = np.sort(order[:end])
    if not end:
        raise UserError(
            f"Nothing is left to train on: {plural(count, 'sample')} in order, of which validation and test take "
            f"{sum(len(part) for part in parts.values()):,} and the gaps {gap:,} each. Choose smaller shares or a "
            "smaller gap (data.split_gap)."
        )
    return parts


def untrained_classes(outline: Outline, training: Array) -> list[str]:
    """Return a warning per target with classes that no training sample has."""
    warnings = []
    for info, target in zip(outline.wanted, outline.targets, strict=True):
        is_next_token = info.per == "step" and any(input.text is not None for input in outline.inputs)
        if info.task == "numbers" or is_next_token or not len(training):
            continue
        is_seen = np.zeros(len(info.classes), bool)
        step = max(1, CHUNK_BYTES // max(1, target[:1].nbytes))
        for start in range(0, len(training), step):
            some = target[training[start : start + step]]
            if info.task == "labels":
                axes = tuple(axis for axis in range(some.ndim) if axis != info.type.dim("C"))
                is_seen |= (some == 1).any(axes)
            else:
                is_seen |= np.bincount(some[some >= 0], minlength=len(is_seen)) > 0
            if is_seen.all():
                break
        if missing := [name for name, is_there in zip(info.classes, is_seen, strict=True) if not is_there]:
            noun = "label" if info.task == "labels" else "class"
            warnings.append(
                f"No training sample of '{info.name}' has the {noun} {listed(missing)}, which the network cannot learn "
                "so. Choose another split, or add samples."
            )
    return warnings
