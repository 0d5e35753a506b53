"""Language models: networks that give each token a score as the next one of a sequence."""

from collections.abc import Callable

from netwright.engine.core.errors import UserError, plural
from netwright.engine.data.loading.apply_preparation import expected_of, spoken_sizes
from netwright.engine.project.preparation import InputPreparation, Preparation

LONGEST = 4096
"""Steps that are looked back on where neither the network nor its training tells a limit."""


def window_of(part: InputPreparation, longest: Callable[[], int]) -> int:
    """Return the steps that a language model looks back on. `longest` tells those that its layers have positions for,
    0 where there is no such limit."""
    return part.sizes[0] or (part.lengths or (0, 0))[1] or longest() or LONGEST


def refuse_others(record: Preparation, *, has_source: bool) -> None:
    """Raise `UserError` for a network that predicts no next token."""
    expected = "Expected a language model: a class per step of a text or of indices, which is the next token."
    inputs = record.inputs
    if len(record.targets) != 1 or any(part.axes != ("T",) or part.content != "indices" for part in inputs):
        takes, count = expected_of(record), len(record.targets)
        raise UserError(f"The network cannot write on: it takes {takes}, and has {plural(count, 'output')}. {expected}")
    target = record.targets[0]
    own, vocabulary = len(target.classes), inputs[-1].vocabulary
    vocabulary = inputs[-1].text.vocabulary if inputs[-1].text is not None else vocabulary
    if target.task != "classes" or target.axes != ("T", "C") or own < 2 or (vocabulary and own != vocabulary):
        sizes = spoken_sizes(target)
        raise UserError(f"The network cannot write on: its output '{target.name}' has the sizes {sizes}. {expected}")
    if len(inputs) > 2:
        raise UserError(f"The network takes {len(inputs)} sequences. {expected}")
    if has_source != (len(inputs) == 2):
        way = "Leave out the source" if has_source else "Give the indices of a source (--source)"
        raise UserError(f"The network takes {plural(len(inputs), 'sequence')}. {way}.")
