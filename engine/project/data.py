"""Which data a network learns from and how it is split: the section `data` of the project file."""

from collections.abc import Iterator
from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Choice, ColumnNames, FilePath, Float, Int, Text
from netwright.engine.core.text import format_percent
from netwright.engine.project.sources.source_catalog import SourceOptions

NOT_READING = (
    *("validation_share", "test_share", "split_seed", "folds", "fold", "split_gap"),
    *("loading", "decoded_cache", "readers", "shuffle_window", "shard_cache"),
)
"""Options that do not change what is read from the source: changing one does not read it again."""


def _has_data(options: "DataOptions") -> bool:
    return options.source != "none"


def _can_choose(options: "DataOptions") -> bool:
    """Whether the options say how samples are divided: not where time does."""
    return options.source_type is not None and not options.source_type.is_in_time


def _divided(*kinds: str) -> Any:
    return lambda options: options.division in kinds


def _has_paths(options: "DataOptions") -> bool:
    """Whether validation and test data may lie elsewhere."""
    source = options.source_type
    is_elsewhere = source is not None and source.takes != "nothing"
    return is_elsewhere and options.division not in ("folders", "k-fold") and not options.target_kind


def _folder(options: "DataOptions") -> bool:
    return options.source_type is not None and options.source_type.takes == "folder"


def _pattern(options: "DataOptions") -> str:
    return options.source_type.pattern if options.source_type is not None else ""


class DataOptions(SourceOptions):
    """One data source and how it is divided into training, validation and test splits. The options of the sources stand
    in `engine/project/sources/`."""

    split = Choice(
        "random",
        options=("random", "column", "folders", "k-fold", "grouped", "ordered"),
        words={
            "random": "At random",
            "column": "By a column",
            "folders": "By folders",
            "k-fold": "Cross-validation",
            "grouped": "By groups",
            "ordered": "In order of time",
        },
        notes={
            "random": "At random by the seed, each class by its share",
            "column": "A column or array names the split of each sample: train, val or test",
            "folders": "Folders train, val and test in the folder of the data; arrays x_train, y_train, x_test, ...",
            "k-fold": "Cross-validation: one of k equal parts validates, the others train",
            "grouped": "At random, with all samples of a group, such as a patient, in the same split",
            "ordered": "In the order of time: training first, then validation, then test",
        },
        group="Split",
        help="How samples are divided into training, validation and test. Default random. MATLAB: dividerand, "
        "divideind, divideblock, cvpartition",
        visible_when=_can_choose,
    )
    split_column = ColumnNames(
        "",
        label="Column",
        group="Split",
        help="Column or array that divides the samples, and is no input then: names of splits (column), groups "
        "(grouped; also k-fold, where empty: none), numbers or dates (ordered, where empty: the order as stored)",
        visible_when=_divided("column", "grouped", "ordered", "k-fold"),
    )
    group_pattern = Text(
        "",
        label="Group in file names",
        group="Split",
        help="What in the name of a file is its group: {group} marks it, * is any text, as in {group}_* for "
        "p7_003.png, or */{group}/* for a folder. Empty with k-fold: no groups",
        visible_when=_divided("grouped", "k-fold"),
    )
    folds = Int(
        5,
        low=2,
        high=1000,
        group="Split",
        help="Number of parts of the cross-validation, 2 to 1,000. Default 5. MATLAB: KFold; scikit-learn: n_splits",
        visible_when=_divided("k-fold"),
    )
    fold = Int(
        1,
        low=1,
        high=1000,
        group="Split",
        help="Part that validates in this run, 1 to the number of folds. Default 1",
        visible_when=_divided("k-fold"),
    )
    split_gap = Int(
        0,
        low=0,
        label="Gap",
        unit="samples",
        group="Split",
        help="Samples left out between training and validation, and between validation and test, so that windows of "
        "time do not overlap. Default 0",
        visible_when=_divided("ordered"),
    )
    validation_path = FilePath(
        "",
        folder_when=_folder,
        pattern_for=_pattern,
        label="Validation data",
        group="Split",
        help="File or folder of the validation data, of the same kind as the training data. Empty: a part of that. "
        "MATLAB: ValidationData",
        visible_when=_has_paths,
    )
    test_path = FilePath(
        "",
        folder_when=_folder,
        pattern_for=_pattern,
        label="Test data",
        group="Split",
        help="File or folder of the test data, of the same kind as the training data. Empty: a part of that",
        visible_when=_has_paths,
    )
    validation_share = Float(
        0.15,
        low=0.0,
        high=0.9,
        group="Split",
        help="Fraction of the samples used for validation, 0 to 0.9. Default 0.15. Unless a column, a folder or a path "
        "says which they are",
        visible_when=lambda options: (
            _has_data(options)
            and options.division != "k-fold"
            and not (options.validation_path and options.is_visible("validation_path"))
        ),
    )
    test_share = Float(
        0.15,
        low=0.0,
        high=0.9,
        group="Split",
        help="Fraction of the samples used for the test after training, 0 to 0.9. Default 0.15. Unless a column, a "
        "folder or a path says which they are",
        visible_when=lambda options: _has_data(options) and not (options.test_path and options.is_visible("test_path")),
    )
    split_seed = Int(
        0,
        low=0,
        group="Split",
        help="Random seed of the split. Default 0",
        visible_when=lambda options: _can_choose(options) and options.split != "ordered",
    )

    loading = Choice(
        "auto",
        options=("auto", "memory", "stream"),
        words={"auto": "Automatic", "memory": "In memory", "stream": "Streamed"},
        notes={
            "auto": "In memory where all workers' copies take at most half of what is free, else streamed",
            "memory": "Read once, before training, and held whole by every worker",
            "stream": "Read batch by batch while training goes on; memory stays small, however large the data is",
        },
        group="Loading",
        help="Where samples are kept while the network trains. Default auto. Numbers and order are the same either"
        " way. MATLAB: a datastore streams, an array does not; torch: a DataLoader streams",
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
        visible_when=lambda options: options.loading != "memory",
    )

    readers = Choice(
        "auto",
        options=("auto", "threads", "processes"),
        notes={
            "auto": "By processes where a worker has at least 2 cores and 2,000 samples, else by threads",
            "threads": "By threads of the worker, which take turns with each other in what Python does itself",
            "processes": "By processes of their own: faster for small files on many cores, some 40 MiB each",
        },
        label="Read by",
        group="Loading",
        help="How streamed samples are decoded: one reader per core, at most 8. Default auto. Numbers are the same"
        " either way. MATLAB: PreprocessingEnvironment; torch: num_workers of a DataLoader",
        visible_when=lambda options: options.loading != "memory",
    )

    bad_samples = Choice(
        "leave-out",
        options=("leave-out", "fatal", "skip"),
        words={"leave-out": "Leave it out", "fatal": "Stop with an error", "skip": "Take the next sample"},
        notes={
            "leave-out": "Files that are cut off, or no images or sounds, are left out before the data is divided, "
            "with a warning. Other damage ends the run, as with fatal",
            "fatal": "The run ends with an error that names the sample; once that is repaired, the run can be resumed",
            "skip": "The next sample of the split that can be read stands in, with its own target; the run lists each",
        },
        label="Bad samples",
        group="Loading",
        help="What happens to a sample that cannot be read: a damaged file, numbers that are not finite. Default"
        " leave-out. With skip samples are streamed. MATLAB: a datastore's ReadFcn fails; torch: a Dataset raises",
    )

    @property
    def skips_bad_samples(self) -> bool:
        """Whether samples that cannot be read are skipped."""
        return self.is_visible("bad_samples") and self.bad_samples == "skip" and self.loading != "memory"

    @property
    def columns_left_out(self) -> tuple[str, ...]:
        """The names in `left_out`."""
        return tuple(dict.fromkeys(name.strip() for name in self.left_out.split(",") if name.strip()))

    @property
    def division(self) -> str:
        """How samples are divided: `split` where that applies, `in-time` where the source divides them, empty without
        data."""
        if self.source_type is None:
            return ""
        return "in-time" if self.source_type.is_in_time else self.split

    @property
    def dividing_column(self) -> str:
        """The column or array that divides the samples and is no input; empty where none does."""
        return self.split_column if self.is_visible("split_column") else ""

    @property
    def reading(self) -> "DataOptions":
        """The options, with defaults for those that do not change the data."""
        return self.replace(**{name: type(self).fields[name].default for name in NOT_READING})

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = list(self._split_problems())
        shares = [getattr(self, name) for name in ("validation_share", "test_share") if self._is_taken(name)]
        if sum(shares) > 0.95:
            total = sum(shares)
            message = (
                f"validation and test together take {format_percent(total)} of the data; leave at least 5 % to train."
            )
            errors.append(FieldError("validation_share", message))
        if self.source_type is not None:
            errors += self.source_type.problems(self)
        return errors

    def _is_taken(self, name: str) -> bool:
        """Return whether a share applies; without data both do."""
        return self.source == "none" or self.is_visible(name)

    def _split_problems(self) -> Iterator[FieldError]:
        """Yield the options of the split that cannot be meant."""
        source, kind = self.source_type, self.division
        if source is None or kind == "random":
            return
        has_columns, has_names = "split_column" in source.uses, "group_pattern" in source.uses
        if kind == "column" and not has_columns:
            yield FieldError("split", f"{source.label}: there are no columns. Choose folders, or another split.")
        if kind == "folders" and not source.has_folders:
            yield FieldError("split", f"{source.label}: there are no folders. Choose another split.")
        if kind == "grouped" and not has_columns and not has_names:
            yield FieldError("split", f"{source.label}: nothing says what belongs together. Choose another split.")
        if kind in ("column", "grouped") and has_columns and not self.split_column:
            yield FieldError("split_column", "name the column or array that divides the samples.")
        if self.dividing_column and self.dividing_column in (self.response, *self.columns_left_out):
            yield FieldError("split_column", f"'{self.dividing_column}' is the response or left out, too.")
        if kind == "grouped" and has_names and not self.group_pattern:
            yield FieldError("group_pattern", "say what in a file's name is its group, as in {group}_*.")
        if kind == "k-fold" and self.fold > self.folds:
            yield FieldError(
                "fold", f"there are {self.folds:,} folds; received {self.fold:,}. Choose 1 to {self.folds:,}."
            )
