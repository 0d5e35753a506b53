"""What commands about data sets print with `--json`."""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict


class DataDescription(TypedDict):
    """Data of a project, a file or a folder."""

    path: str
    data: Mapping[str, Any]
    """Options of the section `data` that differ from their defaults."""
    reason: str
    """Why a file or folder was taken as this kind of data; empty for a project."""
    facts: Mapping[str, Any]
    """Inputs, targets, samples per split, notes and warnings."""
    classes: list[Mapping[str, Any]]
    """Name of each class, and its number per split."""
    counted: str
    """Unit of these numbers: samples, steps, pixels or voxels."""
    columns: list[Mapping[str, Any]]
    """Name, role and kind of each column, with low, mean and high of numbers."""
    rows: list[list[str | float]]
    """The first rows of a table."""
    loading: str
    """How a run loads the data."""


class DataFix(TypedDict):
    """An edit that helps against a finding."""

    label: str
    options: Mapping[str, Any]
    """Values to set in the section `data`."""


class DataFinding(TypedDict):
    """Something that may be wrong with data."""

    kind: str
    severity: Literal["error", "warning", "note"]
    """`error`: training ends with an error."""
    title: str
    outcome: str
    """What a training does about it."""
    count: int
    items: list[list[str]]
    """Samples, columns or classes, at most 200, each with what was found about it."""
    fix: DataFix | None


class DataCheck(TypedDict):
    """Findings about data."""

    path: str
    samples: int
    checked: int
    """Number of samples that were looked at: of very many, evenly spaced ones."""
    findings: list[DataFinding]
    passed: list[str]
    """Checks that found nothing."""
    warnings: list[str]
    """Those of the facts about the data, such as files that are left out because of damage."""
