"""Sharded checkpoints: each worker writes its shards of a fully sharded training, in the background.

    .000001200.tmp/   shard-00000.safetensors  shard-00001.safetensors  ...  state.json  tensors.safetensors

A shard file is one of torch.distributed.checkpoint, in its safetensors form (`DCP_SHARDING_INFO`), so that any number
of workers reads from it what it needs. torch's own writer and `async_save` are not used: they exchange plans between
the workers in a process group beside that of the training, while steps go on, and the default form is a pickle. Here no
worker waits for another one: a note beside each file says that it is whole, and the first worker, which reads the
notes, writes the manifest. Before that nobody uses the checkpoint.
"""

import contextlib
import hashlib
import json
import os
import struct
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from netwright.engine.core.errors import RunError
from netwright.engine.core.files import flush, remove, write_atomically
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.runs.checkpoint_files import shard_name

PATIENCE_S = 300.0
"""Seconds that the first worker waits for the shards of the others, which may be on slow disks."""
POLL_S = 0.02
CHUNK_BYTES = 2**22
_TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
Finish = Callable[[Mapping[str, str]], None]
_SHARDING, _OFFSETS = "DCP_SHARDING_INFO", "saved_offsets"


@dataclass(frozen=True)
class Piece:
    """A worker's part of a sharded tensor: a copy on the CPU, and where it begins in the whole."""

    key: str
    values: torch.Tensor
    offsets: Sequence[int]


def key_of(number: int) -> str:
    """Return the name in the files of the sharded tensor with this number in `state.json`."""
    return f"s{number}"


def pieces_of(tensors: Sequence[Any]) -> list[Piece]:
    """Return copies of this worker's shards of these tensors; training may change them afterwards."""
    pieces = []
    for number, tensor in enumerate(tensors):
        for chunk in tensor.__create_chunk_list__():
            if chunk.sizes.numel():
                values = tensor.to_local().detach().to("cpu", copy=True).contiguous()
                pieces.append(Piece(key_of(number), values, tuple(chunk.offsets)))
    return pieces


def write_shard(pieces: Sequence[Piece], path: Path) -> str:
    """Write a shard file, flushed, and return its SHA-256. Raises `OSError`.

    In chunks, between which other threads go on: safetensors' own writer keeps Python's lock meanwhile.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt", "DCP_VERSION": "1.0"}}
    header["__metadata__"][_SHARDING] = json.dumps({piece.key: {_OFFSETS: list(piece.offsets)} for piece in pieces})
    begin = 0
    for piece in pieces:
        end = begin + piece.values.nbytes
        kind = _TYPES[piece.values.dtype]
        header[piece.key] = {"dtype": kind, "shape": list(piece.values.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    digest = hashlib.sha256()
    descriptor = open_descriptor(path, "w")
    try:
        parts = [memoryview(struct.pack("<Q", len(text)) + text)]
        parts += [memoryview(piece.values.flatten().view(torch.uint8).numpy().data) for piece in pieces]
        for part in parts:
            for at in range(0, len(part), CHUNK_BYTES):
                chunk = part[at : at + CHUNK_BYTES]
                digest.update(chunk)
                while chunk:
                    chunk = chunk[os.write(descriptor, chunk) :]
        flush(descriptor)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def _note(folder: Path, rank: int) -> Path:
    return folder / f"{shard_name(rank)}.json"


class BackgroundWrite:
    """One checkpoint that is being written by a thread of each worker."""

    def __init__(
        self,
        folder: Path,
        iteration: int,
        rank: int,
        size: int,
        pieces: Sequence[Piece],
        finish: Finish,
        *,
        is_finite: bool,
    ) -> None:
        """Begin. `finish` is called in the thread of the first worker with the SHA-256 of each shard file, once all are
        written. `is_finite`: whether this worker's shards of the weights are; otherwise no checkpoint results."""
        self.iteration = iteration
        self.error = ""
        """Why there is no checkpoint, on the first worker."""
        self.is_whole = False
        """Whether all of it is written, on the first worker."""
        self.is_finite = is_finite
        self._folder, self._rank, self._size, self._pieces = folder, rank, size, pieces
        self._finish_by = finish
        self._thread = threading.Thread(target=self._run, name="checkpoint", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Return whether this worker's part is done; that of the first one is the whole."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is done."""
        self._thread.join()

    def _run(self) -> None:
        error, digest = "", ""
        try:
            self._folder.mkdir(0o700, exist_ok=True)  # not its parents: the run may have been deleted
            digest = write_shard(self._pieces, self._folder / shard_name(self._rank))
        except OSError as refused:
            error = refused.strerror or str(refused)
        self._pieces = ()
        note = {"sha256": digest, "is_finite": self.is_finite, "error": error}
        try:
            write_atomically(_note(self._folder, self._rank), json.dumps(note).encode(), mode=0o600)
            if self._rank == 0:
                self._finish()
        except (OSError, RunError) as refused:
            self.error = getattr(refused, "strerror", None) or str(refused)
        if self._rank == 0 and not self.is_whole:
            with contextlib.suppress(OSError):
                remove(self._folder)

    def _finish(self) -> None:
        """Wait for the notes of all workers, and finish the checkpoint. Raises `RunError` and `OSError`."""
        deadline_s = time.monotonic() + PATIENCE_S
        shards: dict[str, str] = {}
        for rank in range(self._size):
            note = self._read_note(rank, deadline_s)
            if note["error"]:
                raise RunError(f"worker {rank}: {note['error']}")
            self.is_finite &= bool(note["is_finite"])
            shards[shard_name(rank)] = str(note["sha256"])
        for rank in range(self._size):
            _note(self._folder, rank).unlink()
        if self.is_finite:
            self._finish_by(shards)
            self.is_whole = True

    def _read_note(self, rank: int, deadline_s: float) -> dict[str, Any]:
        while True:
            with contextlib.suppress(FileNotFoundError):
                note: dict[str, Any] = json.loads(_note(self._folder, rank).read_text(encoding="utf-8"))
                return note
            if time.monotonic() > deadline_s:
                raise RunError(f"worker {rank} did not write its shards within {PATIENCE_S:.0f} seconds")
            time.sleep(POLL_S)


class SavedTensor:
    """A sharded tensor in the files of a checkpoint, of which each worker reads what it needs."""

    def __init__(self, files: "ShardFiles", key: str, shape: Sequence[int], dtype: torch.dtype) -> None:
        self._files, self._key = files, key
        self.shape, self.dtype = torch.Size(shape), dtype

    def whole(self) -> Any:
        """Read the whole tensor."""
        return self._files.read_into(self._key, torch.empty(self.shape, dtype=self.dtype))

    def shard_like(self, like: Any) -> Any:
        """Read what another tensor of this shape holds here, in its dtype."""
        target = torch.empty_like(like.detach(), dtype=self.dtype)
        return self._files.read_into(self._key, target).to(like.dtype)


class ShardFiles:
    """The shard files of a checkpoint, read by torch.distributed.checkpoint."""

    def __init__(self, folder: Path) -> None:
        """Read what is in them, without the values."""
        # Imported late: few runs need it.
        from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader

        class Reader(HuggingFaceStorageReader):
            def read_metadata(self) -> Any:
                return metadata if metadata is not None else super().read_metadata()

        metadata = None
        self._reader = Reader(str(folder))
        metadata = self._reader.read_metadata()
        self._tensors = metadata.state_dict_metadata

    def tensor(self, saved: Mapping[str, Any]) -> SavedTensor:
        """Return the tensor that `state.json` means. Raises `ValueError` where the files do not hold all of it."""
        key, shape = key_of(int(saved["$shard"])), [int(size) for size in saved["shape"]]
        entry = self._tensors.get(key)
        if (
            entry is None
            or list(entry.size) != shape
            or sum(c.sizes.numel() for c in entry.chunks) != entry.size.numel()
        ):
            raise ValueError(f"the shards do not hold all of tensor {key}")
        return SavedTensor(self, key, shape, entry.properties.dtype)

    def read_into(self, key: str, target: Any) -> Any:
        """Read into a tensor, of a sharded one what this worker holds; return it."""
        from torch.distributed.checkpoint.state_dict_loader import load

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a single process is meant, as it is
            load({key: target}, storage_reader=self._reader, no_dist=True)
        return target
