"""Write the code that runs an exported file on a sample of the project's data and prints what it predicts."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netwright.engine.core.fields import printable
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.sources.array_files import headers
from netwright.engine.data.sources.image_file import header_of
from netwright.engine.data.sources.image_reading import ImageReader
from netwright.engine.data.sources.source import locate
from netwright.engine.lowering.classes import literal
from netwright.engine.project.bindings import Wanted
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import TargetInfo
from netwright.engine.project.input_format import InputFormat

MOST_NUMBERS = 1024
"""Size of the largest sample that is written out in the code; others are read from their file, or drawn at random."""
SHOWN = 3
"""Number of classes that the code prints."""
LINE = 100
WITHOUT_TELEMETRY = ['os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else ONNX Runtime sends events to its maker', ""]
_CLASSES_OF_ONNX = 'json.loads(session.get_modelmeta().custom_metadata_map["classes"])'


@dataclass(frozen=True, eq=False)
class Sample:
    """A stored sample for one input of a network: `values` (1, ...) without padding, and the code that reads it from
    the files of the data, empty where it is not read from there."""

    values: np.ndarray
    reading: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """The exported file, and what the code needs to know of it. `outputs` are those that the data has targets for;
    `is_probable` says for each that it gives probabilities already."""

    path: Path
    format: str
    has_weights: bool
    num_outputs: int
    outputs: tuple[Wanted, ...] = ()
    is_probable: tuple[bool, ...] = ()
    has_companions: bool = False


def samples_of(
    data: LoadedData, options: DataOptions, base: Path, order: Sequence[int]
) -> tuple[tuple[Sample, ...], str]:
    """Return the first sample of the test split, else of validation or training, and a sentence on its target.

    `order` holds the index of the data's input for each input of the network.
    """
    facts = data.facts
    part = next(name for name in ("test", "validation", "training") if facts.samples.get(name))
    split, number = data.split(part, data.wider), int(data.numbers[part][0])
    samples = []
    for place in order:
        values = np.asarray(split.inputs[place][:1])
        steps = split.lengths[place] if split.lengths else None
        values = values if steps is None else values[:, : int(steps[0])]
        samples.append(_sample(data, options, base, place, number, values))
    return tuple(samples), _target(facts.targets[0], split.targets[0][0])


def _target(first: TargetInfo, target: np.ndarray) -> str:
    """Return a sentence on the first target of a sample; empty for maps, series and long vectors."""
    if first.is_one_class:
        return f"In the data its class is {literal(first.classes[int(target)])}."
    if first.task != "numbers" or first.per != "sample" or len(target) > SHOWN:
        return ""
    return f"In the data its {printable(first.name)} is {', '.join(f'{value:.4g}' for value in target.tolist())}."


def _sample(data: LoadedData, options: DataOptions, base: Path, place: int, number: int, values: np.ndarray) -> Sample:
    reader = data.inputs[place]
    if isinstance(reader, ImageReader):
        return Sample(values, *_picture(reader.folder / reader.names[number], values.shape))
    if options.source == "arrays" and values.size > MOST_NUMBERS:
        path, name = locate(options.path, base), data.facts.inputs[place].name
        header = headers(path).get(name)
        expression, needed = header.code if header is not None else ("", "")
        # Images that got another order of axes are written as numbers.
        if header is not None and expression and header.shape[2:] == values.shape[2:] and not header.is_complex:
            loaded = expression.replace("FILE", literal(str(header.path.resolve())))
            steps = f", :{values.shape[1]}" if values.shape[1] != header.shape[1] else ""
            return Sample(values, (f"{loaded}[{number}:{number + 1}{steps}]",), (needed,) if needed else ())
    return Sample(values)


def _picture(file: Path, shape: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the code that reads an image file as the data source does, and its imports."""
    _, channels, height, width = shape
    image = f"ImageOps.exif_transpose(Image.open({literal(str(file.resolve()))}))"
    is_deep = header_of(file).is_deep
    if is_deep:
        lines = [f"picture = {image}", "picture = Image.fromarray(np.asarray(picture, dtype=np.float32) / 257)"]
    else:
        lines = [f'picture = {image}.convert("{"L" if channels == 1 else "RGB"}")']
    lines.append(f"picture = picture.resize(({width}, {height}), Image.Resampling.BILINEAR)")
    planes = "np.asarray(picture)" + (".transpose(2, 0, 1)" if channels > 1 and not is_deep else "[np.newaxis]")
    planes = f"np.repeat({planes}, 3, axis=0)" if channels > 1 and is_deep else planes
    return (*lines, f"{planes}[np.newaxis]"), ("from PIL import Image, ImageOps",)


def code(program: Program, inputs: Sequence[InputFormat], samples: Sequence[Sample], target: str) -> str:
    """Return a Python program that loads the exported file, feeds it one sample, and prints the result.

    Without `samples` (the data cannot be read here) it feeds random numbers in the range of each input. `target` is a
    sentence on the target of the sample.
    """
    is_onnx = program.format == "onnx"
    fed = [samples[place] if samples else None for place in range(len(inputs))]
    names = [f"x{place + 1}" if len(inputs) > 1 else "x" for place in range(len(inputs))]
    imports = {"import numpy as np", *(line for sample in fed if sample for line in sample.imports)}
    imports |= {"import onnxruntime"} if is_onnx else {"import torch"}
    needs_json = _has_classes(program) or any(entry.is_normalized for entry in inputs)
    standard = [*(["import json"] if needs_json else []), "import os"] if is_onnx else []
    if program.format == "pytorch":
        standard += ["import runpy", *(["import sys"] if program.has_companions else [])]
    lines = [
        *standard,
        *([""] if standard else []),
        *(WITHOUT_TELEMETRY if is_onnx else []),
        *sorted(imports, key=_module),
        "",
    ]
    lines += _opening(program)
    for entry, sample, name in zip(inputs, fed, names, strict=True):
        lines += ["", *(f"# {line}" for line in _wrapped((f"{entry.name}: {entry.short()}", *entry.preparation)))]
        raw = replace(entry, dtype="float64") if entry.is_normalized else entry
        lines += [*_values(raw, sample, name), *_fitted(entry, sample, name)]
    if target:
        lines += [f"# {target}"]
    lines += ["", *_running(program, inputs, names), *_printing(program)]
    return "\n".join(lines) + "\n"


def _module(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line.split()[1].lower()


def _wrapped(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from textwrap.wrap(printable(sentence), LINE)


def _has_classes(program: Program) -> bool:
    return bool(program.outputs) and bool(program.outputs[0].facts.classes)


def _opening(program: Program) -> list[str]:
    path = literal(str(program.path.resolve()))
    if program.format == "onnx":
        lines = [f'session = onnxruntime.InferenceSession({path}, providers=["CPUExecutionProvider"])']
        reading = _CLASSES_OF_ONNX
    elif program.format == "pt2":
        lines, reading = [f"network = torch.export.load({path}).module()"], ""
    else:
        lines = [f"sys.path.insert(0, {literal(str(program.path.resolve().parent))})"] if program.has_companions else []
        lines += [f"exported = runpy.run_path({path})"]
        lines += ['network = exported["load"]()' if program.has_weights else 'network = exported["Network"]().eval()']
        reading = 'exported["CLASSES"]'
    if not _has_classes(program):
        return lines
    if program.outputs[0].number or not reading:  # source and ONNX name those of the first target
        reading = literal(list(program.outputs[0].facts.classes))
    return [*lines, f"classes = {reading}"]


def _values(entry: InputFormat, sample: Sample | None, name: str) -> list[str]:
    """Return the lines that define the batch `name` of one sample."""
    if sample is None:
        low, high = entry.range.bounds if entry.range else (0.0, 1.0)
        shape = ", ".join(str(size if isinstance(size, int) else 16) for size in entry.shape[1:])
        draw = f"integers({int(low)}, {int(high) + 1}, (1, {shape}))"
        if entry.type.kind != "index":
            draw = f"uniform({low!r}, {high!r}, (1, {shape}))"
        comment = "  # random: put yours here"
        return [f"{name} = np.random.default_rng(0).{draw}.astype(np.{entry.dtype}){comment}"]
    if sample.reading:
        *before, last = sample.reading
        return [*before, f"{name} = {last}.astype(np.{entry.dtype})"]
    if entry.columns and sample.values.ndim == 2:
        pairs = zip(entry.columns, sample.values[0].tolist(), strict=True)
        rows = [f"    {literal(column)}: {_number(value, entry.dtype)}," for column, value in pairs]
        return ["row = {", *rows, "}", f"{name} = np.array([list(row.values())], dtype=np.{entry.dtype})"]
    if sample.values.size > MOST_NUMBERS:
        return _values(entry, None, name)
    numbers = ", ".join(_number(value, entry.dtype) for value in sample.values.reshape(-1).tolist())
    shape = ", ".join(map(str, sample.values.shape))
    body = textwrap.wrap(numbers, LINE, initial_indent="    ", subsequent_indent="    ")
    return [f"{name} = np.array([", *body, f"], dtype=np.{entry.dtype}).reshape({shape})"]


def _fitted(entry: InputFormat, sample: Sample | None, name: str) -> list[str]:
    """Return the lines that do what a file leaves to its caller: fixed sizes and the normalisation."""
    lines = []
    steps = entry.type.sizes[0] if entry.type.has("T") else None
    if sample is not None and isinstance(steps, int) and sample.values.shape[1] != steps:
        missing = steps - sample.values.shape[1]
        rest = ", (0, 0)" * (sample.values.ndim - 2)
        filled = f"np.pad({name}, ((0, 0), (0, {missing}){rest}))" if missing > 0 else f"{name}[:, :{steps}]"
        lines.append(f"{name} = {filled}  # the file takes {steps} steps")
    if entry.is_normalized:
        lines += [
            'metadata = session.get_modelmeta().custom_metadata_map["normalization"]',
            f"numbers = json.loads(metadata)[{literal(entry.name)}]",
            'shift, scale = (np.reshape(numbers[key], numbers["sizes"]) for key in ("shift", "scale"))',
            f"{name} = (({name} - shift) * scale).astype(np.{entry.dtype})",
        ]
    if entry.batch > 1:
        lines.append(f"{name} = np.repeat({name}, {entry.batch}, axis=0)  # the file takes {entry.batch} samples")
    return lines


def _number(value: float, dtype: str) -> str:
    """Return the shortest text that gives the number again in the dtype of the input."""
    if float(value).is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value) if dtype == "float64" else str(np.float32(value))


def _running(program: Program, inputs: Sequence[InputFormat], names: Sequence[str]) -> list[str]:
    if program.format == "onnx":
        fed = ", ".join(f"{literal(entry.name)}: {name}" for entry, name in zip(inputs, names, strict=True))
        return [f"outputs = session.run(None, {{{fed}}})"]
    fed = ", ".join(f"torch.from_numpy({name})" for name in names)
    result = "result" if program.num_outputs > 1 else "(result,)"
    return [
        "with torch.no_grad():",
        f"    result = network({fed})",
        f"outputs = [output.numpy() for output in {result}]",
    ]


def _printing(program: Program) -> list[str]:
    """Return the lines that print the first output in words."""
    first = program.outputs[0] if program.outputs else None
    if first is not None and first.facts.task == "numbers" and first.facts.per == "sample":
        return [f"print({literal(f'{first.facts.name}:')}, *outputs[0][0])"]
    if first is None or first.facts.task in ("numbers", "transcripts"):
        return ["for output in outputs:", '    print(output.shape, output, sep="\\n")']
    lines = ["scores = outputs[0][0]"]
    axis = first.type.dim("C") - 1
    if not program.is_probable[0]:
        lines += [
            "scores = 1 / (1 + np.exp(-scores))"
            if first.folds == "sigmoid"
            else f"scores = np.exp(scores - scores.max({axis}, keepdims=True))",
        ]
        lines += [] if first.folds == "sigmoid" else [f"scores /= scores.sum({axis}, keepdims=True)"]
    if first.facts.per != "sample":
        return [*lines, *_counting(first, axis)]
    if first.is_binary:
        return [*lines, 'print(f"{classes[1]}: {scores[0]:.1%}")', 'print(f"{classes[0]}: {1 - scores[0]:.1%}")']
    most = "" if first.facts.task == "labels" else f"[:{SHOWN}]"
    return [
        *lines,
        f"for number in np.argsort(-scores){most}:",
        '    print(f"{classes[number]}: {scores[number]:.1%}")',
    ]


def _counting(first: Wanted, axis: int) -> list[str]:
    """Return the lines that count the classes of steps, pixels or voxels."""
    if first.is_binary or first.facts.task == "labels":
        return ['print(scores.shape, scores, sep="\\n")']
    return [
        f"numbers = scores.argmax({axis})  # the class of each {first.facts.per}",
        "for number, count in zip(*np.unique(numbers, return_counts=True)):",
        f'    print(f"{{classes[number]}}: {{count}} {first.facts.per}s")',
    ]
