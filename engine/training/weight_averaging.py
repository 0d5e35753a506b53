"""Averages of the weights (EMA, SWA, Lookahead), evaluated and kept instead of the weights, and batch statistics.

As in torch's `AveragedModel`, parameters are averaged and buffers are those of the network. Izmailov et al., Averaging
Weights Leads to Wider Optima and Better Generalization, 2018.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn

from netwright.engine.data.loading.batches import Batch
from netwright.engine.parallel.sync_batch_norm import JoinedBatchNorm, Share
from netwright.engine.parallel.tensor_shards import local_shard, shard_like
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Schedule


class BatchStatistics:
    """Measures mean and variance of the input of each batch normalisation, by one pass over all samples.

    In the pass each layer normalises by its batch, so that later ones get the inputs they got in training; dropout is
    off. The result is exact over all samples, whatever the sizes of the batches; torch's `update_bn` takes the mean
    over batches. Frozen layers keep their statistics.
    """

    def __init__(
        self, network: nn.Module, share: Share, precision: Precision, batches: Callable[[], Iterator[Batch]]
    ) -> None:
        """`batches` yields this worker's shard of each batch of all samples."""
        layers = [module for module in network.modules() if isinstance(module, JoinedBatchNorm)]
        self._norms = [norm for norm in layers if not norm.is_frozen and norm.running_mean is not None]
        self._network = network
        self._share = share
        self._precision = precision
        self._batches = batches

    @property
    def statistics(self) -> list[torch.Tensor]:
        """Return the running statistics, not copies."""
        each = [(norm.running_mean, norm.running_var) for norm in self._norms]
        return [tensor for pair in each for tensor in pair if tensor is not None]

    @torch.no_grad()
    def measure(self) -> bool:
        """Measure them for the present weights; returns whether there are any. A collective."""
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
    """The mean of the weights after some steps; before the first of these, the weights themselves. Of shards of weights
    each worker averages its own.

    `is_due` returns after which steps (from 0) the weights are averaged, `share` their weight in the mean, given how
    many it holds. With `statistics`, batch statistics are measured for the mean.
    """

    def __init__(
        self,
        network: nn.Module,
        is_due: Callable[[int], bool],
        share: Callable[[int], float],
        statistics: BatchStatistics | None = None,
    ) -> None:
        self._weights = [p for p in network.parameters() if p.requires_grad]
        self._is_due = is_due
        self._share = share
        self._statistics = statistics
        self._mean: list[torch.Tensor] = []
        self._count = 0
        self._measured_statistics: list[torch.Tensor] = []
        self._measured = 0

    def restart(self) -> None:
        """Begin anew, from the weights as they are."""
        self._mean, self._count = [], 0

    @torch.no_grad()
    def after_step(self, step: int) -> None:
        """Add the weights to the mean, if it is due."""
        if not self._is_due(step):
            return
        if self._count == 0:
            self._mean = [p.detach().clone() for p in self._weights]
        else:
            torch._foreach_lerp_(_local(self._mean), _local(self._weights), self._share(self._count))
        self._count += 1

    @contextlib.contextmanager
    def applied(self, *, fresh: bool) -> Iterator[None]:
        """Give the network the mean weights in this context.

        With `fresh`, a collective, batch statistics are measured for them if they changed; otherwise the last are used.
        """
        if self._count == 0:
            yield
            return
        tensors = [*self._weights, *(self._statistics.statistics if self._statistics else [])]
        backup = [tensor.detach().clone() for tensor in tensors]
        self.put(fresh=fresh)
        try:
            yield
        finally:
            _copy(tensors, backup)

    def put(self, *, fresh: bool) -> None:
        """Give the network the mean weights permanently."""
        if self._count == 0:
            return
        _copy(self._weights, self._mean)
        if self._statistics is None:
            return
        if fresh and self._measured != self._count:
            self._statistics.measure()
            self._measured_statistics = [tensor.clone() for tensor in self._statistics.statistics]
            self._measured = self._count
        elif self._measured_statistics:
            _copy(self._statistics.statistics, self._measured_statistics)

    def state_dict(self) -> dict[str, Any]:
        """Return the mean, sharded as the weights, the number of weights in it, and the statistics measured for it."""
        return {
            "mean": list(self._mean),
            "count": self._count,
            "statistics": self._measured_statistics,
            "measured": self._measured,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the average."""
        self._count, self._measured = int(state["count"]), int(state["measured"])
        self._mean = [shard_like(mean, p) for mean, p in zip(state["mean"], self._weights, strict=False)]
        statistics = self._statistics.statistics if self._statistics else []
        self._measured_statistics = [mine.to(own) for mine, own in zip(state["statistics"], statistics, strict=False)]


class Lookahead(Average):
    """Slow weights, which start with the network, move a part of the way to its weights when they are due, and from
    which training continues. Zhang et al., Lookahead Optimizer: k steps forward, 1 step back, 2019."""

    def __init__(self, network: nn.Module, is_due: Callable[[int], bool], share: Callable[[int], float]) -> None:
        """`share` is the part of the way after a step."""
        super().__init__(network, is_due, share)
        self.restart()

    def restart(self) -> None:
        """Begin anew, with slow weights that are those of the network."""
        self._mean, self._count = [p.detach().clone() for p in self._weights], 1

    @torch.no_grad()
    def after_step(self, step: int) -> None:
        """Move the slow weights, if they are due, and set those of the network to them."""
        if self._is_due(step):
            torch._foreach_lerp_(_local(self._mean), _local(self._weights), self._share(step))
            _copy(self._weights, self._mean)


@torch.no_grad()
def _copy(tensors: list[Any], values: list[torch.Tensor]) -> None:
    if tensors:
        torch._foreach_copy_(_local(tensors), _local(values))


def _local(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    return [local_shard(tensor) for tensor in tensors]


def average_for(
    options: TrainingOptions,
    network: nn.Module,
    steps_per_epoch: int,
    statistics: BatchStatistics,
    schedule: Schedule,
) -> Average | None:
    """Return the average that the options ask for, or None. The schedule knows the length of the run, which may change.

    `swa` averages the weights at the end of each epoch from its first one on, and measures batch statistics for them.
    """
    if options.weight_averaging == "swa":
        first = options.swa_start_epoch * steps_per_epoch
        return Average(
            network,
            lambda step: step + 1 >= first and (step + 1) % steps_per_epoch == 0,
            lambda count: 1.0 / (count + 1),
            statistics,
        )
    if options.weight_averaging == "ema":
        decay, warms_up = options.ema_decay, options.ema_warmup
        return Average(
            network,
            lambda step: True,
            lambda count: 1.0 - (min(decay, (1 + count) / (10 + count)) if warms_up else decay),
        )
    if options.weight_averaging == "lookahead":
        interval, decay, power = options.lookahead_interval, options.lookahead_decay, options.lookahead_power
        return Lookahead(
            network,
            lambda step: (step + 1) % interval == 0,
            lambda step: 1.0 - decay * min(1.0, (step + 1) / schedule.total_steps) ** power,
        )
    return None
