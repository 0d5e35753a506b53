"""Pictures by name from while a run trained: those that hooks of a user report, in `pictures/` of the run folder, and
those of attention to one validation sample, in `attention/`.

pictures.json
{"pictures": {"filters": [{"iteration": 40, "epoch": 4, "file": "0-40.png"}]}}
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.files import read_object
from netwright.engine.runs.kept_steps import LIMIT_BYTES, has_place, path_inside

FOLDER, ATTENTION, FILE = "pictures", "attention", "pictures.json"
MOST_NAMES, LONGEST_NAME = 16, 64
MOST_STEPS = 24
"""Pictures that are kept of a name: of more, every second one, then every fourth."""


@dataclass(frozen=True)
class ReportedPicture:
    """A picture, and when it was reported."""

    iteration: int
    epoch: int
    file: str


def read_pictures(run: Path, folder_name: str = FOLDER) -> dict[str, list[ReportedPicture]]:
    """Return the pictures of a run by name, in order; none where the file is missing or damaged. Raises `OSError`."""
    folder = run / folder_name
    content = (read_object(folder / FILE, LIMIT_BYTES) or {}).get("pictures")
    named = list(content.items())[:MOST_NAMES] if isinstance(content, dict) else []
    pictures = {name[:LONGEST_NAME]: _pictures(entries, folder) for name, entries in named}
    return {name: those for name, those in pictures.items() if those}


def _pictures(entries: Any, folder: Path) -> list[ReportedPicture]:
    those: Sequence[Mapping[str, Any]] = [
        entry for entry in (entries if isinstance(entries, list) else ()) if isinstance(entry, dict)
    ]
    pictures = [
        ReportedPicture(entry["iteration"], entry["epoch"], path)
        for entry in those
        if has_place(entry) and (path := path_inside(folder, entry.get("file")))
    ]
    return sorted(pictures, key=lambda picture: picture.iteration)[:MOST_STEPS]
