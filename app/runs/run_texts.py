"""Facts of runs as texts: states, figures, times, and the options in which runs differ."""

import math
import re
import time
from collections.abc import Sequence

from netwright.app.plots.words import metric_in_a_line, metric_text, split_title
from netwright.designer.engine_messages import duration_text
from netwright.designer.language import close_han, in_sentence, noop, tr, translation
from netwright.engine.core.fields import Bool, Choice
from netwright.engine.core.text import format_ago, format_number
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.project.project import SECTIONS
from netwright.engine.runs.events import Best, Requested
from netwright.engine.runs.query import OPTION, option_names, score_names
from netwright.engine.runs.run_options import in_order, shown
from netwright.engine.runs.summary import DAMAGED, RunSummary

MOST_DIFFERING = 6
"""Options that tell runs apart, at most: a comparison shows all that differ."""
LABELS = {
    "run": noop("Run"),
    "state": noop("State"),
    "created": noop("Started"),
    "seconds": noop("Time"),
    "environment": noop("Environment"),
    "epochs": noop("Epochs"),
    "changes": noop("Changed"),
}
AGO = {
    "just now": noop("just now"),
    " min ago": noop("{count} min ago"),
    " h ago": noop("{count} h ago"),
    "yesterday": noop("yesterday"),
    " days ago": noop("{count} days ago"),
}
"""The texts of `format_ago`, by what stands behind the number."""
STATE = "state"
"""The comment of the states of runs."""
STATES = {
    "": ("", "", "muted"),
    "starting": ("○", noop("Starting", "state"), "muted"),
    "running": ("●", noop("Training", "state"), "good"),
    "silent": ("◌", noop("Not responding", "state"), "warning"),
    "stopping": ("◐", noop("Stopping", "state"), "warning"),
    "paused": ("II", noop("Paused", "state"), "warning"),
    "finished": ("✓", noop("Finished", "state"), "good"),
    "stopped": ("■", noop("Stopped", "state"), "warning"),
    "failed": ("✕", noop("Failed", "state"), "error"),
    "lost": ("✕", noop("Lost", "state"), "error"),
    "refused": ("✕", noop("Not started", "state"), "error"),
    DAMAGED: ("✕", noop("Damaged", "state"), "error"),
}


def label_of(column: str) -> str:
    """Return the header of a column: `Validation loss` for `validation.loss`."""
    if column in LABELS:
        return translation(LABELS[column])
    if column.startswith(OPTION):
        return option_label(column.removeprefix(OPTION))
    split, _, metric = column.partition(".")
    return close_han(tr("{split} {metric}", split=split_title(split), metric=metric_in_a_line(metric)))


def state_in_words(state: str) -> tuple[str, str]:
    """Return a state with its sign, and the name of its colour."""
    sign, word, role = STATES.get(state, ("", state, "muted"))
    return f"{sign} {translation(word, STATE)}".strip(), role


def state_word(state: str) -> str:
    """Return a state among other words, without its sign."""
    return in_sentence(STATES.get(state, ("", state, ""))[1], STATE)


def when(created: float) -> str:
    """Return day, minute and second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(created)) if created else ""


def ago(created: float) -> str:
    """Return how long ago a run was started."""
    return in_past(time.time() - created) if created else ""


def in_past(seconds: float) -> str:
    """Return a time in the past by its distance, as `format_ago`."""
    text = format_ago(seconds)
    number = re.match(r"[\d,]*", text)
    count = number[0] if number is not None else ""
    return translation(AGO[text.removeprefix(count)]).format(count=count)


def time_left(seconds: float) -> str:
    """Return the time that a run will take; empty where it is not known."""
    return tr("{time} left", time=duration_text(seconds)) if math.isfinite(seconds) else ""


def best_text(event: Best) -> str:
    """Return the best validation of a run, and when it was measured."""
    score = metric_text(event.objective, event.value)
    return tr("{score} at {iteration:,}", score=score, iteration=event.iteration)


def new_rate_text(event: Requested) -> str:
    """Return the learn rate that a run was given, among what a step is made of."""
    rate = format_number(event.value, 4)
    return tr("learn rate {rate} from iteration {iteration:,} on", rate=rate, iteration=event.iteration)


def rate_change_text(before: float, after: float) -> str:
    """Return a change of the learn rate, among the events of a run."""
    return tr("Learn rate {before} → {after}", before=format_number(before, 4), after=format_number(after, 4))


def option_label(path: str) -> str:
    """Return the label of an option, as its field in the dialog has it."""
    section, _, name = path.partition(".")
    record = SECTIONS.get(section)
    field = record.fields.get(name) if record is not None else None
    return translation(field.label) if field is not None else path


def option_text(run: RunSummary, path: str) -> str:
    """Return the value of an option, where it is a choice as its field in the dialog has it."""
    section, _, name = path.partition(".")
    record, text = SECTIONS.get(section), run.option_text(path)
    field = record.fields.get(name) if record is not None else None
    if isinstance(field, Bool) and text in ("true", "false"):
        return tr("yes", "option") if text == "true" else tr("no", "option")
    return translation(field.word(text)) if isinstance(field, Choice) and text in field.options else text


def differing(runs: Sequence[RunSummary]) -> list[str]:
    """Return the paths of the options in which runs differ, in the order of the dialog."""
    if len(runs) < 2:
        return []
    paths = [path for path in option_names(runs) if len({shown(run.options, path) for run in runs}) > 1]
    return in_order(paths)[:MOST_DIFFERING]


def first_score(run: RunSummary, split: str) -> str:
    """Return the name of the metric of a split by which a run is judged, else that of its loss; empty without any."""
    names = [name for name in score_names([run]) if name.startswith(f"{split}.")]
    return next((name for name in names if not name.endswith(".loss")), names[0] if names else "")


def letters_of(runs: Sequence[RunSummary]) -> dict[str, str]:
    """Return a letter for each network, in the order of the runs."""
    letters: dict[str, str] = {}
    for run in runs:
        if run.network:
            letters.setdefault(run.network, chr(ord("A") + len(letters) % 26))
    return letters


def text_of(run: RunSummary, column: str) -> str:
    """Return the text of a fact or a score."""
    match column:
        case "created":
            return ago(run.created)
        case "seconds":
            seconds = run.number("seconds")
            return "" if seconds is None else duration_text(seconds)
        case "epochs":
            epochs = run.number("epochs")
            return "" if epochs is None else f"{epochs:,.0f}"
        case "environment":
            return run.environment
    return format_score(column, run.scores.get(column))
