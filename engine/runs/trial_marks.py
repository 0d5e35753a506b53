"""Marks of a user in the trials of an experiment: notes, tags, colours, hidden trials and a baseline.

marks.json    {"baseline": 3, "trials": {"5": {"note": "try longer", "tags": ["paper"], "colour": "green",
               "hidden": true, "cells": {"validation.accuracy": "one fold is off"}}}}
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import object_to_change, read_object, write_json
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.notes import LONGEST_NOTE, Notes, checked_note, checked_tags, notes_from

FILE = "marks.json"
LIMIT_BYTES = 2**26
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "grey")
"""Colours of rows by name; others are written as `#rrggbb`."""
_OTHER_COLOUR = re.compile(r"#[0-9a-f]{6}")
NO_NOTES = Notes()


@dataclass(frozen=True)
class TrialMarks:
    """Marks of one trial. `cells` are notes by the column of the table that they stand in."""

    notes: Notes = NO_NOTES
    colour: str = ""
    is_hidden: bool = False
    cells: Mapping[str, str] = field(default_factory=dict)

    def write(self) -> dict[str, Any]:
        """Return the marks that are set as a JSON object."""
        values = {
            "note": self.notes.note,
            "tags": list(self.notes.tags),
            "colour": self.colour,
            "hidden": self.is_hidden,
            "cells": dict(self.cells),
        }
        return {name: value for name, value in values.items() if value}


NOTHING = TrialMarks()


@dataclass(frozen=True)
class Marks:
    """Marks of the trials by their numbers, and the number of the trial that others are compared with; 0 for none."""

    trials: Mapping[int, TrialMarks] = field(default_factory=dict)
    baseline: int = 0
    is_sound: bool = True
    """False where the file of the marks cannot be read."""

    def of(self, trial: int) -> TrialMarks:
        """Return the marks of a trial."""
        return self.trials.get(trial, NOTHING)

    def write(self) -> dict[str, Any]:
        """Return the marks as a JSON object."""
        trials = {str(number): marks.write() for number, marks in sorted(self.trials.items()) if marks != NOTHING}
        return {"baseline": self.baseline, "trials": trials}


def read_marks(folder: ExperimentFolder) -> Marks:
    """Return the marks of an experiment. Invalid values are ignored. Raises `OSError` if the file cannot be read."""
    data = read_object(folder.path / FILE, LIMIT_BYTES)
    return replace(_marks_from(data or {}), is_sound=data is not None or not (folder.path / FILE).exists())


def marks_and_damage(folder: ExperimentFolder) -> tuple[Marks, str]:
    """Return the marks, and that their file is damaged, for a person. Raises `UserError` if it cannot be read."""
    try:
        marks = read_marks(folder)
    except OSError as error:
        raise UserError(f"The notes in {folder.path} cannot be read: {error.strerror}.") from None
    return marks, "" if marks.is_sound else f"{folder.path / FILE} is damaged: notes and tags in it cannot be read"


def _marks_from(data: Mapping[str, Any]) -> Marks:
    trials, baseline = data.get("trials"), data.get("baseline")
    by_trial = {
        int(number): _of_trial(marks)
        for number, marks in (trials.items() if isinstance(trials, dict) else ())
        if number.isdecimal() and len(number) <= 9 and isinstance(marks, dict)
    }
    return Marks(by_trial, baseline if type(baseline) is int and baseline > 0 else 0)


def _of_trial(data: Mapping[str, Any]) -> TrialMarks:
    cells, colour = data.get("cells"), data.get("colour")
    return TrialMarks(
        replace(notes_from(data), run_name=""),
        colour if isinstance(colour, str) and _is_colour(colour) else "",
        data.get("hidden") is True,
        {str(c): t[:LONGEST_NOTE] for c, t in cells.items() if isinstance(t, str) and t}
        if isinstance(cells, dict)
        else {},
    )


def _is_colour(colour: str) -> bool:
    return colour in COLOURS or _OTHER_COLOUR.fullmatch(colour) is not None


def mark_trials(
    folder: ExperimentFolder,
    trials: Iterable[int],
    *,
    note: str | None = None,
    tags: tuple[str, ...] | None = None,
    colour: str | None = None,
    is_hidden: bool | None = None,
    cell: tuple[str, str] | None = None,
) -> Marks:
    """Set marks of some trials, None leaves them as they are, and return all marks. `cell` is a column and its note.

    Raises `UserError` for a value that cannot be kept, and where the file cannot be read or written.
    """
    changes: dict[str, Any] = {}
    if colour is not None:
        if colour and not _is_colour(colour):
            raise UserError(f"'{colour}' is no colour: expected #rrggbb or one of {', '.join(COLOURS)}.")
        changes["colour"] = colour
    if is_hidden is not None:
        changes["is_hidden"] = is_hidden
    note = checked_note(note) if note is not None else None
    tags = checked_tags(tags) if tags is not None else None
    text = checked_note(cell[1]) if cell is not None else ""
    marks = _read_to_change(folder)
    changed = dict(marks.trials)
    for number in trials:
        old = marks.of(number)
        own = {**changes, "notes": _noted(old.notes, note, tags)}
        if cell is not None:
            others = {column: note for column, note in old.cells.items() if column != cell[0]}
            own["cells"] = others | ({cell[0]: text} if text else {})
        changed[number] = replace(old, **own)
    return _written(folder, replace(marks, trials=changed))


def _noted(notes: Notes, note: str | None, tags: tuple[str, ...] | None) -> Notes:
    return Notes(notes.note if note is None else note, notes.tags if tags is None else tags)


def pin_baseline(folder: ExperimentFolder, trial: int) -> Marks:
    """Choose the trial that others are compared with, 0 for none, and return all marks. Raises `UserError`."""
    return _written(folder, replace(_read_to_change(folder), baseline=trial))


def _read_to_change(folder: ExperimentFolder) -> Marks:
    """Return the marks. Raises `UserError` where a file is there that cannot be read: it would be overwritten."""
    return _marks_from(object_to_change(folder.path / FILE, LIMIT_BYTES, "notes and tags"))


def _written(folder: ExperimentFolder, marks: Marks) -> Marks:
    path = folder.path / FILE
    try:
        write_json(path, marks.write(), follow_link=False)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}. Notes and tags are not kept.") from None
    return marks
