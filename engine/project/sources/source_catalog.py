"""All data sources. A new one is named here: its declaration in `SOURCES`, its options among the bases of
`SourceOptions`."""

from netwright.engine.core.fields import Choice
from netwright.engine.core.records import Record
from netwright.engine.project.sources.arrays import ArrayOptions, Arrays
from netwright.engine.project.sources.audio import Audio, AudioOptions
from netwright.engine.project.sources.digits import Digits
from netwright.engine.project.sources.images import ImageOptions, Images
from netwright.engine.project.sources.python_code import PythonCode, PythonOptions
from netwright.engine.project.sources.series import (
    BorderOptions,
    SequenceOptions,
    Sequences,
    Series,
    SeriesOptions,
    StepOptions,
)
from netwright.engine.project.sources.shards import ShardOptions, Shards
from netwright.engine.project.sources.shared import SharedOptions
from netwright.engine.project.sources.source_type import SourceType
from netwright.engine.project.sources.table import Table, TableOptions
from netwright.engine.project.sources.text import TextFiles, TextOptions

SOURCES: dict[str, SourceType] = {
    source.key: source
    for source in (
        Digits(),
        Images(),
        Table(),
        Series(),
        Sequences(),
        Arrays(),
        Audio(),
        TextFiles(),
        PythonCode(),
        Shards(),
    )
}
"""The declarations by key, in the order in which they are offered."""


def source_choice() -> Choice:
    """Return the field `source`: one option per declaration, and none."""
    return Choice(
        "none",
        options=("none", *SOURCES),
        words={"none": "None", **{source.key: source.label for source in SOURCES.values()}},
        notes={"none": "No data yet", **{source.key: source.note for source in SOURCES.values()}},
        label="Data source",
        group="Source",
    )


class _Source(Record):
    source = source_choice()


class SourceOptions(
    _Source,
    SharedOptions,
    ArrayOptions,
    TableOptions,
    StepOptions,
    SeriesOptions,
    SequenceOptions,
    ImageOptions,
    AudioOptions,
    TextOptions,
    PythonOptions,
    ShardOptions,
    BorderOptions,
):
    """The options of all sources together, so that a value survives a look at another source. The order of the bases is
    that of the form, group by group."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        groups = list(dict.fromkeys(field.group for field in cls.fields.values()))
        cls.fields = dict(sorted(cls.fields.items(), key=lambda item: groups.index(item[1].group)))

    @property
    def source_type(self) -> SourceType | None:
        """The declaration of the chosen source; None without data."""
        return SOURCES.get(self.source)

    def is_visible(self, name: str) -> bool:
        """Return whether an option applies: those of sources do where the chosen source declares them."""
        if any(name in source.option_names for source in SOURCES.values()):
            return self.source_type is not None and name in self.source_type.option_names and super().is_visible(name)
        return super().is_visible(name)
