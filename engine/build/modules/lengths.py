"""What layers become where sequences (batch, steps, channels) are padded at their ends. `lengths` says how many steps
of each sample are real: int64, one a sample, at least 1."""

import torch


def mask_steps(x: torch.Tensor, lengths: torch.Tensor, value: float = 0.0) -> torch.Tensor:
    """The sequences with a number at all steps behind the end of each; no gradient goes there."""
    real = torch.arange(x.shape[1], device=x.device) < lengths.unsqueeze(1)
    return x.masked_fill(~real.view(*real.shape, *[1] * (x.dim() - 2)), value)


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
    taken = take_steps(x, steps)
    if mode in ("zeros", "constant"):
        outside = (steps < 0) | (steps > last)
        taken = taken.masked_fill(outside.view(*outside.shape, *[1] * (x.dim() - 2)), value)
    return taken
