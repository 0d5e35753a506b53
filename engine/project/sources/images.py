"""Folders of images: one subfolder per class, or a mask per image."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from engine.core.fields import Choice, FilePath, Int
from engine.core.list_fields import Texts
from engine.core.records import Record
from engine.core.types import TensorType
from engine.project.sources.base import Guess, Peek, SourceType

if TYPE_CHECKING:
    from engine.project.data import DataOptions

IMAGE_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


class ImageOptions(Record):
    """Options of image files, and the ignored value, which arrays have, too."""

    masks = FilePath(
        "",
        folder=True,
        label="Folder of masks",
        group="Source",
        help="For segmentation: a folder with one mask per image, of the same name, whose values (grey or palette)"
        " are the classes of the pixels. The images then lie in one folder without subfolders. Empty: none",
    )
    ignored_value = Int(
        -1,
        low=-32768,
        high=32767,
        label="Ignored value",
        group="Source",
        help="Value in masks and classes that is ignored by the loss and the metrics, such as 255. Default -1. "
        "MATLAB: MaskIndex, 0; torch: ignore_index",
        visible_when=lambda options: options.source != "images" or options.masks != "",
    )
    image_size = Int(
        0,
        low=0,
        high=8192,
        zero="auto",
        unit="pixels",
        group="Source",
        help="Height and width that images are resized to. Default auto: the size of the first image",
    )
    channels = Choice(
        "auto",
        options=("auto", "grey", "rgb"),
        group="Source",
        help="Grey or colour; auto: as the first image",
    )
    excluded_files = Texts(
        (),
        label="Files left out",
        group="Source",
        help="Image files that are no samples, such as damaged ones, separated by semicolons: cat/3.png, with masks"
        " 3.png. Default none. The Data tab finds damaged files and leaves them out",
    )


class Images(SourceType):
    """Image files in folders."""

    key, label = "images", "Folder of images"
    note = "A folder of images with one subfolder per class"
    wanted = "the folder of images"
    inputs = "images in one subfolder per class"
    targets = "the class"
    options = ImageOptions
    uses = ("path", "loading", "decoded_cache", "readers", "bad_samples", "group_pattern")
    has_folders = True
    takes = "folder"
    suffixes = IMAGE_SUFFIXES
    reader = "engine.data.sources.images:Images"
    can_stream = True
    streamed = (
        "all images, decoded and resized on demand; up to `decoded_cache` MiB (default 1,024 over all workers, at most "
        "a quarter of the free memory) stay decoded for later epochs; by threads, or by processes (`readers`)"
    )
    resident = "masks: one or two bytes per pixel"
    reads_single_samples = True
    has_image_files = resizes = True
    reads = "image"
    span = (0.0, 255.0)
    bytes_per_number = 5  # bytes as read, single precision as trained with

    def reader_for(self, options: "DataOptions", path: Path) -> str:
        """Return the reader of classes by subfolder, or of masks."""
        return "engine.data.sources.masks:Masks" if options.masks else self.reader

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for a folder whose subfolders hold images."""
        counts = {inside: sum(map(is_image, names)) for inside, names in peek.tree.items()}
        folders = [inside for inside, count in counts.items() if count and inside and "/" not in inside]
        total = sum(counts[inside] for inside in folders)
        if len(folders) < 2:
            return None
        more = "more than " if peek.is_cut else ""
        return Guess(self.key, 0.95, f"{len(folders):,} subfolders with {more}{total:,} images: one class each")

    def preparation(self, type: TensorType, columns: Sequence[str]) -> Iterator[str]:
        """Yield how the pixels of image files become numbers."""
        if type.layout == "image":
            height, width = type.sizes[1:]
            colours = {1: "grey", 3: "RGB"}.get(type.channels, f"{type.channels} channels")
            yield (
                f"Pixels as in the image file, not divided by 255; {colours}, upright as EXIF says, transparency on "
                f"white, resized to {height} × {width} (bilinear)."
            )


def is_image(name: str) -> bool:
    """Return whether a file is an image, by its suffix."""
    return PurePath(name).suffix.lower() in IMAGE_SUFFIXES
