"""Deleting runs: into the desktop's bin, never one that is at work; and bringing them back from there.

The bin of Linux desktops: https://specifications.freedesktop.org/trash-spec/ (of macOS: `~/.Trash`).
"""

import contextlib
import errno
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from glob import escape
from pathlib import Path
from urllib.parse import quote, unquote

from engine.core.errors import UserError
from engine.core.files import read_file
from engine.runs.events import ENDS
from engine.runs.folder import RunFolder

NOTE_BYTES = 2**16
WAY_OUT = "Delete the folder yourself if it shall go."


def discard(run: RunFolder, move: Callable[[Path], None] | None = None) -> None:
    """Move the folder of a run to the bin; its lock is held meanwhile, so that nobody can resume it.

    `move` does the moving, by default `to_bin`. Raises `UserError` if the run is at work, or cannot be moved.
    """
    with _locked(run):
        try:
            (move or to_bin)(run.path)
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(f"The run in {run.path} cannot be moved to the bin: {why}. {WAY_OUT}") from None


@contextlib.contextmanager
def _locked(run: RunFolder) -> Iterator[None]:
    """Hold the run's lock, where it has one."""
    try:
        descriptor = os.open(run.lock, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UserError(f"The run in {run.path} is at work. Stop it first (`netwright-engine stop`).") from None
    except OSError:  # a file system without locks: only a state that is an end tells that nobody is at work
        if _written_state(run) not in ENDS:
            os.close(descriptor)
            raise UserError(f"It cannot be told whether the run in {run.path} is at work. {WAY_OUT}") from None
    try:
        yield
    finally:
        os.close(descriptor)


def _written_state(run: RunFolder) -> str:
    try:
        return run.read_info().state
    except UserError:
        return ""


def to_bin(path: Path) -> None:
    """Move a file or folder to the user's bin on its own disk. Raises `OSError`."""
    path = Path(os.path.abspath(path))
    if sys.platform == "darwin":
        os.rename(path, _free(Path.home() / ".Trash", path.name))
        return
    top = _mount_of(path.parent)
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    try:
        _into(base / "Trash", path, str(path))
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _into(top / f".Trash-{os.getuid()}", path, str(path.relative_to(top)))


def _into(bin: Path, path: Path, known_as: str) -> None:
    """Move into a bin of the Linux desktops, where a note beside tells from where it came."""
    for part in ("files", "info"):
        (bin / part).mkdir(0o700, parents=True, exist_ok=True)
    text = f"[Trash Info]\nPath={quote(os.fsencode(known_as))}\nDeletionDate={time.strftime('%Y-%m-%dT%H:%M:%S')}\n"
    target = _free(bin / "files", path.name)
    note = bin / "info" / f"{target.name}.trashinfo"
    note.write_text(text, encoding="ascii")
    try:
        os.rename(path, target)
    except OSError:
        note.unlink(missing_ok=True)
        raise


def restore(path: Path) -> None:
    """Bring back the run that was moved to the bin from this place, the latest one where there are several. Raises
    `UserError`."""
    path = Path(os.path.abspath(path))
    if os.path.lexists(path):
        raise UserError(f"{path} is there: nothing can be brought back to that place.")
    found = next((one for bin, top in _bins(path) for one in _from(bin, top, path)), None)
    if found is None:
        raise UserError(f"No run from {path} is in the bin. What was emptied from the bin is gone.")
    held, note = found
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.rename(held, path)
        if note is not None:
            note.unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"{held} cannot be brought back to {path}: {why}. Move it there yourself.") from None


def _bins(path: Path) -> Iterator[tuple[Path, Path | None]]:
    """The bins that a folder from this place may be in, and what paths in their notes begin at."""
    if sys.platform == "darwin":
        yield Path.home() / ".Trash", None
        return
    yield Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "Trash", None
    near = next((one for one in path.parents if one.is_dir()), Path("/"))
    top = _mount_of(near)
    yield top / f".Trash-{os.getuid()}", top


def _from(bin: Path, top: Path | None, path: Path) -> list[tuple[Path, Path | None]]:
    """What a bin holds from this place, the latest first, with the notes that tell so."""
    if sys.platform == "darwin":  # which keeps names, and no notes
        return [(bin / path.name, None)] if (bin / path.name / "run.json").is_file() else []
    found = []
    with contextlib.suppress(OSError):
        for note in (bin / "info").glob(f"{escape(path.name)}*.trashinfo"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                said = dict(line.partition("=")[::2] for line in read_file(note, NOTE_BYTES).decode().splitlines())
                place, held = Path(unquote(said["Path"])), bin / "files" / note.stem
                if ((top or Path("/")) / place) == path and (held / "run.json").is_file() and not held.is_symlink():
                    found.append((said.get("DeletionDate", ""), note.stat().st_mtime_ns, held, note))
    return [(held, note) for _, _, held, note in sorted(found, reverse=True)]


def _free(folder: Path, name: str) -> Path:
    found, number = folder / name, 1
    while os.path.lexists(found) or os.path.lexists(folder.parent / "info" / f"{found.name}.trashinfo"):
        number += 1
        found = folder / f"{name}.{number}"
    return found


def _mount_of(folder: Path) -> Path:
    """The top folder of the disk that a folder is on."""
    folder = folder.resolve()
    return next((one for one in (folder, *folder.parents) if os.path.ismount(one)), Path("/"))
