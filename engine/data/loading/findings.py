"""Findings of a check of data: kind, severity, the effect on training, and the edit that helps."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from netwright.engine.operations.data_check import Finding, Fix, Item, Severity

MOST_NAMED = 200
"""Number of samples or columns that a finding names; all are counted."""


@dataclass(frozen=True)
class DataCheck:
    """Result of a check: number of samples, of those that were checked, findings, and what was checked without any.

    `warnings` are those of the facts about the data (`DatasetInfo`), such as files that are left out because of damage:
    their samples are not among those that are checked."""

    samples: int = 0
    checked: int = 0
    findings: tuple[Finding, ...] = ()
    passed: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether training would end with an error."""
        return any(finding.severity == "error" for finding in self.findings)

    def write(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return asdict(self)


def finding_of(
    kind: str, severity: Severity, title: str, outcome: str, items: Sequence[Item], fixes: Sequence[Fix] = ()
) -> Finding:
    """Return a finding that names the first of its items."""
    return Finding(kind, severity, title, outcome, len(items), tuple(items[:MOST_NAMED]), tuple(fixes))


def kept(count: int, suffix: str) -> str:
    """Return the words on samples or columns that stay: `They are kept: ...`."""
    return f"{'It is' if count == 1 else 'They are'} kept{suffix}"
