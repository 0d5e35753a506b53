"""The complete state of a training on disk: as JSON with the tensors beside it. Nothing in it can be executed.

Whatever changes while a run trains is a piece: it has a `state_dict` that tells it and a `load_state_dict` that takes
it back. A run that goes on with all of them goes on to the bit, as far as the computation itself repeats.
"""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from engine.core.errors import RunError, UserError
from engine.core.fields import path_part, printable
from engine.core.files import remove
from engine.parallel.process_group import ProcessGroup
from engine.runs.checkpoints import STATE, TENSORS, Checkpoint, write_manifest

JsonState = dict[str, Any]
_DRAWING = ("cuda", "xpu")
"""Devices that draw random numbers of their own, each of several by itself."""


class Piece(Protocol):
    """Something that changes while a run trains."""

    def state_dict(self) -> JsonState:
        """All of it: numbers, texts, tensors, in dicts, lists and tuples."""

    def load_state_dict(self, state: JsonState) -> None:
        """Be as it was told."""


class RandomStates:
    """The random numbers of every worker: torch's, of its device too, numpy's, Python's.

    Telling them is a collective. With another number of workers than before, those that are new begin with their own.
    """

    def __init__(self, group: ProcessGroup, device: torch.device) -> None:
        self._group = group
        self._device = device

    def state_dict(self) -> JsonState:
        """One state for each worker, by rank."""
        mine = json.dumps(to_json_state(self._own(), []), separators=(",", ":")).encode()
        return {"workers": [json.loads(text) for text in all_gather_bytes(mine, self._group, self._device)]}

    def load_state_dict(self, state: JsonState) -> None:
        """Take back what this worker had."""
        if self._group.rank >= len(state["workers"]):
            return
        own = _whole(state["workers"][self._group.rank], {})
        torch.set_rng_state(_bytes(own["torch"]))
        if self._device.type in _DRAWING and own["device"]:
            _module(self._device).set_rng_state(_bytes(own["device"]), self._device)
        name, keys, *rest = own["numpy"]
        np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))
        version, inner, gauss = own["python"]
        random.setstate((version, tuple(inner), gauss))

    def _own(self) -> JsonState:
        on_device = (
            _module(self._device).get_rng_state(self._device) if self._device.type in _DRAWING else torch.empty(0)
        )
        name, keys, *rest = np.random.get_state()  # the global one is meant: user code may draw from it
        return {
            "torch": bytes(torch.get_rng_state().tolist()).hex(),
            "device": bytes(on_device.byte().tolist()).hex(),
            "numpy": [name, np.asarray(keys).tolist(), *rest],
            "python": list(random.getstate()),
        }


def _module(device: torch.device) -> Any:
    return torch.get_device_module(device)


def _bytes(text: str) -> torch.Tensor:
    return torch.tensor(list(bytes.fromhex(text)), dtype=torch.uint8)


def all_gather_bytes(mine: bytes, group: ProcessGroup, device: torch.device) -> list[bytes]:
    """What each worker gives, in the order of their ranks. A collective."""
    if group.size == 1:
        return [mine]
    lengths = torch.zeros(group.size, dtype=torch.int64, device=device)
    lengths[group.rank] = len(mine)
    sizes = group.all_reduce(lengths).tolist()
    whole = torch.zeros(group.size, max(sizes), dtype=torch.int32, device=device)
    whole[group.rank, : len(mine)] = torch.tensor(list(mine), dtype=torch.int32, device=device)
    rows = group.all_reduce(whole).cpu().numpy().astype(np.uint8)
    return [rows[rank, :size].tobytes() for rank, size in enumerate(sizes)]


def gathered(pieces: Mapping[str, Piece]) -> JsonState:
    """The state of every piece. Called by all workers, since some of them gather."""
    return {name: piece.state_dict() for name, piece in pieces.items()}


def distribute(state: JsonState, pieces: Mapping[str, Piece]) -> None:
    """Give each piece its state back. Raises `UserError` where the checkpoint is one of other pieces."""
    if missing := sorted(pieces.keys() ^ state.keys()):
        names = ", ".join(map(path_part, missing[:9]))
        raise UserError(
            f"The checkpoint does not fit this version of Netwright: {names} is only in one of the two. "
            "Go on with the version that made it, which run.json names, or train again."
        )
    for name, piece in pieces.items():
        try:
            piece.load_state_dict(state[name])
        except (LookupError, ArithmeticError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            words = printable(str(error).partition("\n")[0][:300])
            raise UserError(
                f"The checkpoint does not fit this run: its part '{name}' is another one ({words})."
            ) from None


def is_finite(state: Any) -> bool:
    """Whether all numbers in the tensors of a state are finite."""
    if isinstance(state, torch.Tensor):
        return not state.is_floating_point() or bool(torch.isfinite(state).all())
    if isinstance(state, Mapping):
        return all(is_finite(item) for item in state.values())
    return not isinstance(state, (list, tuple)) or all(is_finite(item) for item in state)


def write(state: JsonState, path: Path, iteration: int) -> None:
    """Write a checkpoint into this folder, whole and flushed, replacing what is there. Raises `RunError`."""
    tensors: list[torch.Tensor] = []
    try:
        with contextlib.suppress(OSError):  # making the folder says why
            remove(path)
        path.parent.mkdir(0o700, exist_ok=True)  # and no folder of a run that was deleted meanwhile
        path.mkdir(0o700)
        text = json.dumps(to_json_state(state, tensors), separators=(",", ":"))
        (path / STATE).touch(mode=0o600)  # the run is its user's
        (path / STATE).write_text(text, encoding="utf-8")
        named = {
            f"{number}": tensor.detach().to("cpu", copy=True).contiguous() for number, tensor in enumerate(tensors)
        }
        save_file(named, path / TENSORS)
        for name in (STATE, TENSORS):
            _flush(path / name)
        write_manifest(path, iteration)
        _flush(path)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(path, ignore_errors=True)
        reason = getattr(error, "strerror", None) or error
        raise RunError(
            f"The checkpoint of iteration {iteration:,} cannot be written to {path.parent}: {reason}."
        ) from None


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems flush no folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(checkpoint: Checkpoint) -> JsonState:
    """The state of a checkpoint, its checksums compared first. Raises `UserError`."""
    refused = f"The checkpoint {checkpoint.path} cannot be used"
    if damage := checkpoint.damage():
        raise UserError(f"{refused}: {damage}.")
    try:
        text = (checkpoint.path / STATE).read_text(encoding="utf-8")
        state = _whole(json.loads(text), load_file(checkpoint.path / TENSORS))
    except OSError as error:
        raise UserError(f"{refused}: it cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as error:
        raise UserError(f"{refused}: {printable(str(error)[:300])}.") from None
    if not isinstance(state, dict):
        raise UserError(f"{refused}: {STATE} holds no state.")
    return state


def to_json_state(value: Any, tensors: list[torch.Tensor]) -> Any:
    """The value as JSON; tensors are put into the list, and stand as their numbers there."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"$tensor": len(tensors) - 1}
    if isinstance(value, tuple):
        return {"$tuple": [to_json_state(item, tensors) for item in value]}
    if isinstance(value, (list, range)):
        return [to_json_state(item, tensors) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: to_json_state(item, tensors) for key, item in value.items()}
        return {"$dict": [[to_json_state(key, tensors), to_json_state(item, tensors)] for key, item in value.items()]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"A state may not hold a {type(value).__name__}.")


def _whole(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """What `plain` was given. Each tensor is taken once: named a million times it would not fit into memory."""
    if isinstance(value, list):
        return [_whole(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$tensor": int(number)}:
            return tensors.pop(str(number)).clone()  # memory of its own, aligned as all is: sums depend on it
        case {"$tuple": list(items)}:
            return tuple(_whole(item, tensors) for item in items)
        case {"$dict": list(pairs)}:
            return {_whole(key, tensors): _whole(item, tensors) for key, item in pairs}
    return {key: _whole(item, tensors) for key, item in value.items()}
