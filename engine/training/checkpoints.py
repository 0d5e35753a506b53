"""Checkpoints: the complete state of a training as JSON with tensors beside it. Nothing in it can be executed.

Whatever changes while a run trains is `Stateful`, as in `torch.distributed.checkpoint`. A run that is resumed from all
states continues bit for bit, as far as the computation itself is deterministic.
"""

import contextlib
import json
import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch.utils._pytree import tree_leaves, tree_map

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fields import path_part, printable
from netwright.engine.core.files import flush_path, remove
from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.tensor_shards import is_sharded, local_shard, whole
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.checkpoint_files import STATE, TENSORS, Checkpoint, write_manifest
from netwright.engine.training.checkpoint_schedule import CheckpointSchedule
from netwright.engine.training.sharded_checkpoints import BackgroundWrite, SavedTensor, ShardFiles, pieces_of

HOOKS = "hooks"
"""Part whose state is that of the user's own code, in any form."""
_OPTIMIZER_STATE = "solver.optimizer.state"
"""Place of the moments, which the solver verifies: workers of a pipeline number their parameters differently."""
JsonState = dict[str, Any]


class Stateful(Protocol):
    """A part of a training whose state a checkpoint holds."""

    def state_dict(self) -> JsonState:
        """Return the state: numbers, texts and tensors, in dicts, lists and tuples."""

    def load_state_dict(self, state: JsonState) -> None:
        """Restore the state."""


class RandomStates:
    """The states of every worker's random number generators: torch's, also on its device, numpy's and Python's.

    With more workers than before, the new ones start with their own seeds.
    """

    def __init__(self, group: ProcessGroup, device: torch.device) -> None:
        self._group = group
        self._device = device

    def state_dict(self) -> JsonState:
        """Return the states of all workers, by rank. A collective."""
        mine = json.dumps(to_json_state(self._own(), []), separators=(",", ":")).encode()
        return {"workers": [json.loads(text) for text in all_gather_bytes(mine, self._group, self._device)]}

    def load_state_dict(self, state: JsonState) -> None:
        """Restore the state of this worker."""
        if self._group.rank >= len(state["workers"]):
            return
        own = _whole(state["workers"][self._group.rank], {})
        torch.set_rng_state(_bytes(own["torch"]))
        if self._device.type != "cpu" and own["device"]:
            _module(self._device).set_rng_state(_bytes(own["device"]), *_number(self._device))
        name, keys, *rest = own["numpy"]
        np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))
        version, inner, gauss = own["python"]
        random.setstate((version, tuple(inner), gauss))

    def _own(self) -> JsonState:
        has_own = self._device.type != "cpu"
        on_device = _module(self._device).get_rng_state(*_number(self._device)) if has_own else torch.empty(0)
        name, keys, *rest = np.random.get_state()  # the global one is meant: user code may draw from it
        return {
            "torch": bytes(torch.get_rng_state().tolist()).hex(),
            "device": bytes(on_device.byte().tolist()).hex(),
            "numpy": [name, np.asarray(keys).tolist(), *rest],
            "python": list(random.getstate()),
        }


def _module(device: torch.device) -> Any:
    return torch.get_device_module(device)


def _number(device: torch.device) -> tuple[torch.device, ...]:
    """Return the arguments that name a device to the module of its type: that of MPS knows one device only."""
    return () if device.type == "mps" else (device,)


def _bytes(text: str) -> torch.Tensor:
    return torch.tensor(list(bytes.fromhex(text)), dtype=torch.uint8)


def all_gather_bytes(mine: bytes, group: ProcessGroup, device: torch.device) -> list[bytes]:
    """Gather bytes of all workers, by rank. A collective."""
    if group.size == 1:
        return [mine]
    lengths = torch.zeros(group.size, dtype=torch.int64, device=device)
    lengths[group.rank] = len(mine)
    sizes = group.all_reduce(lengths).tolist()
    whole = torch.zeros(group.size, max(sizes), dtype=torch.int32, device=device)
    whole[group.rank, : len(mine)] = torch.tensor(list(mine), dtype=torch.int32, device=device)
    rows = group.all_reduce(whole).cpu().numpy().astype(np.uint8)
    return [rows[rank, :size].tobytes() for rank, size in enumerate(sizes)]


def gathered(parts: Mapping[str, Stateful]) -> JsonState:
    """Return the state of every part. A collective, since some gather."""
    return {name: part.state_dict() for name, part in parts.items()}


def distribute(state: JsonState, parts: Mapping[str, Stateful]) -> None:
    """Restore the state of each part. Raises `UserError` for a checkpoint with other parts, kinds or shapes. A
    collective, since the kinds and shapes of each part are those of its state before."""
    if missing := sorted(parts.keys() ^ state.keys()):
        names = ", ".join(map(path_part, missing[:9]))
        raise UserError(
            f"The checkpoint does not fit this version of Netwright: {names} is only in one of the two. "
            "Go on with the version that made it, which run.json names, or train again."
        )
    for name, part in parts.items():
        try:
            if name != HOOKS:
                refuse_other_form(state[name], part.state_dict())
            part.load_state_dict(state[name])
        except (LookupError, ArithmeticError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            words = printable(str(error).partition("\n")[0][:300])
            raise UserError(
                f"The checkpoint does not fit this run: its part '{name}' is another one ({words})."
            ) from None


def refuse_other_form(value: Any, form: Any, place: str = "") -> None:
    """Raise `ValueError` where kinds of values, or types and shapes of tensors, differ from those of `form`.

    What `form` does not hold yet (None, empty, or missing) may be anything: its part verifies it.
    """
    if place == _OPTIMIZER_STATE:
        return
    match form:
        case torch.Tensor():
            fits = isinstance(value, (torch.Tensor, SavedTensor)) and value.dtype == form.dtype
            fits = fits and (value.shape == form.shape or not form.numel())
        case bool() | int() | str():
            fits = type(value) is type(form)
        case float():
            fits = type(value) in (int, float)
        case dict():
            fits = isinstance(value, dict)
        case tuple():
            fits = isinstance(value, (list, tuple)) and len(value) == len(form)
        case list():
            fits = isinstance(value, (list, tuple))
        case _:
            fits = True
    if not fits:
        raise ValueError(f"{place or 'it'} is {_form_of(value)}, expected {_form_of(form)}")
    if isinstance(form, dict):
        for key in form.keys() & value.keys():
            refuse_other_form(value[key], form[key], f"{place}.{key}".lstrip("."))
    elif isinstance(form, (list, tuple)):
        for number, (item, own) in enumerate(zip(value, form, strict=False)):
            refuse_other_form(item, own, f"{place}[{number}]")


def _form_of(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of {str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    return "None" if value is None else type(value).__name__


def is_finite(state: Any) -> bool:
    """Return whether all numbers in the tensors of a state are finite; of sharded ones in this worker's shards. Waits
    once for each device."""
    shards = [local_shard(x) for x in tree_leaves(state) if isinstance(x, torch.Tensor)]
    by_device: dict[torch.device, list[torch.Tensor]] = {}
    for shard in shards:
        if shard.is_floating_point() or shard.is_complex():
            by_device.setdefault(shard.device, []).append(torch.isfinite(shard).all())
    return all(bool(torch.stack(truths).all()) for truths in by_device.values())


def write(state: JsonState, path: Path, iteration: int) -> None:
    """Write a checkpoint into this folder, whole and flushed, replacing what is there. Raises `RunError`."""
    try:
        with contextlib.suppress(OSError):  # making the folder says why
            remove(path)
        path.parent.mkdir(0o700, exist_ok=True)  # and no folder of a run that was deleted meanwhile
        path.mkdir(0o700)
    except OSError as error:
        raise _not_written(path, iteration, error) from None
    tensors: list[torch.Tensor] = []
    write_files(to_json_state(state, tensors), tensors, path, iteration)


def write_files(
    json_state: Any,
    tensors: Sequence[torch.Tensor],
    path: Path,
    iteration: int,
    shards: Mapping[str, str] | None = None,
) -> None:
    """Write state, tensors and manifest into a new folder, flushed; `shards` as in `write_manifest`. Raises
    `RunError`."""
    try:
        text = json.dumps(json_state, separators=(",", ":"))
        (path / STATE).touch(mode=0o600)  # the run is its user's
        (path / STATE).write_text(text, encoding="utf-8")
        by_name = {
            f"{number}": tensor.detach().to("cpu", copy=True).contiguous() for number, tensor in enumerate(tensors)
        }
        save_file(by_name, path / TENSORS)
        for name in (STATE, TENSORS):
            _flush(path / name)
        write_manifest(path, iteration, shards)
        _flush(path)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(path, ignore_errors=True)
        raise _not_written(path, iteration, error) from None


def _not_written(path: Path, iteration: int, error: object) -> RunError:
    reason = getattr(error, "strerror", None) or error
    return RunError(f"The checkpoint of iteration {iteration:,} cannot be written to {path.parent}: {reason}.")


def _flush(path: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems flush no folders
        flush_path(path)


def read(checkpoint: Checkpoint, *, by_shards: bool = False) -> JsonState:
    """Read the state of a checkpoint, after its checksums. Raises `UserError`.

    by_shards: leave sharded tensors in their files, as `SavedTensor`, of which a worker reads its shard.
    """
    refused = f"The checkpoint {checkpoint.path} cannot be used"
    if damage := checkpoint.damage():
        raise UserError(f"{refused}: {damage}.")
    try:
        text = (checkpoint.path / STATE).read_text(encoding="utf-8")
        files = cache(partial(ShardFiles, checkpoint.path))

        def sharded(saved: Mapping[str, Any]) -> Any:
            content = files().tensor(saved)
            return content if by_shards else content.whole()

        state = _whole(json.loads(text), load_file(checkpoint.path / TENSORS), sharded)
    except OSError as error:
        raise UserError(f"{refused}: it cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as error:
        raise UserError(f"{refused}: {printable(str(error)[:300])}.") from None
    if not isinstance(state, dict):
        raise UserError(f"{refused}: {STATE} holds no state.")
    return state


def weights_in(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    """Return the weights and statistics of the network in a checkpoint. Raises `UserError`."""
    state = read(checkpoint)
    try:
        return dict(state["unit"]["network"])
    except (KeyError, TypeError):
        raise UserError(f"The checkpoint {checkpoint.path} does not fit this version of Netwright.") from None


def to_json_state(value: Any, tensors: list[torch.Tensor], shards: list[Any] | None = None) -> Any:
    """Return the value as JSON; tensors are appended to the list, and their indices stand for them; sharded ones to
    `shards`."""
    inner = partial(to_json_state, tensors=tensors, shards=shards)
    if shards is not None and isinstance(value, torch.Tensor) and is_sharded(value):
        shards.append(value)
        return {"$shard": len(shards) - 1, "shape": list(value.shape)}
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"$tensor": len(tensors) - 1}
    if isinstance(value, tuple):
        return {"$tuple": [inner(item) for item in value]}
    if isinstance(value, (list, range)):
        return [inner(item) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: inner(item) for key, item in value.items()}
        return {"$dict": [[inner(key), inner(item)] for key, item in value.items()]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"A state may not hold a {type(value).__name__}.")


def _no_shards(saved: Mapping[str, Any]) -> Any:
    raise ValueError("there are no shards")


def _whole(
    value: Any, tensors: dict[str, torch.Tensor], sharded: Callable[[Mapping[str, Any]], Any] = _no_shards
) -> Any:
    """Return the value that `to_json_state` wrote. Each tensor is used once: many copies would not fit in memory."""
    inner = partial(_whole, tensors=tensors, sharded=sharded)
    if isinstance(value, list):
        return [inner(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$tensor": int(number)}:
            return tensors.pop(str(number)).clone()  # memory of its own, aligned as all is: sums depend on it
        case {"$shard": int()}:
            return sharded(value)
        case {"$tuple": list(items)}:
            return tuple(inner(item) for item in items)
        case {"$dict": list(pairs)}:
            return {inner(key): inner(item) for key, item in pairs}
    return {key: inner(item) for key, item in value.items()}


PathOf = Callable[[int], Path | None]
"""Returns the folder that the checkpoint of an iteration is written into, or None for one that is not written."""


def write_nowhere(iteration: int) -> Path | None:
    """Return None: for all workers but the first, and where there is no run folder."""
    return None


class CheckpointSaver:
    """Saves the state of all parts of a training together.

    Checkpoints by count are due on all workers at the same step; those by time are due on the first one, which tells
    the others at a report point.
    """

    def __init__(
        self,
        options: TrainingOptions,
        path_of: PathOf = write_nowhere,
        *,
        now: Callable[[], float] = time.monotonic,
        rank: int = 0,
        size: int = 1,
        cost_s: float = 0.0,
    ) -> None:
        """`now` returns the run time in seconds; it does not advance while the run is paused. rank, size: of the
        workers, of which the first one writes what is not sharded. `cost_s`: expected of a checkpoint."""
        self.last_step = -1
        self.in_background: BackgroundWrite | None = None
        self.parts: dict[str, Stateful] = {}
        self._unit = options.checkpoint_unit
        self._every = options.checkpoint_frequency
        self._path_of = path_of
        self._schedule = CheckpointSchedule(options, now, cost_s)
        self._rank, self._size = rank, size

    def register(self, **parts: Stateful) -> None:
        """Add parts whose state changes while the run trains."""
        self.parts.update(parts)

    @property
    def is_on(self) -> bool:
        """Return whether checkpoints are saved at all."""
        return self._unit != "never"

    @property
    def is_due_by_time(self) -> bool:
        """Return whether one is due by time. Workers may differ."""
        return self.in_background is None and self._schedule.is_due

    def is_due(self, step: int, epochs_done: int, *, at_epoch_end: bool) -> bool:
        """Return whether one is due by count. The same on all workers."""
        if self._unit == "epochs":
            return at_epoch_end and epochs_done % self._every == 0
        return self._unit == "iterations" and step % self._every == 0

    def save(self, step: int) -> float | None:
        """Save a checkpoint and return the seconds that took; None where this worker wrote none. A collective.

        None is written where weights are not finite. Of a sharded state each worker copies its shards and writes them
        in the background, as `in_background`. Raises `RunError`.
        """
        start_s = time.monotonic()
        state = gathered(self.parts)
        is_finite_here = is_finite(state["unit"]["network"])
        tensors: list[torch.Tensor] = []
        shards: list[Any] = []
        json_state = to_json_state(state, tensors, shards)
        path = self._path_of(step)
        is_first_of_step, self.last_step = self.last_step != step, step
        try:
            if shards and is_first_of_step and path is not None:
                self._save_shards(json_state, tensors, shards, path, step, is_finite=is_finite_here)
                return None
            if shards:  # saved twice: the folder of the first may still be in use
                state = tree_map(whole, state)
            if path is None or self._rank or not is_finite_here:
                return None
            write(state, path, step)
            return time.monotonic() - start_s
        finally:
            self._schedule.save(time.monotonic() - start_s)

    def _save_shards(
        self, json_state: Any, tensors: list[torch.Tensor], shards: list[Any], path: Path, step: int, *, is_finite: bool
    ) -> None:
        """Copy what changes, and begin to write it."""
        copies = [tensor.detach().to("cpu", copy=True).contiguous() for tensor in tensors] if self._rank == 0 else []

        def finish(sums: Mapping[str, str]) -> None:
            write_files(json_state, copies, path, step, sums)

        path.parent.mkdir(0o700, exist_ok=True)
        pieces = pieces_of(shards)
        self.in_background = BackgroundWrite(path, step, self._rank, self._size, pieces, finish, is_finite=is_finite)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore all parts from a checkpoint. Raises `UserError`."""
        distribute(read(checkpoint, by_shards=self._size > 1), self.parts)
        self.last_step = checkpoint.iteration
        self._schedule.begin()
