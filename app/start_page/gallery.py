"""What the start page offers: shipped examples and templates with their words, and what was open lately.

The words stand in `resources/templates/index.json`, in the order in which they are shown. A file that the index does
not name is offered under its own name; a name without a file is not offered.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.documents import EXAMPLES, TEMPLATES
from engine.core.errors import UserError, did_you_mean
from engine.project.file import SUFFIX

INDEX = TEMPLATES / "index.json"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One card: a project file and what is said about it. `source` is whose network it is."""

    path: Path
    title: str
    description: str
    source: str = ""
    is_recent: bool = False

    @property
    def words(self) -> str:
        """What it is found by."""
        return (
            f"{self.title} {self.path.stem} {self.path.stem.replace('_', ' ')} {self.description} {self.source}".lower()
        )

    def is_found_by(self, search: str) -> bool:
        """Whether every word that was typed is in its words."""
        return all(word in self.words for word in search.lower().split())


def examples() -> list[Entry]:
    """The shipped examples."""
    return _shipped("examples", EXAMPLES)


def templates() -> list[Entry]:
    """The shipped templates."""
    return _shipped("templates", TEMPLATES)


def recent(paths: list[Path]) -> list[Entry]:
    """Projects that were open lately, whether or not they are still there; the line below the title is the folder."""
    return [Entry(path=path, title=path.stem, description=_folder(path), is_recent=True) for path in paths]


def template(name: str) -> Path:
    """The file of a template. Raises `UserError` if there is none of that name."""
    names = [entry.path.stem for entry in templates()]
    if name not in names:
        there = f"There are {', '.join(names)}." if names else "No templates are installed."
        raise UserError(f"There is no template {name}.{did_you_mean(name, names)} {there}")
    return TEMPLATES / f"{name}{SUFFIX}"


def _folder(path: Path) -> str:
    parent = path.parent
    return f"~/{parent.relative_to(Path.home())}" if parent.is_relative_to(Path.home()) else str(parent)


def _shipped(section: str, folder: Path) -> list[Entry]:
    listed = [_entry(row, folder) for row in _index().get(section, ())]
    names = {entry.path.name for entry in listed}
    others = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if path.name not in names]
    unlisted = [Entry(path=path, title=path.stem, description="") for path in others]
    return [entry for entry in (*listed, *unlisted) if entry.path.is_file()]


def _entry(row: dict[str, str], folder: Path) -> Entry:
    return Entry(
        path=folder / f"{row['name']}{SUFFIX}",
        title=row["title"],
        description=row["description"],
        source=row.get("source", ""),
    )


def _index() -> dict[str, Any]:
    """The shipped index; nothing where it is not installed."""
    try:
        found: dict[str, Any] = json.loads(INDEX.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found
