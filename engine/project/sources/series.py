"""Time series for forecasting, and sequences: tables with one row per time step."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Choice, ColumnNames, Int
from netwright.engine.core.records import Record
from netwright.engine.core.types import TensorType
from netwright.engine.project.sources.number_texts import is_number_like
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType
from netwright.engine.project.sources.table import PARQUET, RESPONSES, TABLES, response_of, sentences
from netwright.engine.project.sources.time_steps import ID_NAMES, time_series

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

FILE_NAMES = frozenset({"file", "filename", "file_name", "path"})


class StepOptions(Record):
    """Options of tables with one row per time step."""

    time_column = ColumnNames(
        "",
        label="Time column",
        group="Source",
        help="Column with the time of each row: numbers, or dates such as 2024-01-31 or 2024-01; or a column of dates "
        "and one of times, separated by a comma. Rows are sorted by it. Default none: rows follow each other evenly. "
        "MATLAB: the row times of a timetable",
    )
    missing_cells = Choice(
        "last-value",
        options=("last-value", "refuse"),
        words={"last-value": "Repeat the last value", "refuse": "Stop with an error"},
        notes={
            "last-value": "Missing values are filled with the last one before them in the same series",
            "refuse": "A missing value is an error that names its line",
        },
        label="Missing values",
        group="Source",
        help="How missing values are handled. Default last-value. MATLAB: fillmissing(..., 'previous')",
    )


SIGNALS = (".npy", ".mat")
"""Suffixes of files with a sequence each, as a matrix."""


class SeriesOptions(Record):
    """Options of time series alone."""

    group_column = ColumnNames(
        "",
        label="Group column",
        group="Source",
        help="Column that tells several series apart, such as the number of a sensor; several are separated by commas. "
        "Default none: one series",
    )
    time_gaps = Choice(
        "auto",
        options=("auto", "break", "ignore"),
        words={"auto": "Automatic", "break": "Windows end there", "ignore": "Ignore"},
        notes={
            "auto": "As break, unless more than one step in 20 is longer than usual, as without weekends",
            "break": "No window crosses a step that is longer than 1.5 times the usual one",
            "ignore": "Rows follow each other evenly, whatever their times",
        },
        label="Gaps in time",
        group="Source",
        help="What a longer step in the time column means. Default auto",
        visible_when=lambda options: bool(options.time_column),
    )
    known_columns = ColumnNames(
        "",
        label="Known future inputs",
        group="Source",
        help="Columns whose values are known for the steps to predict, such as the hour, holidays or a weather "
        "forecast, separated by commas. They are a second input, 'future'. Default none",
    )
    lags = Int(
        24,
        low=1,
        high=1_000_000,
        unit="steps",
        group="Source",
        help="Steps of the past that a sample holds. Default 24. MATLAB: inputDelays and feedbackDelays of narxnet",
    )
    horizon = Int(
        1,
        low=1,
        high=100_000,
        unit="steps",
        group="Source",
        help="Steps that are predicted at once. Default 1",
    )
    stride = Int(
        1,
        low=1,
        high=1_000_000,
        unit="steps",
        group="Source",
        help="Steps from one window to the next. Default 1: a window begins at every step",
    )
    season = Int(
        0,
        low=0,
        high=1_000_000,
        zero="auto",
        unit="steps",
        group="Source",
        help="Period of the series, for the seasonal baseline that the result is compared with, such as 24 for "
        "hours of a day. Default auto: by the autocorrelation of the training rows",
    )


class SequenceOptions(Record):
    """Options of sequences alone."""

    id_column = ColumnNames(
        "",
        label="Sequence column",
        group="Source",
        help="Column that says which sequence a row of a long table belongs to. Default none: each sequence has a file "
        "of its own",
    )
    file_column = ColumnNames(
        "",
        label="File column",
        group="Source",
        help="Column of a table that names the CSV or Parquet file of each sequence, relative to the table's folder. "
        "Default: the column called file, filename or path",
    )
    fixed_length = Int(
        0,
        low=0,
        high=10_000_000,
        zero="as it is",
        unit="steps",
        label="Sequence length",
        group="Source",
        help="Length that every sequence is cut or padded to, at its end and with zeros. Default: sequences keep their "
        "lengths. MATLAB: SequenceLength, a number",
    )
    response_per = Choice(
        "auto",
        options=("auto", "sequence", "step"),
        notes={
            "auto": "One response per sequence where it is the same in all its rows, else one per step",
            "sequence": "One response for the whole sequence",
            "step": "A response for each step",
        },
        label="Response per",
        group="Source",
        help="What has a response of its own. Default auto",
    )


class BorderOptions(Record):
    """Options of splits that follow each other in time, which stand below those of the source."""

    split_overlap = Choice(
        "auto",
        options=("auto", "none", "inputs"),
        words={"auto": "Automatic", "none": "No shared steps", "inputs": "Lags may be shared"},
        notes={
            "auto": "As none, and as inputs for a split that would have no window otherwise",
            "none": "No step is in windows of two splits",
            "inputs": "The lags of a validation or test window may lie in the split before; predicted steps never do",
        },
        label="Windows at borders",
        group="Split",
        help="What windows of two splits may share. The splits of a series follow each other in time: training, "
        "validation, test. Default auto. Choose inputs where the lags are long beside a split",
    )


class Series(SourceType):
    """Windows of time series, and the steps that follow them."""

    key, label = "series", "Time series"
    note = "Forecasting: a table with one row per time step, of one series or of several"
    wanted = "the CSV, Excel or Parquet file"
    inputs = (
        "`history`: the last `lags` steps of all columns, the responses first; `future`: the columns known in advance "
        "at the steps to predict, if there are any"
    )
    targets = "one vector: the columns of `response` at the next `horizon` steps ([forecasts](forecasting.md))"
    options = SeriesOptions
    uses = (
        *("path", "sheet", "response", "text_encoding", "decimal_mark", "date_order"),
        *("left_out", "time_column", "missing_cells", "split_overlap"),
    )
    suffixes, files = (*TABLES, *PARQUET), "Tables"
    reader = "netwright.engine.data.sources.series_reader:Series"
    is_in_time = True
    resident = "the rows once, however many windows share them; the numbers to predict of each window"

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for tables whose first column is a time."""
        series = time_series(peek.table) if _is_table(peek, self.suffixes) else None
        if series is None:
            return None
        names = peek.table.dialect.names
        rest = [place for place, name in enumerate(names) if name and name not in (*series.times, *series.keys)]
        numbers = [place for place in rest if all(map(is_number_like, peek.table.column(place)))]
        if not numbers:
            return None
        options = {"time_column": ", ".join(series.times)}
        steps = "equal" if series.share == 1 else "mostly equal"
        text = f"The column '{series.times[0]}' is a time in {steps} steps"
        if len(series.times) > 1:
            text = f"The columns '{series.times[0]}' and '{series.times[1]}' are a time in {steps} steps"
        if series.keys:
            options["group_column"] = ", ".join(series.keys)
            key_names = " and ".join(f"'{key}'" for key in series.keys)
            tells = "tells" if len(series.keys) == 1 else "tell"
            several = "series" if peek.is_beginning else f"{series.series} series"
            text += f", and {key_names} {tells} {several} apart"
        response = response_of(peek.table, RESPONSES | {"close"})
        if response in (names[place] for place in rest[:-1]):
            options["response"] = response
            text += "".join(f". {sentence}" for sentence in sentences(response))
        # The last column is what is predicted otherwise: a text is a class.
        predicted = names.index(response) if "response" in options else rest[-1]
        return Guess(self.key, 0.95 if predicted in numbers else 0.85, text, options)

    def preparation(self, type: TensorType, columns: Sequence[str]) -> Iterator[str]:
        """Yield the order of steps."""
        yield "Steps run from the oldest to the newest."


class Sequences(SourceType):
    """Sequences of different lengths, with a response each or per step."""

    key, label = "sequences", "Sequences"
    note = (
        "Sequences: a table (CSV, Parquet) or array (NumPy, MATLAB) each, in class folders or in a list, or one long "
        "table of all"
    )
    wanted = "the folder, or the CSV, Excel or Parquet file"
    inputs = (
        "the other columns of numbers, steps first, padded to the longest sequence ([sequences](#sequences-in-files))"
    )
    targets = "the class folder, or columns (`response`) per sequence or per step"
    options = SequenceOptions
    uses = (
        *("path", "sheet", "response", "task", "text_encoding", "decimal_mark", "date_order"),
        *("left_out", "time_column", "missing_cells", "loading"),
    )
    takes = "both"
    suffixes, files = (*TABLES, *PARQUET), "Tables"
    reader = "netwright.engine.data.sources.sequence_files:Sequences"
    can_stream = True
    streamed = "all sequences, padded batch by batch"
    resident = "the rows of all sequences once, without padding; responses"
    reads_single_samples = True

    @property
    def recorded(self) -> tuple[str, ...]:
        """Tables and arrays."""
        return (*self.suffixes, *SIGNALS)

    def problems(self, options: "DataOptions") -> Iterator[FieldError]:
        """Yield options that exclude each other."""
        yield from super().problems(options)
        if options.id_column and options.file_column:
            message = "a long table has a sequence column, a list of files a file column. Name one of them."
            yield FieldError("file_column", message)

    def preparation(self, type: TensorType, columns: Sequence[str]) -> Iterator[str]:
        """Yield the order of steps."""
        yield "Steps run from the oldest to the newest."

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for folders of tables, and for tables with a column of ids or files."""
        if peek.is_folder:
            inside = {folder: names for folder, names in peek.tree.items() if folder and "/" not in folder}
            tables, arrays = (
                [sum(name.lower().endswith(suffixes) for name in names) for names in inside.values()]
                for suffixes in (self.suffixes, SIGNALS)
            )
            if tables and min(tables) > 0:
                return Guess(self.key, 0.85, f"{len(tables)} subfolders with {sum(tables):,} tables: one class each")
            if arrays and min(arrays) > 0:
                return Guess(self.key, 0.85, f"{len(arrays)} subfolders with {sum(arrays):,} arrays: one class each")
            return None
        if not _is_table(peek, self.suffixes):
            return None
        for place, name in enumerate(peek.table.dialect.names):
            cells = peek.table.column(place)
            if cells and name.lower() in FILE_NAMES and all(cell.lower().endswith(self.suffixes) for cell in cells):
                return Guess(self.key, 0.95, f"The column '{name}' names tables", {"file_column": name})
            if name.lower() in ID_NAMES and len(set(cells)) < len(cells) / 2:
                return Guess(self.key, 0.92, f"The column '{name}' tells sequences apart", {"id_column": name})
        return None


def _is_table(peek: Peek, suffixes: Sequence[str]) -> bool:
    """Return whether a file is a CSV table, by its suffix and its first bytes."""
    return not peek.is_folder and peek.suffix in suffixes and peek.suffix not in PARQUET and bool(peek.text)
