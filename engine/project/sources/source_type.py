"""Base class of the declarations of data sources, and the view of a path for guesses."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import FilePath
from netwright.engine.core.own_files import is_own
from netwright.engine.core.records import Record
from netwright.engine.core.types import TensorType
from netwright.engine.project.dataset_info import InputInfo
from netwright.engine.project.preparation import Reads
from netwright.engine.project.sources.converted_tables import as_csv, holds_records
from netwright.engine.project.sources.csv_dialect import Beginning, beginning_of, text_of
from netwright.engine.project.sources.urls import PROTOCOLS, SCHEME, is_remote, url_problems

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

HEAD_BYTES = 2**16
MOST_ENTRIES = 100_000
DEEPEST = 4
SPLIT_NAMES: Mapping[str, str] = {
    "train": "training",
    "training": "training",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}
"""Names of splits in columns and folders, in lower case, and the split that each means."""
_SPLIT_WORDS = "|".join(sorted(SPLIT_NAMES, key=len, reverse=True))
_NAMED_SPLIT = re.compile(rf"(?P<first>{_SPLIT_WORDS})([-_. \d].*)?|.+[-_. ](?P<last>{_SPLIT_WORDS})", re.IGNORECASE)
HIDDEN = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini", "lost+found", "_background_noise_", "unsup"})
"""Files of systems, and folders without a class among those with one: of Speech Commands, of IMDB."""


def split_of_name(name: str) -> str:
    """Return the split that the name of a folder, or of a file without its suffix, begins or ends with: `training` for
    seg_train, `test` for test_32x32; empty where it says none."""
    match = _NAMED_SPLIT.fullmatch(name)
    return SPLIT_NAMES[(match["first"] or match["last"]).lower()] if match else ""


def is_hidden(path: str) -> bool:
    """Return whether a file or folder is not part of the data around it: by its name, or since it is a project or holds
    runs."""
    name = os.path.basename(path)
    return name.startswith(".") or name in HIDDEN or is_own(path)


def remote_options(options: "DataOptions") -> tuple[str, ...]:
    """Return the names of the options of files and folders that are given by URLs."""
    return tuple(
        name
        for name, field in options.fields.items()
        if isinstance(field, FilePath) and SCHEME.match(getattr(options, name)) and options.is_visible(name)
    )


@dataclass(frozen=True)
class Guess:
    """A source that can read a file or folder.

    `confidence` is 0 to 1: above 0.8 where the content shows it, around 0.5 where only the name does. `reason` says
    why in words, as the window shows it: `3 subfolders with 1,799 images: one class each`. `options` are the values to
    set beside `source` and `path`; paths among them are absolute.
    """

    source: str
    confidence: float
    reason: str
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Peek:
    """A file or folder as a guess sees it: its name, the first bytes of a file, the names in a folder. Read on demand,
    and never more than `HEAD_BYTES` and `MOST_ENTRIES`. Raises `OSError` where the system refuses."""

    path: Path

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path.is_dir()

    @property
    def suffix(self) -> str:
        """Suffix of a file in lower case, with its point; empty for a folder."""
        return "" if self.is_folder else self.path.suffix.lower()

    @cached_property
    def head(self) -> bytes:
        """The first `HEAD_BYTES` of a file, of a workbook or records as CSV; empty for a folder or a special file."""
        if not self.path.is_file():
            return b""
        with open(self.path if self._is_other_json else as_csv(self.path).path, "rb") as file:
            return file.read(HEAD_BYTES)

    @cached_property
    def _is_other_json(self) -> bool:
        return self.suffix == ".json" and not holds_records(self.path)

    @cached_property
    def text(self) -> str:
        """The first bytes as text, up to the last whole line; empty for other data than text, or JSON than records."""
        if self._is_other_json:
            return ""
        text = text_of(self.head)
        return text[: text.rfind("\n") + 1] if self.is_beginning and "\n" in text else text

    @property
    def is_beginning(self) -> bool:
        """Whether the file holds more than its first bytes."""
        return len(self.head) == HEAD_BYTES

    @cached_property
    def table(self) -> Beginning:
        """The first bytes as a CSV table."""
        return beginning_of(self.text)

    @cached_property
    def tree(self) -> Mapping[str, tuple[str, ...]]:
        """Sorted names of the files by folder, `""` for the folder itself and `cat/old` for one inside, without hidden
        ones; at most `DEEPEST` levels and `MOST_ENTRIES` names."""
        names_by_folder: dict[str, tuple[str, ...]] = {}
        budget = MOST_ENTRIES
        waiting = [("", 1)] if self.is_folder else []
        while waiting and budget > 0:
            inside, level = waiting.pop(0)
            names: list[str] = []
            folders: list[str] = []
            with os.scandir(self.path / inside) as entries:
                for entry in entries:
                    budget -= 1
                    if budget < 0:
                        break
                    if not is_hidden(entry.path):
                        (folders if entry.is_dir() else names).append(entry.name)
            names_by_folder[inside] = tuple(sorted(names))
            if level < DEEPEST:
                waiting += [(f"{inside}/{name}" if inside else name, level + 1) for name in sorted(folders)]
        return names_by_folder

    @property
    def is_cut(self) -> bool:
        """Whether the folder holds more than `tree` tells."""
        return sum(map(len, self.tree.values())) + len(self.tree) >= MOST_ENTRIES


class SourceType:
    """Declaration of a kind of data: one class each, as layer types are. The window, the command line, the schema, the
    documentation and the loading of data follow from it.

    `options` are the fields that this source adds to the section `data`, and `uses` names the shared ones that apply to
    it. Everywhere else, "the source has this option" means that its declaration names it.
    """

    key: ClassVar[str]
    """Value of `data.source` in the project file."""
    label: ClassVar[str]
    """Name on buttons and in lists: `Folder of images`."""
    note: ClassVar[str]
    """Explanation of the choice."""
    wanted: ClassVar[str] = ""
    """The thing to choose, for messages: `the CSV file`."""
    inputs: ClassVar[str] = ""
    """Inputs of a sample, for the documentation."""
    targets: ClassVar[str] = ""
    """Targets of a sample, for the documentation."""
    options: ClassVar[type[Record]] = Record
    uses: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[Literal["nothing", "file", "folder", "both"]] = "file"
    """Kind of path that the source reads; `both` has the dialog choose a file."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Suffixes of its files in lower case, with the point."""
    files: ClassVar[str] = ""
    """Name of its files in the dialog, in the plural: `Tables`."""
    reader: ClassVar[str] = ""
    """Qualified name of the class that reads it, `netwright.engine.data.sources.table_reader:Table`; imported when it
    reads."""
    library: ClassVar[tuple[str, str]] = ("", "")
    """A library that the reader needs beyond Netwright's own, and the extra that installs it: `("h5py", "hdf5")`."""
    can_stream: ClassVar[bool] = False
    """Whether samples can be read batch by batch."""
    streamed: ClassVar[str] = ""
    """What is streamed, for the documentation."""
    resident: ClassVar[str] = "everything"
    """What is kept in memory, for the documentation."""
    reads_single_samples: ClassVar[bool] = False
    """Whether `samples` with chosen indices reads only these."""
    is_in_time: ClassVar[bool] = False
    """Whether the splits follow each other in time, so that only their shares are a choice."""
    has_image_files: ClassVar[bool] = False
    """Whether each sample is an image file, which the Data tab checks one by one."""
    resizes: ClassVar[bool] = False
    """Whether samples of any size become those of the training data, as image files do."""
    has_folders: ClassVar[bool] = False
    """Whether the data may lie in folders or arrays named train, val and test."""
    span: ClassVar[tuple[float, float] | None] = None
    """Smallest and largest number of an input, where the files define it."""
    reads: ClassVar[Reads] = "array"
    """What a new sample is given as: a row of columns, an image file, or an array."""
    has_patterns: ClassVar[bool] = False
    """Whether `path` may be a pattern or a URL, which the reader itself resolves; `arguments` gives it."""
    bytes_per_number: ClassVar[int] = 8
    """Memory per number of an input: as read, and as trained with in single precision."""

    @property
    def noun(self) -> str:
        """The label within a sentence: `folder of images`, `CSV table`, `NumPy arrays`."""
        first = self.label.split(" ")[0]
        return self.label if any(c.isupper() for c in first[1:]) else self.label[:1].lower() + self.label[1:]

    @property
    def phrase(self) -> str:
        """The noun with its article: `a table`, `audio files`."""
        return self.noun if self.noun.endswith("s") else f"a {self.noun}"

    @property
    def recorded(self) -> tuple[str, ...]:
        """Suffixes of the files in a folder whose state a run records; empty for all."""
        return self.suffixes

    @property
    def pattern(self) -> str:
        """Pattern of the file dialog: `Tables (*.csv *.tsv)`."""
        return f"{self.files} ({' '.join(f'*{suffix}' for suffix in self.suffixes)})" if self.suffixes else ""

    @property
    def option_names(self) -> frozenset[str]:
        """Names of all options of the section `data` that apply to this source alone or to some sources."""
        return frozenset((*self.uses, *self.options.fields))

    def reader_for(self, options: "DataOptions", path: Path, free_bytes: int) -> str:
        """Return the qualified name of the reader, which may depend on the options, the file, and the free memory."""
        return self.reader

    def arguments(self, options: "DataOptions", base: Path) -> Mapping[str, object]:
        """Return further arguments of the reader, by name. `base`: the project's folder."""
        return {}

    def is_remote(self, options: "DataOptions") -> bool:
        """Return whether the data is read over the network; `check` does not read it then."""
        return any(is_remote(getattr(options, name)) for name in remote_options(options))

    def window(self, options: "DataOptions") -> int:
        """Return the number of shards whose samples are shuffled together; 0 for all."""
        return 0

    def reads_for(self, info: InputInfo | None) -> Reads:
        """Return the form in which a new sample of an input is passed."""
        return self.reads

    def problems(self, options: "DataOptions") -> Iterator[FieldError]:
        """Yield the combinations of options that cannot be meant."""
        if self.takes != "nothing" and not options.path:
            yield FieldError("path", f"choose {self.wanted}.")
        for name in () if self.has_patterns else remote_options(options):
            yield from url_problems(name, getattr(options, name), PROTOCOLS, self.files or "files")

    def guess(self, peek: Peek) -> Guess | None:
        """Return whether this source can read a file or folder, and why; None where it cannot."""
        return None

    def preparation(self, type: TensorType, columns: Sequence[str]) -> Iterator[str]:
        """Yield the preparation steps of an input's data before the network, one sentence each. `columns`: names
        of the numbers of a vector."""
        yield from ()
