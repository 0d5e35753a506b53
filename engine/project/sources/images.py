"""Folders of images: classes by subfolder or by a table, or a mask or target image per image."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from netwright.engine.core.errors import FieldError, plural
from netwright.engine.core.fields import Choice, ColumnNames, FilePath, Int, Text
from netwright.engine.core.list_fields import Texts
from netwright.engine.core.records import Record
from netwright.engine.core.types import TensorType
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType, split_of_name

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

IMAGE_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


MASK_NAMES = re.compile("mask|label|annot|segment|truth", re.IGNORECASE)
TARGET_NAMES = re.compile("target|output|clean|after|high|sharp", re.IGNORECASE)
LABEL_NAMES = re.compile("label|annot|class|target|train", re.IGNORECASE)
_OF_TEST = re.compile("test|submission", re.IGNORECASE)
_OF_SPLIT = re.compile("train|val|test|image|img|picture|photo", re.IGNORECASE)
"""Names of folders that say no class: train, test_images, photos."""
TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
CLASS = "{class}"
"""The part of `class_pattern` that is the class."""
_NUMBERED = re.compile(r"(?P<label>[^\W\d_][^/]*?)(?P<mark>[._ -])\(?\d[\w-]*\)?\.\w+")
"""The name of an image file that is its class and a number: cat.12.jpg, red_car_3.png, dog (4).jpeg."""
_OF_CAMERAS = frozenset({"img", "dsc", "dscn", "dscf", "image", "photo", "pic", "picture", "scan", "frame"})
MOST_GUESSED = 100
ALIKE = 0.9
"""Fraction of names that two folders must share to be images and their masks or targets."""


class ImageOptions(Record):
    """Options of image files, and the ignored value, which arrays have, too."""

    inner_folders = Choice(
        "leave-out",
        options=("leave-out", "class", "path"),
        words={"leave-out": "Ignore", "class": "Part of the class", "path": "Classes of their own"},
        notes={
            "leave-out": "Images in folders inside the class folders are left out",
            "class": "They belong to the class of the folder at the first level",
            "path": "Each folder with images is a class, named by its path, such as dog/old",
        },
        label="Folders inside",
        group="Source",
        help="How images in folders inside the class folders are taken. Default leave-out. MATLAB: IncludeSubfolders",
        visible_when=lambda options: not options.target_kind,
    )
    class_pattern = Text(
        "",
        label="Pattern of classes",
        group="Source",
        help="Class in the name of each image file, where there are no class folders. Default empty: folders are the "
        "classes. {class}.* takes cat from cat.12.jpg; * is any text, and a / separates folders",
        visible_when=lambda options: not options.target_kind,
    )
    labels = FilePath(
        "",
        pattern="Tables (*.csv *.tsv *.txt)",
        label="Table of targets",
        group="Source",
        help="For targets by a table: a CSV file with a column of files, and columns of classes, labels or numbers. "
        "The images then lie in the folder or in folders inside it. Empty: none",
        visible_when=lambda options: options.target_kind in ("", "labels"),
    )
    label_column = ColumnNames(
        "",
        label="Columns of targets",
        group="Source",
        help="Columns of the table that hold the class, labels or numbers of each image, separated by commas. Default: "
        "label, class, category or target, where the table has one of them, else all that can be targets",
        visible_when=lambda options: options.target_kind == "labels",
    )
    target_images = FilePath(
        "",
        folder=True,
        label="Folder of targets",
        group="Source",
        help="For image to image, such as denoising: a folder with one target image per image, of the same name. The "
        "images then lie in one folder without subfolders. Empty: none",
        visible_when=lambda options: options.target_kind in ("", "target_images"),
    )
    target_values = Choice(
        "zero-one",
        options=("zero-one", "stored"),
        words={"zero-one": "0 to 1", "stored": "As stored"},
        notes={"zero-one": "0 to 1: divided by 255", "stored": "0 to 255, as in the files"},
        group="Source",
        help="Range of the numbers of target images. Default zero-one",
        visible_when=lambda options: options.target_kind == "target_images",
    )
    masks = FilePath(
        "",
        folder=True,
        label="Folder of masks",
        group="Source",
        help="For segmentation: a folder with one mask per image, of the same name, whose values (grey or palette)"
        " are the classes of the pixels. The images then lie in one folder without subfolders. Empty: none",
        visible_when=lambda options: options.target_kind in ("", "masks"),
    )
    ignored_value = Int(
        -1,
        low=-32768,
        high=32767,
        label="Ignored value",
        group="Source",
        help="Value in masks and classes that is ignored by the loss and the metrics, such as 255. Default -1. "
        "MATLAB: MaskIndex, 0; torch: ignore_index",
        visible_when=lambda options: options.source != "images" or options.target_kind == "masks",
    )
    image_size = Int(
        0,
        low=0,
        high=8192,
        zero="auto",
        purpose="for both width and height",
        unit="pixels",
        group="Source",
        help="Width and height that images are resized to, one number for both: 64 makes images of 64 × 64. Default "
        "auto: the most frequent width × height, or the median where sizes are all different",
    )
    channels = Choice(
        "auto",
        options=("auto", "grey", "rgb"),
        words={"auto": "Automatic", "grey": "Grey", "rgb": "Colour"},
        group="Source",
        help="Grey or colour; auto: colour where at least half of the images have colours",
    )
    excluded_files = Texts(
        (),
        label="Files left out",
        group="Source",
        help="Image files that are no samples, such as damaged ones, separated by semicolons: cat/3.png, with masks"
        " 3.png. Default none. The Data tab finds damaged files and leaves them out",
    )

    @property
    def target_kind(self) -> str:
        """Name of the option that says where the targets of images lie: `masks`, `labels` or `target_images`; empty
        where they are in subfolders by class."""
        return next((name for name in ("masks", "labels", "target_images") if getattr(self, name)), "")


class Images(SourceType):
    """Image files in folders."""

    key, label = "images", "Folder of images"
    note = "A folder of images with one subfolder per class, a table of targets, masks, or target images"
    wanted = "the folder of images"
    inputs = (
        "images in one subfolder per class, or in one folder with `class_pattern`, `labels`, `masks` or `target_images`"
    )
    targets = (
        "the class, by folder or by name; classes, labels or numbers in the table `labels`; with `masks` a class per "
        "pixel, with `target_images` a number per pixel and channel, from images of the same names in another folder"
    )
    options = ImageOptions
    uses = (
        *("path", "task", "text_encoding", "decimal_mark"),
        *("loading", "decoded_cache", "readers", "bad_samples", "group_pattern"),
    )
    has_folders = True
    takes = "folder"
    suffixes = IMAGE_SUFFIXES
    reader = "netwright.engine.data.sources.images_reader:Images"
    can_stream = True
    streamed = (
        "all images, decoded and resized on demand; up to `decoded_cache` MiB (default 1,024 over all workers, at most "
        "a quarter of the free memory) stay decoded for later epochs; by threads, or by processes (`readers`)"
    )
    resident = "masks: one or two bytes per pixel; target images: four bytes per number"
    reads_single_samples = True
    has_image_files = resizes = True
    reads = "image"
    span = (0.0, 255.0)
    bytes_per_number = 5  # bytes as read, single precision as trained with

    def reader_for(self, options: "DataOptions", path: Path, free_bytes: int) -> str:
        """Return the reader of classes by subfolder or table, of masks, or of target images."""
        return READERS.get(options.target_kind, self.reader)

    def problems(self, options: "DataOptions") -> Iterator[FieldError]:
        """Yield several kinds of targets at once, and splits that they do not have."""
        yield from super().problems(options)
        if options.is_visible("task") and options.task == "transcripts":
            yield FieldError("task", "images have classes, numbers or labels as targets. Choose one of them, or auto.")
        names = [name for name in READERS if getattr(options, name)]
        if len(names) > 1:
            labels = " and ".join(f"'{options.fields[name].label}'" for name in names)
            yield FieldError(names[1], f"{labels} are both set; images have one kind of targets. Clear all but one.")
        elif options.division == "folders" and options.target_kind in ("labels", "target_images"):
            label = options.fields[options.target_kind].label
            yield FieldError("split", f"'{label}' is for images in one folder. Choose another split than folders.")

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for a folder of images: by its subfolders, a table in it, or the names of two folders; and for
        a table that names images in its folder."""
        if not peek.is_folder:
            return self._table(peek)
        counts = {inside: sum(map(is_image, names)) for inside, names in peek.tree.items()}
        folders = [inside for inside, count in counts.items() if count and inside and "/" not in inside]
        if counts.get("") or len(folders) == 1 or all(map(_OF_SPLIT.match, folders)):
            table, place = _labels(peek)
            if table:
                count = counts[place] or sum(counts.values())
                reason = f"{plural(count, 'image')}, and the table {table} that names their targets"
                values = {"path": str(peek.path / place)} if place and len(folders) > 1 else {}
                return Guess(self.key, 0.95, reason, {**values, "labels": str(peek.path / table)})
        total = sum(counts[inside] for inside in folders)
        more = "more than " if peek.is_cut else ""
        if len(folders) == 2 and (pair := self._pairs(peek, *folders)) is not None:
            return pair
        if not folders and (pair := self._divided_pairs(peek)) is not None:
            return pair
        for name in folders if len(folders) > 2 else ():  # train beside trainannot, and others
            beside = [other for other in folders if other != name and other.startswith(name)]
            if split_of_name(name) == "training" and len(beside) == 1 and (pair := self._pairs(peek, name, *beside)):
                return pair
        inside: dict[str, int] = {}
        for folder, count in counts.items():
            if "/" in folder:
                inside[folder.partition("/")[0]] = inside.get(folder.partition("/")[0], 0) + count
        classes = {*folders, *(name for name, count in inside.items() if count)}
        if len(classes) < 2:
            return self._flat(peek, counts.get("", 0) or sum(counts.values()), is_deep=not counts.get("", 0))
        if num_inside := sum(inside.values()):
            total += num_inside
            names = f"{len(classes):,} subfolders, some with folders inside"
            reason = f"{names}, and {more}{total:,} images: one class per subfolder"
            return Guess(self.key, 0.9, reason, {"inner_folders": "class"})
        return Guess(self.key, 0.95, f"{len(folders):,} subfolders with {more}{total:,} images: one class each")

    def _divided_pairs(self, peek: Peek) -> Guess | None:
        """Return a guess for images/train and images/val beside masks/train and masks/val."""
        inside: dict[str, dict[str, str]] = {}
        for folder in peek.tree:
            top, _, name = folder.partition("/")
            if name and (split := split_of_name(name)):
                inside.setdefault(top, {})[split] = folder
        if len(inside) != 2 or len({frozenset(splits) for splits in inside.values()}) > 1:
            return None
        training = [splits.get("training", "") for splits in inside.values()]
        pair = self._pairs(peek, *training) if all(training) else None
        if pair is None or len(next(iter(inside.values()))) < 2:
            return pair
        options = {name: str(Path(str(path)).parent) for name, path in pair.options.items()}
        return replace(pair, options={**options, "split": "folders"})

    def _pairs(self, peek: Peek, *folders: str) -> Guess | None:
        """Return a guess for a folder of images beside one of masks or targets, by the names of folders and files."""
        for other, name in (folders, folders[::-1]):
            is_mask, is_target = MASK_NAMES.search(name), TARGET_NAMES.search(name)
            stems = {image_of_mask(PurePath(file).stem) for file in peek.tree[name]}
            images = {PurePath(file).stem for file in peek.tree[other]}
            stems = stems if is_mask else {PurePath(file).stem for file in peek.tree[name]}
            if (is_mask or is_target) and len(stems & images) >= ALIKE * max(len(images), 1):
                option, noun = ("masks", "a mask") if is_mask else ("target_images", "a target image")
                reason = f"{len(images):,} images in {other}, and {noun} of the same name for each in {name}"
                values = {"path": str(peek.path / other), option: str(peek.path / name)}
                return Guess(self.key, 0.9, reason, values)
        return None

    def _flat(self, peek: Peek, count: int, *, is_deep: bool) -> Guess | None:
        """Return a guess for a folder of images without classes, with a table where one lies there. `is_deep`: the
        images lie in a folder inside."""
        if not count:
            return None
        tables = [name for name in peek.tree[""] if name.lower().endswith(TABLE_SUFFIXES)]
        if len(tables) == 1:
            reason = f"{plural(count, 'image')}, and the table {tables[0]} that may name their targets"
            return Guess(self.key, 0.85, reason, {"labels": str(peek.path / tables[0])})
        if is_deep:
            return None
        names = [name for name in peek.tree[""] if is_image(name)]
        if pattern := class_pattern_of(names):
            return Guess(
                self.key, 0.85, f"{plural(count, 'image')}, whose names begin with a class", {"class_pattern": pattern}
            )
        reason = (
            f"{plural(count, 'image')} in one folder: choose a table of their targets, or a folder of masks or targets"
        )
        return Guess(self.key, 0.5, reason)

    def _table(self, peek: Peek) -> Guess | None:
        """Return a guess for a table of images that lie beside it or in folders there."""
        if peek.suffix not in TABLE_SUFFIXES or not names_images(peek):
            return None
        if not any(map(is_image, chain(*Peek(peek.path.parent).tree.values()))):
            return None
        values = {"path": str(peek.path.parent), "labels": str(peek.path)}
        return Guess(self.key, 0.95, "The table names image files", values)

    def preparation(self, type: TensorType, columns: Sequence[str]) -> Iterator[str]:
        """Yield how the pixels of image files become numbers."""
        if type.layout == "image":
            height, width = type.sizes[1:]
            colours = {1: "grey", 3: "RGB"}.get(type.channels, f"{type.channels} channels")
            yield (
                f"Pixels as in the image file, not divided by 255; {colours}, upright as EXIF says, transparency on "
                f"white, resized to {height} × {width} (bilinear)."
            )


READERS = {
    "masks": "netwright.engine.data.sources.masks:Masks",
    "labels": "netwright.engine.data.sources.image_labels:Labelled",
    "target_images": "netwright.engine.data.sources.image_pairs:ImagePairs",
}
"""Readers of targets outside of subfolders, by the option that says where they lie."""


def class_pattern_of(names: Sequence[str]) -> str:
    """Return the pattern of names that are a class and a number, as in cat.12.jpg: of at least two classes, and on
    average at least three images of each; else an empty text."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    if not all(matches):
        return ""
    marks = {match["mark"] for match in matches if match}
    labels = {match["label"] for match in matches if match}
    is_one = len(marks) == 1 and not any(mark in label for mark in marks for label in labels)
    is_one = is_one and not any(label.lower() in _OF_CAMERAS for label in labels)
    return f"{CLASS}{marks.pop()}*" if is_one and 2 <= len(labels) <= min(MOST_GUESSED, len(names) // 3) else ""


_MASK_END = re.compile("[-_ .](mask|masks|label|labels|seg|segmentation|gt|l|annotation)", re.IGNORECASE)


def image_of_mask(stem: str) -> str:
    """Return the name of the image, without suffix, of a mask: `car_1` for `car_1` and `car_1_mask`."""
    end = max((match.start() for match in _MASK_END.finditer(stem) if match.end() == len(stem)), default=len(stem))
    return stem[:end] or stem


def _labels(peek: Peek) -> tuple[str, str]:
    """Return the table in a folder that names images, with or without their suffixes, and the folder of most of these;
    empty texts where there is none. A table of a competition's training comes before one of its test."""
    stems = {inside: {PurePath(name).stem for name in names if is_image(name)} for inside, names in peek.tree.items()}
    candidates: list[tuple[bool, bool, str, str]] = []
    for name in peek.tree.get("", ()):
        if not name.lower().endswith(TABLE_SUFFIXES):
            continue
        table = Peek(peek.path / name).table
        columns = [table.column(place) for place in range(len(table.dialect.names)) if table.rows]
        for cells in columns:
            cell_stems = {_stem(cell) for cell in cells}
            if len(cell_stems) < len(cells):
                continue  # a column of classes, such as 1 and 2 beside 1.jpg
            hits = {inside: len(cell_stems & of_images) for inside, of_images in stems.items()}
            if 2 * sum(hits.values()) > len(cells) > 0 and len(columns) > 1:
                best = max(hits, key=lambda inside: hits[inside])
                place = best if hits[best] == sum(hits.values()) else ""
                candidates.append((bool(_OF_TEST.search(name)), not LABEL_NAMES.search(name), name, place))
    return min(candidates)[2:] if candidates else ("", "")


def _stem(cell: str) -> str:
    return PurePath(cell).stem if is_image(cell) else PurePath(cell).name


def is_image(name: str) -> bool:
    """Return whether a file is an image, by its suffix."""
    return name.lower().endswith(IMAGE_SUFFIXES) and name[:1] != "."


def names_images(peek: Peek) -> bool:
    """Return whether a column of a table holds the names of image files."""
    table = peek.table
    columns = [table.column(place) for place in range(len(table.dialect.names)) if table.rows]
    return any(cells and 2 * sum(map(is_image, cells)) > len(cells) for cells in columns)
