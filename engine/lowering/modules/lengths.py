"""What layers become where sequences (batch, steps, channels) are padded at their ends. `lengths` says how many steps
of each sample are real: int64, one per sample, at least 1."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def real_steps(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Whether each step (batch, steps) is real; the steps of x are its dimension 1."""
    return torch.arange(x.shape[1], device=x.device) < lengths.unsqueeze(1)


def mask_steps(x: torch.Tensor, lengths: torch.Tensor, value: float = 0.0) -> torch.Tensor:
    """The sequences with a number at all steps behind the end of each; no gradient goes there."""
    padding = ~real_steps(x, lengths)
    return x.masked_fill(padding.view(*padding.shape, *[1] * (x.dim() - 2)), value)


def take_steps(x: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """The steps of these numbers (batch, steps) of each sequence; beyond its ends the nearest one."""
    steps = steps.clamp(0, x.shape[1] - 1)
    return x.gather(1, steps.view(*steps.shape, *[1] * (x.dim() - 2)).expand(*steps.shape, *x.shape[2:]))


def reverse_steps(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Each sequence turned round: its last real step becomes the first."""
    return take_steps(x, lengths.unsqueeze(1) - 1 - torch.arange(x.shape[1], device=x.device))


def step_from_end(x: torch.Tensor, lengths: torch.Tensor, step: int = 0) -> torch.Tensor:
    """The last real step of each sequence, or one so many before it."""
    return take_steps(x, lengths.unsqueeze(1) - 1 - step).squeeze(1)


def window_lengths(lengths: torch.Tensor, reach: int, stride: int, padding: int) -> torch.Tensor:
    """Lengths after a window, with so much padding at both ends together."""
    return torch.div(lengths + (padding - reach), stride, rounding_mode="floor") + 1


def linear_lengths(lengths: torch.Tensor, factor: int = 1, added: int = 0) -> torch.Tensor:
    """Lengths times a number, plus another."""
    return lengths * factor + added


def pad_steps(
    x: torch.Tensor, lengths: torch.Tensor, before: int, after: int, mode: str, value: float = 0.0
) -> torch.Tensor:
    """Steps before and behind each sequence: zeros, constant, reflection, replication or circular."""
    last = lengths.unsqueeze(1) - 1
    steps = torch.arange(-before, x.shape[1] + after, device=x.device).expand(x.shape[0], -1)
    if mode == "reflection":
        steps = torch.where(steps > last, 2 * last - steps, steps.abs())
    elif mode == "replication":
        steps = torch.minimum(steps, last)
    elif mode == "circular":
        steps = steps.remainder(last + 1)
    padded = take_steps(x, steps)
    if mode in ("zeros", "constant"):
        outside = (steps < 0) | (steps > last)
        padded = padded.masked_fill(outside.view(*outside.shape, *[1] * (x.dim() - 2)), value)
    return padded


def joined_lengths(*lengths: torch.Tensor | int | None) -> torch.Tensor:
    """Lengths of sequences that stand one behind the other; a number for those of a known length."""
    numbers = [length for length in lengths if length is not None]
    return torch.as_tensor(sum(numbers))


def lengths_of(*lengths: torch.Tensor, port: int) -> torch.Tensor:
    """The lengths that one port has."""
    return lengths[port]


def join_steps(*x: torch.Tensor, lengths: tuple[torch.Tensor | None, ...]) -> torch.Tensor:
    """Each sequence of the first tensor, behind its end that of the second, and so on."""
    whole = torch.cat(x, 1)
    steps = torch.arange(whole.shape[1], device=whole.device)
    # which step of the joined tensors stands at each step of the result
    source, offset, start = steps.expand(whole.shape[0], -1), 0, torch.zeros_like(steps[:1])
    for part, length in zip(x, lengths, strict=True):
        source = torch.where(steps >= start, steps - start + offset, source)
        offset += part.shape[1]
        start = start + (part.shape[1] if length is None else length.unsqueeze(1))
    return take_steps(whole, source)


def slice_steps(x: torch.Tensor, start: int, end: int, step: int, lengths: torch.Tensor) -> torch.Tensor:
    """A part of each sequence, as Python slices a list; 0 as the end is none."""
    first, _ = slice_ends(lengths, start, end)
    return take_steps(x, first.unsqueeze(1) + step * torch.arange(x.shape[1], device=x.device))


def slice_ends(lengths: torch.Tensor, start: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The first place of a slice, and the one behind its last."""
    first = lengths + start if start < 0 else torch.full_like(lengths, start)
    last = lengths + end if end <= 0 else torch.full_like(lengths, end)
    return first.clamp(min=0), torch.minimum(last, lengths)


def sliced_lengths(lengths: torch.Tensor, start: int, end: int, step: int) -> torch.Tensor:
    """Lengths of a part of each sequence."""
    first, last = slice_ends(lengths, start, end)
    return torch.div((last - first).clamp(min=0) + step - 1, step, rounding_mode="floor")


def repeat_steps(x: torch.Tensor, lengths: torch.Tensor, times: int) -> torch.Tensor:
    """Each sequence as a whole, again and again."""
    return take_steps(x, torch.arange(times * x.shape[1], device=x.device) % lengths.unsqueeze(1))


def roll_steps(x: torch.Tensor, lengths: torch.Tensor, shift: int) -> torch.Tensor:
    """Each sequence moved; what leaves at its end comes in at its start."""
    return take_steps(x, (torch.arange(x.shape[1], device=x.device) - shift) % lengths.unsqueeze(1))


def stretch_steps(x: torch.Tensor, lengths: torch.Tensor, factor: int) -> torch.Tensor:
    """Each sequence so many times as long, by straight lines; its first and last step stay where they are."""
    after = (lengths * factor - 1).clamp(min=1).unsqueeze(1)
    twice = torch.arange(factor * x.shape[1], device=x.device) * (lengths.unsqueeze(1) - 1)
    below = torch.div(twice, after, rounding_mode="floor")
    share = ((twice - below * after).to(x.dtype) / after).unsqueeze(2)
    low = take_steps(x, below)
    return low + share * (take_steps(x, torch.minimum(below + 1, lengths.unsqueeze(1) - 1)) - low)


def reduce_steps(x: torch.Tensor, kind: str, lengths: torch.Tensor, keepdim: bool = False) -> torch.Tensor:
    """One number per channel, over the real steps."""
    count = lengths.view(-1, *[1] * (x.dim() - 1)).to(x.dtype)
    zeros = mask_steps(x, lengths)
    match kind:
        case "sum":
            reduced = zeros.sum(1, keepdim=True)
        case "mean":
            reduced = zeros.sum(1, keepdim=True) / count
        case "norm":
            reduced = torch.linalg.vector_norm(zeros, dim=1, keepdim=True)
        case "variance":
            centred = mask_steps(zeros - zeros.sum(1, keepdim=True) / count, lengths)
            reduced = centred.square().sum(1, keepdim=True) / count
        case "max":
            reduced = mask_steps(x, lengths, float("-inf")).amax(1, keepdim=True)
        case "min":
            reduced = mask_steps(x, lengths, float("inf")).amin(1, keepdim=True)
        case _:
            reduced = mask_steps(x, lengths, float("-inf")).logsumexp(1, keepdim=True)
    return reduced if keepdim else reduced.squeeze(1)


def reduce_cells(x: torch.Tensor, kind: str, cells: int, lengths: torch.Tensor) -> torch.Tensor:
    """Mean or maximum of so many cells of each sequence, from floor(i L / n) to ceil((i + 1) L / n)."""
    number = torch.arange(cells, device=x.device)
    first = torch.div(number * lengths.unsqueeze(1), cells, rounding_mode="floor").unsqueeze(2)
    last = -torch.div(-(number + 1) * lengths.unsqueeze(1), cells, rounding_mode="floor").unsqueeze(2)
    steps = torch.arange(x.shape[1], device=x.device)
    inside = (steps >= first) & (steps < last)
    if kind == "mean":
        return inside.to(x.dtype) @ mask_steps(x, lengths) / (last - first)
    return x.unsqueeze(1).masked_fill(~inside.unsqueeze(3), float("-inf")).amax(2)


def average_windows(
    x: torch.Tensor, kernel: int, stride: int, sides: tuple[int, int], lengths: torch.Tensor
) -> torch.Tensor:
    """The mean of each window over the real steps in it; zero where it has none."""
    real = real_steps(x, lengths).unsqueeze(1).to(x.dtype)
    sums = nn.functional.pad(mask_steps(x, lengths).transpose(1, 2), sides)
    counts = nn.functional.pad(real, sides)
    mean = nn.functional.avg_pool1d(sums, kernel, stride)
    share = nn.functional.avg_pool1d(counts, kernel, stride).clamp(min=0.5 / kernel)
    return (mean / share).transpose(1, 2)


class PaddedBatchNorm1d(nn.BatchNorm1d):
    """Batch normalisation of (batch, channels, steps) whose statistics in training are those of the real steps."""

    def forward(self, input: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if not self.training or lengths is None:
            return super().forward(input)
        return over_real_steps(super().forward, input, lengths)


def over_real_steps(
    normalise: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, lengths: torch.Tensor
) -> torch.Tensor:
    """A function of vectors (count, channels) over all real steps of (batch, channels, steps); zeros elsewhere."""
    steps = x.transpose(1, 2)
    real = real_steps(steps, lengths)
    vectors = normalise(steps[real])
    return torch.zeros_like(steps, dtype=vectors.dtype).masked_scatter(real.unsqueeze(2), vectors).transpose(1, 2)


def normalise_groups(
    x: torch.Tensor,
    groups: int,
    lengths: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
) -> torch.Tensor:
    """Each group of channels of (batch, channels, steps) over its real steps."""
    steps = torch.unflatten(x.transpose(1, 2), 2, (groups, -1))
    count = (lengths * steps.shape[3]).view(-1, 1, 1, 1).to(x.dtype)
    mean = mask_steps(steps, lengths).sum((1, 3), keepdim=True) / count
    centred = mask_steps(steps - mean, lengths)
    variance = centred.square().sum((1, 3), keepdim=True) / count
    y = (centred * torch.rsqrt(variance + eps)).flatten(2)
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    return y.transpose(1, 2)


class PaddedGroupNorm(nn.GroupNorm):
    """Group normalisation of (batch, channels, steps) over the real steps."""

    def forward(self, input: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return normalise_groups(input, self.num_groups, lengths, self.weight, self.bias, self.eps)


class PaddedInstanceNorm1d(nn.InstanceNorm1d):
    """Instance normalisation of (batch, channels, steps) over the real steps."""

    def forward(self, input: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return normalise_groups(input, self.num_features, lengths, self.weight, self.bias, self.eps)


class PaddedEmbeddingBag(nn.EmbeddingBag):
    """The mean, the sum or the maximum of the vectors of the real steps."""

    def forward(self, input: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        counts = real_steps(input, lengths)
        if self.padding_idx is not None:
            counts = counts & (input != self.padding_idx)
        vectors = nn.functional.embedding(input, self.weight, self.padding_idx)
        some = counts.any(1, keepdim=True)
        if self.mode == "max":
            largest = vectors.masked_fill(~counts.unsqueeze(2), float("-inf")).amax(1)
            return torch.where(some, largest, torch.zeros_like(largest))
        sums = vectors.masked_fill(~counts.unsqueeze(2), 0).sum(1)
        return sums if self.mode == "sum" else sums / counts.sum(1, keepdim=True).clamp(min=1)


class PaddedRecurrent(nn.RNNBase):
    """Mixin before a bidirectional recurrent layer of torch, which reads each sequence forwards, and backwards from its
    last real step. With `last` it returns what each direction gives when it has read all steps.

    Masks take the place of packed sequences, which take ten times as long on a CPU.
    """

    def __init__(self, last: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.last = last

    def read(self, x: torch.Tensor, start: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        """Run one layer in one direction over (N, T, C), from the state `start` (1, N, H)."""
        raise NotImplementedError

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        start = x.new_zeros(1, len(x), self.hidden_size)
        for index in range(self.num_layers):
            directions = []
            for suffix in ("", "_reverse"):
                names = (f"{name}_l{index}{suffix}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
                weights = [getattr(self, name) for name in names]
                if suffix:
                    y = self.read(reverse_steps(x, lengths), start, weights)
                    directions.append(reverse_steps(y, lengths))
                else:
                    directions.append(self.read(x, start, weights))
            x = torch.cat(directions, 2)
        return torch.cat([step_from_end(directions[0], lengths), directions[1][:, 0]], 1) if self.last else x


class PaddedLstm(PaddedRecurrent, nn.LSTM):  # type: ignore[misc]
    """torch's bidirectional LSTM over real steps."""

    def read(self, x: torch.Tensor, start: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        return torch.lstm(x, (start, start), weights, True, 1, 0.0, self.training, False, True)[0]


class PaddedGru(PaddedRecurrent, nn.GRU):  # type: ignore[misc]
    """torch's bidirectional GRU over real steps."""

    def read(self, x: torch.Tensor, start: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        return torch.gru(x, start, weights, True, 1, 0.0, self.training, False, True)[0]


class PaddedRnn(PaddedRecurrent, nn.RNN):  # type: ignore[misc]
    """torch's bidirectional RNN over real steps."""

    def read(self, x: torch.Tensor, start: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        layer = torch.rnn_relu if self.nonlinearity == "relu" else torch.rnn_tanh
        return layer(x, start, weights, True, 1, 0.0, self.training, False, True)[0]
