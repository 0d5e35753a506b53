"""Weights on disk: a folder with the tensors and a manifest with checksums.

    weights.safetensors   the state-dict of the module
    preparation.json      how the data is prepared for the network (netwright.engine.project.preparation), from a run
    manifest.json         SHA-256 of each file, and the entries passed to `save`

Neither safetensors nor torch notices a flipped bit, so the checksum is verified before the tensors are read.
"""

import contextlib
import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import fx, nn

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fields import path_part, printable
from netwright.engine.core.files import (
    ChecksumError,
    flush_path,
    open_file,
    read_file,
    without_checksum,
    write_atomically,
    write_checked_json,
)
from netwright.engine.core.platform_files import rename

WEIGHTS = "weights.safetensors"
MANIFEST = "manifest.json"
MANIFEST_LIMIT_BYTES = 2**24
"""The manifest lists the layers with their weights; a network has at most 20,000 layers."""
State = dict[str, torch.Tensor]


def save(
    weights: nn.Module | Mapping[str, torch.Tensor],
    folder: Path,
    manifest: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Write a complete temporary folder and rename it to `folder`; an older one is replaced. Raises `RunError`.

    The entries of `manifest` are stored unchanged, together with the checksums: the layers with the prefixes of their
    weights (`netwright.engine.lowering.module.prefixes`), classes, task, iteration. `files` are written beside the
    weights, with checksums of their own.
    """
    tensors = weights.state_dict() if isinstance(weights, nn.Module) else weights
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        beside.mkdir(mode=0o700)  # without parents: the folder of a run deleted meanwhile is not made again
        save_file(
            {key: value.detach().to("cpu", copy=True).contiguous() for key, value in tensors.items()}, beside / WEIGHTS
        )
        flush_path(beside / WEIGHTS)
        for name, content in (files or {}).items():
            write_atomically(beside / name, content, mode=0o600)
        written = {
            path.name: {"sha256": sha256(path), "bytes": path.stat().st_size}
            for path in (beside / name for name in (WEIGHTS, *(files or {})))
        }
        write_checked_json(beside / MANIFEST, {**manifest, "files": written})
        _take_place(beside, folder)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunError(f"The weights cannot be written to {folder}: {reason}.") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _old(folder: Path) -> Path:
    """Return the path of the previous folder between the two renames."""
    return folder.with_name(f".{folder.name}.old")


def _take_place(beside: Path, folder: Path) -> None:
    """Rename `beside` to `folder`. A folder cannot be renamed over one with files, so the old one is moved away first;
    a crash in between leaves it, and `load` reads it."""
    old = _old(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        rename(folder, old)
    rename(beside, folder)
    shutil.rmtree(old, ignore_errors=True)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load(folder: Path) -> tuple[State, dict[str, Any]]:
    """Return the state-dict and the manifest. Raises `UserError` if a file is missing or damaged."""
    if not folder.exists() and _old(folder).exists():
        folder = _old(folder)
    manifest = _manifest(folder)
    path = folder / WEIGHTS
    try:
        if sha256(path) != manifest["files"][WEIGHTS]["sha256"]:
            raise UserError(
                f"{path} is damaged: its checksum is not the one in {MANIFEST}. "
                "Use the weights of another checkpoint, or train again."
            )
        return load_file(path), manifest
    except OSError as error:
        raise UserError(f"The weights {path} cannot be read: {error.strerror or error}.") from None
    except SafetensorError as error:
        raise UserError(f"The weights {path} cannot be read: {printable(str(error)[:300])}.") from None


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_file(path, MANIFEST_LIMIT_BYTES))
        manifest = without_checksum(manifest) if isinstance(manifest, dict) else manifest
    except OSError as error:
        raise UserError(f"There are no weights in {folder}: {path.name} cannot be read: {error.strerror}.") from None
    except ChecksumError as error:
        raise UserError(f"{path} is damaged: {error}. Use the weights of another checkpoint, or train again.") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path} is damaged: it is not JSON.") from None
    checksum = None
    with contextlib.suppress(KeyError, TypeError):
        checksum = manifest["files"][WEIGHTS]["sha256"]
    if not isinstance(checksum, str):
        raise UserError(f"{path} is damaged: it holds no checksum of {WEIGHTS}.")
    return dict(manifest)


def fill(module: nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Load the weights into the module. Raises `UserError` naming the first missing, unexpected or misshapen one."""
    own = module.state_dict()
    for key in sorted(own.keys() - state.keys()):
        raise UserError(f"The weights do not belong to this network: '{path_part(key)}' is missing among them.")
    for key in sorted(state.keys() - own.keys()):
        raise UserError(f"The weights do not belong to this network: it has no '{path_part(key)}'.")
    for key, value in own.items():
        if value.shape != state[key].shape:
            sizes = f"{_sizes(value)} in the network, {_sizes(state[key])} in the weights"
            raise UserError(f"The weights do not belong to this network: '{path_part(key)}' is {sizes}.")
    load_state(module, state)


def load_state(module: nn.Module, state: Mapping[str, torch.Tensor], *, assign: bool = False) -> None:
    """Load tensors of a state-dict into a module, layer by layer; with `assign` they take the place of its own.
    The state has all keys of the module.

    torch's `load_state_dict` looks through all keys for each module inside, which takes half a minute for a network of
    5,000 layers.
    """
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for key, tensor in state.items():
        name, _, rest = key.partition(".")
        parts.setdefault(name, {})[rest] = tensor
    children = dict(module.named_children())
    is_container = type(module) is nn.Module or isinstance(module, fx.GraphModule)
    if not is_container or not parts.keys() <= children.keys():
        module.load_state_dict(dict(state), assign=assign)
        return
    for name, tensors in parts.items():
        load_state(children[name], tensors, assign=assign)


def _sizes(tensor: torch.Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "one number"
