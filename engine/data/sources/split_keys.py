"""Keys by which samples are split: names of splits, groups, or places in time, from columns or names of files."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.source import Array, listed, unreadable
from netwright.engine.project.dates import forms_of, read
from netwright.engine.project.sources.source_type import SPLIT_NAMES

GROUP = "{group}"
ANY = "*"


def keys_of(kind: str, values: Array | Sequence[str], subject: str) -> Array:
    """Return the keys of samples from the values of a column: numbers (N) that sort in time for `ordered`, else the
    values. `subject` names the column in errors. Raises `UserError` for texts that are no times."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise UserError(f"{subject} has the shape {array.shape}; expected one value per sample to divide the data by.")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise UserError(
            f"{subject} divides the data and has gaps, the first for sample {int(np.isnan(array).argmax()):,}."
        )
    return _times(array, subject) if kind == "ordered" and array.dtype.kind not in "iufb" else array


def split_folders(path: Path) -> dict[str, str]:
    """Return the name of the folder of each split in a folder. Raises `UserError` where two are of the same split."""
    folders: dict[str, str] = {}
    try:
        names = sorted(entry.name for entry in os.scandir(path) if entry.is_dir()) if path.is_dir() else []
    except OSError as error:
        raise unreadable(path, error) from None
    for name in names:
        split = SPLIT_NAMES.get(name.lower(), "")
        if split in folders:
            raise UserError(
                f"{path} holds two folders of {split} data, {folders[split]} and {name}. Rename one of them."
            )
        if split:
            folders[split] = name
    return folders


def _times(texts: Array, subject: str) -> Array:
    """Return seconds since 1970 of dates in any form; without a time zone they are taken as UTC."""
    different, places = np.unique(texts, return_inverse=True)
    seconds = np.empty(len(different), np.float64)
    dates = [str(text).strip() for text in different.tolist()]
    form = (forms_of(dates) or forms_of(dates[:1]) or ("",))[0]
    for index, text in enumerate(dates):
        try:
            moment = read(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            raise UserError(
                f"{subject} holds {quoted(text)}, which is no time to order samples by. Expected numbers, or dates and "
                "times, all alike, as in 2024-12-31, 31.12.2024 or 2024-12-31T23:59:00."
            ) from None
        seconds[index] = moment.replace(tzinfo=UTC).timestamp()
    return np.asarray(seconds[places])


def groups_of_names(names: Sequence[str], pattern: str, mark: str = GROUP, things: str = "groups") -> Array:
    """Return the group of each file (N, texts), by a pattern such as `{group}_*`, or that of other `things` by another
    `mark`, as in `{class}.*`.

    `{group}` and `*` stand for the shortest text up to what follows them. A pattern without `/` is that of a file's
    name, others are those of the path below the folder of the data. Raises `UserError` for names that do not fit.
    """
    parts = _parsed(pattern, mark, things)
    is_of_name = "/" not in pattern
    groups = [_group(name.rpartition("/")[2] if is_of_name else name, parts) for name in names]
    if strange := [name for name, group in zip(names, groups, strict=True) if not group]:
        raise UserError(
            f"{len(strange):,} of {plural(len(names), 'file')} {'does' if len(strange) == 1 else 'do'} not fit the "
            f"pattern {quoted(pattern)} of {things}: {listed(strange)}. {mark} is the part that tells the {things} "
            "apart, * is any text."
        )
    return np.array(groups)


def _parsed(pattern: str, mark: str, things: str) -> list[str]:
    """Return the pattern as texts, `{group}` for the mark and `*` among them. Raises `UserError` unless there is one
    mark."""
    if pattern.count(mark) != 1:
        raise UserError(
            f"The pattern {quoted(pattern)} of {things} holds no {mark}, or several. Expected one, as {mark}_*."
        )
    parts = []
    for place, text in enumerate(pattern.split(mark)):
        parts += [GROUP] if place else []
        for number, literal in enumerate(text.split(ANY)):
            parts += [ANY] if number else []
            parts += [literal] if literal else []
    return parts


def _group(name: str, parts: Sequence[str]) -> str:
    """Return the group of a name, or an empty text where it does not fit. Takes linear time: nothing is tried twice."""
    at, group, pending = 0, "", ""
    for place, part in enumerate(parts, start=1):
        if part in (GROUP, ANY):
            pending = GROUP if GROUP in (part, pending) else ANY  # side by side, the group takes all
            continue
        first = at + (pending == GROUP)
        if place == len(parts):
            position = len(name) - len(part) if name.endswith(part) else -1
        else:
            position = name.find(part, first)
        if position < first or (position > at and not pending):
            return ""
        group = name[at:position] if pending == GROUP else group
        at, pending = position + len(part), ""
    if pending == GROUP:
        return name[at:]
    return group if pending or at == len(name) else ""
