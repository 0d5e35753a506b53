"""The user's own blocks: one JSON file per block in the user's data folder, as on the clipboard, shared by all windows
of this user."""

import contextlib
from pathlib import Path

from PySide6.QtCore import QFile, QFileSystemWatcher, QObject, QTimer, Signal

from netwright.designer import clipboard
from netwright.designer.clipboard import Piece
from netwright.designer.language import tr
from netwright.designer.panels.library_model import UserBlock
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically
from netwright.engine.core.folders import data_folder
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Layout

SUFFIX = ".json"
SIZE_LIMIT = 16 * 2**20
COUNT_LIMIT = 500
_LATE_MS = 100


def library_folder() -> Path:
    """Return the folder of this user's blocks."""
    return data_folder() / "blocks"


class BlockLibrary(QObject):
    """The blocks in a folder. Files that hold none are skipped and reported; no code is ever run from one."""

    changed = Signal()
    """The entries have changed."""
    broken = Signal(str)
    """A file is skipped, with the reason; each is reported once."""

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
        """Read the folder and watch it. It is created if it does not exist, so that the first block that another window
        saves is seen, too."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.refresh()

    def refresh(self) -> None:
        """Read the files that are new or have changed."""
        before = self.entries
        reported = {path for path, (_, entry) in self._known.items() if isinstance(entry, str)}
        files: dict[Path, tuple[tuple[int, int], UserBlock | str]] = {}
        for path in self._files():
            with contextlib.suppress(OSError):
                stamp = path.stat().st_mtime_ns, path.stat().st_size
                same = self._known.get(path)
                files[path] = same if same is not None and same[0] == stamp else (stamp, _read(path))
                if same is not files[path]:
                    reported.discard(path)
        self._known = files
        entries = (entry for _, entry in files.values() if isinstance(entry, UserBlock))
        self.entries = tuple(sorted(entries, key=lambda entry: entry.name.casefold()))
        if str(self.folder) not in self._watcher.directories() and self.folder.is_dir():
            self._watcher.addPath(str(self.folder))
        if self.entries != before:
            self.changed.emit()
        for path, (_, why) in files.items():
            if isinstance(why, str) and path not in reported:
                self.broken.emit(
                    tr(
                        "{file} in {folder} is not one of your blocks: {reason}",
                        file=path.name,
                        folder=self.folder,
                        reason=why,
                    )
                )

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if path.suffix == SUFFIX and path.is_file())[
                :COUNT_LIMIT
            ]
        except OSError:
            return []

    def find(self, name: str) -> UserBlock | None:
        """Return the entry of this name, ignoring case as some file systems do."""
        return next((entry for entry in self.entries if entry.name.casefold() == name.casefold()), None)

    def save(self, name: str, block: Block, inside: Layout) -> None:
        """Write a block; one of the same name is replaced. Raises `UserError`."""
        content = clipboard.write_block(name, block, inside)
        if len(content) > SIZE_LIMIT:
            raise UserError(
                tr(
                    "The block takes {size:,} bytes; one of your blocks has at most {limit:,}.",
                    size=len(content),
                    limit=SIZE_LIMIT,
                )
            )
        path = self._path(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, content)
        except OSError as error:
            raise UserError(tr("{path} cannot be written: {reason}.", path=path, reason=error.strerror)) from None
        self.refresh()

    def rename(self, old: str, new: str) -> None:
        """Rename a block. Raises `UserError`."""
        if old == new:
            return
        if (other := self.find(new)) is not None and other.name != old:
            raise UserError(tr("There is a block '{name}' already. Choose another name.", name=other.name))
        block = self.piece(old)
        assert isinstance(block.type, Block)
        before = self._path(old)
        self.save(new, block.type, block.inside or Layout())
        with contextlib.suppress(OSError):
            if not (after := self._path(new)).exists() or not before.samefile(after):
                before.unlink()
        self.refresh()

    def piece(self, name: str) -> Piece:
        """Return the block of this name. Raises `UserError`."""
        entry = self.find(name)
        if entry is None:
            raise UserError(tr("There is no block '{name}' any more.", name=name))
        return clipboard.read_block(entry.payload)

    def move_to_trash(self, name: str) -> bool:
        """Move a block to the desktop's trash. Return whether there is one that took it."""
        outcome = QFile.moveToTrash(str(self._path(name)))
        self.refresh()
        return bool(outcome[0] if isinstance(outcome, tuple) else outcome)

    def remove(self, name: str) -> None:
        """Delete a block permanently. Raises `UserError`."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise UserError(
                tr("{path} cannot be removed: {reason}.", path=self._path(name), reason=error.strerror)
            ) from None
        self.refresh()

    def _path(self, name: str) -> Path:
        """Return the file of a block: where it was read, else by its name."""
        for path, (_, entry) in self._known.items():
            if isinstance(entry, UserBlock) and entry.name.casefold() == name.casefold():
                return path
        return self.folder / f"{name}{SUFFIX}"


def _read(path: Path) -> UserBlock | str:
    """Return the entry of a file, or the reason why it has none."""
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
        if len(content) > SIZE_LIMIT:
            return tr("it has more than {limit:,} bytes.", limit=SIZE_LIMIT)
        block = clipboard.read_block(content)
    except OSError as error:
        return tr("it cannot be read: {reason}.", reason=error.strerror)
    except UserError as error:
        return str(error)
    assert isinstance(block.type, Block)
    count = len(block.type.network)
    words = [tr("%n layer(s)", "", count)]
    words += [tr("{count:,} copies", count=block.type.repeat)] if block.type.repeat > 1 else []
    words += [
        f"{way}: {', '.join(ports)}"
        for way, ports in ((tr("in"), block.type.input_ports()), (tr("out"), block.type.output_ports()))
    ]
    return UserBlock(name=block.name, tooltip=" · ".join(words), mime=clipboard.BLOCK_MIME, payload=content)
