"""Options of the section `data` that several sources share."""

from typing import TYPE_CHECKING, Any

from engine.core.fields import Choice, ColumnNames, FilePath
from engine.core.records import Record

if TYPE_CHECKING:
    pass


def _folder(options: Any) -> bool:
    return options.source_type is not None and options.source_type.takes == "folder"


def _pattern(options: Any) -> str:
    return options.source_type.pattern if options.source_type is not None else ""


class SharedOptions(Record):
    """Options that more than one source has: a source names those that apply to it in `uses`."""

    path = FilePath(
        "",
        folder_when=_folder,
        pattern_for=_pattern,
        group="Source",
        help="File or folder, relative to the project's folder; or a URL, such as s3://bucket/train.csv",
    )
    response = ColumnNames(
        "",
        label="Response",
        group="Source",
        help="Column to predict (tables; empty: the last one, for files in class folders the folder), or name of the "
        "target array (arrays; empty: y, or y_NAME for each output NAME). Several are separated by commas",
    )
    task = Choice(
        "auto",
        options=("auto", "classes", "numbers", "labels", "transcripts"),
        words={
            "auto": "Automatic",
            "classes": "Classes",
            "numbers": "Numbers",
            "labels": "Labels",
            "transcripts": "Transcripts",
        },
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
    )
