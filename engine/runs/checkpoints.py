"""The checkpoints of a run: which there are, which are whole, and which is gone on from. Needs no torch.

    checkpoints/000001200/   state.json  tensors.safetensors  manifest.json

The first worker writes one beside, the coordinator logs it and renames it into place. So what was reported before a
checkpoint is in the log whenever the checkpoint is there, and one that is there is whole unless somebody damages it,
which its checksums tell.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import UserError
from engine.core.files import open_file, read_file, remove, write_json
from engine.runs.folder import RunFolder

STATE, TENSORS, MANIFEST = "state.json", "tensors.safetensors", "manifest.json"
FILES = (STATE, TENSORS)
VERSION = 1
MANIFEST_LIMIT_BYTES = 2**16
_NAME = re.compile(r"\d{9,}")


@dataclass(frozen=True)
class Checkpoint:
    """One that is in place: its folder, and after how many iterations it was made."""

    path: Path
    iteration: int

    def damage(self) -> str:
        """What is wrong with it, in words, or nothing. Reads all of it."""
        try:
            manifest = read_manifest(self.path)
            if manifest["iteration"] != self.iteration:
                return f"it is one of iteration {manifest['iteration']:,}"
            for name in FILES:
                if _sha256(self.path / name) != manifest["files"][name]["sha256"]:
                    return f"{name} is not what was saved"
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        except UserError as error:
            return str(error)
        return ""


def place(folder: RunFolder, iteration: int) -> Path:
    """Where the checkpoint after so many iterations stands."""
    return folder.checkpoints / f"{iteration:09d}"


def beside(folder: RunFolder, iteration: int) -> Path:
    """Where it is written before."""
    return folder.checkpoints / f".{iteration:09d}.tmp"


def all_checkpoints(folder: RunFolder) -> list[Checkpoint]:
    """Those in place, whole or not, newest first."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(folder.checkpoints) if _NAME.fullmatch(name)]
    found = [Checkpoint(folder.checkpoints / name, int(name)) for name in names]
    return sorted(found, key=lambda one: one.iteration, reverse=True)


def newest_whole(folder: RunFolder) -> tuple[Checkpoint | None, list[str]]:
    """The newest one whose checksums hold, and in words what is wrong with those that are newer."""
    refused: list[str] = []
    for one in all_checkpoints(folder):
        if not (damage := one.damage()):
            return one, refused
        refused.append(f"The checkpoint of iteration {one.iteration:,} is damaged ({damage}) and is not used.")
    return None, refused


def put_in_place(folder: RunFolder, iteration: int, kept: int) -> None:
    """Rename what was written beside, and remove all but the newest ones. Raises `OSError`.

    Those of later iterations are of a try that was given up, and go first.
    """
    target = place(folder, iteration)
    if target.exists():  # of a try that was given up
        _remove(target)
    beside(folder, iteration).rename(target)
    _flush(folder.checkpoints)  # before the older ones go
    older = []
    for one in all_checkpoints(folder):
        if one.iteration > iteration:
            _remove(one.path)
        else:
            older.append(one)
    for one in older[kept:]:
        _remove(one.path)


def _remove(path: Path) -> None:
    """Remove a checkpoint, which takes time: a crash meanwhile leaves none in place that is half."""
    gone = path.with_name(f".{path.name}.gone.tmp")
    with contextlib.suppress(OSError):
        remove(gone)
    with contextlib.suppress(FileNotFoundError):
        path.rename(gone)
    with contextlib.suppress(OSError):
        remove(gone)


def _flush(path: Path) -> None:
    """Wait until the names in a folder are on the disk, where its file system knows that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_manifest(path: Path, iteration: int) -> None:
    """Write the checksums of the files that are there, and of themselves. Raises `OSError`."""
    files = {name: {"sha256": _sha256(path / name), "bytes": (path / name).stat().st_size} for name in FILES}
    body = {"version": VERSION, "iteration": iteration, "files": files}
    write_json(path / MANIFEST, {**body, "sha256": _sha256_of(body)})


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a checkpoint. Raises `OSError`, and `UserError` where it is damaged or of a newer version."""
    try:
        manifest = json.loads(read_file(path / MANIFEST, MANIFEST_LIMIT_BYTES))
        body = {key: value for key, value in manifest.items() if key != "sha256"}
        is_whole = (
            manifest["sha256"] == _sha256_of(body)
            and {type(manifest["version"]), type(manifest["iteration"])} == {int}
            and {name: type(said["sha256"]) for name, said in manifest["files"].items()} == dict.fromkeys(FILES, str)
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_whole, manifest = False, {}
    if not is_whole:
        raise UserError(f"{MANIFEST} is not what was saved")
    if manifest["version"] > VERSION:
        raise UserError("it was written by a newer version of Netwright")
    return dict(manifest)


def _sha256_of(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
