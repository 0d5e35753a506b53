"""Shards: many samples per file, in WebDataset tar or Parquet files, on disk or behind a URL."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.core.fields import Int, Text, printable
from netwright.engine.core.records import Record
from netwright.engine.core.types import TensorType
from netwright.engine.project.dataset_info import InputInfo
from netwright.engine.project.preparation import Reads
from netwright.engine.project.sources.images import Images
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType
from netwright.engine.project.sources.urls import is_remote, url_problems, without_secrets

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

PLACES = ("path", "validation_path", "test_path")
"""Options that name shards."""
TAR, PARQUET = ".tar", ".parquet"
PROTOCOLS = ("http", "https", "s3", "gs", "abfs", "file")
REMOTE_WINDOW = 16
"""Number of remote shards that are shuffled together unless the option says otherwise."""
TAR_MAGIC = slice(257, 262)
BRACES = re.compile(r"\{([^{}]*)\}")
MOST_SHARDS = 100_000


def expand(pattern: str) -> list[str]:
    """Return the names that a brace pattern stands for: `{0000..0146}` and `{a,b}`. Raises `UserError`."""
    names = [pattern]
    while match := BRACES.search(names[0]):
        inner = match[1]
        if numbers := re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", inner):
            first, last = int(numbers[1]), int(numbers[2])
            if last < first:
                raise UserError(f"{{{inner}}} counts down. Write the smaller number first.")
            width = len(numbers[1]) if numbers[1].startswith("0") else 0
            count = last - first + 1
            texts = [str(number).zfill(width) for number in range(first, min(last, first + MOST_SHARDS) + 1)]
        elif "," in inner:
            texts = inner.split(",")
            count = len(texts)
        else:
            raise UserError(f"{{{printable(inner[:50])}}} is no pattern. Expected {{0000..0146}} or {{train,more}}.")
        if count * len(names) > MOST_SHARDS:
            label = printable(without_secrets(pattern))
            raise UserError(f"{label} names {count * len(names):,} shards; at most {MOST_SHARDS:,} can be read.")
        names = [name.replace(match[0], text, 1) for name in names for text in texts]
    return names


class ShardOptions(Record):
    """Options of shards alone."""

    sample_input = Text(
        "",
        label="Input",
        group="Source",
        help="Suffix of the members that are the input (jpg, npy), or the column of a Parquet file. Default: the first"
        " image, else the first array; of a Parquet file without either, all numbers but the response",
    )
    shuffle_window = Int(
        0,
        low=0,
        high=1_000_000,
        zero="auto",
        unit="shards",
        label="Shuffle within",
        group="Source",
        help="Number of shards whose samples are shuffled together, so that a training reads few shards at a time; the"
        f" order of the shards is drawn, too. Default auto: {REMOTE_WINDOW} where shards are behind a URL, else all."
        " WebDataset: shardshuffle and shuffle",
    )
    shard_cache = Int(
        20,
        low=1,
        high=1_000_000,
        unit="GiB",
        label="Shard cache",
        group="Source",
        help="Largest size of the shards in the user's cache folder: remote ones, and converted Parquet files. Those"
        " used least recently are removed first. Default 20. Larger than the shards of a window, else single samples"
        " are requested",
    )


class Shards(SourceType):
    """Samples in WebDataset tar files or Parquet files."""

    key, label = "shards", "Shards"
    note = "WebDataset tar or Parquet files, on disk or behind a URL"
    wanted = "the shards: a file, a folder, a pattern such as train-{0000..0146}.tar, or a URL"
    inputs = "an image or an array per sample of tar or Parquet files ([shards](#shards))"
    targets = "the member `cls`, `json:KEY`, `txt` or another (`response`), or a column"
    options = ShardOptions
    uses = ("path", "response", "task", "image_size", "channels", "loading", "decoded_cache", "readers")
    takes = "both"
    suffixes, files = (TAR, PARQUET), "Shards"
    reader = "netwright.engine.data.sources.shards_reader:Shards"
    can_stream = True
    streamed = "all samples, from the files or from the shard cache; decoded images as with `images`"
    resident = "targets, and 20 bytes per sample"
    reads_single_samples = True
    reads = "image"
    bytes_per_number = 5
    has_patterns = True

    def is_remote(self, options: "DataOptions") -> bool:
        """Return whether the shards are behind a URL."""
        return any(is_remote(place) for place in (options.path, options.validation_path, options.test_path))

    def window(self, options: "DataOptions") -> int:
        """Return the number of shards that are shuffled together; 0 for all."""
        return options.shuffle_window or (REMOTE_WINDOW if is_remote(options.path) else 0)

    def reads_for(self, info: InputInfo | None) -> Reads:
        """Return `image` for image files, whose pixels have a span."""
        if info is None or info.span is not None:
            return "image"
        return "columns" if info.columns else "array"

    def problems(self, options: "DataOptions") -> Iterator[FieldError]:
        """Yield the errors of the place of the shards; secrets in it are not repeated."""
        yield from super().problems(options)
        for name in PLACES:
            yield from url_problems(name, getattr(options, name), PROTOCOLS, "shards")

    def arguments(self, options: "DataOptions", base: Path) -> Mapping[str, object]:
        """Return the arguments of the reader that find the shards."""
        return {"pattern": options.path, "base": base}

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for tar files, and for folders of tar or several Parquet files."""
        if peek.suffix == TAR and peek.head[TAR_MAGIC] == b"ustar":
            return Guess(self.key, 0.9, "A tar file; its members are grouped into samples by their names")
        names = peek.tree.get("", ()) if peek.is_folder else ()
        for suffix, least, kind in ((TAR, 1, "tar"), (PARQUET, 2, "Parquet")):
            if (count := sum(name.lower().endswith(suffix) for name in names)) >= least:
                return Guess(self.key, 0.85, f"The folder holds {count:,} {kind} file{'s' if count > 1 else ''}")
        return None

    def preparation(self, type: TensorType, columns: Sequence[str]) -> Iterator[str]:
        """Yield how the pixels of images become numbers."""
        return Images().preparation(type, columns)
