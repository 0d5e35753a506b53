"""The rows of a comparison: facts, figures, the network and every option that any of the runs names."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.experiments.runs_table import figure_of, label_of, state_in_words, text_of
from engine.project.project import SECTIONS
from engine.runs.options import in_order, shown
from engine.runs.query import option_names, score_names
from engine.runs.summary import RunSummary

FACTS = ("created", "seconds", "environment", "epochs")


@dataclass(frozen=True)
class Row:
    """One thing of every run. `path` is the `--set` path of an option."""

    label: str
    values: tuple[str, ...]
    path: str = ""

    @property
    def differs(self) -> bool:
        """Whether the runs do not have all the same."""
        return len(set(self.values)) > 1

    def is_odd(self, number: int) -> bool:
        """Whether a run has another value than most of the runs."""
        if not self.differs:
            return False
        usual, count = Counter(self.values).most_common(1)[0]
        return count == 1 or self.values[number] != usual


def rows_of(runs: Sequence[RunSummary]) -> list[Row]:
    """Every row, those in which runs differ and the others."""
    return [*_facts(runs), *_options(runs)]


def _facts(runs: Sequence[RunSummary]) -> Iterator[Row]:
    yield Row("State", tuple(state_in_words(run.state)[0] for run in runs))
    for name in FACTS:
        yield Row(label_of(name), tuple(text_of(run, name) for run in runs))
    for name in score_names(runs):
        yield Row(label_of(name), tuple(figure_of(name, run.scores.get(name)) for run in runs))
    letters: dict[str, str] = {}
    for run in runs:
        letters.setdefault(run.network, chr(ord("A") + len(letters)))
    if any(letters):
        yield Row("Network", tuple(letters[run.network] if run.network else "" for run in runs))


def _options(runs: Sequence[RunSummary]) -> Iterator[Row]:
    for path in in_order(option_names(runs)):
        section, _, name = path.partition(".")
        record = SECTIONS.get(section)
        field = record.fields.get(name) if record is not None else None
        label = field.label if field is not None else path
        yield Row(label, tuple(shown(run.options, path) for run in runs), path)
