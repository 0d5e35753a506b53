"""Shards of tensors: of a fully sharded network each worker holds a part of every weight (torch's DTensor).

torch's distributed tensors are not imported before there are any: a DTensor is known by its methods.
"""

from typing import Any

import torch


def is_sharded(x: torch.Tensor) -> bool:
    """Return whether each worker holds a part of the tensor."""
    return hasattr(x, "to_local")


def local_shard(x: torch.Tensor) -> torch.Tensor:
    """Return this worker's shard of a sharded tensor; any other tensor as it is."""
    return x.to_local() if is_sharded(x) else x  # type: ignore[attr-defined]


def whole(value: Any) -> Any:
    """Return a sharded tensor as a whole one; anything else as it is. A collective."""
    return value.full_tensor().detach() if hasattr(value, "full_tensor") else value


def shard_like(value: Any, like: Any) -> Any:
    """Return a whole tensor on the device and in the dtype of another, sharded where the other is.

    One that is still in the files of a checkpoint reads its shard itself.
    """
    if hasattr(value, "shard_like"):
        return value.shard_like(like)
    value = value.to(like.device, like.dtype)
    if not is_sharded(like):
        return value
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(value, like.device_mesh, like.placements, src_data_rank=None)
