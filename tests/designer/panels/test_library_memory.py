"""What the library remembers, with settings that are a file."""

from pathlib import Path

from PySide6.QtCore import QSettings

from netwright.designer.panels.library_panel import RECENT_LIMIT, LibraryMemory


def settings(folder: Path) -> QSettings:
    return QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)


def test_what_was_remembered_is_there_the_next_day(tmp_path: Path) -> None:
    memory = LibraryMemory(settings(tmp_path))
    memory.star("relu", True)
    memory.star("gelu", True)
    memory.star("relu", False)
    for key in ("conv2d", "relu", "conv2d"):
        memory.use(key)
    memory.fold(["Input"])
    again = LibraryMemory(settings(tmp_path))
    assert again.favourites == ("gelu",)
    assert again.recent == ("conv2d", "relu")
    assert again.folded == ("Input",)


def test_only_the_last_few_are_recent() -> None:
    memory = LibraryMemory()
    for number in range(RECENT_LIMIT + 3):
        memory.use(f"type_{number}")
    assert memory.recent == tuple(f"type_{n}" for n in reversed(range(3, RECENT_LIMIT + 3)))


def test_strange_settings_are_nothing(tmp_path: Path) -> None:
    strange = settings(tmp_path)
    strange.setValue("library/favourites", 12)
    strange.setValue("library/recent", ["relu", 3, "relu", ""])
    memory = LibraryMemory(strange)
    assert memory.favourites in ((), ("12",))
    assert memory.recent[0] == "relu"
