"""Averages of the weights over the steps of a run, which are judged and kept in the place of the weights themselves.

They follow torch's `AveragedModel`: parameters are averaged, statistics are those of the network. Izmailov et al.,
Averaging Weights Leads to Wider Optima and Better Generalization, 2018.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from engine.data.batches import Batch
from engine.parallel.sync_batch_norm import JoinedBatchNorm, Share
from engine.project.training import TrainingOptions
from engine.training.precision import Precision


class BatchStatistics:
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
            for piece in batch.micro_batches():
                self._share.is_empty = piece.count == 0
                self._precision.call(self._network, *piece.inputs)
        for norm in self._norms:
            norm.settle()
        self._network.train()
        return True


class Average:
    """The mean of what the weights were after some steps; before the first of these, the weights as they are.

    `is_due` says after which steps (from 0) the weights are taken in, `share` how much they count where so many are in
    it already. With `population` the statistics of batch normalisation are made anew for the mean.
    """

    def __init__(
        self,
        network: nn.Module,
        is_due: Callable[[int], bool],
        share: Callable[[int], float],
        population: BatchStatistics | None = None,
    ) -> None:
        self._weights = [p for p in network.parameters() if p.requires_grad]
        self._is_due = is_due
        self._share = share
        self._population = population
        self._mean: list[torch.Tensor] = []
        self._count = 0
        self._statistics: list[torch.Tensor] = []
        self._measured = 0

    @torch.no_grad()
    def after_step(self, step: int) -> None:
        """Take in the weights, if this step counts."""
        if not self._is_due(step):
            return
        if self._count == 0:
            self._mean = [p.detach().clone() for p in self._weights]
        else:
            torch._foreach_lerp_(self._mean, [*self._weights], self._share(self._count))
        self._count += 1

    @contextlib.contextmanager
    def applied(self, *, fresh: bool) -> Iterator[None]:
        """In here the network has the mean weights. With `fresh`, a collective, the statistics are made for them where
        they are not yet; else those made last do."""
        if self._count == 0:
            yield
            return
        tensors = [*self._weights, *(self._population.statistics if self._population else [])]
        held = [tensor.detach().clone() for tensor in tensors]
        self.put(fresh=fresh)
        try:
            yield
        finally:
            _copy(tensors, held)

    def put(self, *, fresh: bool) -> None:
        """Give the network the mean weights for good."""
        if self._count == 0:
            return
        _copy(self._weights, self._mean)
        if self._population is None:
            return
        if fresh and self._measured != self._count:
            self._population.measure()
            self._statistics = [tensor.clone() for tensor in self._population.statistics]
            self._measured = self._count
        elif self._statistics:
            _copy(self._population.statistics, self._statistics)

    def state_dict(self) -> dict[str, Any]:
        """The mean, how many are in it, and the statistics made for it."""
        return {
            "mean": self._mean,
            "count": self._count,
            "statistics": self._statistics,
            "measured": self._measured,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._count, self._measured = int(state["count"]), int(state["measured"])
        self._mean = [mean.to(p) for mean, p in zip(state["mean"], self._weights, strict=False)]
        known = self._population.statistics if self._population else []
        self._statistics = [mine.to(one) for mine, one in zip(state["statistics"], known, strict=False)]


@torch.no_grad()
def _copy(tensors: list[Any], values: list[torch.Tensor]) -> None:
    if tensors:
        torch._foreach_copy_(tensors, values)


def average_for(
    options: TrainingOptions, network: nn.Module, steps_per_epoch: int, population: BatchStatistics
) -> Average | None:
    """The average that the options ask for, or None. swa takes the weights in at the end of each epoch from its first
    one on, and has the statistics made anew."""
    if options.weight_averaging == "swa":
        first = options.swa_start_epoch * steps_per_epoch
        return Average(
            network,
            lambda step: step + 1 >= first and (step + 1) % steps_per_epoch == 0,
            lambda count: 1.0 / (count + 1),
            population,
        )
    if options.weight_averaging == "ema":
        decay, warms_up = options.ema_decay, options.ema_warmup
        return Average(
            network,
            lambda step: True,
            lambda count: 1.0 - (min(decay, (1 + count) / (10 + count)) if warms_up else decay),
        )
    return None
