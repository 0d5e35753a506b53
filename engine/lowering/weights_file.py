"""One file with the weights of a network: safetensors, whose header also says which layer each weight belongs to.

    keys       those of the state-dict of the built module (`netwright.engine.lowering.module.build`)
    metadata   `netwright.layers`: JSON object from id path of a layer to the prefixes of its keys
               (`netwright.engine.lowering.module.prefixes`), so that weights find their layer after it was renamed;
               `netwright.preparation`, of an imported file that has it: how raw data is prepared for the network

Other programs read such a file like any other of safetensors. `netwright.engine.lowering.weights_folder` writes the
folders of a run.
"""

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import path_part, printable
from netwright.engine.core.files import flush_path, open_file
from netwright.engine.core.platform_files import open_descriptor, replace_file
from netwright.engine.lowering.weights_folder import State, sha256
from netwright.engine.project.preparation import Preparation

LAYERS = "netwright.layers"
PREPARATION = "netwright.preparation"
"""Keys of the header's metadata."""
Layers = dict[str, tuple[str, ...]]

HEADER_LIMIT_BYTES = 2**25
MOST_TENSORS = 200_000
"""A network has at most 20,000 layers, each with a handful of weights."""
NAME_LIMIT = 4096
"""Characters of a key: names of layers and blocks have at most 64 each."""
AGAIN = "Write it again, or copy it again from where it came."


def write_weights_file(
    path: Path,
    state: Mapping[str, torch.Tensor],
    layers: Mapping[str, Sequence[str]],
    record: Preparation | None = None,
) -> str:
    """Write tensors by state-dict key, the key prefixes per id path of a layer, and how raw data is prepared. Return
    the SHA-256 of the file.

    A temporary file beside it is written, flushed and renamed, with permissions as those of other new files. Raises
    `UserError` where it cannot be written; nothing is left then.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    metadata = {LAYERS: json.dumps({id: list(prefixes) for id, prefixes in layers.items()}, separators=(",", ":"))}
    if record is not None:
        metadata[PREPARATION] = record.text()
    try:
        descriptor = open_descriptor(temporary, "x", permissions=0o666)
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)  # what the umask of the user leaves
        os.close(descriptor)
        save_file(_separate(state), temporary, metadata)
        os.chmod(temporary, mode)
        flush_path(temporary)
        checksum = sha256(temporary)
        replace_file(temporary, path)
    except OSError as error:
        raise UserError(f"The weights cannot be written to {path}: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise UserError(f"The weights cannot be written to {path}: {printable(str(error)[:300])}.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return checksum


def _separate(state: Mapping[str, torch.Tensor]) -> State:
    """Return the tensors on the CPU, contiguous, with storages of their own: safetensors refuses shared ones."""
    storages: set[int] = set()
    tensors: State = {}
    for key, value in state.items():
        tensor = value.detach().to("cpu").contiguous()
        storage = tensor.untyped_storage()
        if storage.data_ptr() in storages or storage.nbytes() != tensor.nbytes:
            tensor = tensor.clone()
        storages.add(tensor.untyped_storage().data_ptr())
        tensors[key] = tensor
    return tensors


def read_weights_file(path: Path, expected_sha256: str = "", *, noun: str = "weights") -> tuple[State, Layers]:
    """Return the tensors by key, and the prefixes of the keys per id path of a layer; no layers for a file of another
    program.

    With `expected_sha256`, a file with another checksum is refused; `noun` names the content in messages. Raises
    `UserError` for a file that is missing, damaged, no safetensors file, or beyond the limits of this module.
    """
    try:
        header = _header(path)
        if expected_sha256 and sha256(path) != expected_sha256:
            raise UserError(
                f"The {noun} {path} changed: their SHA-256 is not {expected_sha256[:16]}...",
                hint=f"Bring the file back, or choose the {noun} again.",
                code="changed",
            )
        layers = _layers(header.get("__metadata__", {}), path)
        state = load_file(path)
    except OSError as error:
        raise UserError(f"The {noun} {path} cannot be read: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise _damaged(path, str(error)) from None
    except (KeyError, ValueError, RuntimeError) as error:  # such as a number format that torch does not have
        raise _damaged(path, f"{type(error).__name__}: {error}") from None
    return state, layers


def read_preparation(path: Path) -> Preparation | None:
    """Return the preparation of raw data for the network of the weights; None where the file does not say it. Raises
    `UserError` for a file that cannot be read, or is damaged."""
    if path.suffix.lower() != ".safetensors":
        return None
    try:
        text = _header(path).get("__metadata__", {}).get(PREPARATION)
    except OSError as error:
        raise UserError(f"The weights {path} cannot be read: {error.strerror or error}.") from error
    return None if text is None else Preparation.parse(str(text), f"The preparation in {path}")


def _damaged(path: Path, reason: str) -> UserError:
    return UserError(f"{path} is no safetensors file, or is damaged: {printable(reason[:300])}.", hint=AGAIN)


def _header(path: Path) -> dict[str, Any]:
    """Return the header of a file. Raises `UserError` beyond the limits, `OSError`."""
    with open_file(path) as file:
        size = int.from_bytes(file.read(8), "little")
        if size > HEADER_LIMIT_BYTES:
            raise _damaged(path, f"its header has {size:,} bytes; at most {HEADER_LIMIT_BYTES:,} are read")
        text = file.read(size)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged(path, "its header is not JSON") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise _damaged(path, "its header is not an object of tensors")
    if len(header) > MOST_TENSORS:
        raise UserError(f"{path} holds {len(header):,} tensors; at most {MOST_TENSORS:,} are read.")
    for key in header:
        if len(key) > NAME_LIMIT:
            raise UserError(
                f"{path} holds the tensor '{path_part(key)}': a name of more than {NAME_LIMIT:,} characters."
            )
    return header


def _layers(metadata: Mapping[str, Any], path: Path) -> Layers:
    try:
        content = json.loads(metadata.get(LAYERS, "{}"))
        if not isinstance(content, dict):
            raise TypeError
        layers = {id: tuple(prefixes) for id, prefixes in content.items()}
    except (TypeError, ValueError, RecursionError):
        raise _damaged(path, f"'{LAYERS}' in its header is not an object of lists") from None
    if not all(isinstance(prefix, str) for prefixes in layers.values() for prefix in prefixes):
        raise _damaged(path, f"'{LAYERS}' in its header does not list the beginnings of keys")
    return layers
