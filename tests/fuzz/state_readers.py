"""The readers of weights, checkpoints and data, as `tests.fuzz.fuzzed_readers` has those of projects and
run folders."""

import hashlib
import io
import json
import os
import random
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.apply_preparation import prepare, present
from netwright.engine.data.loading.baseline import baselines
from netwright.engine.data.loading.excerpt import first_samples
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview import describe  # noqa: F401
from netwright.engine.lowering import weights_folder
from netwright.engine.project.data import DataOptions
from netwright.engine.project.input_format import input_formats
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.sources.guess import guesses, with_guess
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.runs import checkpoint_files
from netwright.engine.runs.folder import RunFolder
from netwright.engine.training import checkpoints as checkpoint
from tests.fuzz import mutate
from tests.fuzz.fuzzed_readers import reader

# ---- weights and checkpoints ----


def _module() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))


def _weights(folder: Path) -> Path:
    weights_folder.save(_module(), folder / "best", {"layers": {"a": ["0"]}, "classes": ["a", "b"], "iteration": 3})
    return folder / "best"


def _load(folder: Path) -> None:
    state, _ = weights_folder.load(folder / "best")
    weights_folder.fill(_module(), state)


@reader("weights", "best/manifest.json", mutate.json_file, lambda f: [(_weights(f) / "manifest.json").read_bytes()])
def read_manifest(folder: Path, generator: random.Random) -> None:
    _load(folder)


@reader(
    "tensors",
    "best/weights.safetensors",
    mutate.tensors_file,
    lambda f: [(_weights(f) / weights_folder.WEIGHTS).read_bytes()],
)
def read_tensors(folder: Path, generator: random.Random) -> None:
    """With a checksum that fits: who changes weights on purpose changes that too."""
    sha256 = weights_folder.sha256(folder / "best" / weights_folder.WEIGHTS)
    manifest = {"files": {weights_folder.WEIGHTS: {"sha256": sha256}}}
    (folder / "best" / weights_folder.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    _load(folder)


GROUP: Any = SimpleNamespace(rank=0, size=1)


class _Piece:
    """A part of a training with everything that a state may hold."""

    def __init__(self) -> None:
        self.optimizer = torch.optim.AdamW(_module().parameters())
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = torch.ones_like(parameter)
        self.optimizer.step()

    def state_dict(self) -> checkpoint.JsonState:
        return {**self.optimizer.state_dict(), "more": (1, 2.5, None, "text", {3: [4]})}

    def load_state_dict(self, state: checkpoint.JsonState) -> None:
        self.optimizer.load_state_dict({key: value for key, value in state.items() if key != "more"})


def _pieces() -> dict[str, checkpoint.Stateful]:
    return {"random": checkpoint.RandomStates(GROUP, torch.device("cpu")), "solver": _Piece()}


def _checkpoint(folder: Path) -> Path:
    path = folder / "checkpoints" / f"{7:09d}"
    path.parent.mkdir()
    checkpoint.write(checkpoint.gathered(_pieces()), path, 7)
    return path


def _resumed(folder: Path) -> None:
    newest, _ = checkpoint_files.newest_whole(RunFolder(folder))
    if newest is not None:
        checkpoint.distribute(checkpoint.read(newest), _pieces())


@reader(
    "checkpoint",
    f"checkpoints/{7:09d}/state.json",
    mutate.json_file,
    lambda folder: [(_checkpoint(folder) / "state.json").read_bytes()],
)
def read_state(folder: Path, generator: random.Random) -> None:
    checkpoint_files.write_manifest(folder / "checkpoints" / f"{7:09d}", 7)
    _resumed(folder)


@reader(
    "checkpoint tensors",
    f"checkpoints/{7:09d}/tensors.safetensors",
    mutate.tensors_file,
    lambda folder: [(_checkpoint(folder) / "tensors.safetensors").read_bytes()],
)
def read_checkpoint_tensors(folder: Path, generator: random.Random) -> None:
    read_state(folder, generator)


@reader(
    "checkpoint manifest",
    f"checkpoints/{7:09d}/manifest.json",
    mutate.json_file,
    lambda folder: [(_checkpoint(folder) / "manifest.json").read_bytes()],
)
def read_checkpoint_manifest(folder: Path, generator: random.Random) -> None:
    path = folder / "checkpoints" / f"{7:09d}" / "manifest.json"
    try:
        body = json.loads(path.read_bytes())
        body.pop("sha256")
        sha256 = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        path.write_text(json.dumps({**body, "sha256": sha256}), encoding="utf-8")
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        pass  # it stays as it is
    _resumed(folder)


# ---- preparation ----

PREPARATION = Path(__file__).parents[1] / "golden" / "preparation_1.json"


@reader("preparation", "preparation.json", mutate.json_file, lambda f: [PREPARATION.read_bytes()])
def read_preparation(folder: Path, generator: random.Random) -> None:
    record = Preparation.load(folder)
    assert Preparation.parse(record.content(), "again") == record
    for given in input_formats(record):
        assert given.lines()
        json.dumps(given.write())
    one = replace(record, inputs=record.inputs[:1])
    rows = [{"area": "1,000", "facing": "north", "sold": "1.2.2024", "rooms": None}, {}]
    for raw in (rows[:1], rows, np.zeros((1, 8)), [Path("none.png")], ["a text"]):
        with suppress(UserError):
            prepare(one, raw)
    with suppress(UserError):
        for answers in present(record, [np.ones((1, 1)), np.ones((1, 2)), np.ones((1, 4, 3))]):
            json.dumps(answers.sample(0))


def _new_rows(folder: Path) -> list[bytes]:
    rows = ["81.5,north,2024-01-31,3", ",south,2024-02-29 12:30,4", '"1,000",north,2023-12-01,1']
    return ["\n".join(["area,facing,sold,rooms", *rows, ""]).encode()]


@reader("new rows", "new.csv", mutate.csv_file, _new_rows)
def read_new_rows(folder: Path, generator: random.Random) -> None:
    record = Preparation.parse(PREPARATION.read_bytes(), "golden")
    (made,) = prepare(replace(record, inputs=record.inputs[:1]), folder / "new.csv")
    assert np.isfinite(made).all()


# ---- data ----


def read_data(options: DataOptions, folder: Path) -> None:
    """Facts, samples and a preview of the data."""
    from netwright.engine.data.loading.preview_data import preview

    facts(options, folder)
    load(options, folder).split("training")
    json.dumps(preview(options, folder, folder / "look", 3))


def _tables(folder: Path) -> list[bytes]:
    generator = random.Random(0)
    rows = [
        (generator.random(), generator.randint(0, 9), generator.choice("abc"), generator.choice("xy"))
        for _ in range(40)
    ]
    numbers = "\n".join(f"{a:.3f},{b},{a * b:.5g}" for a, b, _, _ in rows)
    texts = "\n".join(f'{a:.3f},{c},"{d}"' for a, _, c, d in rows)
    return [f"one,two,y\n{numbers}\n".encode(), f"one,kind,y\n{texts}\n".encode()]


@reader("csv", "d.csv", mutate.csv_file, _tables)
def read_table(folder: Path, generator: random.Random) -> None:
    task = generator.choice(["auto", "auto", "classes", "numbers", "labels"])
    response = generator.choice(["", "", "y", "one", "one, y"])
    read_data(DataOptions(source="table", path="d.csv", task=task, response=response), folder)


@reader("long csv", "d.csv", mutate.csv_file, _tables)
def read_long_table(folder: Path, generator: random.Random) -> None:
    _read_from_disk("d.csv", folder, generator)


def _parquet_files(folder: Path) -> list[bytes]:
    from pyarrow import BufferOutputStream, csv, parquet

    files = []
    for number, content in enumerate(_tables(folder)):
        (folder / f"{number}.csv").write_bytes(content)
        for compression in ("none", "snappy"):
            out = BufferOutputStream()
            table = csv.read_csv(folder / f"{number}.csv")
            parquet.write_table(table, out, row_group_size=10, compression=compression)
            files.append(out.getvalue().to_pybytes())
    return files


@reader("parquet", "d.parquet", mutate.any_bytes, _parquet_files)
def read_parquet(folder: Path, generator: random.Random) -> None:
    _read_from_disk("d.parquet", folder, generator)


def _read_from_disk(name: str, folder: Path, generator: random.Random) -> None:
    """Read a table through its conversion, which goes into the folder of the hostile file, not the user's."""
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    missing = generator.choice(["refuse", "leave-out", "impute"])
    read_data(DataOptions(source="table", path=name, loading="stream", missing_values=missing), folder)


def _steps(folder: Path) -> list[bytes]:
    """Tables with one row per time step: of one series, of several, and of sequences with a response each."""
    generator = random.Random(0)
    series = "\n".join(f"2024-03-{1 + i // 24:02} {i % 24:02}:00,{i % 2},{generator.random():.3f}" for i in range(60))
    mixed = "\n".join(f"{i // 2},{'ab'[i % 2]},{generator.random():.3f},{i}" for i in range(40))
    each = "\n".join(f"{i // 7},{i % 7},{generator.random():.3f},{'xy'[i // 7 % 2]}" for i in range(40))
    return [f"time,id,y\n{series}\n".encode(), f"time,id,a,y\n{mixed}\n".encode(), f"id,time,a,y\n{each}\n".encode()]


@reader("series", "d.csv", mutate.csv_file, _steps)
def read_series(folder: Path, generator: random.Random) -> None:
    options = DataOptions(
        source="series",
        path="d.csv",
        time_column=generator.choice(["", "time", "time"]),
        group_column=generator.choice(["", "id"]),
        known_columns=generator.choice(["", "", "a"]),
        response=generator.choice(["", "y", "a, y"]),
        missing_cells=generator.choice(["refuse", "last-value"]),
        split_overlap=generator.choice(["none", "inputs"]),
        lags=generator.choice([1, 3, 3, 1000]),
        horizon=generator.choice([1, 2]),
        stride=generator.choice([1, 2, 999_999]),
    )
    read_data(options, folder)
    baselines(load(options, folder))


@reader("sequences", "d.csv", mutate.csv_file, _steps)
def read_sequences(folder: Path, generator: random.Random) -> None:
    options = DataOptions(
        source="sequences",
        path="d.csv",
        id_column=generator.choice(["", "id", "id", "id"]),
        time_column=generator.choice(["", "time"]),
        response=generator.choice(["", "y", "y", "a, y"]),
        task=generator.choice(["auto", "auto", "classes", "numbers"]),
        response_per=generator.choice(["auto", "sequence", "step"]),
        missing_cells=generator.choice(["refuse", "last-value"]),
        fixed_length=generator.choice([0, 0, 4]),
    )
    read_data(options, folder)


@reader("sequence file", "data/a/1.csv", mutate.csv_file, lambda folder: _sequence_files(folder))
def read_sequence_files(folder: Path, generator: random.Random) -> None:
    read_data(DataOptions(source="sequences", path="data", response=generator.choice(["", "", "y"])), folder)


def _sequence_files(folder: Path) -> list[bytes]:
    """Sequences in class folders, of which one file is hostile."""
    files = [b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * number) for i in range(9)) for number in range(4)]
    for number, content in enumerate(files):
        place = folder / "data" / "ab"[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.csv").write_bytes(content)
    return files[:1]


def _arrays(folder: Path) -> list[bytes]:
    generator = np.random.default_rng(0)
    classes, texts = np.array([0, 1, 0, 1, 2, 2]), np.array(["a", "b", "a", "b", "c", "c"])
    steps, lengths = generator.standard_normal((6, 5, 2)), np.array([5, 4, 3, 5, 2, 1])
    kinds: list[dict[str, Any]] = [
        {"x": generator.standard_normal((6, 3)), "y": classes},
        {"x": generator.standard_normal((6, 1, 4, 4)).astype(np.float32), "y": generator.integers(0, 3, (6, 4, 4))},
        {"x": steps, "x_lengths": lengths, "y": generator.integers(0, 3, (6, 5))},
        {"x": steps, "y": generator.integers(1, 3, (6, 4)), "y_lengths": np.array([4, 4, 2, 1, 3, 4])},
        {"a": generator.integers(0, 9, (6, 4)), "b": np.ones((6, 2), complex), "y_one": texts, "y_two": steps},
        {"x": generator.standard_normal((6, 1, 2, 2, 2)), "y": generator.random((6, 3)) > 0.5},
    ]
    found: list[bytes] = []
    for arrays in kinds:
        whole = io.BytesIO()
        (np.savez if len(found) % 2 else np.savez_compressed)(whole, **arrays)
        found.append(whole.getvalue())
    return found


@reader("npz", "d.npz", mutate.npz_file, _arrays)
def read_arrays(folder: Path, generator: random.Random) -> None:
    task = generator.choice(["auto", "auto", "classes", "numbers", "labels", "transcripts"])
    read_data(DataOptions(source="arrays", path="d.npz", task=task), folder)


def _array_folder(folder: Path) -> list[bytes]:
    """What may lie in a folder beside the responses of six samples."""
    (folder / "arrays").mkdir()
    np.save(folder / "arrays" / "y.npy", np.array([0, 1, 0, 1, 2, 2]))
    found: list[bytes] = []
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((6, 3))
    arrays: list[np.ndarray[Any, Any]] = [rows, np.asfortranarray(rows)]
    arrays += [generator.integers(0, 255, (6, 1, 4, 4)).astype(np.uint8), np.ones((6, 5, 2), np.complex64)]
    for array in arrays:
        whole = io.BytesIO()
        np.save(whole, array)
        found.append(whole.getvalue())
    return found


@reader("npy", "arrays/x.npy", mutate.npy_file, _array_folder)
def read_array_folder(folder: Path, generator: random.Random) -> None:
    task = generator.choice(["auto", "auto", "classes", "numbers"])
    read_data(DataOptions(source="arrays", path="arrays", task=task), folder)


def _pictures(folder: Path) -> list[bytes]:
    """One of each format and kind, and a program in PostScript; two classes around them."""
    numbers = np.random.default_rng(0).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    rgb = Image.fromarray(numbers)
    deep = Image.fromarray((numbers[:, :, 0].astype(np.uint16)) * 200)
    kinds = [(rgb, form) for form in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")]
    kinds += [(deep, "PNG"), (deep, "TIFF"), (rgb.convert("P"), "PNG"), (rgb.convert("RGBA"), "PNG")]
    kinds += [(rgb.convert("CMYK"), "TIFF"), (rgb.convert("1"), "PPM"), (rgb.convert("LA"), "PNG")]
    found = [b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(executed) (w) file\nshowpage\n"]
    for picture, form in kinds:
        whole = io.BytesIO()
        picture.save(whole, form)
        found.append(whole.getvalue())
    for place in ("images/a/b.png", "images/b/a.png", "flat/b.png", "masks/a.png", "masks/b.png"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (Image.fromarray(numbers[:, :, 0] % 3) if "masks" in place else rgb).save(folder / place)
    return found


@reader("images", "images/a/a.png", mutate.any_bytes, _pictures)
def read_images(folder: Path, generator: random.Random) -> None:
    size, channels = generator.choice([0, 0, 5]), generator.choice(["auto", "grey", "rgb"])
    read_data(DataOptions(source="images", path="images", image_size=size, channels=channels), folder)


@reader("masks", "masks/a.png", mutate.any_bytes, _pictures)
def read_masks(folder: Path, generator: random.Random) -> None:
    (folder / "flat" / "a.png").write_bytes((folder / "flat" / "b.png").read_bytes())
    size = generator.choice([0, 0, 5])
    read_data(DataOptions(source="images", path="flat", masks="masks", image_size=size), folder)


@reader("target images", "targets/a.png", mutate.any_bytes, lambda folder: _image_pairs(folder))
def read_image_pairs(folder: Path, generator: random.Random) -> None:
    size, values = generator.choice([0, 0, 5]), generator.choice(["zero-one", "stored"])
    options = DataOptions(source="images", path="pairs", target_images="targets", image_size=size, target_values=values)
    read_data(options, folder)


def _image_pairs(folder: Path) -> list[bytes]:
    """Images and target images of the same names, of which one target is hostile."""
    seeds = _pictures(folder)
    for place in ("pairs/a.png", "pairs/b.png", "pairs/c.png", "targets/b.png", "targets/c.png"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes((folder / "flat" / "b.png").read_bytes())
    return seeds


@reader("table of classes", "labels.csv", mutate.csv_file, lambda folder: _labelled(folder))
def read_table_of_classes(folder: Path, generator: random.Random) -> None:
    column = generator.choice(["", "", "label", "other"])
    read_data(DataOptions(source="images", path="all", labels="labels.csv", label_column=column), folder)


def _labelled(folder: Path) -> list[bytes]:
    """Images in one folder and one inside it; tables that name them by path, name or stem."""
    _pictures(folder)
    for number in range(6):
        place = folder / "all" / ("inside" if number % 2 else "") / f"{number}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((folder / "flat" / "b.png").read_bytes())
    calls = (lambda n: f"{'inside/' if n % 2 else ''}{n}.png", lambda n: f"{n}.png", str)
    rows = ["\n".join(f"{call(n)},{'ab'[n % 2]},{n}" for n in range(6)) for call in calls]
    return [f"file,label,other\n{text}\n".encode() for text in rows]


@reader("guess", "any/d.csv", mutate.any_bytes, lambda folder: _anything(folder))
def read_guess(folder: Path, generator: random.Random) -> None:
    """The guess by name and content, under any suffix; and the reader that it names."""
    suffix = generator.choice(sorted({suffix for source in SOURCES.values() for suffix in source.suffixes}))
    path = (folder / "any" / "d.csv").rename(folder / "any" / f"e{suffix}")
    try:
        guesses(folder / "any")
        if found := guesses(path):
            facts(with_guess(DataOptions(), found[0], path), folder)
    finally:
        path.unlink()


def _anything(folder: Path) -> list[bytes]:
    """A few files of each kind."""
    (folder / "any").mkdir()
    return [*_tables(folder), *_steps(folder), *_arrays(folder)[:2], *_array_folder(folder), *_pictures(folder)[:4]]


def _long_tables(folder: Path) -> list[bytes]:
    tables = [seed.partition(b"\n") for seed in (*_tables(folder), *_steps(folder))]
    return [head + line + rows * (1 + 30_000 // max(1, len(rows))) for head, line, rows in tables]


@reader("first samples", "d.csv", mutate.any_bytes, _long_tables)
def read_first_samples(folder: Path, generator: random.Random) -> None:
    """Whatever they are: the answer is given, and reading all of the data says what is wrong."""
    kinds = (
        {"source": "table"},
        {"source": "series"},
        {"source": "text"},
        {"source": "audio"},
        {"source": "sequences"},
    )
    options = DataOptions().replace(path="d.csv", **generator.choice(kinds))
    json.dumps(first_samples(options, folder, folder / "shown", 3), allow_nan=False)
    shutil.rmtree(folder / "shown")
