"""Entries of the start page: shipped examples and templates with their descriptions, and recent projects.

The descriptions are in `resources/templates/index.json`, in the order in which they are shown. A file that the index
does not name is offered under its own name; a name without a file is not offered.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.app.documents import EXAMPLES, TEMPLATES
from netwright.designer.language import translation
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.own_files import SUFFIX

INDEX = TEMPLATES / "index.json"


@dataclass(frozen=True, kw_only=True)
class GalleryEntry:
    """One card: a project file and its texts. `source` tells where the network comes from, `english` has the title and
    the description in English, which are searched, too."""

    path: Path
    title: str
    description: str
    source: str = ""
    english: str = ""
    is_recent: bool = False

    @property
    def words(self) -> str:
        """The text that is searched."""
        stem = self.path.stem
        texts = (self.title, stem, stem.replace("_", " "), self.description, self.source, self.english)
        return " ".join(texts).lower()

    def is_found_by(self, search: str) -> bool:
        """Return whether the text contains every word of the search."""
        return all(word in self.words for word in search.lower().split())


def examples() -> list[GalleryEntry]:
    """Return the shipped examples."""
    return _shipped("examples", EXAMPLES)


def templates() -> list[GalleryEntry]:
    """Return the shipped templates."""
    return _shipped("templates", TEMPLATES)


def recent(paths: list[Path]) -> list[GalleryEntry]:
    """Return the recent projects, whether or not they still exist; the line below the title is the folder."""
    return [GalleryEntry(path=path, title=path.stem, description=_folder(path), is_recent=True) for path in paths]


def template(name: str) -> Path:
    """Return the file of a template. Raises `UserError` if there is none of that name."""
    names = [entry.path.stem for entry in templates()]
    if name not in names:
        there = f"There are {', '.join(names)}." if names else "No templates are installed."
        raise UserError(f"There is no template {name}.{did_you_mean(name, names)} {there}")
    return TEMPLATES / f"{name}{SUFFIX}"


def _folder(path: Path) -> str:
    parent = path.parent
    if parent == Path.home():
        return "~"
    return f"~/{parent.relative_to(Path.home())}" if parent.is_relative_to(Path.home()) else str(parent)


def _shipped(section: str, folder: Path) -> list[GalleryEntry]:
    listed = [_entry(row, folder) for row in _index().get(section, ())]
    names = {entry.path.name for entry in listed}
    others = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if path.name not in names]
    unlisted = [GalleryEntry(path=path, title=path.stem, description="") for path in others]
    return [entry for entry in (*listed, *unlisted) if entry.path.is_file()]


def _entry(row: dict[str, str], folder: Path) -> GalleryEntry:
    return GalleryEntry(
        path=folder / f"{row['name']}{SUFFIX}",
        title=translation(row["title"]),
        description=translation(row["description"]),
        source=translation(row.get("source", "")),
        english=f"{row['title']} {row['description']}",
    )


def _index() -> dict[str, Any]:
    """Return the shipped index; empty if it is not installed."""
    try:
        index: dict[str, Any] = json.loads(INDEX.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return index
