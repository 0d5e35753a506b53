"""Arrays in files of NumPy, safetensors, HDF5, MATLAB, MNIST and CIFAR: see
`netwright.engine.data.sources.array_files`.

One is the target (`y`, or what `netwright.engine.data.sources.targets` says), the others are inputs.

The first axis of each array is that of the samples. The meaning of the others follows from their number:

| array          | taken as                                               |
|----------------|--------------------------------------------------------|
| N              | one feature per sample                                 |
| N C            | features; of whole numbers: N T, tokens (indices)      |
| N T C          | a sequence, steps first; a grey image is N 1 H W       |
| N C H W        | an image                                               |
| N C D H W      | a volume                                               |

Complex numbers become twice as many channels, each real part before its imaginary part: what MATLAB calls
SplitComplexInputs, and as a real-to-complex layer takes them.

Sequences of different lengths are padded at their ends, and a second array holds the number of real steps of each:
integers called `x_lengths` beside the sequences or tokens `x`. Values behind the end of a sequence are not checked.

Pickled objects are never loaded: they could run a program.
"""

import re
from collections.abc import Hashable, Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import RESOURCES
from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.data.sources.array_files import EXPECTED, ArrayReader, split_files, stamp
from netwright.engine.data.sources.array_files import headers as read_headers
from netwright.engine.data.sources.array_storage import Pictures, StoredArray
from netwright.engine.data.sources.source import (
    Array,
    Column,
    Outline,
    Readers,
    Samples,
    Source,
    listed,
    refuse_too_large,
)
from netwright.engine.data.sources.split_keys import keys_of
from netwright.engine.data.sources.targets import (
    LENGTHS,
    NUMBERS,
    RESPONSE,
    Beside,
    Target,
    read_target,
    refuse_strange,
    target_names,
)
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo, classes_of
from netwright.engine.project.sources import digits as declaration
from netwright.engine.project.sources.arrays import division, part_of_name

_LAST_WORD = re.compile(r"[A-Z]?[a-z]{2,}$")
USUAL_RESPONSES = ("y", "t", "label", "labels", "target", "targets", "class", "classes", "response", "responses")
"""Names of arrays of responses in lower case and without their split, as in `YTrain`, or their last words, as in
`irisTargets`, the likeliest first."""
LARGEST = 2**63
MOST_INDICES = 100_000_000
"""Largest vocabulary of an embedding."""
AS_NUMBERS = (
    "To take them as numbers, set integer arrays to numbers (data.integer_arrays=numbers), or store the array as "
    "float32."
)


class ArrayFile(Source):
    """Inputs and targets from files of arrays."""

    part = ""
    """Split whose arrays are read, of a file that holds `x_train`, `x_test` and so on; empty: all arrays."""

    def stamp(self, path: Path) -> Hashable:
        """Return size and time of the file, or of all files of a folder."""
        return stamp(path)

    def named_parts(self, options: DataOptions, path: Path) -> dict[str, Source]:
        """Return the sources of arrays such as `x_train` and `y_train`, `x_test` and `y_test`, or of the training and
        test files of MNIST and CIFAR."""
        splits = split_files(path) or dict.fromkeys(part_of_name(name)[1] for name in self._headers(options, path))
        parts: dict[str, Source] = {}
        for split in filter(None, splits):
            part = ArrayFile()
            part.part = split
            parts[split] = part
        return parts

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the headers of the arrays and the targets."""
        headers, names, timed = self._roles(options, path)
        dividing = headers.pop(options.dividing_column, None)
        inputs = {name: header for name, header in headers.items() if name not in (*names, *timed.values())}
        samples = _count(headers if dividing is None else {**headers, dividing.name: dividing}, path)
        types = {name: _type(header, path, options.integer_arrays) for name, header in inputs.items()}
        lengths_of = {name: _lengths(path, headers[name], headers[other]) for name, other in timed.items()}
        padded = {name: lengths for name, lengths in lengths_of.items() if lengths is not None}
        beside = Beside(types, {name: padded[name] for name in padded if name in types}, options.ignored_value)
        targets = _targets(options.task, names, headers, lengths_of, beside, path)
        assert all(len(target.array) == samples for target in targets)
        spans = {name: _span(lengths) for name, lengths in padded.items() if name in types}
        types |= {name: types[name].opened() for name in spans}
        return Outline(
            inputs=tuple(
                InputInfo(name, type, lengths=spans.get(name), span=_pixels(headers[name], type))
                for name, type in types.items()
            ),
            targets=tuple(target.array for target in targets),
            wanted=tuple(target.facts for target in targets),
            notes=(
                *(note for target in targets for note in target.notes),
                *self._chosen(options, names),
                *self._left_out(path),
                *(_spoken(name, *span) for name, span in spans.items()),
                *(note for name, type in types.items() for note in _doubts(inputs[name], type)),
            ),
            columns=(
                *(_column(h, name, types.get(name), is_lengths=name in timed.values()) for name, h in headers.items()),
                *([Column(dividing.name, "split", _kind(dividing))] if dividing else []),
            ),
            resident_because=next((why for header in inputs.values() if (why := _only_whole(header))), ""),
            split_keys=None if dividing is None else keys_of(options.split, dividing.read(), dividing.what),
        )

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return readers of the arrays in the file, which check that samples are finite as they are read."""
        headers, _, timed = self._roles(options, path)
        inputs, notes, lengths = [], [], []
        for input in outline.inputs:
            header = headers[input.name]
            real = _lengths(path, header, headers[timed[input.name]]) if input.name in timed else None
            largest = 0
            if input.type.kind == "index":
                low, largest = _span_of_indices(header, real)
                notes.append(_vocabulary(low, largest, header.name, path))
            inputs.append(ArrayReader(header, _channel_axis(len(header.shape)), real, largest))
            lengths.append(real)
        return Readers(tuple(inputs), tuple(notes), tuple(lengths) if any(n is not None for n in lengths) else ())

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the arrays as stored, checked to be finite only."""
        headers, _, timed = self._roles(options, path)
        stored = [headers[input.name] for input in outline.inputs]
        needed = sum(header.bytes // header.dtype.itemsize * (8 if header.is_complex else 4) for header in stored)
        needed += sum(header.bytes * (2 if header.is_complex else 1) for header in stored)
        refuse_too_large(needed, f"The arrays of {path}", "Use fewer samples or smaller ones.")
        arrays, notes, lengths = [], [], []
        for input, header in zip(outline.inputs, stored, strict=True):
            array = in_channels(header.read())
            real = _lengths(path, header, headers[timed[input.name]]) if input.name in timed else None
            if real is not None:
                array = np.ascontiguousarray(array[:, : int(real.max())])  # no sequence needs the rest
                array[np.arange(array.shape[1]) >= real[:, np.newaxis]] = 0
            lengths.append(real if real is None or indices is None else real[indices])
            refuse_strange(array, f"Array '{header.name}' of {path}")
            if input.type.kind == "index":
                notes.append(_vocabulary(int(array.min()), int(array.max()), header.name, path))
            array = array[:, np.newaxis] if array.ndim == 1 else array
            arrays.append(array if indices is None else array[indices])
        return Samples(tuple(arrays), tuple(notes), tuple(lengths) if any(n is not None for n in lengths) else ())

    def _chosen(self, options: DataOptions, names: Mapping[str, str]) -> Iterator[str]:
        """Yield a note on responses that neither the options nor their own name say to be that."""
        if not options.response and (name := next(iter(names))).partition("_")[0] != RESPONSE:
            yield f"The response is '{name}'. The field Response (data.response) names another array."

    def _left_out(self, path: Path) -> Iterator[str]:
        """Yield a note on files for validation and test that are not read."""
        files = split_files(path)
        if not self.part and (path.is_dir() or path in files.get("training", [])):
            for split, others in files.items():
                if split != "training":
                    names = listed([file.name for file in others])
                    yield f"Not read: {names}. The split 'folders' (data.split=folders) takes them as {split} data."

    def _headers(self, options: DataOptions, path: Path) -> dict[str, StoredArray]:
        """Return the arrays of the part, without its name in theirs."""
        files = split_files(path).get(self.part, [])
        headers = read_headers(path, is_by_python=options.matlab_axes == "python", files=files)
        if files or not self.part:
            return headers
        parts = {name: part_of_name(name) for name in headers}
        return {parts[name][0]: header for name, header in headers.items() if parts[name][1] == self.part}

    def _roles(self, options: DataOptions, path: Path) -> tuple[dict[str, StoredArray], dict[str, str], dict[str, str]]:
        """Return the arrays, the target's name per array of targets, and the array of lengths per array of sequences.

        Labels that are not the target are no inputs either; the first of them is the target where none is named.
        """
        headers = self._headers(options, path)
        if (dividing := options.dividing_column) and dividing not in headers:
            hint = did_you_mean(dividing, headers)
            raise UserError(f"{path} has no array {quoted(dividing)} to divide the data by (data.split_column).{hint}")
        label = next((name for name, header in headers.items() if header.is_label), "") or _usual_response(headers)
        names = target_names(options.response or label, list(headers), str(path))
        headers = {name: header for name, header in headers.items() if name in names or not header.is_label}
        pairs = {name: f"{name}{LENGTHS}" for name in headers}
        timed = {
            name: lengths
            for name, lengths in pairs.items()
            if lengths in headers
            and lengths not in names
            and headers[lengths].dtype.kind in "iu"
            and len(headers[lengths].shape) == 1
            and (name in names or _is_sequence(headers[name], options.integer_arrays))
            and len(headers[name].shape) > 1
        }
        if not headers.keys() - names.keys() - set(timed.values()) - {dividing}:
            response = next(iter(names))
            raise UserError(f"{path} holds the responses {quoted(response)} and no input. Expected {EXPECTED}.")
        beside = (*names, *timed, *timed.values(), dividing)
        headers = {name: header if name in beside else Pictures.of(header) for name, header in headers.items()}
        return headers, names, timed


def _usual_response(headers: Mapping[str, StoredArray]) -> str:
    """Return the array of responses where none is named: one with a usual name, or of two arrays the one with fewer
    numbers per sample. Empty where there is no such one, or names say it: `y`, or `y_NAME` for several."""
    if any(name == RESPONSE or (name.startswith(f"{RESPONSE}_") and not part_of_name(name)[1]) for name in headers):
        return ""
    words: dict[str, str] = {}
    for name in reversed([*headers]):
        bare = part_of_name(name)[0]
        last = _LAST_WORD.search(bare)
        words |= {bare.lower(): name, **({last[0].lower(): name} if last else {})}
    if usual := next((words[word] for word in USUAL_RESPONSES if word in words), ""):
        return usual
    pair = [name for name in headers if not name.endswith(LENGTHS)]
    sizes = [prod(headers[name].shape[1:]) for name in pair]
    is_pair = len(pair) == 2 and len({headers[name].shape[:1] for name in pair}) == 1 and sizes[0] != sizes[1]
    return pair[sizes.index(min(sizes))] if is_pair else ""


def _count(headers: Mapping[str, StoredArray], path: Path) -> int:
    """Return the number of samples, which must be the same in each array. Raises `UserError`."""
    for name, header in headers.items():
        if not header.shape:
            raise UserError(
                f"Array '{name}' of {path} is a single value. Expected one axis at least, which counts the samples."
            )
    counts = {name: header.shape[0] for name, header in headers.items()}
    if len(set(counts.values())) > 1:
        sizes = ", ".join(f"'{name}' {count:,}" for name, count in counts.items())
        raise UserError(
            f"The arrays of {path} differ in their number of samples (the first axis): {sizes}.",
            hint="Their names divide them: set the split to folders (data.split=folders)." if division(counts) else "",
        )
    if (count := next(iter(counts.values()))) == 0:
        raise UserError(f"The arrays of {path} have no samples: the size of their first axis is 0.")
    return count


def _type(header: StoredArray, path: Path, integer_arrays: str) -> TensorType:
    sizes = header.shape[1:]
    if header.is_complex:
        channels = _channel_axis(len(header.shape)) - 1
        sizes = (*sizes[:channels], 2 * (sizes[channels] if sizes else 1), *sizes[channels + 1 :])
    elif header.dtype.kind not in NUMBERS:
        raise UserError(
            f"Array '{header.name}' of {path} holds {header.dtype}; an input holds numbers. "
            "Store it as float32, or name it as the response."
        )
    match len(sizes):
        case 0:
            return features(1)
        case 1:
            has_indices = header.dtype.kind in "iu" and integer_arrays == "indices"
            return tokens(*sizes) if has_indices else features(*sizes)
        case 2:
            return sequence(*sizes)
        case 3:
            return image(*sizes)
        case 4:
            return volume(*sizes)
    raise UserError(
        f"Array '{header.name}' of {path} has {len(header.shape)} axes, {header.shape}. Expected N C (features), "
        "N T C (sequence), N C H W (image) or N C D H W (volume)."
    )


def _pixels(header: StoredArray, type: TensorType) -> tuple[float, float] | None:
    """Return the range of images of bytes; other arrays may hold any numbers."""
    return (0.0, 255.0) if header.dtype == np.uint8 and type.layout == "image" else None


def _channel_axis(axes: int) -> int:
    """Return the axis of the channels in an array with this number of axes."""
    return 2 if axes == 3 else 1


def in_channels(array: Array) -> Array:
    """Return complex numbers as twice the channels, each real part before its imaginary part; others unchanged."""
    if array.dtype.kind != "c":
        return array
    array = array[:, np.newaxis] if array.ndim == 1 else array
    axis = _channel_axis(array.ndim)
    shape = (*array.shape[:axis], 2 * array.shape[axis], *array.shape[axis + 1 :])
    return np.stack((array.real, array.imag), axis + 1).reshape(shape)


def _doubts(header: StoredArray, type: TensorType) -> Iterator[str]:
    """Yield notes on arrays whose shape is ambiguous."""
    if type.kind == "index" and not type.is_open:
        yield (f"'{header.name}' holds whole numbers: taken as sequences of {type.sizes[0]} indices. {AS_NUMBERS}")
    if isinstance(header, Pictures):
        yield header.note()
    elif type.layout == "image" and header.shape[-1] in (1, 3, 4) and header.shape[1] not in (1, 3, 4):
        yield (
            f"'{header.name}' was taken as images with {header.shape[1]} channels. If its channels come last, "
            f"move them: {header.name}.transpose(0, 3, 1, 2)."
        )


def _span_of_indices(stored: StoredArray, lengths: Array | None) -> tuple[int, int]:
    """Return the smallest and the largest index of sequences without their padding; the padding counts as 0."""
    low, high, start = (0, 0, 0) if lengths is not None else (LARGEST, -LARGEST, 0)
    for chunk in stored.chunks():
        real = chunk
        if lengths is not None:
            real = chunk[np.arange(chunk.shape[1]) < lengths[start : start + len(chunk), np.newaxis]]
            start += len(chunk)
        low, high = min(low, int(real.min())), max(high, int(real.max()))
    return low, high


def _only_whole(header: StoredArray) -> str:
    """Return the reason why an array can only be read whole; empty where there is none."""
    return f"array '{header.name}' cannot be read sample by sample: {header.only_whole}" if header.only_whole else ""


def _vocabulary(low: int, high: int, name: str, path: Path) -> str:
    if low < 0:
        raise UserError(
            f"Array '{name}' of {path} holds whole numbers, taken as indices, but the smallest is {low:,}. "
            f"Expected indices from 0. {AS_NUMBERS}"
        )
    if high >= MOST_INDICES:
        raise UserError(
            f"Array '{name}' of {path} holds the index {high:,}; indices are at most {MOST_INDICES - 1:,}. "
            f"Number the ids anew from 0, as numpy.unique(..., return_inverse=True) does. {AS_NUMBERS}"
        )
    return f"The largest index in '{name}' is {high:,}: an embedding needs a vocabulary of at least {high + 1:,}."


def _is_sequence(header: StoredArray, integer_arrays: str) -> bool:
    has_indices = len(header.shape) == 2 and header.dtype.kind in "iu" and integer_arrays == "indices"
    return len(header.shape) == 3 or has_indices


def _targets(
    task: str,
    names: Mapping[str, str],
    headers: Mapping[str, StoredArray],
    lengths: Mapping[str, Array | None],
    beside: Beside,
    path: Path,
) -> list[Target]:
    """Return the target of each array of targets. Lengths are passed on even where all sequences are complete, since
    they distinguish transcripts from numbers."""
    targets = []
    for array, name in names.items():
        values, steps = headers[array].read(), lengths.get(array)
        if array in lengths and steps is None:
            steps = np.full(len(values), values.shape[1])
        targets.append(read_target(name, task, values, steps, beside, f"Array '{array}' of {path}"))
    return targets


def _lengths(path: Path, header: StoredArray, lengths: StoredArray) -> Array | None:
    """Return the lengths of the sequences in an array, or None where none is padded. Raises `UserError`."""
    steps = lengths.read().astype(np.int64)
    most = header.shape[1]
    wrong = (steps < 1) | (steps > most)
    if wrong.any():
        place = int(wrong.argmax())
        raise UserError(
            f"Array '{lengths.name}' of {path} says how long each sequence in '{header.name}' is: expected 1 to "
            f"{most:,} steps, received {steps[place]:,} for sample {place:,}. Correct it, or leave the sample out."
        )
    return None if (steps == most).all() else steps


def _span(lengths: Array) -> tuple[int, int]:
    return int(lengths.min()), int(lengths.max())


def _spoken(name: str, shortest: int, longest: int) -> str:
    return (
        f"The sequences in '{name}' have {shortest:,} to {longest:,} steps; '{name}{LENGTHS}' says how many each has."
    )


def _column(header: StoredArray, name: str, type: TensorType | None, *, is_lengths: bool = False) -> Column:
    role = "lengths" if is_lengths else "input" if type else "response"
    return Column(name, role, f"{type.layout}: {_kind(header)}" if type else _kind(header))


def _kind(header: StoredArray) -> str:
    """Return dtype and shape: `float32, 100 × 3`."""
    return f"{'text' if header.dtype.kind in 'US' else header.dtype}, {' × '.join(map(str, header.shape))}"


DIGITS = RESOURCES / "data" / "digits.npz"


class Digits(Source):
    """Grey images with values from 0 to 16, as in the original set."""

    def stamp(self, path: Path) -> Hashable:
        """Return 0, since the data comes with the program and does not change."""
        return 0

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline with all samples, since they are few."""
        with np.load(DIGITS, allow_pickle=False) as file:
            images, labels = file["images"], file["labels"]
        _, height, width = images.shape
        return Outline(
            inputs=(InputInfo("image", image(1, height, width), span=declaration.Digits.span),),
            targets=(labels.astype(np.int64),),
            wanted=classes_of(*(str(digit) for digit in range(10)), name="digit"),
            samples=Samples((images[:, np.newaxis],)),
            resident_because="the digits are small",
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the images (N, C, H, W)."""
        assert outline.samples is not None
        (images,) = outline.samples.arrays
        return Samples((images if indices is None else images[indices],))
