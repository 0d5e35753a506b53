"""The user's own blocks: one JSON file a block in the user's data directory, as on the clipboard, shared by all windows
of this user."""

import contextlib
from pathlib import Path

from PySide6.QtCore import QFile, QFileSystemWatcher, QObject, QTimer, Signal

from designer import clipboard
from designer.clipboard import Piece
from designer.panels.library_model import UserBlock
from engine.core.errors import UserError
from engine.core.files import write_atomically
from engine.core.folders import data_folder
from engine.network.block import Block
from engine.network.layout import Layout

SUFFIX = ".json"
SIZE_LIMIT = 16 * 2**20
COUNT_LIMIT = 500
_LATE_MS = 100


def library_folder() -> Path:
    """Where the blocks of this user are."""
    return data_folder() / "blocks"


class BlockLibrary(QObject):
    """The blocks in a folder. Files that hold none are skipped and named; nothing is ever run from one."""

    changed = Signal()
    """The entries are others now."""
    broken = Signal(str)
    """Which files are skipped and why, in words; each is told once."""

    def __init__(self, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder or library_folder()
        self.entries: tuple[UserBlock, ...] = ()
        self._known: dict[Path, tuple[tuple[int, int], UserBlock | str]] = {}
        self._watcher = QFileSystemWatcher(self)
        self._late = QTimer(self, singleShot=True, interval=_LATE_MS)
        self._late.timeout.connect(self.refresh)
        self._watcher.directoryChanged.connect(self._late.start)

    def start(self) -> None:
        """Read the folder and follow it. It is made where there is none, so that the first block which another window
        saves is seen too."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.refresh()

    def refresh(self) -> None:
        """Look at the folder: files that are new or written since are read."""
        before, told = self.entries, {path for path, (_, found) in self._known.items() if isinstance(found, str)}
        known: dict[Path, tuple[tuple[int, int], UserBlock | str]] = {}
        for path in self._files():
            with contextlib.suppress(OSError):
                stamp = path.stat().st_mtime_ns, path.stat().st_size
                same = self._known.get(path)
                known[path] = same if same is not None and same[0] == stamp else (stamp, _read(path))
                if same is not known[path]:
                    told.discard(path)
        self._known = known
        found = (entry for _, entry in known.values() if isinstance(entry, UserBlock))
        self.entries = tuple(sorted(found, key=lambda entry: entry.name.casefold()))
        if str(self.folder) not in self._watcher.directories() and self.folder.is_dir():
            self._watcher.addPath(str(self.folder))
        if self.entries != before:
            self.changed.emit()
        for path, (_, why) in known.items():
            if isinstance(why, str) and path not in told:
                self.broken.emit(f"{path.name} in {self.folder} is not one of your blocks: {why}")

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if path.suffix == SUFFIX and path.is_file())[
                :COUNT_LIMIT
            ]
        except OSError:
            return []

    def find(self, name: str) -> UserBlock | None:
        """The entry of this name; upper and lower case are one, as some file systems have it."""
        return next((entry for entry in self.entries if entry.name.casefold() == name.casefold()), None)

    def save(self, name: str, block: Block, inside: Layout) -> None:
        """Write a block; one of this name is replaced. Raises `UserError`."""
        content = clipboard.write_block(name, block, inside)
        if len(content) > SIZE_LIMIT:
            raise UserError(f"The block takes {len(content):,} bytes; one of your blocks has at most {SIZE_LIMIT:,}.")
        path = self._path(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, content)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}.") from None
        self.refresh()

    def rename(self, old: str, new: str) -> None:
        """Give a block another name. Raises `UserError`."""
        if old == new:
            return
        if (other := self.find(new)) is not None and other.name != old:
            raise UserError(f"There is a block '{other.name}' already. Choose another name.")
        made = self.piece(old)
        assert isinstance(made.type, Block)
        before = self._path(old)
        self.save(new, made.type, made.inside or Layout())
        with contextlib.suppress(OSError):
            if not (after := self._path(new)).exists() or not before.samefile(after):
                before.unlink()
        self.refresh()

    def piece(self, name: str) -> Piece:
        """The block of this name. Raises `UserError`."""
        entry = self.find(name)
        if entry is None:
            raise UserError(f"There is no block '{name}' any more.")
        return clipboard.read_block(entry.payload)

    def move_to_trash(self, name: str) -> bool:
        """Move a block to the desktop's trash. Return whether there is one that took it."""
        done = QFile.moveToTrash(str(self._path(name)))
        self.refresh()
        return bool(done[0] if isinstance(done, tuple) else done)

    def remove(self, name: str) -> None:
        """Remove a block for good. Raises `UserError`."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"{self._path(name)} cannot be removed: {error.strerror}.") from None
        self.refresh()

    def _path(self, name: str) -> Path:
        """The file of a block: where it was found, else by its name."""
        for path, (_, entry) in self._known.items():
            if isinstance(entry, UserBlock) and entry.name.casefold() == name.casefold():
                return path
        return self.folder / f"{name}{SUFFIX}"


def _read(path: Path) -> UserBlock | str:
    """The entry of a file, or why it has none."""
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
        if len(content) > SIZE_LIMIT:
            return f"it has more than {SIZE_LIMIT:,} bytes."
        made = clipboard.read_block(content)
    except OSError as error:
        return f"it cannot be read: {error.strerror}."
    except UserError as error:
        return str(error)
    assert isinstance(made.type, Block)
    count = len(made.type.network)
    words = [f"{count} layer{'' if count == 1 else 's'}"]
    words += [f"{made.type.repeat} copies"] if made.type.repeat > 1 else []
    words += [
        f"{way}: {', '.join(ports)}"
        for way, ports in (("in", made.type.input_ports()), ("out", made.type.output_ports()))
    ]
    return UserBlock(name=made.name, tooltip=" · ".join(words), mime=clipboard.BLOCK_MIME, payload=content)
