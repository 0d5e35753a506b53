"""The open document: its file, saving, recent projects, and recovery after a crash."""

import contextlib
import gc
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer, Signal

from netwright.designer.language import tr
from netwright.designer.settings import settings
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath
from netwright.engine.core.files import RESOURCES, open_file, path_from, write_atomically
from netwright.engine.core.folders import state_folder
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.platform import is_alive
from netwright.engine.project.data_hosts import allow, allowed, hosts_of, merged
from netwright.engine.project.file import Opened, dumps, load, loads, save
from netwright.engine.project.project import Project, new_identity
from netwright.engine.project.user_code import moved_project

if TYPE_CHECKING:  # it is imported with the first look at runs
    from netwright.engine.runs.history import ProjectKey

EXAMPLES, TEMPLATES = RESOURCES / "examples", RESOURCES / "templates"
PROJECTS, DATA, REOPENS = "recent", "recent_data", "reopen_last_project"
MOST_RECENT = 10
AUTOSAVE_MS = 20_000
LARGE_BYTES = 200_000
"""Size of a project file of some 2,000 layers, which take 0.1 s to read."""
MANY_OBJECTS = 20_000


def examples() -> list[Path]:
    """Return the shipped examples."""
    return sorted(EXAMPLES.glob(f"*{SUFFIX}"))


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage while a project is opened: everything that is made stays, and to look for garbage among it
    takes as long as to make it. Where that is much, it is frozen, as after the start."""
    is_on, before = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        yield
        if is_on and gc.get_count()[0] - before > MANY_OBJECTS:
            gc.freeze()
    finally:
        if is_on:
            gc.enable()


class Documents(QObject):
    """Knows the file of the open project, and reads and writes it. `changed` is emitted when path or title change.

    A shipped example or template is opened as a copy without a path, so that saving asks for one; its data is still
    found, because relative data paths start at `base`.
    """

    changed = Signal()

    def __init__(self, current: Callable[[], Project], is_modified: Callable[[], bool], parent: QObject | None = None):
        super().__init__(parent)
        self._current = current
        self._is_modified = is_modified
        self.path: Path | None = None
        self.origin: Path | None = None
        self.identity = new_identity()
        """By which the project's runs are found. It is no part of what can be undone; `identified` puts it in."""
        self._hosts: dict[str, int] = {}
        """Hosts that the user has allowed for it while it has no file."""
        self._original = ""
        """The identity of the run's project which this is a copy of."""
        self._settings = settings()
        self._recovery: Path | None = None
        self._seen = b""
        self._timer = QTimer(self, interval=AUTOSAVE_MS)
        self._timer.timeout.connect(self.autosave)
        self._timer.start()

    @property
    def title(self) -> str:
        """The name of the document, as the window shows it."""
        if self.path:
            return self.path.name
        return self.origin.stem if self.origin else "untitled"

    @property
    def source(self) -> Path | None:
        """The file of the project: its own, or that of the example or run which it is a copy of."""
        return self.path or self.origin

    @property
    def key(self) -> "ProjectKey":
        """The key by which the runs of the open project are found."""
        from netwright.engine.runs.history import ProjectKey

        return ProjectKey(self.source, self.identity)

    def identified(self, project: Project) -> Project:
        """Return the project with the identity of the document, as its file and its runs carry it."""
        return replace(project, identity=self.identity)

    @property
    def base(self) -> Path:
        """The folder that relative data paths start at."""
        from netwright.engine.runs.folder import origin

        return origin(self.source).base if self.source else Path.cwd()

    @property
    def folder(self) -> Path:
        """Where file dialogs start: the project's folder; for a project without one, that of the most recent project,
        or the home folder."""
        if self.path is not None:
            return self.base
        return next((path.parent for path in self.recent()), Path.home())

    @property
    def hosts(self) -> dict[str, int]:
        """The hosts that the user allows the data of the project to be fetched from, with the number of files."""
        return merged(self._hosts, allowed(self.path)) if self.path is not None else self._hosts

    def allow_hosts(self, hosts: Mapping[str, int]) -> None:
        """Allow hosts for the project: from now on, or where that cannot be stored, as long as it is open."""
        self._hosts = merged(self._hosts, hosts)
        if self.path is not None:
            with contextlib.suppress(UserError):
                allow(self.path, hosts)

    def new(self) -> None:
        """Become a document without a path, with an identity of its own."""
        self._become(None, None, new_identity())

    def open(self, path: Path) -> Opened:
        """Read a project. Raises `UserError`; the open document is then untouched."""
        path = path.resolve()
        digest = _digest(path)
        content = load(path)
        if path.stat().st_size > LARGE_BYTES:  # a turn of the event loop between reading and showing
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        if path.parent in (EXAMPLES, TEMPLATES):
            self._become(None, path, new_identity())
        else:
            self._become(path, path, content.project.identity, digest)
            self._remember(path)
        return _anonymous(content)

    def open_copy(self, path: Path, origin: Path) -> Opened:
        """Read a project from a file that must not be changed, such as a run's: as a copy without a path, whose data is
        found from where `origin` lies. Raises `UserError`; the open document is then untouched."""
        content = load(path)
        self._become(None, origin, new_identity())
        self._original = content.project.identity
        return _anonymous(content)

    def save(self, path: Path | None = None) -> Project:
        """Write the project to its path or to another one. Return it as saved: a relative data path may have changed.

        The identity is kept, and a project without one is given one. A project that has a file already and is saved as
        another becomes a project of its own; a copy of a run's project that is saved over its original becomes that.

        Raises `UserError`; the old file is then untouched.
        """
        target = path or self.path
        if target is None:
            raise UserError(tr("The project has no file yet. Choose one with Save as."))
        if target.suffix != SUFFIX:
            target = target.with_name(target.name + SUFFIX)
        if target.resolve().parent in (EXAMPLES, TEMPLATES):
            raise UserError(
                tr(
                    "{file} belongs to Netwright, which opens it as a copy. Save in a folder of your own.",
                    file=target,
                )
            )
        project = self._moved(self._current(), target.resolve())
        identity = self._identity_at(target.resolve())
        save(replace(project, identity=identity), target)
        target = target.resolve()
        hosts = {host: files for host, files in self.hosts.items() if host in hosts_of(project.data)}
        self._become(target, target, identity, _digest(target))
        self.allow_hosts(hosts)
        self._remember(target)
        return project

    @property
    def is_changed_elsewhere(self) -> bool:
        """Whether another program or window has written the file since it was read or saved here: saving would
        overwrite those changes."""
        return self.path is not None and _digest(self.path) not in (b"", self._seen)

    def _identity_at(self, target: Path) -> str:
        """Return the identity of the project once it is saved there."""
        if self.path is not None and target != self.path:
            return new_identity()
        if self.path is None and self._original and target == self.origin:
            return self._original
        return self.identity or new_identity()

    def short(self, path: Path) -> str:
        """Return a path as the project stores it: relative to its folder if it lies inside."""
        return path_from(path, self.base) if self.path is not None else str(path)

    def _moved(self, project: Project, target: Path) -> Project:
        """Return the project with its relative paths made relative to the new folder."""
        project = moved_project(project, self.base, target.parent)
        if target.parent == self.base:
            return project
        data, moved = project.data, {}
        for name, value in data.changed().items():
            if isinstance(data.fields[name], FilePath) and "://" not in value and not Path(value).is_absolute():
                where = os.path.relpath((self.base / value).resolve(), target.parent)
                moved[name] = Path(where).as_posix()
        return replace(project, data=data.replace(**moved)) if moved else project

    @property
    def reopens(self) -> bool:
        """Whether the program begins with the last project, in place of the start page."""
        return bool(self._settings.value(REOPENS, False, bool))

    @reopens.setter
    def reopens(self, reopens: bool) -> None:
        self._settings.setValue(REOPENS, reopens)

    def last(self) -> Path | None:
        """Return the project that was opened or saved last; None where it is gone, or there was none."""
        return next((path for path in self.known()[:1] if path.is_file()), None)

    def recent_data(self) -> list[Path]:
        """Return the files and folders that were used as data recently and still exist, newest first."""
        return [path for path in self.known(DATA) if path.exists()]

    def remember_data(self, path: Path) -> None:
        """Put a file or folder of data in front of the recent ones."""
        self._remember(path.absolute(), DATA)

    def known(self, setting: str = PROJECTS) -> list[Path]:
        """Return the projects that were opened or saved recently, newest first, including those that no longer
        exist; or the data, for its setting."""
        names = self._settings.value(setting, [])
        listed = [names] if isinstance(names, str) else names if isinstance(names, list) else []
        return [Path(name) for name in listed]

    def recent(self) -> list[Path]:
        """Return the recent projects that still exist."""
        return [path for path in self.known() if path.is_file()]

    def find(self, identity: str, path: Path | None) -> Path | None:
        """Return the file of a project: that at `path`, else the recent one with its identity; None where there is
        none, as of an example or a project that was never saved."""
        if path is not None and path.is_file() and path.parent not in (EXAMPLES, TEMPLATES):
            return path
        for recent in self.recent() if identity else ():
            with contextlib.suppress(UserError):
                if load(recent).project.identity == identity:
                    return recent
        return None

    def _remember(self, path: Path, setting: str = PROJECTS) -> None:
        others = [other for other in self.known(setting) if other != path]
        self._settings.setValue(setting, [str(p) for p in [path, *others][:MOST_RECENT]])

    def forget(self, path: Path) -> None:
        """Remove a project from the list of recent ones; the file stays."""
        self._settings.setValue(PROJECTS, [str(other) for other in self.known() if other != path])

    def _become(self, path: Path | None, origin: Path | None, identity: str, digest: bytes = b"") -> None:
        self.forget_recovery()
        self.path, self.origin, self._seen = path, origin, digest
        self.identity, self._original, self._hosts = identity, "", {}
        self.changed.emit()

    def autosave(self) -> None:
        """Write unsaved work beside, for recovery after a crash. A failure is ignored."""
        if not self._is_modified():
            self.forget_recovery()
            return
        if self._recovery is None:
            key = hashlib.sha256(str(self.source or "").encode()).hexdigest()[:12]
            self._recovery = state_folder() / "recovery" / f"{os.getpid()}_{key}{SUFFIX}"
        with contextlib.suppress(OSError):
            self._recovery.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self._recovery, dumps(self.identified(self._current())).encode(), mode=0o600)
            note = f"{self.path or ''}\n{self.origin or ''}\n"
            write_atomically(self._recovery.with_suffix(".where"), note.encode(), mode=0o600)

    def forget_recovery(self) -> None:
        """Remove the recovery file: the work is saved, or was discarded."""
        if self._recovery is not None:
            _remove(self._recovery)
            self._recovery = None

    def recover(self) -> tuple[Project, str] | None:
        """Return the latest unsaved work of a window that crashed, with its title; None if there is none. Older work is
        kept."""
        for file in sorted((state_folder() / "recovery").glob(f"*{SUFFIX}"), key=_age):
            if _is_running(file):
                continue
            try:
                project = loads(file.read_text(encoding="utf-8")).project
                path, origin, *_ = [*_where(file), "", ""]
            except (UserError, OSError, UnicodeDecodeError):
                continue
            _remove(file)
            identity = project.identity or ("" if path else new_identity())
            self._become(Path(path) if path else None, Path(origin) if origin else None, identity, _digest(Path(path)))
            return replace(project, identity=""), self.title
        return None

    def close(self) -> None:
        """Stop autosaving."""
        self._timer.stop()
        self.forget_recovery()


def _anonymous(content: Opened) -> Opened:
    """Return the project without its identity, which the document holds."""
    return replace(content, project=replace(content.project, identity=""))


def _digest(file: Path) -> bytes:
    """Return a digest of a file's content; empty if the file cannot be read."""
    with contextlib.suppress(OSError), open_file(file) as content:
        return hashlib.file_digest(content, "sha256").digest()
    return b""


def _age(file: Path) -> float:
    with contextlib.suppress(OSError):
        return -file.stat().st_mtime
    return 0.0


def _where(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return file.with_suffix(".where").read_text(encoding="utf-8").splitlines()
    return []


def _is_running(file: Path) -> bool:
    """Return whether the window that wrote this recovery file is still running."""
    pid = file.name.partition("_")[0]
    return pid.isdecimal() and is_alive(int(pid))


def _remove(file: Path) -> None:
    for path in (file, file.with_suffix(".where")):
        with contextlib.suppress(OSError):
            path.unlink()
