"""Examines a project or the machine: gathers all findings, in order of effect."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.files import refuse_destination
from netwright.engine.core.progress import notice
from netwright.engine.data.loading.checks import check_data
from netwright.engine.data.loading.load import facts, load
from netwright.engine.doctor import machine, short_training
from netwright.engine.doctor.cures import with_cure
from netwright.engine.doctor.operations.doctor import Cure, DoctorRequest, DoctorResult, Finding
from netwright.engine.doctor.project_rules import Patient, of_data, of_problem, rules
from netwright.engine.network.problems import Fix
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project import user_code
from netwright.engine.project.check import CheckResult, check
from netwright.engine.project.data_hosts import grant_all
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import origin

MOST_COMPARED = 4
"""Cures that are tried, those of the largest effect."""


def examine(request: DoctorRequest) -> DoctorResult:
    """Return the findings about the project of a request, or about this machine. Raises `UserError`."""
    began = time.monotonic()
    if request.project is None:
        findings, passed = machine.examine()
        return _result("", findings, passed, began)
    project, notices = read_project(request.project, request.settings, request.text)
    notice(*notices)
    if request.output is not None:
        refuse_destination(request.output)
    base = origin(request.project).base
    look_at_code(project, base, trusted=request.trusted)
    doctor = _Doctor(project, base)
    doctor.examine(is_quick=request.quick)
    if request.compares:
        doctor.compare()
    output = None
    if request.output is not None:
        save(doctor.cured(), request.output)
        output = str(request.output.absolute())
    return _result(str(request.project.absolute()), doctor.findings, doctor.passed, began, output)


def _result(
    subject: str,
    findings: Sequence[Finding],
    passed: Sequence[str],
    began: float,
    output: str | None = None,
) -> DoctorResult:
    ordered = tuple(sorted(findings, key=lambda finding: -finding.effect))
    seconds = round(time.monotonic() - began, 1)
    return DoctorResult(subject=subject, findings=ordered, passed=tuple(passed), seconds=seconds, output=output)


class _Doctor:
    """Looks at one project. `fixes` are the edits of those cures that are no settings."""

    def __init__(self, project: Project, base: Path) -> None:
        self.findings: list[Finding] = []
        self.passed: list[str] = []
        self._project, self._base = project, base
        self._patient: Patient | None = None
        self._fixes: dict[str, Fix] = {}

    def examine(self, *, is_quick: bool) -> None:
        """Gather the findings."""
        result = self._checked()
        if result.errors or result.facts is None:
            return
        data = check_data(self._project.data, self._base, labels=not is_quick)
        self.findings += map(of_data, data.findings)
        self.passed += data.passed
        if data.has_errors:
            return
        patient = Patient(self._project, result, result.facts, load(self._project.data, self._base, is_streamed=True))
        self.findings += rules(patient)
        if not is_quick and not user_code.has_code(self._project):
            self._train(patient)
        self._patient = patient

    def _checked(self) -> CheckResult:
        """Return the check of the project, and note its problems."""
        grant_all(self._project.data)
        has_data = self._project.data.source != "none" and not self._project.data.problems()
        try:
            known = facts(self._project.data, self._base) if has_data else None
            result = check(self._project, known)
        except UserError as error:
            result = check(self._project, None, str(error))
        for problem in result.problems:
            finding = of_problem(problem)
            self.findings.append(finding)
            if problem.fix is not None and finding.cure is not None:
                self._fixes[finding.cure.label] = problem.fix
        if not result.problems:
            self.passed.append("network, options and data fit together")
        return result

    def _train(self, patient: Patient) -> None:
        """Add what short trainings show."""
        if why := short_training.refusal(self._project):
            self.passed.append(f"no short trainings: {why}")
            return
        for row in short_training.short_trainings(patient):
            if isinstance(row, Finding):
                self.findings.append(row)
            else:
                self.passed.append(row)

    def compare(self) -> None:
        """Try the cures of the largest effect, each by itself."""
        if self._patient is None or user_code.has_code(self._project) or short_training.refusal(self._project):
            return
        tried = 0
        for finding in sorted(self.findings, key=lambda finding: -finding.effect):
            edited = self._edited(self._project, finding.cure)
            if tried == MOST_COMPARED or edited is None or edited.data != self._project.data:
                continue  # other data has another validation: the scores would not compare
            tried += 1
            comparison = short_training.compared(self._patient, edited)
            self.findings[self.findings.index(finding)] = replace(finding, comparison=comparison)

    def cured(self) -> Project:
        """Return the project with all cures but those that were seen to harm."""
        project = self._project
        for finding in sorted(self.findings, key=lambda finding: -finding.effect):
            if finding.comparison is None or finding.comparison.conclusion != "makes it worse":
                project = self._edited(project, finding.cure) or project
        return project

    def _edited(self, project: Project, cure: Cure | None) -> Project | None:
        """Return the project with a cure; None where there is none that can be made."""
        if cure is None:
            return None
        try:
            if (fix := self._fixes.get(cure.label)) is not None:
                edited: Project = fix.edit(project)
                return edited
            return with_cure(project, cure)
        except (UserError, FieldErrors):
            return None
