"""Without shards tensors stay what they are, on the device and in the type of what they replace."""

import torch
from torch import nn

from netwright.engine.parallel.tensor_shards import local_shard, shard_like, whole


def test_a_tensor_that_is_not_sharded_is_its_own_shard() -> None:
    weight = nn.Parameter(torch.ones(2, dtype=torch.float64))
    assert local_shard(weight) is weight
    assert whole(weight) is weight
    assert whole(3) == 3
    assert shard_like(torch.zeros(2), weight).dtype == torch.float64
