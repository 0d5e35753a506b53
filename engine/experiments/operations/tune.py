"""`tune PROJECT`: search better values of options within a budget of time, and prove them against the project."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.text import format_duration
from netwright.engine.operations.operation import (
    Argument,
    Line,
    Operation,
    Profile,
    ProjectFile,
    ProjectText,
    Request,
    Result,
    Settings,
    Table,
    Trust,
)
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.project.parameters import value_text

MOST_MINUTES = 100_000.0


@dataclass(frozen=True)
class Varied:
    """An option, or a field of a layer, that is varied: its path, its value in the project, and the values tried as
    `--vary` takes them."""

    path: str
    before: Any
    values: str


@dataclass(frozen=True)
class Confirmation:
    """Runs of the project as it is and with the tuned values, in pairs of equal seeds. `before` and `after` are the
    means of the validation, `difference` is theirs, `interval` half the width of its 95 % interval."""

    before: float
    after: float
    difference: float
    interval: float
    pairs: int


@dataclass(frozen=True, kw_only=True)
class TuneRequest(Request):
    """A project, and the time for the search of better values."""

    project: ProjectFile
    text: ProjectText = ""
    settings: Settings = ()
    minutes: Annotated[float, Argument("time for trials and confirmation together, default 10", metavar="M")] = 10.0
    keeps: Annotated[
        tuple[str, ...],
        Argument(
            "an option that stays as it is, such as training.solver; may be given several times",
            metavar="PATH",
            flags=("--keep",),
        ),
    ] = ()
    plan: Annotated[bool, Argument("say what would be varied, and train nothing")] = False
    output: Annotated[
        Path | None,
        Argument(
            "write the project with the values that were confirmed, else as it is",
            metavar="FILE.netwright",
            flags=("-o", "--output"),
            writes=True,
        ),
    ] = None
    trusted: Trust = False
    profile: Profile = ""

    def check(self) -> None:
        """Refuse a budget that is no time, and a file of a plan."""
        if not 0 < self.minutes <= MOST_MINUTES:
            raise UserError(
                f"A budget of {self.minutes:g} minutes: expected more than 0 and at most {MOST_MINUTES:,.0f}.",
                hint="For example --minutes 10.",
            )
        if self.plan and self.output is not None:
            raise UserError("--plan trains nothing, so that there is no project to write.", hint="Leave out -o.")


@dataclass(frozen=True, kw_only=True)
class TuneResult(Result):
    """The outcome of a search for better values."""

    conclusion: str
    """`planned`, `improved` or `unchanged`."""
    reason: str
    """The conclusion in a sentence."""
    metric: str
    """The metric of the validation that is compared, or loss."""
    varied: tuple[Varied, ...]
    values: Mapping[str, Any]
    """The better values by path; empty where the project stays as it is."""
    confirmation: Confirmation | None
    trials: int
    """Trials of the search, the project as it is among them."""
    seconds: float
    experiment_dirs: tuple[str, ...]
    """The search and the confirmation, as experiments."""
    output: str | None
    """Path of the project that was written."""


def confirmation_text(metric: str, confirmation: Confirmation) -> str:
    """Return a confirmation as `validation accuracy 96.1 % → 97.4 % ± 0.6 %, 3 pairs`."""
    before, after, interval = (
        format_score(metric, value) if math.isfinite(value) else "unknown"
        for value in (confirmation.before, confirmation.after, confirmation.interval)
    )
    return f"validation {metric} {before} → {after} ± {interval}, {plural(confirmation.pairs, 'pair')}"


def text(request: TuneRequest, result: TuneResult) -> Iterator[Line]:
    """Yield what was varied, and what came of it."""
    if result.conclusion == "planned":
        rows = [(each.path, value_text(each.before), each.values.partition("=")[2]) for each in result.varied]
        yield Table([("varied", "now", "values"), *rows])
        yield result.reason
        return
    before = {each.path: each.before for each in result.varied}
    yield from (f"{path}: {value_text(before[path])} → {value_text(new)}" for path, new in result.values.items())
    yield result.reason
    yield f"{plural(result.trials, 'trial')} in {format_duration(result.seconds)}"
    yield from (f"experiment: {folder}" for folder in result.experiment_dirs)
    if result.output:
        yield f"wrote {request.output}" + ("" if result.values else ": the project as it is")


OPERATION = Operation(
    name="tune",
    request=TuneRequest,
    results=(TuneResult,),
    function="netwright.engine.experiments.tuning:tune",
    description=(
        "Search better values of learn rate, mini-batch size, L2 regularisation, solver and dropout within a budget of "
        "time. The first trial is the project as it is. The best trial is trained again beside the project in pairs of "
        "equal seeds, and only values that are better by more than the interval of the difference are taken. Trials "
        "stay as an experiment. The project file is not changed."
    ),
    text=text,
    doing="tuning",
    reads_data=True,
)
