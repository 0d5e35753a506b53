"""Note, tags and name of a run, written by the user and stored in a file in the run folder.

notes.json    {"note": "too high a rate", "tags": ["paper", "try again"], "run_name": "with dropout"}
"""

from dataclasses import dataclass
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import is_unicode, printable
from netwright.engine.core.files import object_to_change, read_object, write_json
from netwright.engine.runs.folder import RunFolder

FILE = "notes.json"
LIMIT_BYTES = 2**20
LONGEST_NOTE, LONGEST_TAG, MOST_TAGS, LONGEST_NAME = 4000, 40, 20, 80


@dataclass(frozen=True)
class Notes:
    """Note, tags and name of a run. Tags are unique and in alphabetical order."""

    note: str = ""
    tags: tuple[str, ...] = ()
    run_name: str = ""
    """The name that the user gave the run; empty where it goes by its number."""

    def write(self) -> dict[str, Any]:
        """Return note, tags and name as a JSON object."""
        return {"note": self.note, "tags": list(self.tags), "run_name": self.run_name}


def read_notes(run: RunFolder) -> Notes:
    """Return note, tags and name of a run. Raises `OSError` if the file exists and cannot be read."""
    return notes_from(read_object(run.path / FILE, LIMIT_BYTES))


def notes_from(data: Any) -> Notes:
    """Return note and tags from JSON. Invalid values are ignored, a long note is truncated."""
    if not isinstance(data, dict):
        return Notes()
    note, tags = data.get("note", ""), data.get("tags", [])
    valid_tags = [tag for tag in tags if isinstance(tag, str) and _is_tag(tag)] if isinstance(tags, list) else []
    name = data.get("run_name", "")
    return Notes(
        note[:LONGEST_NOTE] if isinstance(note, str) else "",
        _ordered(valid_tags)[:MOST_TAGS],
        name if isinstance(name, str) and _is_name(name) else "",
    )


def write_notes(
    run: RunFolder, *, note: str | None = None, tags: tuple[str, ...] | None = None, run_name: str | None = None
) -> None:
    """Set the note, the tags or the name of a run; None leaves them unchanged. Raises `UserError`."""
    path = run.path / FILE
    current = notes_from(object_to_change(path, LIMIT_BYTES, "note and tags"))
    notes = Notes(
        current.note if note is None else checked_note(note),
        current.tags if tags is None else checked_tags(tags),
        current.run_name if run_name is None else _checked_name(run_name.strip()),
    )
    try:
        if notes == Notes():
            path.unlink(missing_ok=True)
        else:
            write_json(path, notes.write(), follow_link=False)
    except OSError as error:
        raise UserError(f"The notes of the run in {run.path} cannot be written: {error.strerror}.") from None


def tags_in(text: str) -> tuple[str, ...]:
    """Split a text at commas into tags."""
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def checked_note(note: str) -> str:
    """Return a note without spaces around it. Raises `UserError` if it is too long or no Unicode."""
    if len(note) > LONGEST_NOTE:
        raise UserError(
            f"The note has {len(note):,} characters; the limit is {LONGEST_NOTE:,}.", hint="Make it shorter."
        )
    if not is_unicode(note):
        raise UserError("The note has half of a pair of characters in it, which no file can hold.")
    return note.strip()


def _checked_name(name: str) -> str:
    if name and not _is_name(name):
        raise UserError(
            f"'{printable(name[:LONGEST_NAME])}' is no name of a run: expected up to {LONGEST_NAME} characters on one "
            f"line, received {len(name):,}.",
            hint="An empty name gives the run its number back.",
        )
    return name


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and name.isprintable() and is_unicode(name)


def checked_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags in alphabetical order, each once. Raises `UserError` for too many, and for one that is no tag."""
    for tag in tags:
        if not _is_tag(tag):
            raise UserError(
                f"'{printable(tag[: 2 * LONGEST_TAG])}' is no tag: expected 1 to {LONGEST_TAG} characters on one line, "
                "without commas."
            )
    names = _ordered(tags)
    if len(names) > MOST_TAGS:
        raise UserError(f"A run has at most {MOST_TAGS} tags, received {len(names)}.", hint="Remove some first.")
    return names


def _is_tag(tag: str) -> bool:
    return bool(tag.strip()) and len(tag) <= LONGEST_TAG and "," not in tag and tag.isprintable() and is_unicode(tag)


def _ordered(tags: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(sorted({tag.strip() for tag in tags}, key=lambda tag: (tag.casefold(), tag)))
