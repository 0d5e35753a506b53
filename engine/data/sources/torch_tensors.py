"""Tensors that `torch.save` wrote as arrays: a dictionary of them, or a pair of inputs and responses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.array_storage import MOST_ARRAYS, Held, StoredArray, refuse_odd_name
from netwright.engine.data.sources.source import refuse_too_large
from netwright.engine.lowering.torch_file import read_torch_file

SAVED = "torch.save({'x': x, 'y': y}, FILE)"
WHOLE = "files of torch.save are read whole. Files of safetensors or NumPy need not be"
PAIR = ("x", "y")
"""Names of the tensors of a pair, as `torch.save((x, y), path)` and torchvision's MNIST have it."""


def torch_arrays(path: Path) -> dict[str, StoredArray]:
    """Return the tensors of a file by name, in its order. bfloat16 is read as float32. Raises `UserError`."""
    refuse_too_large(path.stat().st_size, f"The tensors of {path}", "Use fewer samples or smaller ones.")
    content = read_torch_file(path, f"Save the tensors alone: {SAVED}.")
    arrays = {name: _held(path, name, tensor) for name, tensor in _tensors(content)}
    if not arrays or len(arrays) > MOST_ARRAYS:
        raise UserError(f"{path} holds {len(arrays):,} tensors by name. Expected 1 to {MOST_ARRAYS:,}: {SAVED}.")
    return arrays


def _tensors(content: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors with their names; other things in a dictionary are passed over."""
    if isinstance(content, (tuple, list)) and len(content) == len(PAIR):
        content = dict(zip(PAIR, content, strict=True))
    if isinstance(content, torch.Tensor):
        content = {PAIR[0]: content}
    if isinstance(content, dict):
        yield from ((str(name), value) for name, value in content.items() if isinstance(value, torch.Tensor))


def _held(path: Path, name: str, tensor: torch.Tensor) -> StoredArray:
    refuse_odd_name(name, path)
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise UserError(f"Array '{name}' of {path} is sparse or quantised. Store it as tensor.to_dense() or float32.")
    values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()
    return Held(path, name, values.shape, values.dtype, WHOLE, values=values)
