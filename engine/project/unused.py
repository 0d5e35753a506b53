"""Which training options play no part with the data there is, so that a form can leave them out."""

from engine.data.facts import DataFacts
from engine.project.options.augmentation import AUGMENTATION, COLOURS, MIXES

_OF_SEQUENCES = (
    "sequence_length",
    "sequence_split_length",
    "sequence_padding",
    "sequence_padding_direction",
    "sequence_padding_value",
    "bucket_by_length",
)
_OF_CLASSES = ("class_weighting", "class_weights", "label_smoothing", "metric_average")


def unused_options(facts: DataFacts | None) -> frozenset[str]:
    """Names of options that nothing of this data asks for; none where the data is not known."""
    if facts is None:
        return frozenset()
    tasks = {target.task for target in facts.targets}
    unused: list[str] = []
    if not any(given.type.has("T") for given in facts.inputs):
        unused += _OF_SEQUENCES
    images = [given.type for given in facts.inputs if given.type.layout == "image"]
    if not images:
        unused += AUGMENTATION
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
