"""Words of plots and tables as they are shown: names of curves, splits and metrics, which are keys elsewhere."""

from netwright.designer.language import METRIC, noop, translation
from netwright.engine.core.text import format_number
from netwright.engine.project.options.metric_options import METRICS, format_score, in_a_line, title_of
from netwright.engine.runs.events import Requested
from netwright.engine.runs.requests import done_template

WORDS = (
    *(noop("training"), noop("validation"), noop("test"), noop("best"), noop("best validation"), noop("smoothed")),
    *(noop("data"), noop("computing"), noop("communication"), noop("loss"), noop("metric")),
    *(noop("iterations"), noop("epochs"), noop("time")),
)
"""The names of curves, and the units of their horizontal axes; `translation` shows them."""
SPLITS = {"training": noop("Training"), "validation": noop("Validation"), "test": noop("Test")}
"""The splits as headings."""


def metric_title(name: str) -> str:
    """Translate a metric's name as a heading; `Loss` has none."""
    return translation(title_of(name), METRIC if name in METRICS else "")


def metric_in_a_line(name: str) -> str:
    """Translate a metric's name among other words."""
    title = metric_title(name)
    return title if title != title_of(name) else in_a_line(name)


def metric_text(name: str, value: float) -> str:
    """Return a metric with its name, such as `accuracy 96.4 %` or `loss 0.113`."""
    return f"{metric_in_a_line(name)} {format_score(name, value)}"


def split_title(split: str) -> str:
    """Translate the name of a split as a heading."""
    return translation(SPLITS.get(split, split.capitalize()))


def done_in_words(event: Requested) -> str:
    """Return the action of a run on request; empty if unknown."""
    return translation(done_template(event)).format(value=format_number(event.value, 4))
