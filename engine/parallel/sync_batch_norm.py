"""Batch normalisation with statistics over the samples of all workers, on any device and backend.

torch's own SyncBatchNorm refuses the CPU. It also refuses, as BatchNorm does, a batch that holds one value a channel;
here such a batch has variance zero, so a last batch of one sample trains, alone or on several workers, the same.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm

from engine.lowering.modules.lengths import over_real_steps
from engine.parallel.process_group import ProcessGroup, SingleProcess


@dataclass
class Share:
    """What this worker holds of the batch now: an empty share runs one sample along, which must not count. `part` is
    how much of the whole batch it is. While a segment is computed again for its gradients, nothing moves."""

    is_empty: bool = False
    part: float = 1.0
    is_recomputing: bool = False


class Tally:
    """Mean and variance of everything that passed, whatever the sizes of the batches.

    Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979.
    """

    def __init__(self) -> None:
        self._count, self.mean, self._squares = (torch.zeros(()) for _ in range(3))

    def add(self, mean: torch.Tensor, variance: torch.Tensor, count: torch.Tensor) -> None:
        """Count, mean and biased variance of the numbers per channel."""
        self._count = self._count.to(count)
        total = self._count + count
        away = mean - self.mean.to(mean)
        self.mean = self.mean.to(mean) + away * (count / total)
        self._squares = self._squares.to(mean) + variance * count + away.square() * (self._count * count / total)
        self._count = total

    @property
    def variance(self) -> torch.Tensor:
        """Of all of them, biased: they are the whole population."""
        return self._squares / self._count


class JoinedBatchNorm(_BatchNorm):
    """Takes the place of a BatchNorm1d, 2d or 3d: same parameters, buffers and state keys."""

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
        """What a copy is made of, such as the teacher of a user's hook: it is no part of the run, so it waits for no
        other worker, and its batches are its own."""
        return {**self.__dict__, "_group": SingleProcess(), "_share": Share()}

    def freeze(self) -> None:
        """From now on normalise by the running statistics, and leave them as they are, in training too."""
        self.is_frozen = True
        self.train(False)

    def gather(self) -> None:
        """From now on normalise by the statistics of each batch, and remember them all."""
        self.train()
        self._tally = Tally()

    @torch.no_grad()
    def settle(self) -> None:
        """The running statistics become those of all that was gathered."""
        tally, self._tally = self._tally, None
        if tally is not None and self.running_mean is not None and self.running_var is not None:
            self.running_mean.copy_(tally.mean)
            self.running_var.copy_(tally.variance)

    def train(self, mode: bool = True) -> Self:
        """A frozen one stays as it is outside training."""
        return super().train(mode and not self.is_frozen)

    def _check_input_dim(self, input: torch.Tensor) -> None:
        """Any rank will do."""

    def forward(self, input: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Normalise by the statistics of the whole batch in training, by the running ones else. `lengths` tell which
        steps of padded sequences are real: the others do not count."""
        if self.training and lengths is not None:
            return over_real_steps(self.forward, input, lengths)
        if not self.training:
            return super().forward(input)
        has_none = self._group.size == 1 and self._share.is_empty
        alone = self._group.size == 1 and not has_none and self._tally is None and input.numel() > input.shape[1]
        if alone and self._share.is_recomputing:
            # With the same tensors as the first time, whose number torch compares; copies move in their place.
            mean, variance = (None if x is None else x.clone() for x in (self.running_mean, self.running_var))
            return functional.batch_norm(input, mean, variance, self.weight, self.bias, True, 0.0, self.eps)
        if alone:
            return super().forward(input)
        normalise: Callable[..., Any] = _Normalise.apply
        given = (input, self.weight, self.bias, self.eps, self._group, self._share.is_empty)
        normalised, mean, variance, count = normalise(*given)
        if self._share.is_recomputing or has_none:
            pass  # nothing new was seen
        elif self._tally is None:
            self._follow(mean, variance, count)
        else:
            self._tally.add(mean, variance, count)
        return torch.as_tensor(normalised)

    @torch.no_grad()
    def _follow(self, mean: torch.Tensor, variance: torch.Tensor, count: torch.Tensor) -> None:
        """Move the running statistics, with the unbiased variance as torch does."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        factor = self.momentum if self.momentum is not None else 1.0 / float(self.num_batches_tracked)
        unbiased = variance * (count / (count - 1).clamp(min=1))
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), factor)
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), factor)


class _Normalise(torch.autograd.Function):
    """Forward and backward with one sum over workers each, of a few numbers per channel in double precision."""

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
        kind = torch.promote_types(x.dtype, torch.float32)  # a low precision is enough for x, not for its sums
        is_plain = _has_kernels(x, weight)
        local_mean, local_variance = _moments(x, is_plain)
        count = 0 if is_empty else x.numel() // x.shape[1]
        moments = torch.stack([local_mean, local_variance + local_mean.square()]) * count
        sums = group.all_reduce(torch.cat([moments.flatten(), moments.new_full((1,), count)]))
        total = sums[-1].clamp(min=1)  # alone with an empty share: nothing of it counts, and all of it is a number
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
        if torch.is_grad_enabled():  # these gradients are differentiated again, as those of a gradient penalty
            return *_differentiable_slopes(gradients[0], x, weight, total, ctx), None, None, None
        dy = gradients[0].to(mean.dtype)
        sum_dy, sum_dy_x = _slopes(dy, x, mean, inverse, ctx.is_plain)
        sums = ctx.group.all_reduce(torch.cat([sum_dy, sum_dy_x]).double())
        mean_dy, mean_dy_x = (sums / total).to(mean.dtype).view(2, -1)
        scale = inverse if weight is None else inverse * weight
        if ctx.is_empty:
            dx = torch.zeros_like(x)
        elif ctx.is_plain:
            # The part that is linear in x is a normalisation, for which there is a kernel.
            factors, shift = -scale * inverse * mean_dy_x, -scale * mean_dy
            dx = functional.batch_norm(x, mean, variance, factors, shift, False, 0.0, ctx.eps)
            dx.addcmul_(dy, scale.view(_along(x)))
        else:
            slope = (inverse.square() * mean_dy_x).view(_along(x))
            centred = x - mean.view(_along(x))
            dx = ((dy - mean_dy.view(_along(x)) - centred * slope) * scale.view(_along(x))).to(x.dtype)
        return dx, None if weight is None else sum_dy_x * inverse, None if weight is None else sum_dy, None, None, None


class _Sum(torch.autograd.Function):
    """The sum over workers, which can be differentiated any number of times: what all of them make of it counts."""

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
    """The gradients of x, weight and bias as functions of dy, x and weight, in double precision and single operations.

    An empty share computes them too, times zero, so that as many sums are asked of every worker.
    """
    others, along, counts = _others(x), _along(x), 0.0 if ctx.is_empty else 1.0
    dy, exact = dy.double(), x.double()
    sums = torch.cat([exact.sum(others), exact.square().sum(others)]) * counts
    mean, square = (_sum(sums, ctx.group) / total).view(2, -1)
    inverse = torch.rsqrt((square - mean.square()).clamp(min=0) + ctx.eps)
    away = exact - mean.view(along)
    sum_dy, sum_dy_x = dy.sum(others), (dy * away).sum(others)
    mean_dy, mean_dy_x = (_sum(torch.cat([sum_dy, sum_dy_x]), ctx.group) / total).view(2, -1)
    scale = inverse if weight is None else inverse * weight
    slope = (inverse.square() * mean_dy_x).view(along)
    dx = (dy - mean_dy.view(along) - away * slope) * scale.view(along) * counts
    if weight is None:
        return dx.to(x.dtype), None, None
    return dx.to(x.dtype), (sum_dy_x * inverse).to(weight.dtype), sum_dy.to(weight.dtype)


def _has_kernels(x: torch.Tensor, weight: torch.Tensor | None) -> bool:
    """Whether torch's kernels for one process give the parts that are needed here, several times faster than single
    operations: on a CPU, where everything has one precision."""
    is_one = x.dtype in (torch.float32, torch.float64) and (weight is None or weight.dtype == x.dtype)
    return is_one and x.device.type == "cpu"


def _along(x: torch.Tensor) -> list[int]:
    """The shape of one number a channel."""
    return [1, -1] + [1] * (x.dim() - 2)


def _others(x: torch.Tensor) -> list[int]:
    """All axes but that of channels."""
    return [axis for axis in range(x.dim()) if axis != 1]


def _moments(x: torch.Tensor, is_plain: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and biased variance of each channel, in double precision.

    On a CPU in two passes of plain sums: torch's own statistics take five times as long, and `var_mean` twenty times.
    """
    if not is_plain:
        variance, mean = torch.var_mean(x.to(torch.promote_types(x.dtype, torch.float32)), _others(x), correction=0)
        return mean.double(), variance.double()
    lines = x.flatten(2) if x.dim() > 2 else x.unsqueeze(2)
    count = x.numel() // x.shape[1]
    mean = lines.sum(2).double().sum(0) / count
    away = lines - mean.to(x.dtype).view(1, -1, 1)
    # What the rounded mean leaves out is taken off again.
    left = mean - mean.to(x.dtype)
    return mean, away.square_().sum(2).double().sum(0) / count - left.square()


def _slopes(
    dy: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, inverse: torch.Tensor, is_plain: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sums of dy and of dy (x - mean) over each channel."""
    if is_plain:
        none, wanted = None, [False, True, True]
        _, scaled, sum_dy = torch.ops.aten.native_batch_norm_backward(
            dy, x, none, none, none, mean, inverse, True, 0.0, wanted
        )
        return sum_dy, scaled / inverse
    return dy.sum(_others(x)), (dy * (x - mean.view(_along(x)))).sum(_others(x))


def join_batch_norms(network: nn.Module, group: ProcessGroup, share: Share) -> None:
    """Replace every batch normalisation of the network, in place."""
    for path, module in list(network.named_modules()):
        if isinstance(module, _BatchNorm) and not isinstance(module, JoinedBatchNorm | nn.SyncBatchNorm):
            parent, _, name = path.rpartition(".")
            joined = JoinedBatchNorm(module, group, share)
            joined.train(module.training)
            setattr(network.get_submodule(parent), name, joined)


def freeze(modules: Iterable[nn.Module]) -> None:
    """Take the gradients of these modules away, and stop the running statistics in them. After `join_batch_norms`."""
    for module in modules:
        module.requires_grad_(False)
        for part in module.modules():
            if isinstance(part, JoinedBatchNorm):
                part.freeze()
