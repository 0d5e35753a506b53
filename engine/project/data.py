"""Which data a network learns from and how it is split: the section `data` of the project file."""

from engine.core.errors import FieldError
from engine.core.fields import Choice, Float, Int
from engine.core.text import format_percent
from engine.project.sources.catalog import SourceOptions

NOT_READING = ("validation_share", "test_share", "split_seed", "loading", "decoded_cache", "readers")
"""Options that do not change what is read from the source: changing one does not read it again."""


def _has_data(options: "DataOptions") -> bool:
    return options.source != "none"


class DataOptions(SourceOptions):
    """One data source and how it is divided into training, validation and test splits. The options of the sources stand
    in `engine/project/sources/`."""

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
            "auto": "By processes where a worker has at least 4 cores, else by threads",
            "threads": "By threads of the worker, which take turns with each other in what Python does itself",
            "processes": "By processes of their own: faster for small files on many cores, some 40 MiB each",
        },
        label="Read by",
        group="Loading",
        help="How streamed samples are decoded: one reader per core, at most 8. Default auto. Numbers are the same"
        " either way. MATLAB: PreprocessingEnvironment; torch: num_workers of a DataLoader",
        visible_when=lambda options: options.loading != "memory",
    )

    @property
    def columns_left_out(self) -> tuple[str, ...]:
        """The names in `left_out`."""
        return tuple(dict.fromkeys(name.strip() for name in self.left_out.split(",") if name.strip()))

    @property
    def reading(self) -> "DataOptions":
        """The options with those that do not change what is read at their defaults."""
        return self.replace(**{name: type(self).fields[name].default for name in NOT_READING})

    def problems(self) -> list[FieldError]:
        """Combinations that cannot be meant."""
        found = []
        if self.validation_share + self.test_share > 0.95:
            total = self.validation_share + self.test_share
            message = (
                f"validation and test together take {format_percent(total)} of the data; leave at least 5 % to train."
            )
            found.append(FieldError("validation_share", message))
        if self.source_type is not None:
            found += self.source_type.problems(self)
        return found
