"""The beginning of data: a small copy of its first rows, files or samples, which is previewed while all of it is read.

Files are not copied but linked. What the data is learned from as a whole (splits, categories, class names) is that of
the excerpt alone, so that only samples, rows and the names of columns are shown of it.
"""

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath
from netwright.engine.data.loading.open_data import open_source, reader_of
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources import array_files
from netwright.engine.data.sources.joined import parts_of
from netwright.engine.data.sources.labelled_files import is_table
from netwright.engine.data.sources.sequence_files import SUFFIXES
from netwright.engine.data.sources.shard_places import find_shards
from netwright.engine.data.sources.source import locate, located
from netwright.engine.data.tables.csv_file import read_columns
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.arrays import division
from netwright.engine.project.sources.audio import is_sound
from netwright.engine.project.sources.converted_tables import as_csv
from netwright.engine.project.sources.csv_dialect import codec_of, encoding_of
from netwright.engine.project.sources.images import is_image
from netwright.engine.project.sources.source_type import DEEPEST, HEAD_BYTES, is_hidden
from netwright.engine.project.sources.table import PARQUET, TABLES
from netwright.engine.project.sources.text import is_text
from netwright.engine.project.sources.urls import is_remote

ROWS = 200
"""Rows of a table, and samples of arrays."""
STEPS = 5000
"""Rows of a long table of sequences."""
FILES = 48
"""Files of all classes together; each class has two at least."""
MOST_FOLDERS = 100
CHARACTERS = 200_000
"""Characters of a text, and of a table at most."""
LONGEST_ROW = 2**16
ARRAY_BYTES = 2**25
SHOWN = ("kind", "pictures", "series", "rows")


@dataclass(frozen=True)
class Excerpt:
    """Options that read the excerpt, its path, and its content in words: `the first 200 rows`."""

    options: DataOptions
    path: Path
    text: str


def first_samples(
    options: DataOptions, base: Path, folder: Path, count: int, *, is_refused: bool = False
) -> dict[str, Any]:
    """Return `kind`, `pictures`, `series` and `rows` of a preview (`netwright.engine.data.loading.preview`) of the
    beginning of the data, name, role and kind of its `columns`, the `channels` of sequences, and `text`, such as
    `the first 200 rows`.

    Pictures are written to `folder`. Of data that is refused as a whole, the rows of a short file are returned, too.
    Empty where the beginning cannot be read by itself.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix="excerpt-", dir=folder))
    try:
        excerpt = excerpt_of(options, base, room)
    except (UserError, OSError, UnicodeError):
        return {}  # reading all of the data says what is wrong with it
    if excerpt is None:
        declared = options.source_type
        if not is_refused or declared is None or not options.path:
            return {}
        return _plain_rows(Excerpt(options, located(declared, options.path, base), "the beginning"))
    try:
        look = preview(excerpt.options, base, folder, count)
        inputs = open_source(excerpt.options, base).outline.inputs
    except UserError:
        return _plain_rows(excerpt)
    samples: dict[str, Any] = {key: look[key] for key in SHOWN}
    for sample in (*samples["pictures"], *samples["series"]):
        sample["split"] = ""  # it depends on all of the data
    columns = [{key: column[key] for key in ("name", "role", "kind")} for column in look["columns"]]
    return {**samples, "columns": columns, "channels": list(inputs[0].columns), "text": excerpt.text}


def excerpt_of(options: DataOptions, base: Path, room: Path) -> Excerpt | None:
    """Write the beginning of the training data to the folder `room`; None for data without one, and for a short file,
    which is soon read as a whole. Raises `UserError`, `OSError` or `UnicodeError` where it cannot be read."""
    declared = options.source_type
    if declared is None or declared.key not in MAKERS or options.problems():
        return None
    path = located(declared, options.path, base)
    places = [name for name, field in options.fields.items() if isinstance(field, FilePath) and name != "path"]
    options = options.replace(**{name: str(locate(text, base)) for name in places if (text := getattr(options, name))})
    training = parts_of(options, path, base, partial(reader_of, declared, base=base))[0]
    plain = training.options.replace(
        split="random", split_column="", group_pattern="", validation_path="", test_path=""
    )
    return MAKERS[declared.key](plain, training.path, room)


def _plain_rows(excerpt: Excerpt) -> dict[str, Any]:
    """Return the rows of a table whose beginning cannot be learned from, such as one with the rows of one class."""
    try:
        if excerpt.path.suffix not in TABLES:
            return {}
        columns = read_columns(excerpt.path, gaps="keep", written=excerpt.options.written)
    except UserError:
        return {}
    names = [{"name": name, "role": "", "kind": ""} for name in columns.names]
    rows = [list(row) for row in columns.first_rows[:20]]
    return {
        **{key: [] for key in SHOWN},
        "kind": "table",
        "rows": rows,
        "columns": names,
        "channels": [],
        "text": excerpt.text,
    }


# ---- tables ----


def _table(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    return _rows(options, path, room, ROWS)


def _series(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    return _rows(options, path, room, max(5 * ROWS, 10 * (options.lags + options.horizon)))


def _rows(options: DataOptions, path: Path, room: Path, count: int) -> Excerpt | None:
    """Copy the header and the first `count` rows of a table."""
    out = room / (path.name if path.suffix.lower() in PARQUET else f"{path.stem}.csv")
    if path.suffix.lower() in PARQUET:
        from pyarrow import Table, parquet

        with parquet.ParquetFile(path) as file:
            batch = next(file.iter_batches(batch_size=count), None)
            if batch is None or file.metadata.num_rows <= count:
                return None
        parquet.write_table(Table.from_batches([batch]), out)
        return Excerpt(options.replace(path=str(out)), out, f"the first {count:,} rows")
    with _opened(options, path) as text:
        lines = list(_records(text, count + 1))
        if len(lines) <= count + 1 and not text.read(1):
            return None
    out.write_text("".join(lines), encoding="utf-8", newline="")
    options = options.replace(path=str(out), text_encoding="utf-8")
    return Excerpt(options, out, f"the first {len(lines) - 1:,} rows")


def _opened(options: DataOptions, path: Path) -> TextIO:
    """Open a text in its encoding."""
    path = as_csv(path, options.sheet).path
    with path.open("rb") as file:
        encoding = options.written.encoding or encoding_of(file.read(HEAD_BYTES)) or "utf-8"
    return open(path, encoding=codec_of(encoding), errors="replace", newline="")


def _records(text: Any, count: int) -> Iterator[str]:
    """Yield the first records of a CSV file, with their ends of line: a quoted cell may have several lines."""
    record = ""
    remaining = CHARACTERS + LONGEST_ROW * 16
    while count and remaining > 0 and (line := text.readline(remaining)):
        record, remaining = record + line, remaining - len(line)
        if record.count('"') % 2 == 0 and line.endswith(("\n", "\r")):
            yield record
            record, count = "", count - 1


def _listed(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    """Copy the first rows of a table that names files relative to its folder, and link these."""
    excerpt = _rows(options, path, room, FILES)
    if excerpt is None or path.suffix.lower() in PARQUET:
        return None
    for cell in {cell for _, row in CsvTable(excerpt.path, (), "keep").rows() for cell in row if Path(cell).suffix}:
        inside = Path(os.path.normpath(cell))
        if not inside.is_absolute() and inside.parts[0] != ".." and (path.parent / inside).is_file():
            _link(path.parent / inside, room / inside)
    return excerpt


# ---- files ----


def _link(file: Path, link: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(file.absolute())


def _folders(
    options: DataOptions, path: Path, room: Path, is_wanted: Callable[[str], bool], noun: str, deep: int = 1
) -> Excerpt | None:
    """Link the first files of each folder inside `path`, down to the level `deep`."""
    inner = [(path / name, 1) for name in _names(path, is_folder=True)]
    each = max(2, FILES // max(1, len(inner)))
    left_out = frozenset(options.excluded_files)
    out = room / "data"
    out.mkdir()
    for folder, level in inner:  # which grows
        inside = folder.relative_to(path)
        names = (n for n in _names(folder, is_folder=False) if is_wanted(n) and (inside / n).as_posix() not in left_out)
        for name in islice(names, each):
            _link(folder / name, out / inside / name)
        if level < deep:
            inner += [(folder / name, level + 1) for name in _names(folder, is_folder=True)]
        del inner[MOST_FOLDERS:]
    return Excerpt(options.replace(path=str(out), excluded_files=()), out, f"the first {noun} of each folder")


def _names(folder: Path, *, is_folder: bool) -> list[str]:
    """Return the sorted names of the folders, or of the files, in a folder."""
    with os.scandir(folder) as entries:
        return sorted(e.name for e in entries if e.is_dir() == is_folder and not is_hidden(e.path))


def _images(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    kind = options.target_kind
    if kind == "labels":
        table = Path(options.labels)
        with open(table, encoding="utf-8-sig", newline="") as text:
            lines = list(_records(text, FILES + 1))
        (room / table.name).write_text("".join(lines), encoding="utf-8", newline="")
        some = options.replace(path=str(path), labels=str(room / table.name), excluded_files=())
        return Excerpt(some, path, f"the first {len(lines) - 1:,} images of the table")
    if not kind:
        deep = 1 if options.inner_folders == "leave-out" else DEEPEST
        return _folders(options, path, room, is_image, "images", deep)
    beside = Path(getattr(options, kind))
    left_out = frozenset(options.excluded_files)
    images = (n for n in _names(path, is_folder=False) if is_image(n) and n not in left_out)
    names = list(islice(images, FILES // 2))
    others = {Path(name).stem: name for name in _names(beside, is_folder=False) if is_image(name)}
    for name in names:
        _link(path / name, room / "images" / name)
        if other := others.get(Path(name).stem):
            _link(beside / other, room / "others" / other)
    paths = {"path": str(room / "images"), kind: str(room / "others")}
    return Excerpt(options.replace(excluded_files=(), **paths), room / "images", f"the first {len(names):,} images")


def _audio(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    return _folders(options, path, room, is_sound, "sounds") if path.is_dir() else _listed(options, path, room)


def _sequences(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    if path.is_dir():
        return _folders(options, path, room, lambda name: name.lower().endswith(SUFFIXES), "sequences")
    return _rows(options, path, room, STEPS) if options.id_column else _listed(options, path, room)


def _texts(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    if path.is_dir():
        return _folders(options, path, room, is_text, "texts")
    if is_table(path):
        return _rows(options, path, room, ROWS)
    with _opened(options, path) as text:
        begin = text.read(CHARACTERS)
        if not text.read(1):
            return None
    begin = begin[: begin.rfind("\n") + 1] or begin
    out = room / path.name
    out.write_text(begin, encoding="utf-8", newline="")
    options = options.replace(path=str(out), text_encoding="utf-8")
    return Excerpt(options, out, f"the first {len(begin):,} characters")


# ---- arrays and shards ----


def _arrays(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    """Copy the first samples of all arrays of a file or folder to a `.npz` file."""
    headers = array_files.headers(path)
    size = sum(header.sample_bytes for header in headers.values() if header.shape)
    count = min(ROWS, max(8, ARRAY_BYTES // max(1, size)))
    if any(not h.shape or not prod(h.shape) for h in headers.values()):
        return None
    out = room / "data.npz"
    with zipfile.ZipFile(out, "w") as archive:
        for name, header in headers.items():
            begin = header.begin(min(count, header.shape[0]))
            if begin is None:
                return None
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(begin), allow_pickle=False)
    labels = [name for name, header in headers.items() if header.is_label]
    response = options.response or ", ".join(labels)
    some = options.replace(path=str(out), response=response, **{"split": "random", **division(headers)})
    return Excerpt(some, out, f"the first {count:,} samples")


def _shards(options: DataOptions, path: Path, room: Path) -> Excerpt | None:
    """Take the first of several shards on disk."""
    if is_remote(options.path) or len(shards := find_shards(options.path, path)) < 2:
        return None
    return Excerpt(options.replace(path=shards[0].url), Path(shards[0].url), f"the first of {len(shards):,} shards")


MAKERS: dict[str, Callable[[DataOptions, Path, Path], Excerpt | None]] = {
    "arrays": _arrays,
    "audio": _audio,
    "images": _images,
    "sequences": _sequences,
    "series": _series,
    "shards": _shards,
    "table": _table,
    "text": _texts,
}
"""How the beginning of each kind of data is written: from its options, its path and an empty folder."""
