"""Gaps in tables, and the options with which data that was refused can be read."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from netwright.engine.core.errors import UserError, plural
from netwright.engine.data.loading.findings import finding_of
from netwright.engine.data.loading.open_data import open_source
from netwright.engine.data.sources.source import Column, listed, locate
from netwright.engine.operations.data_check import Finding, Fix, Item
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.guess import guesses

OUTCOME = (
    "Numbers become the mean of the training rows, texts a category of their own; rows without a response are left out."
)


def gaps(options: DataOptions, columns: Sequence[Column], rows: int) -> Iterator[Finding]:
    """Yield the finding on missing values, unless the options say what becomes of them."""
    items = _missing(columns)
    if options.source != "table" or options.missing_values != "auto" or not items:
        return
    name, count = items[0]
    title = (
        f"{count:,} of {rows:,} rows have no {name}"
        if len(items) == 1
        else f"{len(items):,} columns have missing values: {listed([f'{name} {count:,}' for name, count in items])}"
    )
    rows_of: list[Item] = [(name, f"{plural(count, 'row')} of {rows:,} without a value") for name, count in items]
    yield finding_of("gaps", "warning", title, OUTCOME, rows_of, _gap_fixes(options, columns))


def _missing(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the columns with missing values and their number, most first."""
    counts = [(column.name, int((column.histogram or {}).get("missing", 0))) for column in columns]
    return sorted((item for item in counts if item[1]), key=lambda item: -item[1])


def _gap_fixes(options: DataOptions, columns: Sequence[Column]) -> tuple[Fix, ...]:
    """Return the edits that settle missing values; a response cannot be left out."""
    fixes = [
        Fix("Drop rows", {"missing_values": "leave-out"}),
        Fix("Fill in", {"missing_values": "impute"}),
    ]
    responses = {column.name for column in columns if column.role != "input"}
    inputs = [name for name, _ in _missing(columns) if name not in responses]
    if inputs and len(inputs) < sum(column.role == "input" for column in columns):
        left_out = dict.fromkeys((*options.columns_left_out, *inputs))
        label = f"Leave out the column{'s' if len(inputs) > 1 else ''}"
        fixes.append(Fix(label, {"left_out": ", ".join(left_out), "missing_values": "auto"}))
    return tuple(fixes)


def cures(options: DataOptions, base: Path) -> tuple[Fix, ...]:
    """Return the edits with which data that was refused can be opened; each was tried."""
    return tuple(fix for fix in _candidates(options, base) if _opens(options.replace(**fix.options), base))


def _opens(options: DataOptions, base: Path) -> bool:
    """Return whether data can be opened with these options."""
    if options.problems():
        return False
    try:
        open_source(options, base)
    except UserError:
        return False
    return True


def _candidates(options: DataOptions, base: Path) -> Iterator[Fix]:
    """Yield edits that may help: of missing values, and the columns that the file itself suggests."""
    if options.source == "table" and options.missing_values == "refuse":
        try:
            columns = open_source(options.replace(missing_values="auto"), base).outline.columns
        except UserError:
            columns = ()
        yield from _gap_fixes(options, columns)
    if options.source in ("series", "sequences") and options.missing_cells == "refuse":
        yield Fix("Repeat the last value", {"missing_cells": "last-value"})
    try:
        suggested = guesses(locate(options.path, base)) if options.path else []
    except UserError:
        return
    for guess in suggested:
        values = {n: v for n, v in guess.options.items() if n in COLUMNS and v != getattr(options, n)}
        if guess.source == options.source and values:
            yield Fix(f"Use {' and '.join(f'{v} as the {COLUMNS[n]}' for n, v in values.items())}", values)


COLUMNS = {"time_column": "time", "group_column": "group", "id_column": "sequence", "file_column": "file"}
"""Options that name columns, and the role of these in words."""
