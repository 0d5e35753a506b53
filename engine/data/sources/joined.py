"""Splits with data of their own, joined behind the training data as one source.

The samples of validation and test follow those of the training data. They are read with what was fitted on the training
split: the same sizes, columns and categories. Classes are those of the training data; another one is an error, as are
inputs of another kind.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath, quoted
from netwright.engine.data.sources.source import (
    Array,
    Outline,
    Readers,
    SampleReader,
    Samples,
    Source,
    listed,
    locate,
    located,
    refuse_too_large,
)
from netwright.engine.data.sources.split_keys import split_folders
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, SPLITS, DatasetInfo, InputInfo, TargetInfo

Info = TypeVar("Info", InputInfo, TargetInfo)


@dataclass(frozen=True)
class Part:
    """A source with its options and path, of the training data (`split` is empty) or of another split."""

    split: str
    source: Source
    options: DataOptions
    path: Path


@dataclass(frozen=True)
class _Outlines:
    """The outlines of all parts."""

    each: tuple[Outline, ...]

    @property
    def bytes(self) -> int:
        """Memory of all outlines, of which the targets are shared with the joined one."""
        return sum(outline.bytes for outline in self.each)


class Joined(Source):
    """The training data and that of one or two other splits."""

    def __init__(self, parts: Sequence[Part], *, resizes: bool) -> None:
        """`resizes`: whether samples of any size become those of the inputs, as image files do."""
        self._parts = tuple(parts)
        self._resizes = resizes

    def stamp(self, path: Path) -> Hashable:
        """Return the stamps of all parts."""
        return tuple((str(part.path), part.source.stamp(part.path)) for part in self._parts)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline of the training data, with the targets of all parts."""
        main, *others = self._parts
        first = main.source.outline(main.options, main.path)
        outlines, notes, warnings = [first], list(first.notes), list(first.warnings)
        for part in others:
            other = part.source.outline(_alike(part.options, first), part.path)
            _refuse_other_inputs(first, other, part, resizes=self._resizes)
            other = replace(other, targets=tuple(_targets(first, other, part)))
            notes += [f"{part.path.name}: {note}" for note in other.notes if note not in first.notes]
            warnings += [f"{part.path.name}: {warning}" for warning in other.warnings]
            outlines.append(other)
        return replace(
            first,
            inputs=_with_lengths([outline.inputs for outline in outlines]),
            targets=self._all_targets(outlines),
            wanted=_with_lengths([outline.wanted for outline in outlines]),
            notes=tuple(notes),
            warnings=tuple(warnings),
            samples=None,
            raw=_Outlines(tuple(outlines)),
            resident_because=next((why for outline in outlines if (why := outline.resident_because)), ""),
            given={part.split: len(outline) for part, outline in zip(others, outlines[1:], strict=True)},
        )

    def fit(self, options: DataOptions, path: Path, outline: Outline, training: Array) -> Outline:
        """Return the outline fitted on the training split, which is among the samples of the training data."""
        main = self._parts[0]
        first, *others = _outlines(outline)
        fitted = main.source.fit(main.options, main.path, first, training)
        each = [fitted]
        for part, other in zip(self._parts[1:], others, strict=True):
            each.append(part.source.fit_like(part.options, part.path, other, fitted))
        inputs = outline.inputs
        if fitted.inputs is not first.inputs:
            inputs = _with_lengths([item.inputs for item in each])
        if fitted.wanted is not first.wanted:  # the targets follow from what was fitted, as the next tokens do
            infos = _with_lengths([item.wanted for item in each])
            outline = replace(outline, targets=self._all_targets(each), wanted=infos)
        added = [note for note in fitted.notes if note not in first.notes]
        notes = (*outline.notes, *added)
        warnings = (*outline.warnings, *(item for item in fitted.warnings if item not in first.warnings))
        return replace(outline, inputs=inputs, notes=notes, warnings=warnings, raw=_Outlines(tuple(each)))

    def _all_targets(self, outlines: Sequence[Outline]) -> tuple[Array, ...]:
        """Return the targets of all parts, one behind the other; sequences are padded to the longest."""
        targets = zip(outlines[0].wanted, zip(*(outline.targets for outline in outlines), strict=True), strict=True)
        return tuple(
            _joined(each, self._where, pads=info.type.has("T"), fill=IGNORED if info.classes else np.nan)
            for info, each in targets
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the samples of all parts, sequences padded to the longest."""
        outlines, parts_samples, places = _outlines(outline), [], []
        for part, each, inside in zip(self._parts, outlines, _inside(outlines, indices), strict=True):
            if inside is None or len(inside[0]):
                numbers = None if inside is None else inside[0]
                parts_samples.append(part.source.samples(part.options, part.path, each, numbers))
                places.append(None if inside is None else inside[1])
        refuse_too_large(sum(part.bytes for part in parts_samples), "All samples", "Use fewer samples or smaller ones.")
        order = None if indices is None else np.argsort(np.concatenate([x for x in places if x is not None]))
        each_input = zip(outline.inputs, zip(*(x.arrays for x in parts_samples), strict=True), strict=True)
        arrays = [_in_order(_joined(each, self._where, pads=input.type.has("T")), order) for input, each in each_input]
        lengths = _lengths([(x.lengths, x.arrays) for x in parts_samples])
        notes = dict.fromkeys(note for each in parts_samples for note in each.notes)
        return Samples(tuple(arrays), tuple(notes), tuple(x if x is None else _in_order(x, order) for x in lengths))

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return readers of all parts, one behind the other."""
        outlines = _outlines(outline)
        parts = zip(self._parts, outlines, strict=True)
        parts_readers = [part.source.readers(part.options, part.path, each) for part, each in parts]
        each_input = zip(outline.inputs, zip(*(x.inputs for x in parts_readers), strict=True), strict=True)
        inputs = tuple(JoinedReader(each, self._where, pads=input.type.has("T")) for input, each in each_input)
        notes = dict.fromkeys(note for each in parts_readers for note in each.notes)
        return Readers(inputs, tuple(notes), tuple(_lengths([(x.lengths, x.inputs) for x in parts_readers])))

    @property
    def _where(self) -> str:
        return " and ".join(str(part.path) for part in self._parts)


def outline_like(source: Source, options: DataOptions, path: Path, facts: DatasetInfo, *, resizes: bool) -> Outline:
    """Return the outline of other data, prepared as the data with these facts was; classes are numbered as there.

    Inputs of the same number and other names are taken in order. Raises `UserError` for data that does not fit.
    """
    first = Outline(inputs=facts.inputs, targets=(), wanted=facts.targets)
    part = Part("new", source, options, path)
    outline = source.outline(_alike(options, first), path)
    columns = [column.name for input in facts.inputs for column in input.prepared]
    if columns:
        names = {column.name for column in outline.columns}
        if missing := [quoted(name) for name in columns if name not in names]:
            raise UserError(f"The new data {path} lacks columns that the network takes: {listed(missing)}.")
    elif len(outline.inputs) == len(facts.inputs):
        pairs = list(zip(outline.inputs, facts.inputs, strict=True))
        first = replace(first, inputs=tuple(replace(input, name=own.name) for own, input in pairs))
        outline = replace(outline, notes=(*outline.notes, *(note for pair in pairs for note in _other_span(*pair))))
    if outline.inputs:
        _refuse_other_inputs(first, outline, part, resizes=resizes)
    if facts.inputs[0].text is None or facts.targets[0].per != "step":  # else the targets follow from the tokens
        outline = replace(outline, targets=tuple(_targets(first, outline, part)), wanted=facts.targets)
    return source.fit_like(options, path, outline, first)


def _other_span(info: InputInfo, other: InputInfo) -> Iterator[str]:
    """Yield a note where the values of an input have other limits than those of the training data."""
    if info.span is not None and other.span is not None and info.span != other.span:
        own, training_span = (f"{low:g} to {high:g}" for low, high in (info.span, other.span))
        yield f"'{info.name}' may hold {own}, where the training data holds {training_span}: answers may be wrong."


class JoinedReader:
    """Reader of the same input of several parts, one behind the other; sequences are padded to the longest."""

    largest: int

    def __init__(self, parts: Sequence[SampleReader], where: str, *, pads: bool) -> None:
        self._parts = tuple(parts)
        ends = np.cumsum([part.shape[0] for part in parts])
        self._starts = np.concatenate(([0], ends[:-1]))
        self.shape = (int(ends[-1]), *_widest([part.shape[1:] for part in parts], where, pads=pads))
        self.kind: np.dtype[np.generic] = np.result_type(*(part.kind for part in parts))
        self.at_once = min(part.at_once for part in parts)
        self.where = where
        self.largest = max(part.largest for part in parts)
        has_names = all(getattr(part, "names", None) is not None for part in parts)
        self.names = tuple(name for part in parts for name in getattr(part, "names", ())) if has_names else None
        """Names of the files of all samples, where each is one."""

    def name_of(self, number: int) -> str:
        """Return the name of a sample, for messages."""
        part, inside = self._part_of(number)
        name: str = getattr(part, "name_of", lambda index: f"sample {index + 1:,}")(inside)
        return name

    def wave(self, number: int) -> Array:
        """Return the sound (N) that a sample was made from, where the parts read sounds. Raises `UserError`."""
        part, inside = self._part_of(number)
        sound: Array = part.wave(inside)  # type: ignore[attr-defined]  # only readers of sounds have it
        return sound

    def _part_of(self, number: int) -> tuple[SampleReader, int]:
        """Return the part that a sample lies in, and its number there."""
        place = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self._parts[place], number - int(self._starts[place])

    def read(self, indices: Array, out: Array) -> None:
        """Read the samples from their parts. Raises `UserError` as these do."""
        number = np.searchsorted(self._starts, indices, side="right") - 1
        for place, part in enumerate(self._parts):
            inside = np.flatnonzero(number == place)
            if not len(inside):
                continue
            in_part = indices[inside] - self._starts[place]
            if len(inside) == len(indices) and part.shape[1:] == self.shape[1:]:
                part.read(in_part, out)
                continue
            room = np.zeros((len(inside), *part.shape[1:]), out.dtype)
            part.read(in_part, room)
            _paste(out, inside, room)


def _outlines(outline: Outline) -> tuple[Outline, ...]:
    assert isinstance(outline.raw, _Outlines)
    return outline.raw.each


def _alike(options: DataOptions, first: Outline) -> DataOptions:
    """Return options with which the targets are taken as those of the training data were."""
    tasks = {info.task for info in first.wanted}
    changes: dict[str, object] = {}
    if options.is_visible("task") and options.task == "auto" and len(tasks) == 1:
        changes["task"] = tasks.pop()
    if options.is_visible("response") and not options.response:
        changes["response"] = ", ".join(column.name for column in first.columns if column.role == "response")
    return options.replace(**changes)


def _refuse_other_inputs(first: Outline, other: Outline, part: Part, *, resizes: bool) -> None:
    """Raise `UserError` for columns or inputs that differ from those of the training data, all of them named."""
    subject = f"The {part.split} data {part.path}"
    here, there = ({c.name: c for c in outline.columns if c.role == "input"} for outline in (first, other))
    if missing := [quoted(name) for name in here if name not in there]:
        raise UserError(
            f"{subject} lacks what the training data has: {listed(missing)}. Add it, or leave it out of both."
        )
    kinds = {name: (here[name].kind.partition(",")[0], there[name].kind.partition(",")[0]) for name in here}
    if first.inputs:
        kinds = {}
    if strange := [f"{quoted(name)} holds {b} instead of {a}" for name, (a, b) in kinds.items() if a != b]:
        raise UserError(f"{subject} differs from the training data: {listed(strange)}.")
    types = {input.name: input for input in other.inputs}
    if missing := [quoted(input.name) for input in first.inputs if input.name not in types]:
        raise UserError(f"{subject} lacks inputs of the training data: {listed(missing)}.")
    differing = [
        f"{quoted(input.name)} is {types[input.name].short()} instead of {input.short()}"
        for input in first.inputs
        if not resizes and not _fits(input.type.sizes, types[input.name].type.sizes)
    ]
    if differing:
        raise UserError(f"{subject} differs from the training data: {listed(differing)}. Expected the same sizes.")


def _fits(sizes: Sequence[object], other: Sequence[object]) -> bool:
    """Return whether sizes agree where both are known."""
    pairs = zip(sizes, other, strict=False)
    exact = ((a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int))
    return len(sizes) == len(other) and all(a == b for a, b in exact)


def _targets(first: Outline, other: Outline, part: Part) -> Iterator[Array]:
    """Yield the targets of a part with the class numbers of the training data. Raises `UserError`."""
    subject = f"The {part.split} data {part.path}"
    if len(other.wanted) != len(first.wanted):
        raise UserError(f"{subject} has {len(other.wanted):,} targets; the training data has {len(first.wanted):,}.")
    for expected, own, array in zip(first.wanted, other.wanted, other.targets, strict=True):
        if expected.task != own.task or expected.type.axes != own.type.axes:
            raise UserError(f"{subject} has {own.spoken()} to predict; the training data has {expected.spoken()}.")
        if expected.task in ("classes", "transcripts"):
            array = _renumbered(expected, own, array, subject)
        elif expected.outputs != own.outputs:
            raise UserError(f"{subject} has {own.spoken()} to predict; the training data has {expected.spoken()}.")
        yield array


def _renumbered(expected: TargetInfo, own: TargetInfo, array: Array, subject: str) -> Array:
    numbers = {name: number for number, name in enumerate(expected.classes)}
    if unknown := [quoted(name) for name in own.classes if name not in numbers]:
        names = listed([quoted(name) for name in expected.classes])
        raise UserError(
            f"{subject} has classes of '{expected.name}' that the training data lacks: {listed(unknown)}. Expected "
            f"some of {names}."
        )
    table = np.array([numbers[name] for name in own.classes], np.int64)
    kind = np.int64 if array.dtype == np.int64 else np.int8 if len(numbers) <= np.iinfo(np.int8).max else np.int16
    return np.where(array >= 0, table[np.maximum(array, 0)], array).astype(kind)


def _inside(outlines: Sequence[Outline], indices: Array | None) -> Iterator[tuple[Array, Array] | None]:
    """Yield, per part, the chosen samples that are its own, and their places in `indices`; None for all samples."""
    start = 0
    for outline in outlines:
        if indices is None:
            yield None
            continue
        places = np.flatnonzero((indices >= start) & (indices < start + len(outline)))
        yield indices[places] - start, places
        start += len(outline)


def _in_order(array: Array, order: Array | None) -> Array:
    return array if order is None else array[order]


def _with_lengths(parts: Sequence[tuple[Info, ...]]) -> tuple[Info, ...]:
    """Return the inputs or targets of the first part, with the shortest and longest sequences of all parts."""
    result = []
    for info in parts[0]:
        alike = [other for each in parts for other in each if other.name == info.name and other.type.has("T")]
        spans = [other.lengths or (other.type["T"], other.type["T"]) for other in alike]
        ranges = [(low, high) for low, high in spans if isinstance(low, int) and isinstance(high, int)]
        if len(set(ranges)) > 1:
            lengths = min(low for low, _ in ranges), max(high for _, high in ranges)
            info = replace(info, lengths=lengths, type=info.type.opened())
        result.append(info)
    return tuple(result) if any(a is not b for a, b in zip(result, parts[0], strict=True)) else parts[0]


def _widest(shapes: Sequence[tuple[int, ...]], where: str, *, pads: bool) -> tuple[int, ...]:
    """Return the shape of the samples; with `pads` they may differ in their first axis, and are as long as the
    longest."""
    if len(set(shapes)) == 1:
        return shapes[0]
    if not pads or not shapes[0] or len({shape[1:] for shape in shapes}) > 1:
        sizes = " and ".join(" × ".join(map(str, shape)) for shape in shapes)
        raise UserError(
            f"The samples of {where} differ in their sizes: {sizes}. Expected the same sizes in all splits. An image "
            "size (data.image_size) makes those of images the same."
        )
    return (max(shape[0] for shape in shapes), *shapes[0][1:])


def _joined(arrays: Sequence[Array], where: str, *, pads: bool, fill: float = 0) -> Array:
    """Return arrays one behind the other, sequences padded to the longest with `fill`."""
    shape = _widest([array.shape[1:] for array in arrays], where, pads=pads)
    if all(array.shape[1:] == shape for array in arrays):
        return np.concatenate(arrays)
    out = np.full((sum(map(len, arrays)), *shape), fill, np.result_type(*arrays))
    start = 0
    for array in arrays:
        _paste(out, np.arange(start, start + len(array)), array)
        start += len(array)
    return out


def _paste(out: Array, rows: Array, values: Array) -> None:
    """Write samples into rows of a padded array."""
    if values.shape[1:] == out.shape[1:]:
        out[rows] = values
    else:
        out[rows, : values.shape[1]] = values


def _lengths(parts: Sequence[tuple[tuple[Array | None, ...], Sequence[object]]]) -> list[Array | None]:
    """Return the lengths of all samples per input, where any part has lengths or another number of steps."""
    count = len(parts[0][1])
    result: list[Array | None] = []
    for number in range(count):
        each, steps, has_any = [], set(), False
        for lengths, arrays in parts:
            shape: tuple[int, ...] = arrays[number].shape  # type: ignore[attr-defined]
            counts = lengths[number] if lengths else None
            has_any = has_any or counts is not None
            steps.add(shape[1] if len(shape) > 1 else 0)
            each.append(np.full(shape[0], shape[1] if len(shape) > 1 else 0, np.int64) if counts is None else counts)
        result.append(np.concatenate(each) if has_any or len(steps) > 1 else None)
    return result if any(x is not None for x in result) else []


def parts_of(options: DataOptions, path: Path, base: Path, make: Callable[[DataOptions], Source]) -> list[Part]:
    """Return the training data, and the data of other splits where the options name some.

    path: of the options. make: returns the source of options. Raises `UserError` for folders that are missing.
    """
    if options.division == "folders":
        return _parts_in(options, path, base, make)
    plain, declared = _plain(options), options.source_type
    others = [(name, getattr(options, f"{name}_path")) for name in SPLITS[1:] if options.is_visible(f"{name}_path")]
    parts = [Part("", make(options), options, path)]
    reads_all = declared is not None and declared.is_in_time  # its reader divides the series of all files
    for name, text in others:
        if text and not reads_all:
            own = plain.replace(path=text)
            finds_itself = declared is not None and declared.has_patterns
            parts.append(Part(name, make(own if finds_itself else plain), own, located(declared, text, base)))
    return parts


def _plain(options: DataOptions) -> DataOptions:
    return options.replace(split="random", split_column="", group_pattern="", validation_path="", test_path="")


def _parts_in(options: DataOptions, path: Path, base: Path, make: Callable[[DataOptions], Source]) -> list[Part]:
    """Return the parts in folders, or arrays, that are named after the splits."""
    plain, folders = _plain(options), split_folders(path)
    if sources := {} if folders else make(plain).named_parts(plain, path):
        parts = {name: Part(name, source, plain, path) for name, source in sources.items()}
    else:
        parts = {name: _part_in(name, plain, path / folder, folder, base, make) for name, folder in folders.items()}
    if "training" not in parts or len(parts) < 2:
        there = f"found {', '.join([*folders.values(), *sources])}" if parts else "found none of them"
        raise UserError(
            f"{path} is to hold folders, or arrays, named train, val and test; {there}. Expected train and one or both "
            "of the others. Choose another split (data.split), or name them so."
        )
    training = replace(parts["training"], split="")
    return [training, *(parts[name] for name in SPLITS[1:] if name in parts)]


def _part_in(
    name: str, plain: DataOptions, path: Path, folder: str, base: Path, make: Callable[[DataOptions], Source]
) -> Part:
    """Return the part in a folder; other folders that the options name, such as that of masks, have one of that name
    as well."""
    paths = {
        option: str(locate(f"{text.rstrip('/')}/{folder}", base))
        for option, field in plain.fields.items()
        if isinstance(field, FilePath) and option != "path" and plain.is_visible(option)
        if (text := getattr(plain, option))
    }
    inside = tuple(file.partition("/")[2] for file in plain.excluded_files if file.partition("/")[0] == folder)
    options = plain.replace(path=str(path), excluded_files=inside, **paths)
    return Part(name, make(options), options, path)
