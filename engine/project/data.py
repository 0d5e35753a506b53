"""Which data a network learns from and how it is split: the section `data` of the project file."""

from typing import Any

from engine.core.errors import FieldError
from engine.core.fields import Choice, FilePath, Float, Int, Text
from engine.core.list_fields import Texts
from engine.core.records import Record
from engine.core.text import format_percent

SOURCES = ("none", "digits", "images", "table", "arrays")
STREAMED = ("images", "arrays")
"""Sources whose samples can be read batch by batch."""
PIXELS = {"digits": (0.0, 16.0), "images": (0.0, 255.0)}
"""Smallest and largest pixel of the sources whose files define it."""
PATTERNS = {"table": "Tables (*.csv *.tsv *.txt)", "arrays": "NumPy arrays (*.npz *.npy)"}


def _source(*names: str) -> Any:
    return lambda options: options.source in names


def _has_data(options: "DataOptions") -> bool:
    return options.source != "none"


class DataOptions(Record):
    """One data source and how it is divided into training, validation and test splits."""

    source = Choice(
        "none",
        options=SOURCES,
        notes={
            "none": "No data yet",
            "digits": "1,797 handwritten digits of 8 × 8 pixels, shipped with Netwright",
            "images": "A folder of images with one subfolder per class",
            "table": "A CSV table with a header and a response column",
            "arrays": "Arrays in a NumPy .npz file, or in a folder of .npy files, of which one may be named",
        },
        label="Data source",
        group="Source",
    )
    path = FilePath(
        "",
        folder_when=_source("images"),
        pattern_for=lambda options: PATTERNS.get(options.source, ""),
        group="Source",
        help="File or folder; relative to the project's folder",
        visible_when=_source("images", "table", "arrays"),
    )
    response = Text(
        "",
        label="Response",
        group="Source",
        help="Column to predict (table; empty: the last one), or name of the target array (arrays; empty: y, or "
        "y_NAME for each output NAME). Several are separated by commas",
        visible_when=_source("table", "arrays"),
    )
    task = Choice(
        "auto",
        options=("auto", "classes", "numbers", "labels", "transcripts"),
        notes={
            "auto": "By what the responses are: text, truth values and few whole numbers are classes",
            "classes": "One class per sample, step, pixel or voxel",
            "numbers": "Regression",
            "labels": "Several yes or no at once (arrays of 0 and 1)",
            "transcripts": "Classes in order, at no given step, for the CTC loss (arrays N L)",
        },
        label="Predict",
        group="Source",
        help="What the network predicts. Default auto",
        visible_when=_source("table", "arrays"),
    )
    integer_arrays = Choice(
        "indices",
        options=("indices", "numbers"),
        notes={
            "indices": "Sequences of indices, such as words, for an embedding",
            "numbers": "Features, as arrays of fractions are",
        },
        group="Source",
        help="What input arrays of integers with two axes, N T, hold. Default indices. torch: the dtype says it, long"
        " or float",
        visible_when=_source("arrays"),
    )
    missing_values = Choice(
        "refuse",
        options=("refuse", "leave-out"),
        notes={
            "refuse": "A table with a cell that is empty, or holds no number among numbers, is an error that names it",
            "leave-out": "Rows are left out in which a cell is empty, NA, N/A, NaN, null or ?",
        },
        group="Source",
        help="How rows with missing values are handled. Default refuse. MATLAB: rmmissing removes such rows; torch"
        " has no tables",
        visible_when=_source("table"),
    )
    left_out = Text(
        "",
        label="Columns left out",
        group="Source",
        help="Columns that are neither input nor response, separated by commas, such as the number of a row. Default "
        "none. Columns without a name always are",
        visible_when=_source("table"),
    )
    masks = FilePath(
        "",
        folder=True,
        label="Folder of masks",
        group="Source",
        help="For segmentation: a folder with one mask per image, of the same name, whose values (grey or palette)"
        " are the classes of the pixels. The images then lie in one folder without subfolders. Empty: none",
        visible_when=_source("images"),
    )
    ignored_value = Int(
        -1,
        low=-32768,
        high=32767,
        label="Ignored value",
        group="Source",
        help="Value in masks and classes that is ignored by the loss and the metrics, such as 255. Default -1. "
        "MATLAB: MaskIndex, 0; torch: ignore_index",
        visible_when=lambda options: options.source == "arrays" or (options.source == "images" and options.masks != ""),
    )
    image_size = Int(
        0,
        low=0,
        high=8192,
        zero="auto",
        unit="pixels",
        group="Source",
        help="Height and width that images are resized to. Default auto: the size of the first image",
        visible_when=_source("images"),
    )
    channels = Choice(
        "auto",
        options=("auto", "grey", "rgb"),
        group="Source",
        help="Grey or colour; auto: as the first image",
        visible_when=_source("images"),
    )
    excluded_files = Texts(
        (),
        label="Files left out",
        group="Source",
        help="Image files that are no samples, such as damaged ones, separated by semicolons: cat/3.png, with masks"
        " 3.png. Default none. The Data tab finds damaged files and leaves them out",
        visible_when=_source("images"),
    )
    validation_share = Float(
        0.15,
        low=0.0,
        high=0.9,
        group="Split",
        help="Fraction of the samples used for validation, 0 to 0.9. Default 0.15",
        visible_when=_has_data,
    )
    test_share = Float(
        0.15,
        low=0.0,
        high=0.9,
        group="Split",
        help="Fraction of the samples used for the test after training, 0 to 0.9. Default 0.15",
        visible_when=_has_data,
    )
    split_seed = Int(0, low=0, group="Split", help="Random seed of the split. Default 0", visible_when=_has_data)

    loading = Choice(
        "auto",
        options=("auto", "memory", "stream"),
        notes={
            "auto": "In memory where all workers' copies take at most half of what is free, else streamed",
            "memory": "Read once, before training, and held whole by every worker",
            "stream": "Read batch by batch while training goes on; memory stays small, however large the data is",
        },
        group="Loading",
        help="Where samples are kept while the network trains. Default auto. Numbers and order are the same either"
        " way. MATLAB: a datastore streams, an array does not; torch: a DataLoader streams",
        visible_when=_source(*STREAMED),
    )
    decoded_cache = Int(
        1024,
        low=0,
        high=1_000_000,
        unit="MiB",
        label="Decoded cache",
        group="Loading",
        help="Memory for decoded images that are streamed, over all workers and at most a quarter of what is free,"
        " so that later epochs need not decode them again. Default 1,024; 0: none. MATLAB and torch have none",
        visible_when=lambda options: options.source == "images" and options.loading != "memory",
    )

    @property
    def columns_left_out(self) -> tuple[str, ...]:
        """The names in `left_out`."""
        return tuple(dict.fromkeys(name.strip() for name in self.left_out.split(",") if name.strip()))

    def problems(self) -> list[FieldError]:
        """Combinations that cannot be meant."""
        found = []
        if self.validation_share + self.test_share > 0.95:
            total = self.validation_share + self.test_share
            message = (
                f"validation and test together take {format_percent(total)} of the data; leave at least 5 % to train."
            )
            found.append(FieldError("validation_share", message))
        if self.source in ("images", "table", "arrays") and not self.path:
            what = {"images": "the folder of images", "table": "the CSV file", "arrays": "the .npz file"}[self.source]
            found.append(FieldError("path", f"choose {what}."))
        return found
