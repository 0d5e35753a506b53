"""Safetensors files: plain tensors of one dtype each, memory-mapped and read sample by sample."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.array_storage import (
    MOST_ARRAYS,
    Converted,
    Place,
    StoredArray,
    reading,
    refuse_odd_name,
)
from netwright.engine.data.sources.source import Array

AGAIN = "Write the file again with safetensors' save_file."
DTYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "C64": "<c8",
}


@dataclass(frozen=True)
class Tensor(Place):
    """A tensor of a safetensors file."""

    @property
    def code(self) -> tuple[str, str]:
        """Expression that loads the tensor."""
        return f"load_file(FILE)[{self.name!r}]", "from safetensors.numpy import load_file"


def safetensors_arrays(path: Path) -> dict[str, StoredArray]:
    """Return the tensors of a file by name, in its order. bfloat16 is read as float32. Raises `UserError`."""
    tensors: dict[str, StoredArray] = {}
    with reading(path, AGAIN):
        try:
            with safe_open(path, framework="numpy"):  # which checks the header: its size, offsets, shapes and dtypes
                pass
        except SafetensorError as error:
            raise UserError(f"{path} is no safetensors file, or is damaged: {str(error)[:150]}. {AGAIN}") from None
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header: dict[str, Any] = json.loads(file.read(size))
        header.pop("__metadata__", None)
        if len(header) > MOST_ARRAYS:
            raise UserError(f"{path} holds {len(header):,} tensors; at most {MOST_ARRAYS:,} are taken.")
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"][0]):
            refuse_odd_name(name, path)
            tensors[name] = _tensor(
                path, name, entry["dtype"], tuple(entry["shape"]), 8 + size + entry["data_offsets"][0]
            )
    return tensors


def _tensor(path: Path, name: str, dtype: str, shape: tuple[int, ...], offset: int) -> StoredArray:
    if 0 in shape[1:]:
        raise UserError(f"Array '{name}' of {path} has the shape {shape}: an axis of size 0.")
    if dtype == "BF16":
        stored = Tensor(path, name, shape, np.dtype("<u2"), offset=offset)
        change: Callable[[Array], Array] = _widened
        return Converted(path, name, shape, np.dtype(np.float32), stored=stored, change=change)
    if dtype not in DTYPES:
        raise UserError(
            f"Array '{name}' of {path} holds {dtype}, which is not read. Expected {', '.join(DTYPES)} or BF16. Convert "
            f"it before saving, as in tensor.to(torch.float32)."
        )
    return Tensor(path, name, shape, np.dtype(DTYPES[dtype]), offset=offset)


def _widened(halves: Array) -> Array:
    """Return bfloat16 numbers, given as uint16, as float32: they are its upper 16 bits."""
    return (halves.astype(np.uint32) << 16).view(np.float32)
