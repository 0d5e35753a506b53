"""Names of columns, states and colours of the table of trials, and its values as texts."""

from collections.abc import Sequence

from netwright.app.history.runs_model import figure_of, label_of, option_label, state_in_words
from netwright.engine.core.text import format_duration
from netwright.engine.project.options.metric_options import is_share
from netwright.engine.runs.query import OPTION
from netwright.engine.runs.trial_log import FAILED, Trial
from netwright.engine.runs.trial_rows import FACTS, Group, is_score

LABELS = {
    "trial": "Trial",
    "option:network": "Network",
    "curve": "Curve",
    "started": "Started",
    "reason": "Reason",
    "host": "Host",
    "runs": "Runs",
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
WORDS = {"pruned": ("◗ Stopped early", "muted"), "refused": ("✕ Refused", "error")}
NO_CHANGE = 0.5e-12


def column_label(column: str) -> str:
    """Return the header of a column."""
    if column in LABELS:
        return LABELS[column]
    if column.startswith(OPTION):
        path = column.removeprefix(OPTION)
        return path.removeprefix("network.").replace(".", " ") if path.startswith("network.") else option_label(path)
    return label_of(column) if "." in column or column in FACTS else column.capitalize()


def score_text(column: str, value: float | None) -> str:
    """Return a score as a cell shows it: whole numbers as they are, else four digits or per cent."""
    if value is not None and "." not in column and value == int(value):
        return f"{value:,.0f}"
    return figure_of(column, value)


def difference_text(column: str, value: float) -> str:
    """Return a difference with its sign, in points of per cent for shares."""
    if abs(value) < (0.05 if column == "seconds" else NO_CHANGE):
        return "±0"
    if column == "seconds":
        return f"{'+' if value > 0 else '−'}{format_duration(abs(value))}"
    text = f"{100 * value:+.2f}" if is_share(column.rpartition(".")[2]) else f"{value:+.3g}"
    return text.replace("-", "−")


def value_of_group(group: Group) -> str:
    """Return the value that the trials of a group have in common."""
    if group.value is None:
        return "none"
    if group.column == "state":
        return (WORDS.get(group.value) or state_in_words(group.value))[0]
    is_number = is_score(group.column) and isinstance(group.value, int | float)
    return score_text(group.column, group.value) if is_number else str(group.value)


def progress_text(state: str, reason: str, trials: Sequence[Trial], total: int) -> str:
    """Return how far an experiment has come: `3 running, 12 of 40 done`. `total` is 0 where it is not known."""
    over = sum(trial.is_over for trial in trials)
    failed = sum(trial.state in FAILED for trial in trials)
    share = f"{over:,} of {total:,} done" if total and state != "finished" else f"{over:,} done"
    parts = [share, *([f"{failed:,} failed"] if failed else [])]
    if state == "running":
        return ", ".join([f"{len(trials) - over:,} running", *parts])
    name = {"lost": "Interrupted"}.get(state, state.capitalize())
    if failed and failed == len(trials):
        first = next((trial.reason for trial in trials if trial.reason), "")
        return f"{name}, no trial has succeeded: {first}"
    text = ", ".join([name, *parts])
    if state in ("stopped", "lost"):
        return text
    return f"{text}: {reason}" if reason else text
