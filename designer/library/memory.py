"""What the library remembers from one day to the next: favourites, what was used last, which families are folded."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QObject, QSettings, Signal

RECENT_LIMIT = 5
_LIMIT = 200


class LibraryMemory(QObject):
    """Keys of layer types and names of families. Kept in the settings, if there are some. Types that are not here any
    more (an add-on that was removed) are kept and not shown."""

    favourites_changed = Signal()
    recent_changed = Signal()

    def __init__(self, settings: QSettings | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._favourites = self._read("favourites")
        self._recent = self._read("recent")
        self._folded = self._read("folded")

    @property
    def favourites(self) -> tuple[str, ...]:
        """The starred types, in the order in which they were."""
        return self._favourites

    @property
    def recent(self) -> tuple[str, ...]:
        """The types that were used last, the newest first."""
        return self._recent

    @property
    def folded(self) -> tuple[str, ...]:
        """The families that are folded."""
        return self._folded

    def star(self, key: str, is_favourite: bool) -> None:
        """Make a type a favourite, or one no more."""
        others = tuple(one for one in self._favourites if one != key)
        self._favourites = (*others, key)[-_LIMIT:] if is_favourite else others
        self._write("favourites", self._favourites)
        self.favourites_changed.emit()

    def use(self, key: str) -> None:
        """Put a type before the others that were used."""
        before = self._recent
        self._recent = (key, *(one for one in before if one != key))[:RECENT_LIMIT]
        if self._recent != before:
            self._write("recent", self._recent)
            self.recent_changed.emit()

    def fold(self, families: Collection[str]) -> None:
        """Remember which families are folded."""
        self._folded = tuple(families)[:_LIMIT]
        self._write("folded", self._folded)

    def _read(self, name: str) -> tuple[str, ...]:
        """Whatever lies in the settings: a list of one comes back as a text, an empty one as nothing."""
        found = self._settings.value(f"library/{name}", []) if self._settings is not None else []
        words = [found] if isinstance(found, str) else found if isinstance(found, list) else []
        return tuple(dict.fromkeys(word for word in words if isinstance(word, str) and word))[:_LIMIT]

    def _write(self, name: str, words: Sequence[str]) -> None:
        if self._settings is not None:
            self._settings.setValue(f"library/{name}", list(words))
