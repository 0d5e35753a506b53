"""Options without effect, because of other options or because of the data."""

from collections.abc import Iterator, Sequence

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Bool, Choice
from netwright.engine.core.records import Record
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.options.augmentation_options import COLOURS, IMAGE_OPTIONS, MIXES, OF_SEQUENCES
from netwright.engine.project.project import Project

_OF_SEQUENCES = (
    "sequence_length",
    "sequence_split_length",
    "sequence_padding",
    "sequence_padding_direction",
    "sequence_padding_value",
    "bucket_by_length",
)
_OF_CLASSES = ("class_weighting", "class_weights", "label_smoothing", "metric_average")
_SEEN_BY_AUTO = ("threads", "strategy", "averaging_interval", "gradient_compression", "pipeline_pieces", "cpu_offload")
"""Options that `auto` takes into account although its form does not show them."""


def unused_options(facts: DatasetInfo | None) -> frozenset[str]:
    """Return the names of options that do not apply to this data; none where the data is not known."""
    if facts is None:
        return frozenset()
    tasks = {target.task for target in facts.targets}
    unused: list[str] = []
    if not any(info.type.has("T") for info in facts.inputs):
        unused += _OF_SEQUENCES
    images = [info.type for info in facts.inputs if info.type.layout == "image"]
    if not any(info.is_series for info in facts.inputs):
        unused += OF_SEQUENCES
    if not images:
        unused += IMAGE_OPTIONS
    elif all(type["C"] != 3 for type in images):
        unused += COLOURS
    if not all(target.is_one_class for target in facts.targets) or len(facts.targets) > 1:
        unused += MIXES
    if tasks and not tasks & {"classes", "labels"}:
        unused += _OF_CLASSES
    if tasks and "numbers" not in tasks:
        unused.append("normalize_targets")
    if len(facts.targets) == 1:
        unused.append("output_losses")
    return frozenset(unused)


def idle_settings(project: Project, settings: Sequence[str]) -> Iterator[str]:
    """Return a sentence for each of these `section.name=value` settings without effect, with the options that would
    enable it."""
    for setting in dict.fromkeys(settings):
        section, _, name = setting.partition("=")[0].strip().partition(".")
        record = project.section(section)
        is_seen = section == "environment" and project.environment.target == "auto" and name in _SEEN_BY_AUTO
        if not record.is_visible(name) and record.is_changed(name) and not is_seen:
            goes_with = next(_goes_with(record, name), "")
            value = record.fields[name].show(getattr(record, name))
            end = f": it goes with {section}.{goes_with}." if goes_with else " with the other options as they are."
            yield f"{section}.{name}={value} has no effect{end}"


def refuse_without_unit(project: Project, settings: Sequence[str]) -> None:
    """Raise `UserError` if an interval of checkpoints is among these settings and no unit is set in which it counts."""
    unit = project.training.checkpoint_unit
    for setting in settings:
        if setting.partition("=")[0].strip() == "training.checkpoint_frequency" and unit in ("auto", "never"):
            raise UserError(
                f"--set {setting}: the interval has no unit, since training.checkpoint_unit is {unit}.",
                hint="Add --set training.checkpoint_unit=epochs, iterations or seconds.",
                code="invalid_option",
            )


def _goes_with(record: Record, name: str) -> Iterator[str]:
    """Return the values of one other option that would enable this one, as settings."""
    for other, field in record.fields.items():
        if other == name or not isinstance(field, Choice | Bool):
            continue
        values = field.options if isinstance(field, Choice) else ("true", "false")
        fitting = [value for value in values if _makes_visible(record, other, field.parse(value), name)]
        if fitting:
            yield f"{other}={_either(fitting)}"


def _either(words: list[str]) -> str:
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _makes_visible(record: Record, other: str, value: object, name: str) -> bool:
    changed = record.replace(**{other: value})
    return changed.is_visible(name) and changed.is_visible(other)
