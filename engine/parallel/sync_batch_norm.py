"""Synchronized batch normalisation: statistics over the samples of all workers, on any device and backend.

`torch.nn.SyncBatchNorm` does not support the CPU. Like BatchNorm, it also refuses a batch with one value per channel in
training; here the variance of such a batch is zero, so a last batch of one sample trains, on one worker or several.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm

from netwright.engine.lowering.modules.lengths import over_real_steps
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess


@dataclass
class Share:
    """This worker's share of the current batch, read by its batch normalisation layers.

    is_empty: the worker has no samples; it computes one placeholder sample, which does not count in the statistics.
    part: the share as a fraction of the whole batch.
    is_recomputing: a checkpointed segment is computed again for its gradients; running statistics are not updated.
    """

    is_empty: bool = False
    part: float = 1.0
    is_recomputing: bool = False


class Tally:
    """Running mean and variance per channel over batches of any sizes.

    Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979.
    """

    def __init__(self) -> None:
        self._count, self.mean, self._squares = (torch.zeros(()) for _ in range(3))

    def add(self, mean: torch.Tensor, variance: torch.Tensor, count: torch.Tensor) -> None:
        """Add a batch, given by its mean and biased variance per channel and its number of values per channel."""
        self._count = self._count.to(count)
        total = self._count + count
        delta = mean - self.mean.to(mean)
        self.mean = self.mean.to(mean) + delta * (count / total)
        self._squares = self._squares.to(mean) + variance * count + delta.square() * (self._count * count / total)
        self._count = total

    @property
    def variance(self) -> torch.Tensor:
        """Biased variance of all values added so far, which are the whole population."""
        return self._squares / self._count


class JoinedBatchNorm(_BatchNorm):
    """Synchronized replacement of a BatchNorm1d, 2d or 3d, with the same parameters, buffers and state keys."""

    def __init__(self, replaced: _BatchNorm, group: ProcessGroup, share: Share) -> None:
        super().__init__(
            replaced.num_features,
            replaced.eps,
            replaced.momentum,
            affine=False,
            track_running_stats=replaced.track_running_stats,
        )
        self.affine = replaced.affine
        self.weight, self.bias = replaced.weight, replaced.bias
        self.running_mean, self.running_var = replaced.running_mean, replaced.running_var
        self.num_batches_tracked = replaced.num_batches_tracked
        self._group = group
        self._share = share
        self._tally: Tally | None = None
        self.is_frozen = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, with a process group and a share of its own.

        A copy, such as the teacher network of a user's hook, is not part of the run: it waits for no other worker.
        """
        return {**self.__dict__, "_group": SingleProcess(), "_share": Share()}

    def freeze(self) -> None:
        """Normalise by the running statistics from now on, in training too, and stop updating them."""
        self.is_frozen = True
        self.train(False)

    def gather(self) -> None:
        """Normalise by the statistics of each batch from now on, and accumulate them until `settle`."""
        self.train()
        self._tally = Tally()

    @torch.no_grad()
    def settle(self) -> None:
        """Set the running statistics to those accumulated since `gather`."""
        tally, self._tally = self._tally, None
        if tally is not None and self.running_mean is not None and self.running_var is not None:
            self.running_mean.copy_(tally.mean)
            self.running_var.copy_(tally.variance)

    def train(self, mode: bool = True) -> Self:
        """Set training mode; a frozen layer stays in evaluation mode."""
        return super().train(mode and not self.is_frozen)

    def _check_input_dim(self, input: torch.Tensor) -> None:
        """Accept an input of any rank."""

    def forward(self, input: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Normalise by the statistics of the whole batch in training, by the running statistics otherwise.

        input: (N, C, ...). `lengths`: number of real steps per padded sequence; padding is left out of the statistics.
        """
        if self.training and lengths is not None:
            return over_real_steps(self.forward, input, lengths)
        if not self.training:
            return super().forward(input)
        is_empty_alone = self._group.size == 1 and self._share.is_empty
        alone = self._group.size == 1 and not is_empty_alone and self._tally is None and input.numel() > input.shape[1]
        if alone and self._share.is_recomputing:
            # The same operations as in the first pass, since torch compares the number of saved tensors. The copies
            # are updated in place of the running statistics.
            mean, variance = (None if x is None else x.clone() for x in (self.running_mean, self.running_var))
            return functional.batch_norm(input, mean, variance, self.weight, self.bias, True, 0.0, self.eps)
        if alone:
            return super().forward(input)
        normalise: Callable[..., Any] = _Normalise.apply
        operands = (input, self.weight, self.bias, self.eps, self._group, self._share.is_empty)
        normalised, mean, variance, count = normalise(*operands)
        if self._share.is_recomputing or is_empty_alone:
            pass  # no new samples
        elif self._tally is None:
            self._follow(mean, variance, count)
        else:
            self._tally.add(mean, variance, count)
        return torch.as_tensor(normalised)

    @torch.no_grad()
    def _follow(self, mean: torch.Tensor, variance: torch.Tensor, count: torch.Tensor) -> None:
        """Update the running statistics by the momentum, with the unbiased variance, as torch does."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        factor = self.momentum if self.momentum is not None else 1.0 / float(self.num_batches_tracked)
        unbiased = variance * (count / (count - 1).clamp(min=1))
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), factor)
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), factor)


class _Normalise(torch.autograd.Function):
    """Batch normalisation with one all-reduce in forward and one in backward, of a few float64 numbers per channel."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor | None,
        bias: torch.Tensor | None,
        eps: float,
        group: ProcessGroup,
        is_empty: bool,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        kind = torch.promote_types(x.dtype, torch.float32)  # sums need at least single precision
        is_plain = _has_kernels(x, weight)
        local_mean, local_variance = _moments(x, is_plain)
        count = 0 if is_empty else x.numel() // x.shape[1]
        moments = torch.stack([local_mean, local_variance + local_mean.square()]) * count
        sums = group.all_reduce(torch.cat([moments.flatten(), moments.new_full((1,), count)]))
        total = sums[-1].clamp(min=1)  # a single worker with an empty share: avoids 0 / 0
        mean, square = (sums[:-1] / total).view(2, -1)
        variance = (square - mean.square()).clamp(min=0)
        y = functional.batch_norm(x, mean.to(kind), variance.to(kind), weight, bias, False, 0.0, eps)
        ctx.save_for_backward(x, weight, mean.to(kind), variance.to(kind), torch.rsqrt(variance + eps).to(kind), total)
        ctx.group, ctx.is_empty, ctx.is_plain, ctx.eps = group, is_empty, is_plain, eps
        ctx.mark_non_differentiable(mean, variance, total)
        return y, mean, variance, total

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        x, weight, mean, variance, inverse, total = ctx.saved_tensors
        if torch.is_grad_enabled():  # double backward, as of a gradient penalty
            return *_differentiable_slopes(gradients[0], x, weight, total, ctx), None, None, None
        dy = gradients[0].to(mean.dtype)
        sum_dy, sum_dy_x = _slopes(dy, x, mean, inverse, ctx.is_plain)
        sums = ctx.group.all_reduce(torch.cat([sum_dy, sum_dy_x]).double())
        mean_dy, mean_dy_x = (sums / total).to(mean.dtype).view(2, -1)
        scale = inverse if weight is None else inverse * weight
        if ctx.is_empty:
            dx = torch.zeros_like(x)
        elif ctx.is_plain:
            # The part linear in x is a normalisation, for which torch has a kernel.
            factors, shift = -scale * inverse * mean_dy_x, -scale * mean_dy
            dx = functional.batch_norm(x, mean, variance, factors, shift, False, 0.0, ctx.eps)
            dx.addcmul_(dy, scale.view(_along(x)))
        else:
            slope = (inverse.square() * mean_dy_x).view(_along(x))
            centred = x - mean.view(_along(x))
            dx = ((dy - mean_dy.view(_along(x)) - centred * slope) * scale.view(_along(x))).to(x.dtype)
        return dx, None if weight is None else sum_dy_x * inverse, None if weight is None else sum_dy, None, None, None


class _Sum(torch.autograd.Function):
    """All-reduce (sum) that is differentiable any number of times; its backward sums the gradients of all workers."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: ProcessGroup) -> torch.Tensor:
        ctx.group = group
        return group.all_reduce(x.clone())

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        return _sum(gradients[0], ctx.group), None


_sum: Callable[..., Any] = _Sum.apply


def _differentiable_slopes(
    dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor | None, total: torch.Tensor, ctx: Any
) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """Return the gradients of x, weight and bias as differentiable functions of dy, x and weight, in double precision.

    Made of single operations. A worker with an empty share computes them too, times zero, so that every worker takes
    part in the same collectives.
    """
    others, along, counts = _others(x), _along(x), 0.0 if ctx.is_empty else 1.0
    dy, exact = dy.double(), x.double()
    sums = torch.cat([exact.sum(others), exact.square().sum(others)]) * counts
    mean, square = (_sum(sums, ctx.group) / total).view(2, -1)
    inverse = torch.rsqrt((square - mean.square()).clamp(min=0) + ctx.eps)
    centred = exact - mean.view(along)
    sum_dy, sum_dy_x = dy.sum(others), (dy * centred).sum(others)
    mean_dy, mean_dy_x = (_sum(torch.cat([sum_dy, sum_dy_x]), ctx.group) / total).view(2, -1)
    scale = inverse if weight is None else inverse * weight
    slope = (inverse.square() * mean_dy_x).view(along)
    dx = (dy - mean_dy.view(along) - centred * slope) * scale.view(along) * counts
    if weight is None:
        return dx.to(x.dtype), None, None
    return dx.to(x.dtype), (sum_dy_x * inverse).to(weight.dtype), sum_dy.to(weight.dtype)


def _has_kernels(x: torch.Tensor, weight: torch.Tensor | None) -> bool:
    """Return whether torch's single-process kernels can be used, several times faster than single operations.

    They can on a CPU when x and weight have the same dtype, float32 or float64.
    """
    is_one_dtype = x.dtype in (torch.float32, torch.float64) and (weight is None or weight.dtype == x.dtype)
    return is_one_dtype and x.device.type == "cpu"


def _along(x: torch.Tensor) -> list[int]:
    """Return the shape that broadcasts one number per channel along x: [1, -1, 1, ...]."""
    return [1, -1] + [1] * (x.dim() - 2)


def _others(x: torch.Tensor) -> list[int]:
    """Return all axes of x but the channel axis."""
    return [axis for axis in range(x.dim()) if axis != 1]


def _moments(x: torch.Tensor, is_plain: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mean and biased variance per channel, in double precision.

    On a CPU they are computed in two passes of plain sums: torch's own statistics take five times as long, and
    `var_mean` twenty times.
    """
    if not is_plain:
        variance, mean = torch.var_mean(x.to(torch.promote_types(x.dtype, torch.float32)), _others(x), correction=0)
        return mean.double(), variance.double()
    rows = x.flatten(2) if x.dim() > 2 else x.unsqueeze(2)
    count = x.numel() // x.shape[1]
    mean = rows.sum(2).double().sum(0) / count
    centred = rows - mean.to(x.dtype).view(1, -1, 1)
    # Correct for the rounding of the mean.
    rounding = mean - mean.to(x.dtype)
    return mean, centred.square_().sum(2).double().sum(0) / count - rounding.square()


def _slopes(
    dy: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, inverse: torch.Tensor, is_plain: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sums of dy and of dy (x - mean) over each channel."""
    if is_plain:
        none, mask = None, [False, True, True]
        _, scaled, sum_dy = torch.ops.aten.native_batch_norm_backward(
            dy, x, none, none, none, mean, inverse, True, 0.0, mask
        )
        return sum_dy, scaled / inverse
    return dy.sum(_others(x)), (dy * (x - mean.view(_along(x)))).sum(_others(x))


def join_batch_norms(network: nn.Module, group: ProcessGroup, share: Share) -> None:
    """Replace every batch normalisation layer of the network by a `JoinedBatchNorm`, in place."""
    for path, module in list(network.named_modules()):
        if isinstance(module, _BatchNorm) and not isinstance(module, JoinedBatchNorm | nn.SyncBatchNorm):
            parent, _, name = path.rpartition(".")
            joined = JoinedBatchNorm(module, group, share)
            joined.train(module.training)
            setattr(network.get_submodule(parent), name, joined)


def freeze(modules: Iterable[nn.Module]) -> None:
    """Freeze modules, after `join_batch_norms`: no parameter gradients, no updates of running statistics."""
    for module in modules:
        module.requires_grad_(False)
        for part in module.modules():
            if isinstance(part, JoinedBatchNorm):
                part.freeze()
