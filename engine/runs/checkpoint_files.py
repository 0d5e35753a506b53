"""Checkpoints of a run: list, verify, write and prune them. Does not import torch.

    checkpoints/000001200/   state.json  tensors.safetensors  [shard-00000.safetensors ...]  manifest.json

The first worker writes a checkpoint to a temporary folder; the coordinator logs it and renames it into place. Therefore
everything reported before a checkpoint is in the log if the checkpoint exists, and an existing checkpoint is complete
unless it was damaged later, which its checksums detect. Of a fully sharded training each worker writes a file of its
shards; the first one writes the manifest once all have.
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

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import (
    CHECKSUM,
    flush_path,
    open_file,
    read_file,
    remove,
    without_checksum,
    write_checked_json,
)
from netwright.engine.core.platform_files import rename
from netwright.engine.runs.folder import RunFolder

STATE, TENSORS, MANIFEST = "state.json", "tensors.safetensors", "manifest.json"
FILES = (STATE, TENSORS)
VERSION = 2
"""2 with shards, 1 without."""
MANIFEST_LIMIT_BYTES = 2**20
_NAME = re.compile(r"\d{9,}")
_SHARD = re.compile(r"shard-\d{5,}\.safetensors")


def shard_name(rank: int) -> str:
    """Return the name of the file of a worker's shards."""
    return f"shard-{rank:05d}.safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """Checkpoint in its final folder `path`, written after `iteration` iterations."""

    path: Path
    iteration: int

    def damage(self) -> str:
        """Verify the checksums. Returns a description of the damage, or an empty text. Reads all files of the
        checkpoint."""
        try:
            manifest = read_manifest(self.path)
            if manifest["iteration"] != self.iteration:
                return f"it is one of iteration {manifest['iteration']:,}"
            for name in manifest["files"]:
                if _sha256(self.path / name) != manifest["files"][name]["sha256"]:
                    return f"{name} is not what was saved"
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        except UserError as error:
            return str(error)
        return ""


def place(folder: RunFolder, iteration: int) -> Path:
    """Return the final folder of the checkpoint of an iteration."""
    return folder.checkpoints / f"{iteration:09d}"


def beside(folder: RunFolder, iteration: int) -> Path:
    """Return the temporary folder that the checkpoint of an iteration is first written to."""
    return folder.checkpoints / f".{iteration:09d}.tmp"


def all_checkpoints(folder: RunFolder) -> list[Checkpoint]:
    """Return the checkpoints in their final folders, intact or not, newest first."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(folder.checkpoints) if _NAME.fullmatch(name)]
    checkpoints = [Checkpoint(folder.checkpoints / name, int(name)) for name in names]
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.iteration, reverse=True)


def has_checkpoint(folder: RunFolder) -> bool:
    """Return whether a run has saved anything that it can go on from."""
    return bool(all_checkpoints(folder))


def way_on(folder: RunFolder, command: str = "`netwright-engine resume`") -> str:
    """Return how to go on with a run that has ended, for the command line."""
    if has_checkpoint(folder):
        return f"{command} goes on from its last checkpoint."
    return "It has saved no checkpoint to go on from: train again."


def newest_whole(folder: RunFolder) -> tuple[Checkpoint | None, list[str]]:
    """Return the newest intact checkpoint, or None, and a message per newer checkpoint that is damaged."""
    messages: list[str] = []
    for checkpoint in all_checkpoints(folder):
        if not (damage := checkpoint.damage()):
            return checkpoint, messages
        messages.append(f"The checkpoint of iteration {checkpoint.iteration:,} is damaged ({damage}) and is not used.")
    return None, messages


def put_in_place(folder: RunFolder, iteration: int, limit: int) -> None:
    """Rename a temporary checkpoint to its final folder and remove all but the `limit` newest ones. Raises `OSError`.

    Checkpoints of later iterations belong to an abandoned attempt and are removed as well.
    """
    target = place(folder, iteration)
    if target.exists():  # of an abandoned attempt
        _remove(target)
    rename(beside(folder, iteration), target)
    _flush(folder.checkpoints)  # before older checkpoints are removed
    remaining = []
    for checkpoint in all_checkpoints(folder):
        if checkpoint.iteration > iteration:
            _remove(checkpoint.path)
        else:
            remaining.append(checkpoint)
    for checkpoint in remaining[limit:]:
        _remove(checkpoint.path)


def _remove(path: Path) -> None:
    """Remove a checkpoint. It is renamed first, so that a crash during removal leaves no partial checkpoint in
    place."""
    doomed = path.with_name(f".{path.name}.gone.tmp")
    with contextlib.suppress(OSError):
        remove(doomed)
    with contextlib.suppress(FileNotFoundError):
        rename(path, doomed)
    with contextlib.suppress(OSError):
        remove(doomed)


def _flush(path: Path) -> None:
    """Flush the entries of a folder to disk (fsync), if its file system supports that."""
    with contextlib.suppress(OSError):
        flush_path(path)


def write_manifest(path: Path, iteration: int, shards: Mapping[str, str] | None = None) -> None:
    """Write the manifest: SHA-256 and size in bytes per file, and the checksum of the manifest. Raises `OSError`.

    shards: SHA-256 of each file of shards as it was written.
    """
    sums = {name: _sha256(path / name) for name in FILES} | dict(shards or {})
    files = {name: {"sha256": sum, "bytes": (path / name).stat().st_size} for name, sum in sums.items()}
    write_checked_json(path / MANIFEST, {"version": 2 if shards else 1, "iteration": iteration, "files": files})


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a checkpoint. Raises `OSError`, and `UserError` if it is damaged or of a newer version."""
    try:
        manifest = json.loads(read_file(path / MANIFEST, MANIFEST_LIMIT_BYTES))
        body = without_checksum(manifest)
        is_whole = (
            CHECKSUM in manifest
            and {type(manifest["version"]), type(manifest["iteration"])} == {int}
            and {type(entry["sha256"]) for entry in manifest["files"].values()} == {str}
            and set(FILES) <= manifest["files"].keys()
            and all(name in FILES or _SHARD.fullmatch(name) for name in manifest["files"])
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_whole, body = False, {}
    if not is_whole:
        raise UserError(f"{MANIFEST} is not what was saved")
    if body["version"] > VERSION:
        raise UserError("it was written by a newer version of Netwright")
    return body


def _sha256(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
