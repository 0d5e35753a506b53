"""Statistics of batch normalisation over all training samples: MATLAB's `population`, torch's `update_bn`."""

from collections.abc import Callable, Iterator

import torch
from torch import nn

from engine.environments.strategies.sync_batch_norm import JoinedBatchNorm, Share
from engine.training.batching.batches import Batch
from engine.training.steps.precision import Precision


class Population:
    """Mean and variance of what enters each batch normalisation, by one pass over all samples.

    In the pass each normalises by the batch it sees, so that the ones behind see what they saw in training; all else
    does as in the trained network, dropout nothing. What is gathered is exact over all samples, whatever the sizes of
    the batches; torch's `update_bn` takes the mean over batches. Frozen ones keep what they have.
    """

    def __init__(
        self, network: nn.Module, share: Share, precision: Precision, batches: Callable[[], Iterator[Batch]]
    ) -> None:
        """`batches` gives this worker's share of each batch of all samples."""
        found = [module for module in network.modules() if isinstance(module, JoinedBatchNorm)]
        self._norms = [norm for norm in found if not norm.is_frozen and norm.running_mean is not None]
        self._network = network
        self._share = share
        self._precision = precision
        self._batches = batches

    @property
    def statistics(self) -> list[torch.Tensor]:
        """The running statistics themselves."""
        each = [(norm.running_mean, norm.running_var) for norm in self._norms]
        return [tensor for pair in each for tensor in pair if tensor is not None]

    @torch.no_grad()
    def measure(self) -> bool:
        """Make the statistics for the weights of now; whether there are any to make. A collective."""
        if not self._norms:
            return False
        self._network.eval()
        for norm in self._norms:
            norm.gather()
        for batch in self._batches():
            for piece in batch.apart():
                self._share.is_empty = piece.count == 0
                self._precision.call(self._network, *piece.inputs)
        for norm in self._norms:
            norm.settle()
        self._network.train()
        return True
