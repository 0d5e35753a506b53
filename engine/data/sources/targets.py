"""Targets among the arrays of a NumPy file: the arrays that hold them, and the task of each.

One target is `y`, or the array that the options name. Several are `y_NAME` for each output `NAME`, or the arrays that
the options name, separated by commas. The task of a target follows from its dtype, values and shape:

| array   | of                 | beside                | taken as                                              |
|---------|--------------------|-----------------------|-------------------------------------------------------|
| N       | whole, text, truth |                       | a class per sample                                    |
| N R     | any numbers        |                       | R numbers per sample                                  |
| N K     | truth values       |                       | K labels, each true or not                            |
| N T     | whole, text, truth | a sequence of T steps | a class per step                                      |
| N L     | whole, text        | `y_lengths`           | a transcript: classes in order, at no given step      |
| N T R   | fractions          | a sequence of T steps | R numbers per step                                    |
| N T K   | truth values       | a sequence of T steps | K labels per step                                     |
| N H W   | whole, truth       |                       | a class per pixel; N D H W beside a volume: per voxel |
| N R H W | fractions          |                       | R numbers per pixel; N R D H W: per voxel             |
| N K H W | truth values       |                       | K labels per pixel                                    |

The lengths of target sequences are `y_lengths`, else those of the input sequences with as many steps. Values equal to
the ignored value do not count in classes of steps, pixels and voxels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.text import format_percent
from netwright.engine.core.types import TensorType, features, image, sequence, volume
from netwright.engine.data.sources.source import MOST_CLASSES, MOST_ROUNDED, Array, is_whole, listed, pieces
from netwright.engine.data.tables.columns import CodedTexts, text_counts
from netwright.engine.project.dataset_info import IGNORED, TargetInfo, Task

FEW = 20
LARGEST = 2**31
"""Limit of integers; float32 cannot represent all integers even far below it."""
RESPONSE = "y"
MOST_CLASSES_BY_THEMSELVES = 1000
NUMBERS = "biuf"
LENGTHS = "_lengths"
SHAPES = "responses are N, N R, N T R beside sequences of T steps, N R H W or N R D H W"


def is_whole_and_few(values: Array) -> bool:
    """Return whether numbers look like class indices: at most 20 different ones, all integers."""
    return is_whole(values) and len(np.unique(values)) <= FEW


def as_classes(values: Array, subject: str) -> tuple[Array, tuple[str, ...]]:
    """Return class indices and names in sorted order: numbers by value, texts by their characters. Raises `UserError`.

    `subject` names the response in errors.
    """
    distinct, numbers = np.unique(values, return_inverse=True)
    names = tuple(_name(value) for value in distinct.tolist())
    return _told_apart(numbers.reshape(-1).astype(np.int64), names, subject)


def texts_as_classes(texts: Sequence[str], subject: str) -> tuple[Array, tuple[str, ...]]:
    """Return class indices and names for texts of a table, without an array, which pads all to the longest."""
    numbers, names = numbered(texts)
    return _told_apart(numbers, tuple(names), subject)


def numbered(texts: Sequence[str]) -> tuple[Array, list[str]]:
    """Return the index of each text among the distinct texts, and these in sorted order."""
    if isinstance(texts, CodedTexts) and texts.codes.min(initial=0) >= 0:
        names = sorted(text_counts(texts))
        return texts.numbered({name: place for place, name in enumerate(names)}, -1), names
    names = sorted(set(texts))
    places = {name: place for place, name in enumerate(names)}
    return np.fromiter((places[text] for text in texts), np.int64, len(texts)), names


def _told_apart(numbers: Array, names: tuple[str, ...], subject: str) -> tuple[Array, tuple[str, ...]]:
    if len(names) == 1:
        raise UserError(f"{subject} has one class only, '{names[0]}'. At least two classes are needed.")
    if len(names) > MOST_CLASSES:
        raise UserError(
            f"{subject} has {len(names):,} different values; at most {MOST_CLASSES:,} classes can be told apart. "
            "Choose another response, or predict numbers."
        )
    return numbers, names


def _name(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_class_numbers(
    values: Array, subject: str, ignored: int, padding: Array | None = None
) -> tuple[Array, tuple[str, ...]]:
    """Return class indices for many values per sample, in the smallest signed type, and the names in sorted order.

    Padding, and values equal to the ignored one, become `IGNORED`. Raises `UserError`.
    """
    skipped = np.zeros(values.shape, bool) if padding is None else padding
    if values.dtype.kind == "f":
        whole = np.rint(values)
        if not np.array_equal(whole[~skipped], values[~skipped]):
            raise UserError(f"{subject} holds fractions. Expected whole numbers as classes, or predict numbers.")
        if float(np.abs(whole[~skipped]).max(initial=0)) > LARGEST:  # half precision cannot hold that number
            raise UserError(f"{subject} holds numbers beyond {LARGEST:,}, which are no classes. Predict numbers.")
        values = np.where(skipped, ignored, whole).astype(np.int64)
    if values.dtype.kind != "b" and values.dtype.kind not in "US":
        skipped = skipped | (values == ignored)
    distinct = _different(values, skipped)
    names = tuple(_name(value) for value in distinct.tolist())
    if len(names) < 2:
        what_is = f"one class only, '{names[0]}'" if names else "nothing that counts"
        raise UserError(f"{subject} has {what_is}. At least two classes are needed.")
    if len(names) > MOST_CLASSES:
        raise UserError(
            f"{subject} has {len(names):,} different values; at most {MOST_CLASSES:,} classes can be told apart. "
            "Predict numbers, or choose another response."
        )
    kind = np.int8 if len(names) <= np.iinfo(np.int8).max else np.int16
    numbers = np.empty(values.shape, kind)
    for index in range(len(values)):  # one sample at a time, since indices take eight bytes per value
        numbers[index] = np.searchsorted(distinct, values[index])
    numbers[skipped] = IGNORED
    return numbers, names


def _different(values: Array, skipped: Array) -> Array:
    """Return the sorted distinct values that are not skipped, collected sample by sample."""
    each = [np.unique(value[~skip]) for value, skip in zip(values, skipped, strict=True)]
    return np.unique(np.concatenate(each))


@dataclass(frozen=True, eq=False)
class Beside:
    """Inputs beside a target: their types as stored, and the lengths of sequences that have them."""

    types: Mapping[str, TensorType]
    lengths: Mapping[str, Array]
    ignored: int

    def has_steps(self, count: int) -> bool:
        """Return whether any input is a sequence of `count` steps."""
        return any(type.has("T") and type["T"] == count for type in self.types.values())

    def has(self, layout: str) -> bool:
        """Return whether any input has this layout."""
        return any(type.layout == layout for type in self.types.values())

    def lengths_of(self, count: int) -> Array | None:
        """Return the lengths (N) of the first input of `count` steps that has lengths, or None."""
        matches = (lengths for name, lengths in self.lengths.items() if self.types[name]["T"] == count)
        return next(matches, None)


@dataclass(frozen=True, eq=False)
class Target:
    """A target with its ignored values marked, and notes on its interpretation."""

    array: Array
    facts: TargetInfo
    notes: tuple[str, ...] = ()


def target_names(option: str, arrays: list[str], place: str) -> dict[str, str]:
    """Return the name of the target per array that holds one. Raises `UserError` where there is none."""
    by_name = [name.strip() for name in option.split(",")] if option not in arrays else [option]
    if option:
        for name in by_name:
            if name not in arrays:
                raise UserError(_no_array(name, arrays, place))
        return {name: name for name in by_name}
    several = [name for name in arrays if name.startswith(f"{RESPONSE}_") and not name.endswith(LENGTHS)]
    if RESPONSE not in arrays and not several:
        way_out = "Name the target array in the field Response."
        if len(arrays) == 1:
            way_out = (
                "Store the inputs beside it. To forecast a series, write it as a table with a row per step: "
                "writematrix(x, 'x.csv') in MATLAB, numpy.savetxt('x.csv', x) in Python."
            )
        raise UserError(f"{_no_array(RESPONSE, arrays, place)} {way_out}")
    names = {RESPONSE: RESPONSE} if RESPONSE in arrays else {}
    return names | {name: name.removeprefix(f"{RESPONSE}_") for name in several}


def _no_array(name: str, arrays: list[str], place: str) -> str:
    hint = did_you_mean(name, arrays)
    return f"{place} has no array {quoted(name)} with the responses.{hint} Its arrays are: {listed(arrays, 20)}."


def read_target(name: str, task: str, values: Array, lengths: Array | None, beside: Beside, subject: str) -> Target:
    """Return the target of an array. `task` is the option, `lengths` are the target's own. Raises `UserError`."""
    if values.ndim == 2 and values.shape[1] == 1 and not beside.has_steps(1):
        values = values[:, 0]
    if values.dtype.kind not in NUMBERS + "US":
        raise UserError(f"{subject} holds {values.dtype}; responses are numbers or texts.")
    is_text = values.dtype.kind in "US"
    if not is_text and values.ndim == 1:
        refuse_strange(values, subject)
    notes: list[str] = []
    if task in ("auto", "classes") and lengths is None and _is_one_hot(values, beside):
        values, task = values.argmax(1), "classes"
        notes = [f"'{name}' has a 1 in one column per sample: the number of the column, from 0, is the class."]
    kind = _task(values, lengths, beside) if task == "auto" else task
    if is_text and kind in ("numbers", "labels"):
        raise UserError(
            f"{subject} holds texts. Expected numbers to predict. Predict classes, or choose another response."
        )
    if 0 in values.shape:
        raise UserError(f"{subject} has the shape {values.shape}; {SHAPES}.")
    match kind:
        case "classes":
            target = _classes(name, values, lengths, beside, subject)
            return Target(target.array, target.facts, (*notes, *target.notes))
        case "labels":
            return _labels(name, values, lengths, beside, subject)
        case "transcripts":
            return _transcripts(name, values, lengths, beside.ignored, subject)
    target = _numbers(name, values, lengths, beside, subject)
    many = task == "auto" and values.ndim == 1 and values.dtype.kind in "iu"
    notes = rounding_note(name, values) if values.ndim < 3 and lengths is None else []
    if many:
        notes.append(f"'{name}' has more than {MOST_CLASSES_BY_THEMSELVES:,} different values: taken as numbers.")
    return Target(target.array, target.facts, tuple(notes))


def _task(values: Array, lengths: Array | None, beside: Beside) -> Task:
    """Return the interpretation that follows from dtype, values and shape."""
    kind, axes = values.dtype.kind, values.ndim - 1
    steps = axes > 0 and beside.has_steps(values.shape[1])
    if axes == 0:
        is_many = kind in "iu" and len(np.unique(values)) > MOST_CLASSES_BY_THEMSELVES
        return "numbers" if kind == "f" or is_many else "classes"
    if kind in "US":
        return "transcripts" if lengths is not None and axes == 1 and not steps else "classes"
    if kind == "f":
        return "numbers"
    if axes == 1:
        if kind == "b":
            return "classes" if steps else "labels"
        if lengths is not None and kind in "iu" and not (steps and _same(lengths, beside.lengths_of(values.shape[1]))):
            return "transcripts"
        return "classes" if steps else "numbers"
    if axes == 2:
        is_map = beside.has("image") or not steps
        return "classes" if is_map else "labels" if kind == "b" else "numbers"
    if axes == 3 and beside.has("volume"):
        return "classes"
    return "labels" if kind == "b" else "numbers"


def _is_one_hot(values: Array, beside: Beside) -> bool:
    """Return whether values (N, K) are classes as Keras' `to_categorical` and MATLAB's `ind2vec` write them."""
    if values.ndim != 2 or values.shape[1] < 2 or not len(values) or values.dtype.kind not in "biuf":
        return False
    if beside.has_steps(values.shape[1]):
        return False
    is_one = values == 1
    return bool(((values == 0) | is_one).all() and (is_one.sum(1) == 1).all() and (is_one.sum(0) > 0).sum() > 1)


def _same(array: Array, other: Array | None) -> bool:
    return other is not None and bool((array == other).all())


def _classes(name: str, values: Array, lengths: Array | None, beside: Beside, subject: str) -> Target:
    axes = values.ndim - 1
    is_steps = axes == 1 and (beside.has_steps(values.shape[1]) or lengths is not None)
    if axes == 0:
        array, classes = as_classes(values, subject)
        return Target(array, TargetInfo(name, features(len(classes)), "classes", classes))
    if not is_steps and axes not in (2, 3):
        raise UserError(
            f"{subject} has the shape {values.shape}; classes are one value per sample, N T beside sequences of T "
            "steps, N H W for pixels or N D H W for voxels. Use argmax, or predict numbers."
        )
    if not is_steps:
        array, classes = as_class_numbers(values, subject, beside.ignored)
        sizes = (len(classes), *values.shape[1:])
        type = image(*sizes) if axes == 2 else volume(*sizes)
        return Target(array, TargetInfo(name, type, "classes", classes), tuple(_told(name, array, "classes", type)))
    lengths = beside.lengths_of(values.shape[1]) if lengths is None else lengths
    values, padding = _cut(values, lengths)
    array, classes = as_class_numbers(values, subject, beside.ignored, padding)
    facts = _timed(TargetInfo(name, sequence(values.shape[1], len(classes)), "classes", classes), lengths)
    return Target(array, facts, tuple(_told(name, array, "classes", facts.type)))


def _told(name: str, array: Array, task: str, type: TensorType) -> Iterator[str]:
    """Yield notes on the interpretation of an ambiguous shape, and on the share of ignored values."""
    per = {"sequence": "step", "image": "pixel"}.get(type.layout, "voxel")
    yield f"'{name}' was taken as {'a class' if task == 'classes' else task} a {per}."
    if type.layout != "sequence" and (share := float((array == IGNORED).mean())):
        yield f"{format_percent(share, 1)} of the {per}s of '{name}' do not count."


def _labels(name: str, values: Array, lengths: Array | None, beside: Beside, subject: str) -> Target:
    if values.ndim == 1:
        raise UserError(
            f"{subject} has one value per sample; labels are N K, one of 0 and 1 for each. Predict classes."
        )
    if not np.isin(values, (0, 1)).all():
        raise UserError(f"{subject} holds {values[~np.isin(values, (0, 1))][0]}; labels are 0 or 1, or truth values.")
    target = _numbers(name, values, lengths, beside, subject)
    names = tuple(str(number) for number in range(target.facts.outputs))
    facts = TargetInfo(name, target.facts.type, "labels", names, target.facts.lengths)
    return Target(target.array, facts)


def _numbers(name: str, values: Array, lengths: Array | None, beside: Beside, subject: str) -> Target:
    axes = values.ndim - 1
    steps = axes > 0 and (beside.has_steps(values.shape[1]) or lengths is not None)
    padding: Array | None = None
    facts: TargetInfo
    match axes:
        case 0 | 1:
            values = values[:, np.newaxis] if axes == 0 else values
            facts = TargetInfo(name, features(values.shape[1]), "numbers")
        case 2 if steps:
            lengths = beside.lengths_of(values.shape[1]) if lengths is None else lengths
            values, padding = _cut(values, lengths)
            facts = _timed(TargetInfo(name, sequence(*values.shape[1:]), "numbers"), lengths)
        case 2 if beside.has("image"):
            values = values[:, np.newaxis]
            facts = TargetInfo(name, image(*values.shape[1:]), "numbers")
        case 3:
            facts = TargetInfo(name, image(*values.shape[1:]), "numbers")
        case 4:
            facts = TargetInfo(name, volume(*values.shape[1:]), "numbers")
        case _:
            raise UserError(f"{subject} has the shape {values.shape}; {SHAPES}.")
    with np.errstate(over="ignore", invalid="ignore"):
        array = values.astype(np.float32)
    if padding is not None:
        array[padding] = 0
    refuse_strange(array, subject)
    if padding is not None:
        array[padding] = np.nan
    return Target(array, facts)


def rounding_note(name: str, numbers: Array) -> list[str]:
    """Return a note where single precision would change a response by more than `MOST_ROUNDED` of its range."""
    if np.can_cast(numbers.dtype, np.float32) or not numbers.size:
        return []
    parts = (part.astype(np.float64) for part in pieces(numbers.reshape(-1)))
    rounded = float(np.max([np.abs(part - part.astype(np.float32)).max() for part in parts]))
    if rounded <= MOST_ROUNDED * (float(numbers.max()) - float(numbers.min())):
        return []
    return [
        f"'{name}' is rounded by up to {rounded:.2g}: responses are learned in single precision. Subtract an offset "
        "from it before to keep its digits."
    ]


def _transcripts(name: str, values: Array, lengths: Array | None, ignored: int, subject: str) -> Target:
    if values.ndim != 2:
        raise UserError(
            f"{subject} has the shape {values.shape}; transcripts are N L, classes in order, and y_lengths."
        )
    values, padding = _cut(values, lengths)
    array, classes = as_class_numbers(values, subject, ignored, padding)
    counts = (array != IGNORED).sum(1)
    if padding is None and (array[np.arange(array.shape[1]) < counts[:, np.newaxis]] == IGNORED).any():
        raise UserError(f"{subject} has ignored values between others; transcripts are filled up at their ends only.")
    type = sequence(1, len(classes) + 1).opened()
    facts = TargetInfo(name, type, "transcripts", classes, (int(counts.min()), int(counts.max())))
    return Target(array.astype(np.int64), facts)


def _cut(values: Array, lengths: Array | None) -> tuple[Array, Array | None]:
    """Return the values up to the longest sequence, and a mask of the padding, or None."""
    if lengths is None:
        return values, None
    values = np.ascontiguousarray(values[:, : int(lengths.max())])
    return values, np.arange(values.shape[1]) >= lengths[:, np.newaxis]


def _timed(facts: TargetInfo, lengths: Array | None) -> TargetInfo:
    if lengths is None or (lengths == lengths[0]).all():
        return facts
    span = (int(lengths.min()), int(lengths.max()))
    return TargetInfo(facts.name, facts.type.opened(), facts.task, facts.classes, span)


def refuse_strange(array: Array, subject: str) -> None:
    """Raise `UserError` for values that are not finite in float32, with the index of the first."""
    if array.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        bad = ~np.isfinite(array.astype(np.float32, copy=False))
    if count := int(bad.sum()):
        place = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
        where = ", ".join(map(str, place))
        are = "number is" if count == 1 else "numbers are"
        raise UserError(
            f"{subject}: {count:,} {are} not finite in single precision, the first at [{where}]: {array[place]}. "
            "Expected finite numbers. Replace them, or leave these samples out."
        )
