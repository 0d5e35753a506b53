"""`doctor [PROJECT]`: what is wrong with a project or with this machine, in order of effect, each with one cure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from netwright.engine.network.problems import Severity
from netwright.engine.operations.operation import (
    Argument,
    Line,
    Operation,
    ProjectText,
    Request,
    Result,
    Settings,
    Trust,
)
from netwright.engine.project.options.metric_options import format_score


@dataclass(frozen=True)
class Cure:
    """An edit of the project, or a command, that helps against a finding.

    settings: assignments as of `--set`. layers: values of fields by the id of a layer. command: what to type, for the
    machine.
    """

    label: str
    settings: tuple[str, ...] = ()
    layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True)
class Comparison:
    """A short training with and without a cure, several times with the same seeds: the better way is the higher score
    where `higher_is_better`. `interval` is half the width of the 95 % interval of the mean difference."""

    metric: str
    higher_is_better: bool
    without: float
    with_cure: float
    difference: float
    interval: float
    runs: int
    samples: int
    """Samples that each training took, with repetition."""

    @property
    def conclusion(self) -> str:
        """Whether the cure helped: `helps`, `makes it worse`, or `no clear difference`."""
        if abs(self.difference) <= self.interval:
            return "no clear difference"
        return "helps" if (self.difference > 0) == self.higher_is_better else "makes it worse"


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or may be.

    kind: word for programs, such as `learn-rate`. severity: `error` where training ends with one. evidence: what was
    measured. effect: how much it matters, from 0 to 100; findings are in this order.
    """

    kind: str
    severity: Severity
    title: str
    evidence: str
    effect: int
    cure: Cure | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, kw_only=True)
class DoctorRequest(Request):
    """A project, and how thoroughly it is looked at; without a project the machine is looked at."""

    project: Annotated[
        Path | None,
        Argument("a project file (*.netwright); without it this machine", metavar="PROJECT", is_positional=True),
    ] = None
    text: ProjectText = ""
    settings: Settings = ()
    quick: Annotated[bool, Argument("leave out the short trainings; look at data and options alone")] = False
    compares: Annotated[
        bool,
        Argument(
            "train briefly with and without each cure, with the same seeds, and say whether it helps", flags=("--try",)
        ),
    ] = False
    output: Annotated[
        Path | None,
        Argument(
            "write the project with the cures that are not known to harm",
            metavar="FILE.netwright",
            flags=("-o", "--output"),
            writes=True,
        ),
    ] = None
    trusted: Trust = False

    def check(self) -> None:
        """Refuse what needs a project where there is none, and a comparison without trainings."""
        if self.project is None and (self.compares or self.quick or self.output or self.settings):
            raise UserError("--try, --quick, --set and -o need a project.", hint="netwright-engine doctor PROJECT")
        if self.quick and self.compares:
            raise UserError("--quick leaves out the trainings that --try compares.", hint="Leave out one of them.")


@dataclass(frozen=True, kw_only=True)
class DoctorResult(Result):
    """Findings about a project or the machine."""

    subject: str
    """Path of the project; empty for the machine."""
    findings: tuple[Finding, ...]
    passed: tuple[str, ...]
    """Checks that found nothing."""
    seconds: float
    output: str | None
    """Path of the project with the cures, if one was written."""


def text(_: DoctorRequest, result: DoctorResult) -> Iterator[Line]:
    """Yield the findings in order of effect, and what is in order."""
    for number, finding in enumerate(result.findings, 1):
        yield f"{number}. {finding.severity}: {finding.title}"
        if finding.evidence:
            yield f"   {finding.evidence}"
        if finding.cure is not None:
            yield f"   cure: {_cure(finding.cure)}"
        if finding.comparison is not None:
            yield f"   tried: {comparison_text(finding.comparison)}"
    yield from (f"ok: {check}" for check in result.passed)
    count = len(result.findings)
    time = f", after {result.seconds:.0f} s" if result.seconds >= 1 else ""
    yield f"{plural(count, 'finding') if count else 'Nothing is wrong'}{time}."
    if result.output:
        yield f"The project with the cures: {result.output}"


def _cure(cure: Cure) -> str:
    settings = " ".join(f"--set {setting}" for setting in cure.settings)
    return f"{cure.label}: {settings or cure.command}" if settings or cure.command else cure.label


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison in a sentence."""
    before, after = (format_score(comparison.metric, value) for value in (comparison.without, comparison.with_cure))
    return (
        f"{comparison.conclusion}: validation {comparison.metric} {before} without, {after} with it "
        f"(difference {comparison.difference:+.3g} ± {comparison.interval:.2g}; "
        f"{plural(comparison.runs, 'pair')} of {plural(comparison.samples, 'sample')})"
    )


def failure(result: DoctorResult) -> Mapping[str, Any]:
    """Return the error where training would end with one."""
    errors = [finding.title for finding in result.findings if finding.severity == "error"]
    return {"error": {"code": "invalid_project", "message": "; ".join(errors)}} if errors else {}


OPERATION = Operation(
    name="doctor",
    effect="reads",
    request=DoctorRequest,
    results=(DoctorResult,),
    function="netwright.engine.doctor.examine:examine",
    description=(
        "Look for what keeps a project from learning well: leaks, classes that are too small, missing normalisation, a "
        "learn rate out of range, a network that cannot learn even one batch, dead layers, a validation too small to "
        "trust. Each finding has one cure; --try trains briefly with and without it. Without a project: the build of "
        "torch against the hardware, packages, threads, disk, permissions. Nothing is changed. Exits 2 where training "
        "would end with an error."
    ),
    text=text,
    doing="examining",
    reads_data=True,
    exit_code=lambda result: EXIT_INPUT if failure(result) else EXIT_DONE,
    failure=failure,
)
