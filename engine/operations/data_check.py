"""`data check PROJECT|FILE|FOLDER`: what may be wrong with data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, plural
from netwright.engine.operations.data_inspect import DataRequest
from netwright.engine.operations.operation import Argument, Line, Operation, Result

MOST_SHOWN = 5
"""Number of samples that are printed per finding; --json has more."""


Severity = Literal["error", "warning", "note"]
Item = tuple[str, str]
"""A sample, column or class, and what was found about it."""


@dataclass(frozen=True, kw_only=True)
class DataCheckRequest(DataRequest):
    """Data of a project, or a file or folder, and what is looked for."""

    labels: Annotated[bool, Argument("look for labels that similar samples contradict, too, which takes longer")] = (
        False
    )


@dataclass(frozen=True)
class Fix:
    """An edit that helps against a finding."""

    label: str
    options: Mapping[str, Any]
    """Values to set in the section `data`."""


@dataclass(frozen=True)
class Finding:
    """Something that may be wrong with data."""

    kind: str
    severity: Severity
    """`error`: training ends with an error."""
    title: str
    outcome: str
    """What a training does about it."""
    count: int
    items: tuple[Item, ...]
    """Samples, columns or classes, at most 200, each with what was found about it."""
    fixes: tuple[Fix, ...]
    """Edits that help, of which one is chosen."""


@dataclass(frozen=True, kw_only=True)
class DataCheckResult(Result):
    """Findings about data."""

    path: str
    samples: int
    checked: int
    """Number of samples that were looked at: of very many, evenly spaced ones."""
    findings: Sequence[Finding]
    passed: Sequence[str]
    """Checks that found nothing."""
    warnings: Sequence[str]
    """Those of the facts about the data, such as files that are left out because of damage."""

    @property
    def errors(self) -> list[str]:
        """Titles of the findings with which training would end with an error."""
        return [finding.title for finding in self.findings if finding.severity == "error"]


def text(_: DataCheckRequest, result: DataCheckResult) -> Iterator[Line]:
    """Yield the findings, and the checks that found nothing."""
    yield from (f"warning: {warning}" for warning in result.warnings)
    for finding in result.findings:
        yield f"{finding.severity}: {finding.title}. {finding.outcome}".replace("..", ".")
        for name, fault in finding.items[:MOST_SHOWN]:
            yield f"  {name}{f': {fault}' if fault else ''}"
        if finding.count > MOST_SHOWN:
            yield f"  and {finding.count - MOST_SHOWN:,} more"
        for fix in finding.fixes:
            settings = " ".join(f"--set data.{name}={_value(value)}" for name, value in fix.options.items())
            yield f"  {fix.label}: {settings}"
    yield from (f"ok: {check}" for check in result.passed)
    if result.samples:
        part = "" if result.checked == result.samples else f" of {result.samples:,}, evenly spaced"
        yield f"{plural(result.checked, 'sample')}{part} checked."


def _value(value: object) -> str:
    text = ";".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    if len(text) > 60:
        text = f"{text[:60]}..."
    return f"'{text}'" if any(mark in text for mark in " ;'") else text


def failure(result: DataCheckResult) -> Mapping[str, Any]:
    """Return the error of data with which training would end with one."""
    return {"error": {"code": "invalid_data", "message": "; ".join(result.errors)}} if result.errors else {}


OPERATION = Operation(
    name="data check",
    effect="reads",
    request=DataCheckRequest,
    results=(DataCheckResult,),
    function="netwright.engine.data.loading.named:check_named_data",
    description=(
        "Look for samples that cannot be read, duplicates, also across splits, classes with few samples, constant "
        "columns and columns that give the target away. Exits 2 if training would end with an error."
    ),
    text=text,
    doing="checking",
    reads_data=True,
    exit_code=lambda result: EXIT_INPUT if result.errors else EXIT_DONE,
    failure=failure,
    faces=("command",),
)
