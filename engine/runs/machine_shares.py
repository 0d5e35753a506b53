"""Shares of experiments and the queue in this machine, so that each leaves the others room.

    shares/<pid>_<token>.json  shares/<pid>_<token>.lock

A process that places runs side by side writes what its runs take, and what it waits for; the lock beside is held while
the process lives. Who waits longer goes first: the others start nothing in what it needs, so that a run over several
devices gets them, however many small ones are around it.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Self

from netwright.engine.core.files import make_private_folder, read_object, write_json
from netwright.engine.core.folders import state_folder
from netwright.engine.core.locks import LockHeldError, is_locked, take_lock

FOLDER = "shares"
LIMIT_BYTES = 2**16
EXPERIMENT, QUEUE = "experiment", "queue"
RUNNER = "runner"
"""Kind of the entry of a process that runs an experiment: its title is the folder of the experiment."""


@dataclass(frozen=True)
class Holding:
    """Resources that the runs of one process take: accelerators by their torch names, and cores. `needs_devices` or
    `needs_cores` are those that it waits for since `since`, in seconds since 1970; 0: it waits for nothing."""

    kind: str
    title: str = ""
    devices: tuple[str, ...] = ()
    cores: int = 0
    needs_devices: int = 0
    needs_cores: int = 0
    since: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether it takes nothing and waits for nothing."""
        return not (self.devices or self.cores or self.since)

    @property
    def text(self) -> str:
        """Its resources, for a person: `experiment digits: cuda:0, cuda:1`."""
        resources = ", ".join(self.devices) or f"{self.cores} {'core' if self.cores == 1 else 'cores'}"
        return f"{f'{self.kind} {self.title}'.strip()}: {resources}"


class MachineShare:
    """The entry of this process, from `with` or `__enter__` on. Where the user has no folder for it, nobody knows of it
    and it knows of nobody."""

    def __init__(self, kind: str, title: str = "", folder: Path | None = None) -> None:
        self.holding = self._nothing = Holding(kind, title)
        self._folder, self._path, self._lock = folder, Path(), -1

    def __enter__(self) -> Self:
        """Take part."""
        self.holding = self._nothing
        with contextlib.suppress(OSError, RuntimeError, LockHeldError):
            self._folder = self._folder or state_folder() / FOLDER
            make_private_folder(self._folder)
            self._path = self._folder / f"{os.getpid()}_{secrets.token_hex(4)}.json"
            self._lock = take_lock(self._path.with_suffix(".lock"))
            if self.holding.kind == RUNNER:
                write_json(self._path, asdict(self.holding))
        return self

    def write(self, **changes: object) -> None:
        """Publish the changed share to the others."""
        changed = replace(self.holding, **changes)  # type: ignore[arg-type]
        if changed != self.holding and self._lock >= 0:
            with contextlib.suppress(OSError):
                write_json(self._path, asdict(changed))
        self.holding = changed

    def others(self) -> list[Holding]:
        """Return the shares of other processes."""
        return holdings(self._folder, but=self._path) if self._lock >= 0 else []

    def close(self) -> None:
        """Take nothing any more."""
        if self._lock >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._lock)  # before its file is removed: Windows keeps a file that is open
            self._lock = -1
            with contextlib.suppress(OSError):  # another process has a look at it
                self._path.with_suffix(".lock").unlink(missing_ok=True)

    def __exit__(self, *_: object) -> None:
        self.close()


def holdings(folder: Path | None = None, *, but: Path | None = None) -> list[Holding]:
    """Return the shares of this machine of all processes that live, and remove those of dead ones."""
    return [holding for holding in _living(folder, but) if not holding.is_empty]


def experiments_at_work(folder: Path | None = None) -> list[Path]:
    """Return the folders of the experiments that processes of this machine run."""
    return [Path(holding.title) for holding in _living(folder, None) if holding.kind == RUNNER]


def _living(folder: Path | None, but: Path | None) -> Iterator[Holding]:
    with contextlib.suppress(OSError, RuntimeError):
        for path in sorted((folder or state_folder() / FOLDER).glob("*.json")):
            if path == but:
                continue
            if not is_locked(path.with_suffix(".lock")):
                path.unlink(missing_ok=True)
                path.with_suffix(".lock").unlink(missing_ok=True)
            elif (holding := _read(path)) is not None:
                yield holding


def _read(path: Path) -> Holding | None:
    data = read_object(path, LIMIT_BYTES) or {}
    values = {entry.name: data[entry.name] for entry in fields(Holding) if entry.name in data}
    try:
        names = tuple(str(name) for name in values.pop("devices", ()))
        return Holding(**{**values, "devices": names}) if json.dumps(values) else None
    except TypeError:
        return None


def longest_waiting(others: Sequence[Holding], own_since: float) -> Holding | None:
    """Return who waits longest among those that have waited longer than this process; None where it goes first."""
    waiting = [other for other in others if other.since and (not own_since or other.since < own_since)]
    return min(waiting, key=lambda other: other.since, default=None)
