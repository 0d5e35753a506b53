"""Names of columns, states and colours of the table of trials, and its values as texts."""

from collections.abc import Sequence

from netwright.app.plots.words import metric_in_a_line
from netwright.app.runs.run_texts import label_of, option_label, state_in_words
from netwright.designer.engine_messages import duration_text, message_text
from netwright.designer.forms.row import sentence
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.text import format_number, format_signed
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.options.metric_options import format_score, is_share
from netwright.engine.project.parameters import Parameter
from netwright.engine.runs.query import OPTION
from netwright.engine.runs.trial_axes import TrialAxis, value_words
from netwright.engine.runs.trial_log import FAILED, Trial
from netwright.engine.runs.trial_rows import FACTS, Group, is_score

LABELS = {
    "trial": noop("Trial"),
    "option:network": noop("Network"),
    "curve": noop("Curve"),
    "started": noop("Started"),
    "reason": noop("Reason"),
    "host": noop("Host"),
    "runs": noop("Runs"),
}
COLOURS = {
    "red": "#e5484d",
    "orange": "#f2850f",
    "yellow": "#d9b310",
    "green": "#30a46c",
    "blue": "#3e7bfa",
    "purple": "#8e4ec6",
    "grey": "#8b8d98",
}
COLOUR_NAMES = {
    "red": noop("Red"),
    "orange": noop("Orange"),
    "yellow": noop("Yellow"),
    "green": noop("Green"),
    "blue": noop("Blue"),
    "purple": noop("Purple"),
    "grey": noop("Grey"),
}
WORDS = {
    "pruned": (noop("◗ Stopped early"), "muted"),
    "refused": (noop("✕ Refused"), "error"),
    "interrupted": (noop("◌ Interrupted"), "warning"),
}
ENDINGS = {
    "finished": noop("Finished"),
    "stopped": noop("Stopped"),
    "failed": noop("Failed"),
    "lost": noop("Interrupted"),
}
"""The states of an experiment that trains no more."""
NO_CHANGE = 0.5e-12
MOST_NAMED = 3
"""Names in the title of an experiment, at most."""


def column_label(column: str) -> str:
    """Return the header of a column."""
    if column in LABELS:
        return translation(LABELS[column])
    if column.startswith(OPTION):
        path = column.removeprefix(OPTION)
        return path.removeprefix("network.").replace(".", " ") if path.startswith("network.") else option_label(path)
    return label_of(column) if "." in column or column in FACTS else translation(column.capitalize())


def axis_label(axis: TrialAxis) -> str:
    """Return the name of an axis: that of an option, of a layer with its field, or of a score."""
    split, _, metric = axis.name.partition(".")
    if not axis.is_score or not metric:
        return translation(axis.label)
    return sentence(metric_in_a_line(metric)) if split == "validation" else label_of(axis.name)


def axis_value(axis: TrialAxis, place: float) -> str:
    """Return a number of an axis, or the text that it stands for."""
    text = axis.said(place)
    return translation(text) if axis.categories else text


def path_label(path: str) -> str:
    """Return the label of an option, or a layer with the name of its field."""
    return axis_label(TrialAxis(path, {}))


def value_in_words(path: str, value: object) -> str:
    """Return a value at a path: for an option to choose from, its words in the form."""
    text = value_words(path, value)
    return translation(text) if isinstance(value, str | bool) else text


def values_as_typed(parameter: Parameter) -> str:
    """Return the values of a parameter as they can be typed: `32, 128, 512`, or `0.005 to 0.5`."""
    if parameter.values:
        return ", ".join(value_in_words(parameter.path, value) for value in parameter.values)
    low, high = (format_number(end, 6).replace(",", "") for end in (parameter.low, parameter.high))
    return tr("{low} to {high}", low=low, high=high)


def values_in_words(parameter: Parameter) -> str:
    """Return the values of a parameter: `32, 128, 512`, or `0.005 to 0.5, log`."""
    text = values_as_typed(parameter)
    return tr("{range}, log", range=text) if parameter.is_log and not parameter.values else text


def sweep_title(options: ExperimentOptions) -> str:
    """Return the title of an experiment by what varies in it: `Mini-batch size × learn rate`."""
    labels = [path_label(parameter.path) for parameter in options.parameters]
    if labels:
        first, *others = labels[:MOST_NAMED]
        title = " × ".join([first, *(label[:1].lower() + label[1:] for label in others)])
        more = len(labels) - MOST_NAMED
        return tr("{names} and %n more", "", more, names=title) if more > 0 else title
    if options.table:
        return tr("Table of values")
    return tr("%n fold(s)", "", options.folds) if options.folds > 1 else tr("%n repeat(s)", "", options.repeats)


def difference_text(column: str, value: float) -> str:
    """Return a difference with its sign, in points of per cent for shares."""
    if abs(value) < (0.05 if column == "seconds" else NO_CHANGE):
        return "±0"
    if column == "seconds":
        return f"{'+' if value > 0 else '−'}{duration_text(abs(value))}"
    return format_signed(100 * value if is_share(column.rpartition(".")[2]) else value)


def value_of_group(group: Group) -> str:
    """Return the value that the trials of a group have in common."""
    if group.value is None:
        return tr("none")
    if group.column == "state":
        return state_words(group.value)[0]
    if group.column.startswith(OPTION):
        return value_in_words(group.column.removeprefix(OPTION), group.value)
    is_number = is_score(group.column) and isinstance(group.value, int | float)
    return format_score(group.column, group.value) if is_number else str(group.value)


def trial_title(trial: Trial) -> str:
    """Return the name of a trial with its first values: `Trial 5 · adam, 0.001`."""
    _, dot, values = trial.title.partition(" · ")
    return tr("Trial {number}", number=trial.number) + dot + values


def state_words(state: str) -> tuple[str, str]:
    """Return the state of a trial with its sign, and the name of its colour."""
    if state not in WORDS:
        return state_in_words(state)
    text, colour = WORDS[state]
    return translation(text), colour


def progress_text(state: str, reason: str, trials: Sequence[Trial], total: int) -> str:
    """Return how far an experiment has come: `3 running, 12 of 40 done`. `total` is 0 where it is not known;
    `reason` says why it ended or waits."""
    over = sum(trial.is_over for trial in trials)
    failed = sum(trial.state in FAILED for trial in trials)
    parts = [tr("{count:,} done", count=over)]
    if total and state != "finished":
        parts = [tr("{count:,} of {total:,} done", count=over, total=total)]
    if failed:
        parts.append(tr("{count:,} failed", count=failed))
    if state == "running":
        text = tr(", ", "between facts").join([tr("{count:,} running", count=len(trials) - over), *parts])
        return tr("{state}. Waits: {reason}", state=text, reason=message_text(reason)) if reason else text
    name = translation(ENDINGS[state]) if state in ENDINGS else state.capitalize()
    if failed and failed == len(trials):
        first = next((trial.reason for trial in trials if trial.reason), "")
        return tr("{state}, no trial has succeeded: {reason}", state=name, reason=message_text(first))
    text = tr(", ", "between facts").join([name, *parts])
    if state in ("stopped", "lost"):
        return text
    return tr("{state}: {reason}", state=text, reason=message_text(reason)) if reason else text
