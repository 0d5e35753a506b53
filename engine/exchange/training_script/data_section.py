"""The part of a training script that reads the data: plain code for tables, folders of images and array files, else
arrays that were prepared for it.

Plain code is printed only where it gives the arrays that training uses, which `Section.read` finds out by running it.
"""

import io
import json
import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.datasets import fed_inputs
from netwright.engine.data.sources.image_reading import ImageReader
from netwright.engine.data.sources.source import locate
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.exchange.training_script.recipe import Recipe
from netwright.engine.lowering.classes import LINE_LENGTH, call, literal
from netwright.engine.project.sources.converted_tables import PLAIN, as_csv
from netwright.engine.project.sources.csv_dialect import codec_of
from netwright.engine.training.job import TrainingJob

LIMIT_BYTES = 2**31
"""Largest file of prepared arrays that is written."""
LOOKED_AT = 16
"""Images of each split that are read by the printed code and compared."""
Batch = tuple[torch.Tensor, ...]
TAKEN = {
    *("network", "data", "device", "losses", "model", "optimizer", "scheduler", "plateau", "best", "step", "epoch"),
    *("batch", "batches", "mine", "loss", "value", "log", "numbers", "sums", "output", "right", "counted", "errors"),
    *("correct", "count", "squares", "evaluate", "validate", "train", "file", "path", "split", "math", "torch", "nn"),
    *("os", "np", "dist", "functional", "say", "loss_sum", "print", "float", "len", "part", "chosen"),
}
"""Names that the script uses where a batch has its own."""


@dataclass(frozen=True, eq=False)
class Section:
    """The printed code that reads the data, what it imports, and the file that it needs beside the script.

    `path` is the file or folder that it reads by default: an absolute path, or a name beside the script. `split_type`
    is the class of a split. `beside` are the content and the ending of the name of a file to write: `.split.npz`.
    """

    lines: tuple[str, ...]
    imports: tuple[str, ...]
    path: Path | None
    constants: tuple[str, ...]
    ending: str
    content: bytes
    needs_classes: bool = False
    split_type: str = "TensorDataset"
    note: str = ""


def data_section(job: TrainingJob, recipe: Recipe, base: Path, stem: str) -> Section:
    """Return plain code for the data where that gives the same numbers, else code for prepared arrays.

    `base` is the folder of the data, `stem` the beginning of the names of files beside the script. Raises `UserError`
    where the arrays are too large to prepare.
    """
    plain: dict[str, Callable[[TrainingJob, Recipe, Path, str], Section | None]] = {
        "table": _table,
        "images": _images,
        "arrays": _arrays,
    }
    make = plain.get(job.project.data.source)
    section = make(job, recipe, base, stem) if make is not None else None
    if section is not None and _gives_the_same(section, job, recipe, stem):
        return section
    return _prepared(job, recipe, stem)


def _gives_the_same(section: Section, job: TrainingJob, recipe: Recipe, stem: str) -> bool:
    """Run the printed code and compare what it reads with what training reads."""
    import tempfile

    assert section.path is not None
    names: dict[str, Any] = {"__name__": "reader", "CLASSES": list(job.dataset.classes)}
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        (Path(folder) / f"{stem}{section.ending}").write_bytes(section.content)
        names["HERE"] = Path(folder)
        try:
            exec("\n".join((*COMMON_IMPORTS, *section.imports, *section.constants, *section.lines)), names)
            read_data = names["read_data"](section.path)
            return all(_equal(read_data[name], _split(job, recipe, name)) for name in recipe.samples)
        except Exception:  # what plain code cannot read, the prepared arrays hold
            return False


COMMON_IMPORTS = ("from pathlib import Path", "import numpy as np", "import torch", "from torch.utils.data import *")


def _equal(batch_reader: Any, expected: Batch) -> bool:
    """Return whether a split is the same: all of it, or some samples where they are read one by one."""
    count = len(expected[-1])
    if len(batch_reader) != count:
        return False
    is_lazy = not hasattr(batch_reader, "tensors")
    places = torch.linspace(0, count - 1, min(count, LOOKED_AT)).long() if is_lazy else torch.arange(count)
    pairs = zip(batch_reader[places], (part[places] for part in expected), strict=True)
    return all(one.dtype == other.dtype and _same(one, other) for one, other in pairs)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))


def _split(job: TrainingJob, recipe: Recipe, name: str) -> Batch:
    """Return the inputs and targets of a split as training takes them, in the order of the network."""
    assert job.data is not None
    split = job.data.split(name, recipe.doubles)
    arrays = [split.inputs[number] for _, _, number in fed_inputs(job.project.network, job.dataset)]
    arrays += [split.targets[one.wanted.number] for one in recipe.targets]
    tensors = (torch.from_numpy(np.ascontiguousarray(array[:])) for array in arrays)
    return tuple(x if x.is_floating_point() else x.long() for x in tensors)


def names_of(recipe: Recipe) -> list[str]:
    """Return the names of the inputs and targets of a sample, as variables and keys."""
    names: list[str] = []
    for text in (*recipe.inputs, *(one.wanted.facts.name for one in recipe.targets)):
        name = "".join(c if c.isalnum() and c.isascii() else "_" for c in text).strip("_").lower() or "x"
        name = f"x_{name}" if name[0].isdigit() else name
        while name in names or name in TAKEN or keyword.iskeyword(name):
            name += "_"
        names.append(name)
    return names


def _prepared(job: TrainingJob, recipe: Recipe, stem: str) -> Section:
    """Return code for arrays of each split, which are written beside the script."""
    assert job.data is not None
    size = sum(_sizes(job))
    if size > LIMIT_BYTES:
        raise UserError(
            f"The training script needs the data as arrays of {size / 1e9:.1f} GB; it gets at most "
            f"{LIMIT_BYTES / 1e9:.1f} GB. Plain code is printed for tables, image folders and array files alone.",
            hint="Export without the training script.",
        )
    names, buffer = names_of(recipe), io.BytesIO()
    splits = {name: _split(job, recipe, name) for name in recipe.samples}
    arrays = {f"{name}_{key}": x.numpy() for name, batch in splits.items() for key, x in zip(names, batch, strict=True)}
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    lines = (
        "def read_data(path: Path) -> dict[str, TensorDataset]:",
        f'    """Return each split: {_shapes(recipe, names, splits)}."""',
        "    with np.load(path) as file:",
        "        return {",
        *_tensor_dataset(names, 'torch.from_numpy(file[f"{{split}}_{name}"])', 12),
        f"            for split in {literal(tuple(recipe.samples))}",
        "        }",
    )
    note = "The script reads arrays that were prepared for it: inputs and targets of each split as training takes them."
    return Section(_docstring_wrapped(lines), (), None, (), ".data.npz", buffer.getvalue(), note=note)


def _tensor_dataset(names: list[str], pattern: str, indent: int) -> list[str]:
    return call(indent, "split: TensorDataset(", [pattern.format(name=name) for name in names], ")")


def _sizes(job: TrainingJob) -> list[int]:
    assert job.data is not None
    return [4 * int(np.prod(array.shape)) for array in job.data.inputs]


def _shapes(recipe: Recipe, names: list[str], splits: Mapping[str, Batch]) -> str:
    batch = splits["training"]
    return ", ".join(
        f"{name} ({', '.join(['N', *map(str, x.shape[1:])])})" for name, x in zip(names, batch, strict=True)
    )


def _docstring_wrapped(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines with a docstring that is too long in short form."""
    if len(lines[1]) <= LINE_LENGTH:
        return lines
    return (lines[0], '    """Return the inputs and targets of each split."""', *lines[2:])


def _split_file(job: TrainingJob, recipe: Recipe) -> bytes:
    """Return the content of a file with the sample numbers of each split."""
    assert job.data is not None
    buffer = io.BytesIO()
    numbers = {name: job.data.numbers[name] for name in recipe.samples}
    np.savez_compressed(buffer, **numbers)  # type: ignore[arg-type]
    return buffer.getvalue()


ENCODE = (
    "def encode(row: dict[str, str]) -> list[float]:",
    '    """Return the inputs of a row: numbers as they are, a text as one number of 0 or 1 per category."""',
    "    values: list[float] = []",
    "    for name, categories in INPUTS.items():",
    "        cell = row[name].strip()",
    "        values += [float(cell == category) for category in categories] if categories else [float(cell)]",
    "    return values",
    "",
    "",
)
"""The function of a script that encodes a row with texts."""


def _table(job: TrainingJob, recipe: Recipe, base: Path, stem: str) -> Section | None:
    """Return code for a CSV table of numbers and categories, one row per sample."""
    options, dataset = job.project.data, job.dataset
    path = locate(options.path, base)
    columns = dataset.inputs[0].prepared if len(dataset.inputs) == 1 else ()
    is_plain = all(
        one.missing is None and (one.kind == "number" or (one.kind == "category" and one.encoding == "one-hot"))
        for one in columns
    )
    if (
        path.suffix.lower() not in PLAIN
        or as_csv(path).path != path
        or not columns
        or not is_plain
        or not path.is_file()
    ):
        return None
    table = CsvTable(path, (), written=options.written, counts_lines=False)
    delimiter, encoding = table.dialect.delimiter, codec_of(table.encoding)
    dtype = "float64" if recipe.doubles else "float32"
    targets = recipe.targets
    if len(targets) != 1 or targets[0].per != "sample":
        return None
    facts = targets[0].wanted.facts
    responses = [name for name in options.response.split(",") if name] if facts.task == "numbers" else [facts.name]
    has_texts = any(one.kind == "category" for one in columns)
    sniffed = "" if delimiter == "," else f", delimiter={literal(delimiter)}"
    constants: list[str] = []
    if has_texts:
        constants = ["INPUTS: dict[str, tuple[str, ...]] = {  # columns, and the texts of those that hold texts"]
        constants += [f"    {literal(one.name)}: {literal(one.categories)}," for one in columns]
        constants += ["}"]
        encoded = "[encode(row) for row in rows]"
    else:
        constants = call(0, "INPUTS = (", [literal(one.name) for one in columns], "," * (len(columns) == 1) + ")")
        encoded = "[[float(row[name]) for name in INPUTS] for row in rows]"
    if facts.task == "numbers":
        numbers = ", ".join(f"float(row[{literal(name.strip())}])" for name in responses)
        target = f"torch.tensor([[{numbers}] for row in rows])"
    else:
        target = f"torch.tensor([CLASSES.index(row[{literal(facts.name)}].strip()) for row in rows])"
    kind = f", dtype=torch.{dtype}" if dtype == "float64" else ""
    lines = (
        *(ENCODE if has_texts else ()),
        "def read_data(path: Path) -> dict[str, TensorDataset]:",
        '    """Return the inputs and the target of each split of a table."""',
        f'    with path.open(encoding={literal(encoding)}, newline="") as file:',
        f"        rows = list(csv.DictReader(file{sniffed}))",
        f"    x = torch.tensor({encoded}{kind})",
        f"    y = {target}",
        f"    with np.load(HERE / {literal(f'{stem}.split.npz')}) as numbers:  # of the rows",
        "        return {split: TensorDataset(x[rows_of], y[rows_of]) for split, rows_of in numbers.items()}",
    )
    content = _split_file(job, recipe)
    classes = facts.task != "numbers"
    return Section(lines, ("import csv",), path, tuple(constants), ".split.npz", content, classes)


def _arrays(job: TrainingJob, recipe: Recipe, base: Path, stem: str) -> Section | None:
    """Return code for arrays in one .npz file, samples first."""
    path = locate(job.project.data.path, base)
    if path.suffix.lower() != ".npz" or not path.is_file():
        return None
    batch = _split(job, recipe, "training")
    keys = [*recipe.inputs, *(one.wanted.facts.name for one in recipe.targets)]
    with np.load(path, allow_pickle=False) as file:
        if any(key not in file.files for key in keys):
            return None
        texts = [file[key].dtype.kind in "US" for key in keys]
        same = [file[key].dtype == x.numpy().dtype for key, x in zip(keys, batch, strict=True)]
    loaded = []
    for key, x, is_text, is_same in zip(keys, batch, texts, same, strict=True):
        expression = f"file[{literal(key)}]"
        if is_text:
            loaded.append(f"torch.tensor([CLASSES.index(str(name)) for name in {expression}])")
        else:
            loaded.append(f"torch.from_numpy({expression}{'' if is_same else f'.astype(np.{x.numpy().dtype})'})")
    names = names_of(recipe)
    parts = ", ".join(f"{name}[chosen]" for name in names)
    lines = (
        "def read_data(path: Path) -> dict[str, TensorDataset]:",
        f'    """Return each split: {_shapes(recipe, names, {"training": batch})}."""',
        "    with np.load(path) as file:",
        *(f"        {name} = {text}" for name, text in zip(names, loaded, strict=True)),
        f"    with np.load(HERE / {literal(f'{stem}.split.npz')}) as numbers:  # of the samples",
        f"        return {{split: TensorDataset({parts}) for split, chosen in numbers.items()}}",
    )
    return Section(
        _docstring_wrapped(lines), (), path, (), ".split.npz", _split_file(job, recipe), needs_classes=any(texts)
    )


def _images(job: TrainingJob, recipe: Recipe, base: Path, stem: str) -> Section | None:
    """Return code for image files in one folder per class, decoded when they are asked for."""
    assert job.data is not None
    options, reader = job.project.data, job.data.inputs[0]  # never a `ReaderProcesses`: see `training_job`
    if len(recipe.inputs) != 1 or len(recipe.targets) != 1 or recipe.targets[0].per != "sample":
        return None
    if not isinstance(reader, ImageReader):
        return None
    _, channels, height, width = reader.shape
    files = {name: [reader.names[number] for number in job.data.numbers[name].tolist()] for name in recipe.samples}
    mode, planes = ("L", "[np.newaxis]") if channels == 1 else ("RGB", ".transpose(2, 0, 1)")
    lines = (
        "def read_image(file: Path) -> torch.Tensor:",
        f'    """Return an image ({channels}, {height}, {width}), upright, with values from 0 to 255."""',
        "    with Image.open(file) as picture:",
        f"        picture.draft(None, ({2 * width}, {2 * height}))  # decodes large JPEG files at less",
        f'        flat = ImageOps.exif_transpose(picture).convert("{mode}")',
        f"    flat = flat.resize(({width}, {height}), Image.Resampling.BILINEAR)",
        f"    return torch.from_numpy(np.asarray(flat, dtype=np.float32){planes})",
        "",
        "",
        "class Images:",
        '    """Images of a split, read when they are asked for, with the numbers of their classes."""',
        "",
        "    def __init__(self, folder: Path, names: list[str]) -> None:",
        "        self.files = [folder / name for name in names]",
        '        self.classes = torch.tensor([CLASSES.index(name.split("/")[0]) for name in names])',
        "        self.threads = ThreadPoolExecutor()",
        "",
        "    def __len__(self) -> int:",
        "        return len(self.files)",
        "",
        "    def __getitem__(self, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:",
        '        """Return the images and classes with these numbers."""',
        "        images = self.threads.map(read_image, (self.files[number] for number in numbers.tolist()))",
        "        return torch.stack(list(images)), self.classes[numbers]",
        "",
        "",
        "def read_data(path: Path) -> dict[str, Images]:",
        '    """Return the splits of a folder of images, with one folder inside per class."""',
        f'    names = json.loads((HERE / {literal(f"{stem}.split.json")}).read_text(encoding="utf-8"))',
        "    return {split: Images(path, files) for split, files in names.items()}",
    )
    imports = ("import json", "from concurrent.futures import ThreadPoolExecutor", "from PIL import Image, ImageOps")
    content = json.dumps(files, ensure_ascii=False, indent=0).encode()
    path = locate(options.path, base)
    return Section(lines, imports, path, (), ".split.json", content, needs_classes=True, split_type="Images")
