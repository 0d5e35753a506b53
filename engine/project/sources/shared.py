"""Options of the section `data` that several sources share."""

from typing import Any

from netwright.engine.core.fields import Choice, ColumnNames, FilePath, Text
from netwright.engine.core.records import Record
from netwright.engine.project.sources.converted_tables import CONVERTED, PLAIN, is_workbook
from netwright.engine.project.sources.csv_dialect import Written


def _folder(options: Any) -> bool:
    return options.source_type is not None and options.source_type.takes == "folder"


def _pattern(options: Any) -> str:
    return options.source_type.pattern if options.source_type is not None else ""


def _has_cells(options: Any) -> bool:
    """Return whether the data has a table of text: a CSV file, or one that lists files."""
    if options.source in ("audio", "images", "text"):
        table = options.labels if options.source == "images" else options.path
        return bool(table.lower().endswith(PLAIN)) and not _is_plain_text(options)
    return not options.path.lower().endswith((".parquet", ".pq", *CONVERTED))


def _is_plain_text(options: Any) -> bool:
    return bool(options.source == "text" and not options.path.lower().endswith((".csv", ".tsv", *CONVERTED)))


class SharedOptions(Record):
    """Options that more than one source has: a source names those that apply to it in `uses`."""

    path = FilePath(
        "",
        folder_when=_folder,
        pattern_for=_pattern,
        group="Source",
        help="File or folder, relative to the project's folder; or a URL, such as s3://bucket/train.csv",
    )
    sheet = Text(
        "",
        label="Sheet",
        group="Source",
        help="Sheet of an Excel workbook that holds the table. Default: the first one with cells. MATLAB: the option "
        "Sheet of readtable",
        visible_when=lambda options: is_workbook(options.path),
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
        notes={
            "auto": "By what the responses are: text, truth values and few whole numbers are classes, several columns "
            "of truth values are labels",
            "classes": "One class per sample, step, pixel or voxel",
            "numbers": "Regression",
            "labels": "Several yes or no at once (arrays, or several columns, of 0 and 1)",
            "transcripts": "Classes in order, at no given step, for the CTC loss (arrays N L)",
        },
        label="Predict",
        group="Source",
        help="What the network predicts. Default auto",
        visible_when=lambda options: options.source != "images" or options.target_kind == "labels",
    )
    text_encoding = Choice(
        "auto",
        options=("auto", "utf-8", "utf-16", "latin-1", "windows-1252", "gb18030"),
        words={
            "auto": "Automatic",
            "utf-8": "UTF-8",
            "utf-16": "UTF-16",
            "latin-1": "Latin-1",
            "windows-1252": "Windows-1252",
            "gb18030": "GBK (GB 18030)",
        },
        notes={"auto": "UTF-8 or UTF-16 where the bytes are that, else GBK where they are Chinese, or Windows-1252"},
        label="Encoding",
        group="Source",
        help="Encoding of text files and CSV tables. Default auto",
        visible_when=lambda options: _has_cells(options) or _is_plain_text(options),
    )
    decimal_mark = Choice(
        "auto",
        options=("auto", "point", "comma"),
        notes={
            "auto": "As most numbers of the first rows show it",
            "point": "0.5; commas stand between thousands",
            "comma": "0,5; points stand between thousands",
        },
        label="Decimal mark",
        group="Source",
        help="Decimal mark of the numbers in a CSV table. Default auto",
        visible_when=_has_cells,
    )
    date_order = Choice(
        "auto",
        options=("auto", "day-first", "month-first"),
        notes={
            "auto": "As the dates tell; else the day where decimals have a comma, and the month where they have a "
            "point",
            "day-first": "31/01/2024",
            "month-first": "01/31/2024",
        },
        label="Order in dates",
        group="Source",
        help="What stands first in dates such as 01/02/2024, where no date tells. Default auto",
    )

    @property
    def written(self) -> Written:
        """Return the options for the format of tables."""
        return Written.of(self.text_encoding, self.decimal_mark, self.sheet)
